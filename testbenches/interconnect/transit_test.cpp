// What passes through a GPU beside what it sends itself.
#include "interconnect/small_fabric.h"

namespace t3vp::test::transit_test {

using namespace interconnect;

TEST_CASE("what passes through a GPU takes turns with what it sends itself") {
  SmallFabric fabric(3);
  const std::uint64_t address = address_map::on_gpu(0, 0);
  std::vector<std::size_t> own;
  for (int i = 0; i < 100; ++i) own.push_back(fabric[1].compute.send(fabric.packet(address, 7500)));  // 100 ns each
  const std::size_t passing = fabric[2].compute.send(fabric.packet(address, 7500));
  fabric.settle();
  // It comes at 600 ns, when the sixth packet has left, and is the next one.
  REQUIRE(fabric[0].memory.arrivals().size() == 101);
  CHECK(fabric[2].compute.answer(passing).at ==
        fabric[1].compute.answer(own[5]).at + 100'000 + fabric.parameters.latency);
  CHECK(fabric[1].compute.answer(own[6]).at == fabric[1].compute.answer(own[5]).at + 200'000);
}

}  // namespace t3vp::test::transit_test
