// The outermost layer of the GDB remote protocol: bytes to packets and back (GDB manual, appendix E.1).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace t3vp::debug {

/// A message of a client.
struct Message {
  enum class Kind {
    packet,
    broken,     ///< a packet whose checksum is wrong, or that is too long
    repeat,     ///< the last answer did not arrive
    interrupt,  ///< the program is to be stopped
  };
  Kind kind;
  std::string content = {};  ///< of a packet, without escapes
};

class PacketReader {
 public:
  /// The most bytes of a packet's content in either direction, with its escapes.
  static constexpr std::size_t most_bytes = 0x4000;

  void add(std::string_view bytes) { bytes_ += bytes; }
  /// Bytes that belong to no message are dropped.
  std::optional<Message> next();

 private:
  std::optional<Message> packet();

  std::string bytes_;
};

/// The kind of client that has sent these bytes, the first ones of a connection.
enum class Greeting {
  unfinished,  ///< more have to come
  debugger,    ///< there is a whole packet
  stranger,    ///< something else than packets, acknowledgements and interrupts
};
Greeting greeting_of(std::string_view bytes);
/// Returns a debugger's bytes with its first packet once. The debugger repeats that packet until it gets a response.
std::string said_once(std::string_view bytes);

/// A packet with its checksum. Characters that mean something else have to be escaped before.
std::string framed(std::string_view content);
/// Binary data as the content of a packet.
std::string escaped(std::string_view data);

}  // namespace t3vp::debug
