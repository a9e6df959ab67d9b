#include "debugger/connection.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <cerrno>
#include <limits>
#include <list>
#include <stdexcept>
#include <vector>

#include "debugger/gdb_packets.h"

namespace t3vp::debug {
namespace {

using boost::asio::ip::tcp;
using Error = boost::system::error_code;
using Context = std::shared_ptr<boost::asio::io_context>;

int milliseconds_until(HostClock::time_point time) {
  using Milliseconds = std::chrono::milliseconds;
  constexpr int most = std::numeric_limits<int>::max();
  if (time == without_end) return -1;
  const HostClock::time_point now = HostClock::now();
  if (time <= now) return 0;
  return static_cast<int>(std::min<Milliseconds::rep>(std::chrono::ceil<Milliseconds>(time - now).count(), most));
}

/// False: nothing has come to any of them until then.
bool wait_for_any(std::vector<pollfd>& sockets, HostClock::time_point until) {
  for (;;) {
    const int ready = poll(sockets.data(), sockets.size(), milliseconds_until(until));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR)
      throw std::runtime_error("waiting for a debugger: " + std::generic_category().message(errno));
    if (HostClock::now() >= until) return false;
  }
}

class TcpConnection : public Connection {
 public:
  TcpConnection(Context context, tcp::socket socket) : context_(std::move(context)), socket_(std::move(socket)) {
    Error error;
    socket_.set_option(tcp::no_delay(true), error);  // an answer that comes later is an answer, too
  }

  std::string receive(HostClock::time_point until) override {
    std::vector<pollfd> sockets{{descriptor(), POLLIN, 0}};
    if (!is_open_ || !wait_for_any(sockets, until)) return {};
    Error error;
    socket_.non_blocking(true, error);
    const std::size_t bytes = socket_.read_some(boost::asio::buffer(buffer_), error);
    is_open_ = !error || error == boost::asio::error::would_block || error == boost::asio::error::interrupted;
    return {buffer_.data(), error ? 0 : bytes};
  }

  void send(std::string_view bytes) override {
    if (!is_open_) return;
    Error error;
    socket_.non_blocking(false, error);
    boost::asio::write(socket_, boost::asio::buffer(bytes.data(), bytes.size()), error);
    is_open_ = !error;
  }

  bool is_open() const override { return is_open_; }
  int descriptor() { return socket_.native_handle(); }

 private:
  Context context_;  ///< which has to outlive the socket
  tcp::socket socket_;
  std::array<char, 4096> buffer_{};
  bool is_open_ = true;
};

/// A debugger's, with what it has said already.
class GreetedConnection : public Connection {
 public:
  GreetedConnection(std::unique_ptr<Connection> connection, std::string said)
      : connection_(std::move(connection)), said_(std::move(said)) {}

  std::string receive(HostClock::time_point until) override {
    if (said_.empty()) return connection_->receive(until);
    return std::exchange(said_, {});
  }
  void send(std::string_view bytes) override { connection_->send(bytes); }
  bool is_open() const override { return connection_->is_open(); }

 private:
  std::unique_ptr<Connection> connection_;
  std::string said_;
};

}  // namespace

/// Clients that have connected and have not yet sent enough to be recognized as a debugger.
class TcpPort::Callers {
 public:
  explicit Callers(std::uint16_t port) : endpoint_(boost::asio::ip::address_v4::loopback(), port) { open(); }

  void open() {
    Error error;
    acceptor_.open(endpoint_.protocol(), error);
    if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor_.bind(endpoint_, error);
    if (!error) acceptor_.listen(most, error);
    if (!error) acceptor_.non_blocking(true, error);
    if (error) throw std::runtime_error("127.0.0.1:" + std::to_string(number()) + ": " + error.message());
    endpoint_ = acceptor_.local_endpoint();
  }

  std::uint16_t number() const { return endpoint_.port(); }
  void close() {
    Error error;
    acceptor_.close(error);
    callers_.clear();
  }

  bool wait(HostClock::time_point until) {
    std::vector<pollfd> sockets{{acceptor_.native_handle(), POLLIN, 0}};
    for (Caller& caller : callers_) sockets.push_back({caller.connection->descriptor(), POLLIN, 0});
    return wait_for_any(sockets, until);
  }

  /// The oldest gives its place to a new one where there are too many.
  void let_in(const Tell& tell) {
    Error error;
    tcp::socket socket(*context_);
    acceptor_.accept(socket, error);
    if (error == boost::asio::error::would_block || error == boost::asio::error::interrupted ||
        error == boost::asio::error::connection_aborted)
      return;
    if (error) throw std::runtime_error("waiting for a debugger: " + error.message());
    if (callers_.size() == most) {
      tell("has been silent for too long");
      callers_.pop_front();
    }
    callers_.push_back({std::make_unique<TcpConnection>(context_, std::move(socket)), {}});
  }

  /// The first that turns out to be a debugger; null: none yet.
  std::unique_ptr<Connection> hear(const Tell& tell) {
    for (auto caller = callers_.begin(); caller != callers_.end();) {
      caller->said += caller->connection->receive(at_once);
      const Greeting greeting = greeting_of(caller->said);
      if (greeting == Greeting::debugger)
        return std::make_unique<GreetedConnection>(std::move(caller->connection), said_once(caller->said));
      const bool is_over = greeting == Greeting::stranger || !caller->connection->is_open();
      if (is_over)
        tell(greeting == Greeting::stranger ? "has sent what no debugger sends" : "has ended without a packet");
      caller = is_over ? callers_.erase(caller) : std::next(caller);
    }
    return nullptr;
  }

 private:
  static constexpr int most = 8;

  struct Caller {
    std::unique_ptr<TcpConnection> connection;
    std::string said;
  };

  Context context_ = std::make_shared<boost::asio::io_context>(1);
  tcp::acceptor acceptor_{*context_};
  tcp::endpoint endpoint_;
  std::list<Caller> callers_;
};

TcpPort::TcpPort(std::uint16_t port) : callers_(std::make_unique<Callers>(port)) {}

TcpPort::~TcpPort() = default;

void TcpPort::open_again() { callers_->open(); }

std::uint16_t TcpPort::number() const { return callers_->number(); }

std::unique_ptr<Connection> TcpPort::accept(HostClock::time_point until, const Tell& tell) {
  while (callers_->wait(until)) {
    callers_->let_in(tell);
    std::unique_ptr<Connection> debugger = callers_->hear(tell);
    if (debugger == nullptr) continue;
    callers_->close();
    return debugger;
  }
  return nullptr;
}

}  // namespace t3vp::debug
