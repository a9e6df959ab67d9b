// Where a debugger's bytes come from and go to.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace t3vp::debug {

class Connection {
 public:
  virtual ~Connection() = default;
  /// Bytes that have come; with `waits` not before there are any. None when there are none, or never will be.
  virtual std::string receive(bool waits) = 0;
  virtual void send(std::string_view bytes) = 0;
  /// Until the other side has left.
  virtual bool is_open() const = 0;
};

/// Waits for one client on this machine (127.0.0.1).
class TcpPort {
 public:
  /// 0: any port that is free. Throws std::runtime_error when it cannot be had.
  explicit TcpPort(std::uint16_t port);
  ~TcpPort();

  std::uint16_t number() const;
  /// Returns when a client is there; then the port is given back.
  std::unique_ptr<Connection> accept();

 private:
  struct Sockets;
  std::unique_ptr<Sockets> sockets_;
};

}  // namespace t3vp::debug
