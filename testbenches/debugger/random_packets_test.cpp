#include <catch2/catch.hpp>
#include <random>

#include "debugger/debuggee_bench.h"

namespace t3vp::test::random_packets_test {

using namespace debug;

namespace {

using Random = std::mt19937_64;

const std::string letters = "?gGpPmMXZzHTcCsSvqQDR0123456789abcdefx,;:=-+$#}*\x03";
const char* const begins[] = {"vCont;",
                              "qXfer:features:read:target.xml:",
                              "qXfer:threads:read::",
                              "qRcmd,",
                              "m1000,",
                              "M1000,4:",
                              "X1000,4:",
                              "Z0,",
                              "z2,",
                              "P1=",
                              "Hg",
                              "Hc",
                              "T",
                              "qSupported:",
                              "C05;",
                              "G"};

std::string random_content(Random& random) {
  std::string content = random() % 2 == 0 ? begins[random() % std::size(begins)] : "";
  const std::size_t length = random() % 24;
  for (std::size_t i = 0; i < length; ++i)
    content += random() % 16 == 0 ? static_cast<char>(random()) : letters[random() % letters.size()];
  return content;
}

/// Of packets, spoilt packets, and what is none.
std::string random_bytes(Random& random) {
  const std::string content = random_content(random);
  if (random() % 8 == 0) return content;
  std::string bytes = framed(random() % 2 == 0 ? escaped(content) : content);
  if (random() % 8 == 0) bytes[random() % bytes.size()] = static_cast<char>(random());
  return bytes;
}

}  // namespace

TEST_CASE("Random packets get well-formed answers and the server goes on") {
  Random random(2023);
  GdbBench bench;
  int stops = 0;
  for (int i = 0; i < 200000; ++i) {
    bench.server.receive(random_bytes(random));
    if (bench.server.state() == GdbServer::State::running) {
      bench.server.stop({Stop::Reason::stepped, random() % 3});
      ++stops;
    }
    REQUIRE(is_well_formed(bench.server.take_output()));
    const bool has_left =
        bench.server.state() == GdbServer::State::killed || bench.server.state() == GdbServer::State::detached;
    if (has_left) break;
  }
  CHECK(stops >= 0);
}

TEST_CASE("A server that has met random packets still answers a sane client") {
  for (unsigned seed = 0; seed < 500; ++seed) {
    Random random(seed);
    GdbBench bench;
    for (int i = 0; i < 40 && bench.server.state() == GdbServer::State::stopped; ++i)
      bench.server.receive(random_bytes(random));
    if (bench.server.state() == GdbServer::State::running) bench.server.stop({Stop::Reason::stepped, 0});
    bench.server.take_output();
    if (bench.server.state() != GdbServer::State::stopped) continue;
    bench.server.receive("$#00");  // what has begun ends here
    bench.server.take_output();
    CHECK(bench.ask("qfThreadInfo") == "m1,2,3");
  }
}

}  // namespace t3vp::test::random_packets_test
