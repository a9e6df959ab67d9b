// What the table of an output map takes, refuses and gives back.
#include "output_map_bench.h"

namespace t3vp::test::output_map_test {

TEST_CASE("every mistake has its status and one entry in the error log, and maps nothing") {
  Bench bench;
  REQUIRE(bench.add({}) == Status::ok);
  const auto refused = [&](Status expected, auto change) {
    Mapping mapping;
    mapping.first = 12;
    change(mapping);
    const Status status = bench.add(mapping);
    INFO("expected " << static_cast<int>(expected));
    CHECK(status == expected);
    CHECK(bench.registers.take_report() == expected);
    CHECK(bench.used() == 1);
  };
  refused(Status::invalid_argument, [](Mapping& m) { m.kind = Kind::none; });
  refused(Status::invalid_argument, [](Mapping& m) { m.count = 0; });
  refused(Status::invalid_argument, [](Mapping& m) { m.rows = 0; });
  refused(Status::invalid_argument, [](Mapping& m) { m.tile_columns = 0; });
  refused(Status::invalid_argument, [](Mapping& m) { m.wavefronts = 0; });
  refused(Status::invalid_argument, [](Mapping& m) { m.wavefronts = 3; });
  refused(Status::invalid_argument, [](Mapping& m) { m.stride = 992; });
  refused(Status::invalid_argument, [](Mapping& m) { m.first = 29; });
  refused(Status::invalid_argument, [](Mapping& m) { m.first = 32; });
  refused(Status::unaligned, [](Mapping& m) { m.stride = 1040; });
  refused(Status::unaligned, [](Mapping& m) { m.base += 16; });
  refused(Status::unaligned, [](Mapping& m) { m.to += 16; });
  refused(Status::bad_address, [](Mapping& m) { m.base = on_gpu(peer, 0x10000); });
  refused(Status::bad_address, [](Mapping& m) { m.base = on_gpu(own, address_map::hbm_limit); });
  refused(Status::bad_address, [](Mapping& m) { m.base = on_gpu(own, address_map::hbm_limit - 32); });
  refused(Status::bad_address, [](Mapping& m) { m.stride = std::uint64_t{1} << address_map::gpu_shift; });
  refused(Status::bad_address, [](Mapping& m) { m.stride = ~std::uint64_t{31}; });
  refused(Status::bad_address, [](Mapping& m) { m.to = on_gpu(peer, address_map::registers_base); });
  refused(Status::bad_address, [](Mapping& m) { m.to = on_gpu(peer, address_map::hbm_limit - 32); });
  refused(Status::no_peer, [](Mapping& m) { m.to = on_gpu(beyond, 0x80000); });
  refused(Status::no_peer, [](Mapping& m) { m.to = on_gpu(own, 0x80000); });
  refused(Status::overlap, [](Mapping& m) { m.first = 4; });
  refused(Status::overlap, [](Mapping& m) { m.first = 7; });
  refused(Status::overlap, [](Mapping& m) { m.first = 0, m.count = 5; });
  refused(Status::overlap, [](Mapping& m) { m.first = 0, m.count = 32; });
  refused(Status::invalid_argument, [](Mapping& m) { m.first = 0, m.count = (1u << 20) + 1; });
  refused(Status::invalid_argument, [](Mapping& m) { m.first = 5, m.count = 0xFFFFFFFF; });
  refused(Status::overlap, [](Mapping& m) { m.first = 5, m.count = 1, m.base = output + 0x1000; });
}

TEST_CASE("a map has to lie in the memory that there is, here and at the peer") {
  Bench bench;
  const auto refused = [&](auto change) {
    Mapping mapping;
    change(mapping);
    CHECK(bench.add(mapping) == Status::bad_address);
    CHECK(bench.registers.take_report() == Status::bad_address);
    CHECK(bench.used() == 0);
  };
  const std::uint64_t here = output - on_gpu(own, 0) + output_bytes,
                      there = peer_output - on_gpu(peer, 0) + output_bytes;
  bench.cache.capacity = here - 1;
  refused([](Mapping&) {});
  bench.cache.capacity = here;
  bench.remote.capacity = there - 1;
  refused([](Mapping&) {});
  bench.remote.capacity = there;
  REQUIRE(bench.add({}) == Status::ok);
}

TEST_CASE("the same workgroups of another output, and neighbours, do not overlap") {
  Bench bench;
  REQUIRE(bench.add({}) == Status::ok);
  Mapping other;
  other.base = output + output_bytes;
  REQUIRE(bench.add(other) == Status::ok);
  Mapping next;
  next.first = 8;
  REQUIRE(bench.add(next) == Status::ok);
  REQUIRE(bench.registers.reported.empty());
}

TEST_CASE("a full table says so and is emptied by remove_all and by reset") {
  Bench bench;
  REQUIRE(bench.registers["capacity"] == table_entries);
  const auto fill = [&] {
    for (std::uint32_t i = 0; i < table_entries; ++i) {
      Mapping mapping;
      mapping.first = 4 * i;
      REQUIRE(bench.add(mapping) == Status::ok);
    }
    Mapping one_more;
    one_more.first = 4 * table_entries;
    REQUIRE(bench.add(one_more) == Status::table_full);
    REQUIRE(bench.registers.take_report() == Status::table_full);
  };
  fill();
  REQUIRE(bench.command(Action::remove_all) == Status::ok);
  REQUIRE(bench.used() == 0);
  bench.send(Operation::store, tile(4), 4);
  REQUIRE(bench.remote.received.empty());
  fill();
  bench.map.registers.reset();
  REQUIRE(bench.used() == 0);
  REQUIRE(bench.registers["capacity"] == table_entries);
}

TEST_CASE("one entry is removed by itself, by its output and workgroups") {
  Bench bench;
  Mapping first, second;
  second.first = first.first + first.count;
  REQUIRE(bench.add(first) == Status::ok);
  REQUIRE(bench.add(second) == Status::ok);
  Mapping part = second;
  --part.count;
  REQUIRE(bench.remove(part) == Status::invalid_argument);
  REQUIRE(bench.registers.take_report() == Status::invalid_argument);
  REQUIRE(bench.remove(first) == Status::ok);
  REQUIRE(bench.used() == 1);
  bench.send(Operation::store, tile(first.first), first.first);
  REQUIRE(bench.remote.received.empty());
  bench.send(Operation::store, tile(second.first), second.first);
  REQUIRE(bench.remote.received.size() == 1);
}

TEST_CASE("entries are busy while a kernel that writes their output runs") {
  Bench bench;
  Mapping mapping, other;
  other.first = mapping.first + mapping.count;
  REQUIRE(bench.add(mapping) == Status::ok);
  bench.kernel_writes(mapping.base + output_bytes - 1, mapping.base + output_bytes + 64);
  REQUIRE(bench.remove(mapping) == Status::busy);
  REQUIRE(bench.registers.take_report() == Status::busy);
  REQUIRE(bench.command(Action::remove_all) == Status::busy);
  REQUIRE(bench.registers.take_report() == Status::busy);
  REQUIRE(bench.add(other) == Status::busy);
  REQUIRE(bench.registers.take_report() == Status::busy);
  REQUIRE(bench.used() == 1);
  REQUIRE(bench.remove(mapping, true) == Status::ok);
  REQUIRE(bench.used() == 0);
  bench.kernel_writes(mapping.base + output_bytes, mapping.base + output_bytes + 64);
  REQUIRE(bench.add(mapping) == Status::ok);
  REQUIRE(bench.command(Action::remove_all) == Status::ok);
}

}  // namespace t3vp::test::output_map_test
