// The client's queries other than register and memory accesses.
#include <algorithm>

#include "debugger/gdb_server.h"

namespace t3vp::debug {
namespace {

std::string in_xml(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '<')
      escaped += "&lt;";
    else if (c == '&')
      escaped += "&amp;";
    else if (c == '"')
      escaped += "&quot;";
    else
      escaped += c;
  }
  return escaped;
}

bool has_feature(std::string_view list, std::string_view feature) {
  Fields fields(list);
  while (!fields.is_at_end())
    if (fields.until(';') == feature) return true;
  return false;
}

}  // namespace

void GdbServer::tell_features(Fields fields) {
  if (!fields.is_at_end() && !fields.take(":")) return answer("");  // another query that begins so
  tells_breakpoints_ = has_feature(fields.rest(), "swbreak+") && has_feature(fields.rest(), "hwbreak+");
  answer("PacketSize=" + number_text(PacketReader::most_bytes) +
         ";QStartNoAckMode+;vContSupported+;swbreak+;hwbreak+;qXfer:features:read+;qXfer:threads:read+");
}

/// The acknowledgement of this packet has been sent; those of the answer and of all that follows are not.
void GdbServer::send_no_acknowledgements(Fields) {
  answer("OK");
  acknowledges_ = false;
}

void GdbServer::name_thread(Fields) { answer("QC" + number_text(stop_.thread + 1)); }

void GdbServer::list_threads(Fields) {
  std::string list;
  for (std::size_t thread = 0; thread < actions_.size(); ++thread)
    list += (list.empty() ? "m" : ",") + number_text(thread + 1);
  answer(list);
}

void GdbServer::end_threads(Fields) { answer("l"); }

void GdbServer::tell_extra(Fields fields) {
  const std::optional<std::size_t> thread = thread_field(fields);
  answer(thread ? to_hexadecimal(debuggee_.thread_name(*thread)) : std::string(malformed));
}

/// A client that leaves lets the program go on.
void GdbServer::tell_attached(Fields) { answer("1"); }

void GdbServer::tell_symbols(Fields) { answer("OK"); }

void GdbServer::tell_description(Fields fields) { send_part(debuggee_.description(), fields); }

void GdbServer::tell_thread_list(Fields fields) {
  std::string list = "<?xml version=\"1.0\"?>\n<threads>\n";
  for (std::size_t thread = 0; thread < actions_.size(); ++thread)
    list += "<thread id=\"" + number_text(thread + 1) + "\" name=\"" + in_xml(debuggee_.thread_name(thread)) + "\"/>\n";
  send_part(list + "</threads>\n", fields);
}

/// "OFFSET,LENGTH" of a document.
void GdbServer::send_part(const std::string& document, Fields range) {
  constexpr std::uint64_t most = PacketReader::most_bytes / 2 - 1;  // as any byte may need an escape
  const std::optional<std::uint64_t> offset = range.number();
  const std::optional<std::uint64_t> length = range.take(",") ? range.number() : std::nullopt;
  if (!offset || !length || !range.is_at_end() || *offset > document.size()) return answer(malformed);
  const std::string part = document.substr(*offset, std::min(*length, most));
  answer_text((*offset + part.size() < document.size() ? "m" : "l") + part);
}

void GdbServer::command(Fields fields) {
  const std::optional<std::string> words = from_hexadecimal(fields.rest());
  if (!words) return answer(malformed);
  print(debuggee_.monitor(chosen_, *words));
  answer("OK");
}

}  // namespace t3vp::debug
