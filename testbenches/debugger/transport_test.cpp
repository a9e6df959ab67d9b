// The port that a debugger comes to, with a client made of Boost.Asio.
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <catch2/catch.hpp>
#include <chrono>
#include <memory>
#include <vector>

#include "debugger/connection.h"
#include "debugger/gdb_packets.h"

namespace t3vp::test::transport_test {

using namespace debug;
using boost::asio::ip::tcp;
using Error = boost::system::error_code;
using namespace std::chrono_literals;

namespace {

struct Client {
  std::unique_ptr<boost::asio::io_context> context = std::make_unique<boost::asio::io_context>();
  tcp::socket socket{*context};
  explicit Client(std::uint16_t port) { socket.connect({boost::asio::ip::address_v4::loopback(), port}); }
  void send(const std::string& text) { boost::asio::write(socket, boost::asio::buffer(text)); }
};

std::vector<Client> clients(std::uint16_t port, int count) {
  std::vector<Client> all;
  for (int i = 0; i < count; ++i) all.emplace_back(port);
  return all;
}

void refuse_to_hear(const std::string& what) { FAIL("told: " << what); }

}  // namespace

TEST_CASE("A client's bytes arrive and what is sent arrives there") {
  TcpPort port(0);
  REQUIRE(port.number() != 0);
  Client client(port.number());
  client.send("+" + framed("qC"));
  const std::unique_ptr<Connection> connection = port.accept(without_end, refuse_to_hear);
  CHECK(connection->receive(at_once) == "+" + framed("qC"));  // the client that has proved to be a debugger
  CHECK(connection->receive(at_once).empty());                // it does not wait
  CHECK(connection->is_open());
  const HostClock::time_point before = HostClock::now();
  CHECK(connection->receive(before + 50ms).empty());
  CHECK(HostClock::now() - before >= 50ms);
  client.send("hello");
  CHECK(connection->receive(without_end) == "hello");
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
    client.send(framed("qC"));
    connection = port.accept(without_end, refuse_to_hear);
  }
  CHECK(connection->receive(at_once) == framed("qC"));
  CHECK(connection->receive(without_end).empty());
  CHECK_FALSE(connection->is_open());
  connection->send("anybody?");
  CHECK(connection->receive(without_end).empty());
}

TEST_CASE("A port that somebody has is refused with the reason") {
  TcpPort first(0);
  CHECK_THROWS_WITH(TcpPort(first.number()), Catch::Contains("127.0.0.1:") && Catch::Contains("in use"));
}

TEST_CASE("Only one client comes in and the port is free behind it") {
  TcpPort port(0);
  const std::uint16_t number = port.number();
  Client client(number), late(number);
  client.send(framed("qC"));
  const std::unique_ptr<Connection> connection = port.accept(without_end, refuse_to_hear);
  CHECK_THROWS(Client(number));
  CHECK_NOTHROW(TcpPort(number));
}

TEST_CASE("Nobody comes in time and may come later") {
  TcpPort port(0);
  const HostClock::time_point until = HostClock::now() + 50ms;
  CHECK(port.accept(until, refuse_to_hear) == nullptr);
  CHECK(HostClock::now() >= until);
  Client silent(port.number());
  CHECK(port.accept(HostClock::now() + 50ms, refuse_to_hear) == nullptr);
  silent.send(framed("qC"));
  CHECK(port.accept(without_end, refuse_to_hear) != nullptr);
}

TEST_CASE("Who is no debugger is told of and keeps no debugger out") {
  TcpPort port(0);
  std::vector<std::string> told;
  const auto hear = [&](const std::string& what) { told.push_back(what); };
  {
    const Client scanner(port.number());
    Client browser(port.number());
    browser.send("GET / HTTP/1.1\r\n\r\n");
    CHECK(port.accept(HostClock::now() + 50ms, hear) == nullptr);
    CHECK(told == std::vector<std::string>{"has sent what no debugger sends"});
    char byte;
    Error error;
    CHECK(boost::asio::read(browser.socket, boost::asio::buffer(&byte, 1), error) == 0);
    CHECK(error);  // it is reported
  }
  CHECK(port.accept(HostClock::now() + 50ms, hear) == nullptr);
  CHECK(told.back() == "has ended without a packet");
  const std::vector<Client> silent = clients(port.number(), 7);
  Client debugger(port.number());
  debugger.send("+");
  CHECK(port.accept(HostClock::now() + 50ms, hear) == nullptr);
  debugger.send(framed("?"));
  const std::unique_ptr<Connection> connection = port.accept(HostClock::now() + 10s, hear);
  REQUIRE(connection != nullptr);
  CHECK(connection->receive(at_once) == "+" + framed("?"));
  CHECK(told.size() == 2);
}

TEST_CASE("Silent connections without end keep no debugger out") {
  TcpPort port(0);
  int told = 0;
  const auto count = [&](const std::string& what) { told += what == "has been silent for too long" ? 1 : 0; };
  std::vector<Client> silent;
  for (int i = 0; i < 30; ++i) {
    silent.push_back(Client(port.number()));
    CHECK(port.accept(HostClock::now() + 5ms, count) == nullptr);
  }
  CHECK(told == 22);
  Client debugger(port.number());
  debugger.send(framed("?"));
  CHECK(port.accept(HostClock::now() + 10s, count) != nullptr);
}

}  // namespace t3vp::test::transport_test
