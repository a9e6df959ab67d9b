#include "processor/control_bus.h"

#include <tlm_utils/simple_target_socket.h>

#include "program_bench.h"

namespace t3vp::test::control_bus_test {

using namespace processor;

using address_map::Block;

namespace {

constexpr std::uint16_t own_gpu = 2;
constexpr Picoseconds access_time = 100'000;
constexpr auto unbound_block = Block::tracker;

/// Answers everything and remembers the last access.
struct Recorder : sc_core::sc_module {
  tlm_utils::simple_target_socket_optional<Recorder, 64> socket{"socket"};
  tlm::tlm_response_status answer = tlm::TLM_OK_RESPONSE;
  unsigned accesses = 0, debug_accesses = 0;
  std::uint64_t address = 0;
  Picoseconds time = 0, delay = 0;

  explicit Recorder(const sc_core::sc_module_name& name) : sc_module(name) {
    socket.register_b_transport(this, &Recorder::transport);
    socket.register_transport_dbg(this, &Recorder::debug);
  }
  void transport(tlm::tlm_generic_payload& transaction, sc_core::sc_time& annotated) {
    ++accesses;
    address = transaction.get_address();
    time = now();
    delay = from_sc_time(annotated);
    transaction.set_response_status(answer);
  }
  unsigned debug(tlm::tlm_generic_payload& transaction) {
    ++debug_accesses;
    address = transaction.get_address();
    return transaction.get_data_length();
  }
};

struct Errors : ErrorReport {
  std::vector<ErrorRecord> records;
  void report(const char*, const ErrorRecord& record) override { records.push_back(record); }
};

struct Bench : ProgramBench {
  ControlBus bus{"bus", own_gpu, access_time};
  Errors errors;
  std::vector<std::unique_ptr<Recorder>> blocks;
  Recorder memory{"memory_target"}, fabric{"fabric_target"};

  Bench() : ProgramBench(own_gpu) {
    checks.join(processor.socket, bus.processor);
    bus.errors.bind(errors);
    checks.join(bus.memory, memory.socket);
    checks.join(bus.remote, fabric.socket);
    for (unsigned i = 0; i < static_cast<unsigned>(Block::count); ++i) {
      blocks.push_back(std::make_unique<Recorder>(("target_" + std::to_string(i)).c_str()));
      if (static_cast<Block>(i) != unbound_block) checks.join(bus.blocks[i], blocks.back()->socket);
    }
  }
};

std::uint64_t local(std::uint64_t address) { return address_map::on_gpu(own_gpu, address); }

}  // namespace

TEST_CASE("a register block sees the offset in the block, after the register access time") {
  Bench bench;
  bench.run([&](CommandProcessor& p) {
    for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(Block::count); ++i) {
      const auto block = static_cast<Block>(i);
      if (block == unbound_block) continue;
      std::uint32_t value;
      REQUIRE(p.read32(local(address_map::block_base(block)) + 0x24, value) == Status::ok);
      REQUIRE(bench.blocks[i]->accesses == 1);
      REQUIRE(bench.blocks[i]->address == 0x24);
      REQUIRE(bench.blocks[i]->delay == access_time);
    }
  });
  REQUIRE(bench.errors.records.empty());
}

TEST_CASE("memory sees the whole address, at once") {
  Bench bench;
  const std::uint64_t address = local(address_map::hbm_limit - 8);
  bench.run([&](CommandProcessor& p) {
    std::uint64_t value;
    REQUIRE(p.read64(address, value) == Status::ok);
  });
  REQUIRE(bench.memory.address == address);
  REQUIRE(bench.memory.delay == 0);
}

TEST_CASE("another GPU is reached through the fabric, after the access time and at the time that it is") {
  Bench bench;
  const std::uint64_t address = address_map::on_gpu(5, address_map::block_base(Block::signals) + 0x1000);
  bench.run([&](CommandProcessor& p) {
    p.wait_ns(300);
    REQUIRE(p.write64(address, 1) == Status::ok);
  });
  REQUIRE(bench.fabric.address == address);
  REQUIRE(bench.fabric.delay == 0);
  REQUIRE(bench.fabric.time == 300'000 + access_time);
}

TEST_CASE("what nobody serves is an address error and is logged") {
  Bench bench;
  const std::uint64_t nowhere[] = {
      local(address_map::hbm_limit),                  // between memory and registers
      local(address_map::registers_base - 4),         //
      local(address_map::block_base(unbound_block)),  //
      local(address_map::block_base(Block::count)),   // behind the last block
      local(address_map::local_mask - 3),             //
  };
  bench.run([&](CommandProcessor& p) {
    for (const std::uint64_t address : nowhere) {
      REQUIRE(p.write32(address, 1) == Status::bad_address);
      REQUIRE(bench.errors.records.back().address == address);
      REQUIRE(bench.errors.records.back().code == static_cast<std::uint32_t>(Status::bad_address));
    }
  });
  REQUIRE(bench.errors.records.size() == std::size(nowhere));
}

TEST_CASE("what nobody serves takes the access time of a register") {
  Bench bench;
  bench.run([&](CommandProcessor& p) {
    std::uint32_t value;
    for (Picoseconds i = 1; i <= 3; ++i) {
      REQUIRE(p.read32(local(address_map::hbm_limit), value) == Status::bad_address);
      p.wait_ns(0);
      REQUIRE(now() == i * access_time);
    }
  });
}

TEST_CASE("what a target refuses comes back as it is, and is the target's to log") {
  Bench bench;
  bench.fabric.answer = tlm::TLM_ADDRESS_ERROR_RESPONSE;
  bench.memory.answer = tlm::TLM_BURST_ERROR_RESPONSE;
  bench.run([&](CommandProcessor& p) {
    REQUIRE(p.write64(address_map::on_gpu(9, 0), 1) == Status::bad_address);
    REQUIRE(p.write64(local(0), 1) == Status::bad_access);
  });
  REQUIRE(bench.errors.records.empty());
}

TEST_CASE("debug transport goes the same ways in no time and logs nothing") {
  Bench bench;
  bench.run([&](CommandProcessor& p) {
    const auto debug = [&](std::uint64_t address) {
      std::uint32_t data = 0;
      tlm::tlm_generic_payload transaction;
      transaction.set_command(tlm::TLM_READ_COMMAND);
      transaction.set_address(address);
      transaction.set_data_ptr(reinterpret_cast<unsigned char*>(&data));
      transaction.set_data_length(sizeof data);
      return p.socket->transport_dbg(transaction);
    };
    REQUIRE(debug(local(address_map::block_base(Block::dma) + 8)) == 4);
    REQUIRE(bench.blocks[static_cast<std::size_t>(Block::dma)]->address == 8);
    REQUIRE(debug(local(0x80)) == 4);
    REQUIRE(bench.memory.address == local(0x80));
    REQUIRE(debug(address_map::on_gpu(1, 0x80)) == 4);
    REQUIRE(bench.fabric.address == address_map::on_gpu(1, 0x80));
    REQUIRE(debug(local(address_map::hbm_limit)) == 0);
  });
  REQUIRE(sc_core::sc_time_stamp() == sc_core::SC_ZERO_TIME);
  REQUIRE(bench.errors.records.empty());
}

}  // namespace t3vp::test::control_bus_test
