// Gates: workgroups that the dispatcher holds until a counter has reached a value (T3 section 7.2).
#include <algorithm>

#include "gemm_case.h"

namespace t3vp::test::gates_test {

using namespace compute;

namespace {

struct Gated {
  ClusterBench bench{ClusterBench::small()};
  GemmCase gemm{bench.parameters, 5 * 32, 64, 16, ElementType::fp32};  // 10 workgroups
  std::mt19937 random{1};

  Gated() { gemm.fill(bench.memory, random, 3); }

  Status gate(std::uint64_t packet, std::uint32_t first, std::uint32_t workgroups, std::uint32_t counter,
              std::uint64_t value, std::uint32_t queue = 0) {
    NamedRegisters& r = bench.gpu().registers;
    r.set("gate_packet", packet);
    r.set("gate_first", first);
    r.set("gate_workgroups", workgroups);
    r.set("gate_counter", counter);
    r.set("gate_value", value);
    r.set("gate_queue", queue);
    r.set("gate_command", 1);
    return static_cast<Status>(r["gate_status"] & 0xFF);
  }
  void start() {
    bench.gpu().put(bench.memory, gemm.packet);
    bench.gpu().ring();
  }
  Status run() {
    start();
    REQUIRE(bench.finish());
    return bench.gpu().error();
  }
  /// Workgroups in the order of their stores.
  std::vector<std::uint32_t> stored() {
    std::vector<std::uint32_t> order;
    for (const LoggedAccess& store : bench.memory.accesses(Operation::store))
      if (std::find(order.begin(), order.end(), store.producer.wg_id) == order.end())
        order.push_back(store.producer.wg_id);
    std::sort(order.begin(), order.end());
    return order;
  }
};

}  // namespace

TEST_CASE("a gate holds its workgroups and no others until its counter has the value") {
  Gated g;
  REQUIRE(g.gate(1, 2, 3, 5, 2) == Status::ok);
  CHECK(g.bench.gpu().registers["gates"] == 1);
  g.start();
  REQUIRE_FALSE(g.bench.finish());
  CHECK(g.stored() == std::vector<std::uint32_t>{0, 1, 5, 6, 7, 8, 9});
  CHECK(g.bench.gpu().registers["gates"] == 0);
  g.bench.memory.add_signal(0, 5, 1);
  REQUIRE_FALSE(g.bench.finish());
  CHECK(g.stored().size() == 7);
  g.bench.memory.add_signal(0, 5, 1);
  REQUIRE(g.bench.finish());
  CHECK(g.stored().size() == 10);
  CHECK(g.bench.gpu().error() == Status::ok);
  CHECK(g.gemm.result(g.bench.memory) == g.gemm.expected());
}

TEST_CASE("workgroups of several gates wait for all of them") {
  Gated g;
  REQUIRE(g.gate(1, 0, 6, 5, 1) == Status::ok);
  REQUIRE(g.gate(1, 4, 6, 6, 1) == Status::ok);
  g.start();
  REQUIRE_FALSE(g.bench.finish());
  CHECK(g.stored().empty());
  g.bench.memory.add_signal(0, 6, 1);
  REQUIRE_FALSE(g.bench.finish());
  CHECK(g.stored() == std::vector<std::uint32_t>{6, 7, 8, 9});
  g.bench.memory.add_signal(0, 5, 1);
  REQUIRE(g.bench.finish());
  CHECK(g.gemm.result(g.bench.memory) == g.gemm.expected());
}

TEST_CASE("a gate whose counter has the value holds nothing, and takes no time") {
  Gated g;
  const Picoseconds usual = g.bench.run(g.gemm.packet);
  g.bench.memory.add_signal(0, 5, 3);
  REQUIRE(g.gate(2, 0, 10, 5, 3) == Status::ok);
  CHECK(g.bench.run(g.gemm.packet) == usual);
}

TEST_CASE("a gate is of its packet alone") {
  Gated g;
  REQUIRE(g.gate(2, 0, 10, 5, 1) == Status::ok);
  CHECK(g.run() == Status::ok);
  g.start();
  REQUIRE_FALSE(g.bench.finish());
  g.bench.memory.add_signal(0, 5, 1);
  REQUIRE(g.bench.finish());
  CHECK(g.run() == Status::ok);
}

TEST_CASE("an abort ends a kernel whose workgroups are held") {
  Gated g;
  REQUIRE(g.gate(1, 0, 10, 5, 1) == Status::ok);
  g.start();
  REQUIRE_FALSE(g.bench.finish());
  g.bench.gpu().abort();
  g.bench.memory.withdraw_waits();
  REQUIRE(g.bench.finish());
  CHECK(g.bench.gpu().error() == Status::aborted);
  CHECK(g.run() == Status::ok);
}

// Workgroup 9 stores beyond memory's answer: nothing opens the gate of the others, and the kernel ends all the same.
TEST_CASE("a kernel that fails does not wait for its gates") {
  Gated g;
  g.bench.memory.judge = [](const LoggedAccess& access) {
    return access.operation == Operation::store && access.producer.wg_id == 9 ? tlm::TLM_ADDRESS_ERROR_RESPONSE
                                                                              : tlm::TLM_OK_RESPONSE;
  };
  REQUIRE(g.gate(1, 0, 9, 5, 1) == Status::ok);
  g.start();
  REQUIRE_FALSE(g.bench.finish());
  REQUIRE(g.bench.gpu().withdraw.read() == 1);
  g.bench.memory.withdraw_waits();
  REQUIRE(g.bench.finish());
  CHECK(g.bench.gpu().error() != Status::ok);
  g.bench.memory.judge = nullptr;
  CHECK(g.run() == Status::ok);
}

TEST_CASE("wrong gates are refused and hold nothing") {
  Gated g;
  CHECK(g.gate(1, 0, 0, 5, 1) == Status::invalid_argument);
  CHECK(g.gate(1, 0, 1, 0, 1) == Status::invalid_argument);
  CHECK(g.gate(1, 0, 1, 512, 1) == Status::invalid_argument);
  CHECK(g.gate(1, 0, 1, 5, 1, 16) == Status::invalid_argument);
  CHECK(g.gate(0, 0, 1, 5, 1) == Status::busy);
  CHECK(g.run() == Status::ok);
  CHECK(g.gate(1, 0, 1, 5, 1) == Status::busy);
  for (std::uint32_t i = 0; i < GateTable::capacity; ++i) REQUIRE(g.gate(3, 0, 1, 5, 1) == Status::ok);
  CHECK(g.gate(3, 0, 1, 5, 1) == Status::table_full);
  CHECK(g.bench.gpu().registers["gates"] == g.bench.gpu().registers["gate_capacity"]);
  g.bench.gpu().registers.set("gate_command", 2);
  CHECK(g.bench.gpu().registers["gates"] == 0);
  CHECK(g.run() == Status::ok);
}

TEST_CASE("a packet is refused whose kernel has no such workgroups") {
  Gated g;
  REQUIRE(g.gate(1, 9, 2, 5, 1) == Status::ok);
  CHECK(g.run() == Status::bad_packet);
  REQUIRE(g.gate(2, 10, 1, 5, 1) == Status::ok);
  CHECK(g.run() == Status::bad_packet);
  REQUIRE(g.gate(3, 9, 1, 5, 0) == Status::ok);
  CHECK(g.run() == Status::ok);
}

TEST_CASE("a reset forgets gates") {
  Gated g;
  REQUIRE(g.gate(1, 0, 10, 5, 1) == Status::ok);
  g.bench.gpu().cluster.registers.reset();
  CHECK(g.bench.gpu().registers["gates"] == 0);
  CHECK(g.bench.gpu().registers["gate_capacity"] == GateTable::capacity);
}

}  // namespace t3vp::test::gates_test
