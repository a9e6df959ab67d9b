#include "debug/connection.h"

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <stdexcept>

namespace t3vp::debug {
namespace {

using boost::asio::ip::tcp;
using Error = boost::system::error_code;

class TcpConnection : public Connection {
 public:
  TcpConnection(std::shared_ptr<boost::asio::io_context> context, tcp::socket socket)
      : context_(std::move(context)), socket_(std::move(socket)) {
    Error error;
    socket_.set_option(tcp::no_delay(true), error);  // an answer that comes later is an answer, too
  }

  std::string receive(bool waits) override {
    if (!is_open_) return {};
    Error error;
    socket_.non_blocking(!waits, error);
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

 private:
  std::shared_ptr<boost::asio::io_context> context_;  ///< which has to outlive the socket
  tcp::socket socket_;
  std::array<char, 4096> buffer_{};
  bool is_open_ = true;
};

}  // namespace

struct TcpPort::Sockets {
  std::shared_ptr<boost::asio::io_context> context = std::make_shared<boost::asio::io_context>(1);
  tcp::acceptor acceptor{*context};
};

TcpPort::TcpPort(std::uint16_t port) : sockets_(std::make_unique<Sockets>()) {
  const tcp::endpoint endpoint(boost::asio::ip::address_v4::loopback(), port);
  Error error;
  sockets_->acceptor.open(endpoint.protocol(), error);
  if (!error) sockets_->acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) sockets_->acceptor.bind(endpoint, error);
  if (!error) sockets_->acceptor.listen(1, error);
  if (error) throw std::runtime_error("127.0.0.1:" + std::to_string(port) + ": " + error.message());
}

TcpPort::~TcpPort() = default;

std::uint16_t TcpPort::number() const { return sockets_->acceptor.local_endpoint().port(); }

std::unique_ptr<Connection> TcpPort::accept() {
  Error error;
  tcp::socket socket(*sockets_->context);
  do {
    sockets_->acceptor.accept(socket, error);
  } while (error == boost::asio::error::interrupted || error == boost::asio::error::connection_aborted);
  if (error) throw std::runtime_error("waiting for a debugger: " + error.message());
  sockets_->acceptor.close(error);
  return std::make_unique<TcpConnection>(sockets_->context, std::move(socket));
}

}  // namespace t3vp::debug
