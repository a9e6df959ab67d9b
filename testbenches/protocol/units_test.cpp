#include "protocol/units.h"

#include <catch2/catch.hpp>
#include <string>

#include "protocol/address_map.h"
#include "protocol/data_protocol.h"
#include "protocol/traffic_classes.h"

namespace t3vp::test::units_test {

TEST_CASE("classes of traffic are those of the enumeration and up to 32 with those that are asked for") {
  const std::vector<TrafficClass> known = traffic_classes();
  REQUIRE(traffic_class_of("rs_write") == TrafficClass::rs_write);
  REQUIRE(traffic_classes() == known);
  const TrafficClass added = traffic_class_of("a2a_read").value();
  REQUIRE(index_of(added) == known.size());
  REQUIRE(traffic_class_of("a2a_read") == added);
  REQUIRE(std::string(name_of_traffic(added)) == "a2a_read");
  REQUIRE(std::string(name_of_traffic(TrafficClass::control)) == "control");
  REQUIRE(is_traffic_class(added));
  REQUIRE_FALSE(is_traffic_class(static_cast<TrafficClass>(known.size() + 1)));
  for (std::size_t i = known.size() + 1; i < traffic_classes_most; ++i)
    REQUIRE(traffic_class_of("class_" + std::to_string(i)).has_value());
  REQUIRE_FALSE(traffic_class_of("one_more").has_value());
  REQUIRE(traffic_class_of("a2a_read") == added);
  REQUIRE(traffic_classes().size() == traffic_classes_most);
}

TEST_CASE("a class of traffic has the direction that it came with") {
  CHECK(direction_of(TrafficClass::rs_read) == TrafficDirection::reads);
  CHECK(direction_of(TrafficClass::ag_write) == TrafficDirection::writes);
  CHECK(direction_of(TrafficClass::setup) == TrafficDirection::neither);
  const TrafficClass added = traffic_class_of("moved_to", TrafficDirection::writes).value();
  CHECK(direction_of(added) == TrafficDirection::writes);
  CHECK(direction_of(traffic_class_of("moved_to", TrafficDirection::reads).value()) == TrafficDirection::writes);
  CHECK(direction_of(traffic_class_of("other_read").value()) == TrafficDirection::neither);
}

TEST_CASE("times are integer picoseconds") {
  REQUIRE(from_ns(114.3) == 114'300);
  REQUIRE(to_ns(114'300) == 114.3);
  REQUIRE(from_sc_time(to_sc_time(never - 1)) == never - 1);
  REQUIRE(to_sc_time(1'000) == sc_core::sc_time(1, sc_core::SC_NS));
  REQUIRE(transfer_time(75, 75) == 1'000);
  REQUIRE(transfer_time(1, 3) == 334);  // rounded up, never faster than the bandwidth
  REQUIRE(transfer_time(0, 75) == 0);
  REQUIRE(cycle_time(1, 1.4) == 714);
  REQUIRE(cycle_time(7, 1.4) == 5'000);
}

TEST_CASE("addresses name a GPU and a place in it") {
  using namespace address_map;
  constexpr std::uint64_t in_memory = on_gpu(5, 0x1234), in_registers = on_gpu(5, block_base(Block::signals) + 8);
  REQUIRE((gpu_of(in_memory) == 5 && local_of(in_memory) == 0x1234 && is_hbm(in_memory)));
  REQUIRE((gpu_of(in_registers) == 5 && !is_hbm(in_registers)));
  REQUIRE(is_hbm(on_gpu(5, hbm_limit - 1)));
  REQUIRE(!is_hbm(on_gpu(5, hbm_limit)));
  REQUIRE(gpu_of(on_gpu(5, local_mask)) == 5);
  REQUIRE(block_base(Block::signals) == (std::uint64_t{0xF} << 40) + 0x30000);
}

TEST_CASE("every traffic class has a name") {
  REQUIRE(std::string(name_of(TrafficClass::gemm_read)) == "gemm_read");
  REQUIRE(std::string(name_of(TrafficClass::ag_write)) == "ag_write");
  REQUIRE(std::string(name_of(TrafficClass::control)) == "control");
}

}  // namespace t3vp::test::units_test
