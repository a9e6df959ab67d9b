// The connection to a debugger: it receives and sends bytes.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace t3vp::debug {

using HostClock = std::chrono::steady_clock;
constexpr HostClock::time_point at_once = HostClock::time_point::min(), without_end = HostClock::time_point::max();

class Connection {
 public:
  virtual ~Connection() = default;
  /// Bytes that have come; waits for some until then. None when there are none, or never will be.
  virtual std::string receive(HostClock::time_point until) = 0;
  virtual void send(std::string_view bytes) = 0;
  /// Returns true until the other side has left.
  virtual bool is_open() const = 0;
};

/// Waits for one client at a time on this machine (127.0.0.1).
class TcpPort {
 public:
  /// Reports in words how a connection ended that is no debugger's.
  using Tell = std::function<void(const std::string& what)>;

  /// 0: any port that is free. Throws std::runtime_error when it cannot be had.
  explicit TcpPort(std::uint16_t port);
  ~TcpPort();

  std::uint16_t number() const;
  /// Returns when a client has sent a packet of the protocol; then the port is closed. A client that sends something
  /// else or leaves before is reported and dropped. Returns null when no debugger has come until then; it may still
  /// come.
  std::unique_ptr<Connection> accept(HostClock::time_point until, const Tell& tell);
  /// For another client, under the same number. Throws std::runtime_error when somebody else has it by now.
  void open_again();

 private:
  class Callers;
  std::unique_ptr<Callers> callers_;
};

}  // namespace t3vp::debug
