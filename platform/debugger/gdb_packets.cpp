#include "debugger/gdb_packets.h"

#include <algorithm>

#include "debugger/hexadecimal.h"

namespace t3vp::debug {
namespace {

constexpr char begin_of_packet = '$', end_of_packet = '#', escape = '}', escape_bit = 0x20, interrupt_byte = 0x03;
constexpr std::size_t checksum_digits = 2;

std::string checksum_of(std::string_view content) {
  unsigned char sum = 0;
  for (const char c : content) sum = static_cast<unsigned char>(sum + static_cast<unsigned char>(c));
  return to_hexadecimal({reinterpret_cast<const char*>(&sum), 1});
}

std::string without_escapes(std::string_view content) {
  std::string data;
  for (std::size_t i = 0; i < content.size(); ++i) {
    const bool is_escaped = content[i] == escape && i + 1 < content.size();
    data += is_escaped ? static_cast<char>(content[++i] ^ escape_bit) : content[i];
  }
  return data;
}

}  // namespace

std::optional<Message> PacketReader::next() {
  const auto first = std::find_if(bytes_.begin(), bytes_.end(),
                                  [](char c) { return c == begin_of_packet || c == '-' || c == interrupt_byte; });
  bytes_.erase(bytes_.begin(), first);
  if (bytes_.empty()) return std::nullopt;
  if (bytes_.front() == begin_of_packet) return packet();
  const char byte = bytes_.front();
  bytes_.erase(0, 1);
  return Message{byte == '-' ? Message::Kind::repeat : Message::Kind::interrupt};
}

/// The bytes begin with that of a packet. One that begins inside another one takes its place: the first has lost its
/// end.
std::optional<Message> PacketReader::packet() {
  const std::size_t end = bytes_.find(end_of_packet);
  const std::size_t begin = bytes_.rfind(begin_of_packet, std::min(end, bytes_.size()));
  bytes_.erase(0, begin);
  const std::size_t length = (end == std::string::npos ? bytes_.size() : end - begin) - 1;
  if (length > most_bytes) {
    bytes_.erase(0, length + 1);
    return Message{Message::Kind::broken};
  }
  if (end == std::string::npos || bytes_.size() < length + 2 + checksum_digits) return std::nullopt;
  const std::string content = bytes_.substr(1, length), checksum = bytes_.substr(length + 2, checksum_digits);
  bytes_.erase(0, length + 2 + checksum_digits);
  const bool is_whole = from_hexadecimal(checksum) == from_hexadecimal(checksum_of(content));
  return is_whole ? Message{Message::Kind::packet, without_escapes(content)} : Message{Message::Kind::broken};
}

Greeting greeting_of(std::string_view bytes) {
  const std::size_t first = bytes.find_first_not_of(std::string{'+', '-', interrupt_byte});
  if (first == std::string_view::npos)
    return bytes.size() > PacketReader::most_bytes ? Greeting::stranger : Greeting::unfinished;
  if (bytes[first] != begin_of_packet) return Greeting::stranger;
  PacketReader reader;
  reader.add(bytes.substr(first));
  const std::optional<Message> message = reader.next();
  if (!message) return Greeting::unfinished;
  return message->kind == Message::Kind::packet ? Greeting::debugger : Greeting::stranger;
}

std::string said_once(std::string_view bytes) {
  const std::size_t first = std::min(bytes.find(begin_of_packet), bytes.size());
  const std::string_view packet = bytes.substr(first, bytes.find(end_of_packet, first) - first + 1 + checksum_digits);
  std::size_t last = first;
  while (!packet.empty() && bytes.substr(last + packet.size(), packet.size()) == packet) last += packet.size();
  return std::string(bytes.substr(0, first)).append(bytes.substr(last));
}

std::string framed(std::string_view content) {
  return begin_of_packet + std::string(content) + end_of_packet + checksum_of(content);
}

std::string escaped(std::string_view data) {
  std::string content;
  for (const char c : data) {
    const bool has_meaning = c == begin_of_packet || c == end_of_packet || c == escape || c == '*';
    if (has_meaning) content += escape;
    content += has_meaning ? static_cast<char>(c ^ escape_bit) : c;
  }
  return content;
}

}  // namespace t3vp::debug
