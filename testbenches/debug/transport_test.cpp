// The port that a debugger comes to, with a client made of Boost.Asio.
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <catch2/catch.hpp>
#include <thread>

#include "debug/connection.h"

namespace t3vp::test::transport_test {

using namespace debug;
using boost::asio::ip::tcp;

namespace {

struct Client {
  boost::asio::io_context context;
  tcp::socket socket{context};
  explicit Client(std::uint16_t port) { socket.connect({boost::asio::ip::address_v4::loopback(), port}); }
  void send(const std::string& text) { boost::asio::write(socket, boost::asio::buffer(text)); }
};

}  // namespace

TEST_CASE("A client's bytes arrive and what is sent arrives there") {
  TcpPort port(0);
  REQUIRE(port.number() != 0);
  Client client(port.number());
  const std::unique_ptr<Connection> connection = port.accept();
  CHECK(connection->receive(false).empty());  // it does not wait
  CHECK(connection->is_open());
  client.send("hello");
  CHECK(connection->receive(true) == "hello");
  connection->send("well");
  char text[4];
  boost::asio::read(client.socket, boost::asio::buffer(text));
  CHECK(std::string(text, 4) == "well");
}

TEST_CASE("A client that leaves is noticed and nothing that is sent to it hurts") {
  TcpPort port(0);
  std::unique_ptr<Connection> connection;
  {
    Client client(port.number());
    connection = port.accept();
  }
  CHECK(connection->receive(true).empty());
  CHECK_FALSE(connection->is_open());
  connection->send("anybody?");
  CHECK(connection->receive(true).empty());
}

TEST_CASE("A port that somebody has is refused with the reason") {
  TcpPort first(0);
  CHECK_THROWS_WITH(TcpPort(first.number()), Catch::Contains("127.0.0.1:") && Catch::Contains("in use"));
}

TEST_CASE("Only one client comes in and the port is free behind it") {
  TcpPort port(0);
  const std::uint16_t number = port.number();
  Client client(number);
  const std::unique_ptr<Connection> connection = port.accept();
  CHECK_THROWS(Client(number));
  CHECK_NOTHROW(TcpPort(number));
}

}  // namespace t3vp::test::transport_test
