#include "debugger/gdb_server.h"

#include <algorithm>

namespace t3vp::debug {
namespace {

constexpr std::size_t most_waiting = 64;
constexpr std::size_t most_memory_bytes = PacketReader::most_bytes / 4;  // of an answer in hexadecimal

bool is_query(std::string_view name) { return name.front() == 'q' || name.front() == 'Q'; }

constexpr std::string_view trap_signal = "05", interrupt_signal = "02", abort_signal = "06";

}  // namespace

// The first that fits: what another one begins with comes behind it.
const GdbServer::Row GdbServer::rows[] = {
    {"?", &GdbServer::why_stopped, true},
    {"g", &GdbServer::read_registers, true},
    {"G", &GdbServer::write_registers},
    {"p", &GdbServer::read_register},
    {"P", &GdbServer::write_register},
    {"m", &GdbServer::read_memory},
    {"M", &GdbServer::write_memory},
    {"X", &GdbServer::write_binary_memory},
    {"Z", &GdbServer::add_stop_point},
    {"z", &GdbServer::remove_stop_point},
    {"H", &GdbServer::choose_thread},
    {"T", &GdbServer::ask_for_thread},
    {"c", &GdbServer::go_on},
    {"C", &GdbServer::go_on_with_signal},
    {"s", &GdbServer::step},
    {"S", &GdbServer::step_with_signal},
    {"vCont?", &GdbServer::list_actions, true},
    {"vCont;", &GdbServer::resume},
    {"vKill;", &GdbServer::kill_process},
    {"D", &GdbServer::detach, true},
    {"k", &GdbServer::kill, true},
    {"qSupported", &GdbServer::tell_features},
    {"QStartNoAckMode", &GdbServer::send_no_acknowledgements, true},
    {"qC", &GdbServer::name_thread, true},
    {"qfThreadInfo", &GdbServer::list_threads, true},
    {"qsThreadInfo", &GdbServer::end_threads, true},
    {"qThreadExtraInfo,", &GdbServer::tell_extra},
    {"qAttached", &GdbServer::tell_attached, true},
    {"qSymbol::", &GdbServer::tell_symbols, true},
    {"qXfer:features:read:target.xml:", &GdbServer::tell_description},
    {"qXfer:threads:read::", &GdbServer::tell_thread_list},
    {"qRcmd,", &GdbServer::command},
};

GdbServer::GdbServer(Debuggee& debuggee) : debuggee_(debuggee), actions_(debuggee.threads()) {}

void GdbServer::receive(std::string_view bytes) {
  reader_.add(bytes);
  while (const std::optional<Message> message = reader_.next()) {
    if (message->kind == Message::Kind::interrupt)
      interrupted_ = state_ == State::running;
    else if (state_ != State::running)
      handle(*message);
    else if (waiting_.size() < most_waiting)
      waiting_.push_back(*message);
  }
}

std::string GdbServer::take_output() {
  std::string output;
  output.swap(output_);
  return output;
}

void GdbServer::stop(const Stop& stop) {
  state_ = State::stopped;
  interrupted_ = false;
  stop_ = stop;
  chosen_ = to_resume_ = stop.thread;
  answer(stop_answer());
  while (state_ == State::stopped && !waiting_.empty()) {
    const Message message = waiting_.front();
    waiting_.pop_front();
    handle(message);
  }
}

void GdbServer::print(std::string_view text) {
  constexpr std::size_t most = PacketReader::most_bytes / 4;
  for (; !text.empty(); text.remove_prefix(std::min(most, text.size())))
    answer("O" + to_hexadecimal(text.substr(0, most)));
}

void GdbServer::exit(int code) {
  answer("W" + to_hexadecimal(std::string(1, static_cast<char>(code))));
  state_ = State::detached;
}

void GdbServer::handle(const Message& message) {
  if (state_ != State::stopped) return;
  switch (message.kind) {
    case Message::Kind::broken:
      if (acknowledges_) output_ += '-';
      return;
    case Message::Kind::repeat:
      if (acknowledges_) output_ += last_answer_;
      return;
    case Message::Kind::packet:
      if (acknowledges_) output_ += '+';
      return handle_packet(message.content);
    case Message::Kind::interrupt:
      return;
  }
}

void GdbServer::handle_packet(const std::string& content) {
  for (const Row& row : rows) {
    Fields fields(content);
    if (!fields.take(row.begin)) continue;
    if (!row.is_whole || fields.is_at_end()) return (this->*row.handle)(fields);
    return answer(is_query(row.begin) ? "" : malformed);  // a query may be another one that begins so
  }
  answer("");  // the packet is not known, says the protocol
}

void GdbServer::answer(std::string_view content) {
  last_answer_ = framed(content);
  output_ += last_answer_;
}

std::string GdbServer::stop_answer() const {
  using Reason = Stop::Reason;
  const std::string thread = "thread:" + number_text(stop_.thread + 1) + ";";
  switch (stop_.reason) {
    case Reason::interrupted:
      return "T" + std::string(interrupt_signal) + thread;
    case Reason::cannot_go_on:
      return "T" + std::string(abort_signal) + thread;
    case Reason::fault:
      return "T" + to_hexadecimal(std::string(1, static_cast<char>(stop_.signal))) + thread;
    case Reason::watch: {
      const StopPointKind kind = stop_.watch.kind;
      const std::string name = kind == StopPointKind::write_watch  ? "watch"
                               : kind == StopPointKind::read_watch ? "rwatch"
                                                                   : "awatch";
      return "T" + std::string(trap_signal) + thread + name + ":" + number_text(stop_.watch.address) + ";";
    }
    case Reason::software_breakpoint:
      return "T" + std::string(trap_signal) + thread + (tells_breakpoints_ ? "swbreak:;" : "");
    case Reason::hardware_breakpoint:
      return "T" + std::string(trap_signal) + thread + (tells_breakpoints_ ? "hwbreak:;" : "");
    case Reason::started:
    case Reason::stepped:
      break;
  }
  return "T" + std::string(trap_signal) + thread;
}

void GdbServer::why_stopped(Fields) { answer(stop_answer()); }

/// 0 stands for any thread. Nothing: there is no such thread, or all are meant.
std::optional<std::size_t> GdbServer::thread_of(std::uint64_t id) const {
  if (id == 0) return stop_.thread;
  if (id > actions_.size()) return std::nullopt;
  return id - 1;
}

std::optional<std::size_t> GdbServer::thread_field(Fields& fields) const {
  const std::optional<std::uint64_t> id = fields.number();
  return id && fields.is_at_end() ? thread_of(*id) : std::nullopt;
}

void GdbServer::choose_thread(Fields fields) {
  const bool is_for_resuming = fields.take("c");
  if (!is_for_resuming && !fields.take("g")) return answer(malformed);
  std::size_t& place = is_for_resuming ? to_resume_ : chosen_;
  if (fields.rest() == "-1") return answer("OK");
  const std::optional<std::size_t> thread = thread_field(fields);
  if (thread) place = *thread;
  answer_if(thread.has_value());
}

void GdbServer::ask_for_thread(Fields fields) { answer_if(thread_field(fields).has_value()); }

void GdbServer::read_registers(Fields) {
  std::string text;
  for (unsigned number = 0; number < debuggee_.general_registers(); ++number)
    text += register_text(debuggee_.read_register(chosen_, number).value_or(0));
  answer(text);
}

void GdbServer::write_registers(Fields fields) {
  constexpr std::size_t digits = 16;
  const std::size_t count = debuggee_.general_registers();
  if (fields.rest().size() != count * digits || !from_hexadecimal(fields.rest())) return answer(malformed);
  bool is_done = true;
  for (unsigned number = 0; number < count; ++number)
    is_done &=
        debuggee_.write_register(chosen_, number, *register_value(fields.rest().substr(number * digits, digits)));
  answer_if(is_done);
}

void GdbServer::read_register(Fields fields) {
  const std::optional<std::uint64_t> number = fields.number();
  if (!number || !fields.is_at_end() || *number > ~0u) return answer(malformed);
  const std::optional<std::uint64_t> value = debuggee_.read_register(chosen_, static_cast<unsigned>(*number));
  answer(value ? register_text(*value) : std::string(malformed));
}

void GdbServer::write_register(Fields fields) {
  const std::optional<std::uint64_t> number = fields.number();
  const std::optional<std::uint64_t> value = fields.take("=") ? register_value(fields.rest()) : std::nullopt;
  if (!number || *number > ~0u || !value) return answer(malformed);
  answer_if(debuggee_.write_register(chosen_, static_cast<unsigned>(*number), *value));
}

void GdbServer::read_memory(Fields fields) {
  const std::optional<std::uint64_t> address = fields.number();
  const std::optional<std::uint64_t> bytes = fields.take(",") ? fields.number() : std::nullopt;
  if (!address || !bytes || !fields.is_at_end()) return answer(malformed);
  const std::string data = debuggee_.read_memory(chosen_, *address, std::min<std::uint64_t>(*bytes, most_memory_bytes));
  answer(data.empty() && *bytes > 0 ? std::string(refused) : to_hexadecimal(data));
}

namespace {

struct MemoryWrite {
  std::uint64_t address;
  std::string data;
};

/// Nothing when there are not as many bytes as it says.
std::optional<MemoryWrite> memory_write(Fields fields, bool is_binary) {
  const std::optional<std::uint64_t> address = fields.number();
  const std::optional<std::uint64_t> bytes = fields.take(",") ? fields.number() : std::nullopt;
  if (!address || !bytes || !fields.take(":")) return std::nullopt;
  const std::optional<std::string> data = is_binary ? std::string(fields.rest()) : from_hexadecimal(fields.rest());
  if (!data || data->size() != *bytes) return std::nullopt;
  return MemoryWrite{*address, *data};
}

}  // namespace

void GdbServer::write_memory(Fields fields) {
  const std::optional<MemoryWrite> write = memory_write(fields, false);
  if (!write) return answer(malformed);
  answer(debuggee_.write_memory(chosen_, write->address, write->data) ? "OK" : refused);
}

void GdbServer::write_binary_memory(Fields fields) {
  const std::optional<MemoryWrite> write = memory_write(fields, true);
  if (!write) return answer(malformed);
  answer(debuggee_.write_memory(chosen_, write->address, write->data) ? "OK" : refused);
}

namespace {

/// "TYPE,ADDRESS,KIND", kind being the number of bytes. Conditions and commands of the client's are the client's.
std::optional<StopPoint> stop_point(Fields fields) {
  const std::optional<std::uint64_t> kind = fields.number();
  const std::optional<std::uint64_t> address = fields.take(",") ? fields.number() : std::nullopt;
  const std::optional<std::uint64_t> bytes = fields.take(",") ? fields.number() : std::nullopt;
  if (!kind || *kind > static_cast<std::uint64_t>(StopPointKind::access_watch)) return std::nullopt;
  const std::uint64_t length = bytes.value_or(0);
  if (!address || length == 0) return std::nullopt;
  if (!fields.is_at_end() && !fields.take(";")) return std::nullopt;
  return StopPoint{static_cast<StopPointKind>(*kind), *address, length};
}

}  // namespace

void GdbServer::add_stop_point(Fields fields) {
  const std::optional<StopPoint> point = stop_point(fields);
  answer_if(point && stop_points_.add(*point));
}

void GdbServer::remove_stop_point(Fields fields) {
  const std::optional<StopPoint> point = stop_point(fields);
  if (point) stop_points_.remove(*point);
  answer_if(point.has_value());
}

void GdbServer::detach(Fields) {
  answer("OK");
  state_ = State::detached;
}

void GdbServer::kill(Fields) { state_ = State::killed; }

/// Whatever process it names: there is one.
void GdbServer::kill_process(Fields fields) {
  if (!fields.number() || !fields.is_at_end()) return answer(malformed);
  answer("OK");
  state_ = State::killed;
}

}  // namespace t3vp::debug
