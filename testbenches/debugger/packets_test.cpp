#include <catch2/catch.hpp>

#include "debugger/gdb_packets.h"
#include "debugger/hexadecimal.h"

namespace t3vp::test::packets_test {

using namespace debug;
using Kind = Message::Kind;

namespace {

std::vector<Message> messages_of(PacketReader& reader) {
  std::vector<Message> all;
  while (const auto message = reader.next()) all.push_back(*message);
  return all;
}

}  // namespace

TEST_CASE("A packet has the checksum of the GDB manual") {
  CHECK(framed("OK") == "$OK#9a");  // of its examples
  CHECK(framed("") == "$#00");
  CHECK(framed("vCont;c") == "$vCont;c#a8");  // as gdb 13 sends it
}

TEST_CASE("Packets come out whatever pieces their bytes come in") {
  const std::string bytes = "+" + framed("g") + "+" + framed("m10,4") + "-\x03" + framed("?");
  for (std::size_t piece = 1; piece <= bytes.size(); ++piece) {
    PacketReader reader;
    std::vector<Message> found;
    for (std::size_t i = 0; i < bytes.size(); i += piece) {
      reader.add(bytes.substr(i, piece));
      for (const Message& message : messages_of(reader)) found.push_back(message);
    }
    REQUIRE(found.size() == 5);
    CHECK(found[0].content == "g");
    CHECK(found[1].content == "m10,4");
    CHECK(found[2].kind == Kind::repeat);
    CHECK(found[3].kind == Kind::interrupt);
    CHECK(found[4].content == "?");
  }
}

TEST_CASE("Binary data go through escapes unchanged") {
  std::string data;
  for (int byte = 0; byte < 256; ++byte) data += static_cast<char>(byte);
  PacketReader reader;
  reader.add(framed(escaped(data)));
  const auto message = reader.next();
  REQUIRE(message);
  CHECK(message->kind == Kind::packet);
  CHECK(message->content == data);  // 0x03 in it is no interrupt
  CHECK_FALSE(reader.next());
}

TEST_CASE("A packet that is spoilt is told and those behind it are not lost") {
  PacketReader reader;
  SECTION("a wrong checksum") { reader.add("$g#00"); }
  SECTION("a checksum of other characters") { reader.add("$g#zz"); }
  SECTION("too long") { reader.add(framed(std::string(PacketReader::most_bytes + 1, 'x'))); }
  const auto broken = reader.next();
  REQUIRE(broken);
  CHECK(broken->kind == Kind::broken);
  reader.add(framed("?"));
  const auto next = reader.next();
  REQUIRE(next);
  CHECK(next->content == "?");
}

TEST_CASE("A packet that has lost its end does not swallow the next one") {
  PacketReader reader;
  reader.add("$m10,4" + framed("?"));
  const auto next = reader.next();
  REQUIRE(next);
  CHECK(next->content == "?");
}

TEST_CASE("A packet without an end does not gather bytes for ever") {
  PacketReader reader;
  int broken = 0;
  reader.add("$");
  for (int i = 0; i < 100; ++i) {
    reader.add(std::string(1000, 'x'));
    while (const auto message = reader.next()) broken += message->kind == Kind::broken;
  }
  CHECK(broken == 1);
  reader.add(framed("?"));
  CHECK(reader.next()->content == "?");
}

TEST_CASE("A debugger is told from others by its first bytes") {
  using Case = std::pair<std::string, Greeting>;
  const std::string packet = framed("qSupported:swbreak+");
  for (const auto& [bytes, greeting] : std::vector<Case>{
           {"", Greeting::unfinished},
           {"+", Greeting::unfinished},
           {"+$qSupp", Greeting::unfinished},
           {"+" + packet, Greeting::debugger},
           {packet + "whatever", Greeting::debugger},
           {"+\x03-" + packet, Greeting::debugger},
           {"GET / HTTP/1.1\r\n\r\n", Greeting::stranger},
           {std::string(1, '\0'), Greeting::stranger},
           {"\r\n" + packet, Greeting::stranger},
           {"$qSupported#00", Greeting::stranger},
           {"$" + std::string(PacketReader::most_bytes + 1, 'x'), Greeting::stranger},
           {std::string(PacketReader::most_bytes + 1, '+'), Greeting::stranger},
       }) {
    CAPTURE(bytes);
    CHECK(greeting_of(bytes) == greeting);
  }
  for (std::size_t bytes = 0; bytes < packet.size(); ++bytes)
    CHECK(greeting_of(packet.substr(0, bytes)) == Greeting::unfinished);
}

TEST_CASE("A packet that a debugger repeats while nobody answers is heard once") {
  const std::string packet = framed("qSupported:swbreak+"), other = framed("?");
  CHECK(said_once("+" + packet) == "+" + packet);
  CHECK(said_once("+" + packet + packet + packet) == "+" + packet);
  CHECK(said_once(packet + packet + other) == packet + other);
  CHECK(said_once(packet + other + packet) == packet + other + packet);
  CHECK(said_once(packet + packet.substr(0, 5)) == packet + packet.substr(0, 5));
  CHECK(said_once("+").size() == 1);
}

TEST_CASE("Numbers and registers are read as the protocol writes them") {
  CHECK(number_text(0x80000000) == "80000000");
  CHECK(number_text(0) == "0");
  CHECK(register_text(0x0123456789abcdef) == "efcdab8967452301");
  CHECK(register_value("efcdab8967452301") == 0x0123456789abcdef);
  CHECK_FALSE(register_value("efcdab89674523"));
  CHECK_FALSE(register_value("efcdab89674523xx"));
  CHECK_FALSE(from_hexadecimal("abc"));
  Fields fields("ffffffffffffffff,-1,10000000000000000,;x");
  CHECK(fields.number() == ~0ull);
  CHECK(fields.take(","));
  CHECK_FALSE(fields.number());  // "-1"
  CHECK(fields.until(',') == "-1");
  CHECK_FALSE(fields.number());  // 65 bits
  CHECK(fields.until(',') == "10000000000000000");
  CHECK_FALSE(fields.number());
  CHECK(fields.until(';').empty());
  CHECK(fields.until(';') == "x");
  CHECK(fields.is_at_end());
  CHECK_FALSE(fields.number());
}

}  // namespace t3vp::test::packets_test
