// The near-memory unit by itself: which triggers pass, what it reads and writes, in which order, and with which values.
#include <catch2/catch.hpp>

#include <cmath>
#include <map>

#include "data_path/checked_sockets.h"
#include "data_path/initiator.h"
#include "data_path/named_registers.h"
#include "data_path/target.h"
#include "memory/following_operations.h"
#include "protocol/address_map.h"
#include "protocol/element.h"

namespace t3vp::test::following_unit_test {

using namespace memory;

namespace {

constexpr std::uint16_t gpu = 1;
constexpr std::uint64_t stride = 64;  // bytes of a row: 16 elements of fp32
constexpr Shape tile{2, 32, stride};  // 2 rows of 8 elements
enum Operations : std::uint64_t { bias = 1, dropout = 2, residual = 4, adam = 8 };

std::uint64_t at(std::uint64_t offset) { return address_map::on_gpu(gpu, offset); }
std::uint64_t bits_of(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

/// Memory is a word of fp32 for each address, and answers after 100 ns.
struct Bench {
  const std::uint64_t output = at(0x1000), biases = at(0x2000), residuals = at(0x3000), means = at(0x4000),
                      squares = at(0x5000), weights = at(0x6000);
  registers::NearMemory block{"near_memory"};
  FollowingOperations unit{"unit", block, true, gpu};
  DataInitiator tracker{"tracker"};
  DataTarget dma{"dma"}, memory{"memory"};
  NamedRegisters registers{"registers", block};
  CheckedSockets checks;
  std::map<std::uint64_t, float> words;

  Bench() {
    checks.join_test(tracker.socket, unit.trigger);
    checks.join(unit.complete, dma.socket);
    checks.join(unit.memory, memory.socket);
    memory.latency = 100'000;
    memory.serve = [this](tlm::tlm_generic_payload& access) { return serve(access); };
    for (const auto& [name, value] : {std::pair{"follow_output", output},
                                      {"follow_bytes", 4 * stride},
                                      {"follow_stride", stride},
                                      {"follow_bias", biases},
                                      {"follow_residual", residuals},
                                      {"follow_means", means},
                                      {"follow_squares", squares},
                                      {"follow_weights", weights},
                                      {"follow_first", std::uint64_t{3}},
                                      {"follow_workgroups", std::uint64_t{2}},
                                      {"follow_keep", bits_of(0.5F)},
                                      {"follow_rate", bits_of(0.25F)}})
      registers.set(name, value);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }

  tlm::tlm_response_status serve(tlm::tlm_generic_payload& access) {
    const DataExtension& extension = extension_of(access);
    auto* value = reinterpret_cast<float*>(access.get_data_ptr());
    for (std::uint32_t row = 0; row < extension.shape.rows; ++row)
      for (std::uint32_t i = 0; i < extension.shape.row_bytes / 4; ++i, ++value) {
        float& word = words[access.get_address() + row * extension.shape.stride + 4 * i];
        if (extension.operation == Operation::load)
          *value = word;
        else
          word = *value + (extension.operation == Operation::update ? word : 0);
      }
    return tlm::TLM_OK_RESPONSE;
  }

  void follow(std::uint64_t operations) { registers.set("follow_operation", operations); }

  /// The Tracker has counted a wavefront tile of the workgroup.
  void trigger(std::uint64_t address, std::uint32_t workgroup, Picoseconds delay = 0) {
    DataAccess message;
    message.operation = Operation::store;
    message.address = address;
    message.shape = tile;
    message.element = ElementType::fp32;
    message.producer = {workgroup, 0, gpu};
    tracker.send(message, delay);
  }
  void run(double ns) { sc_core::sc_start(sc_core::sc_time(ns, sc_core::SC_NS)); }

  /// The element of a matrix at the tile's row and column.
  float& word(std::uint64_t matrix, std::uint32_t row, std::uint32_t column) {
    return words[matrix + row * stride + 4 * column];
  }
};

}  // namespace

TEST_CASE("a trigger outside the chunk passes at once and touches no memory") {
  Bench bench;
  bench.follow(bias);
  bench.trigger(bench.output, 2);               // a workgroup before
  bench.trigger(bench.output, 5);               // one behind
  bench.trigger(bench.output - 64, 3);          // an address before
  bench.trigger(bench.output + 4 * stride, 3);  // one behind
  bench.follow(0);
  bench.trigger(bench.output, 3);  // nothing follows
  bench.run(1);
  REQUIRE(bench.dma.arrivals().size() == 5);
  REQUIRE(bench.memory.arrivals().empty());
  REQUIRE(bench.registers["followed"] == 0);
}

TEST_CASE("a tile passes when its result is written, and not before") {
  Bench bench;
  bench.follow(bias | residual);
  bench.trigger(bench.output, 3);
  bench.run(99);
  REQUIRE(bench.memory.arrivals().size() == 2);
  bench.run(100);  // the operands came after 100 ns, the update is on its way until 200 ns
  REQUIRE(bench.memory.arrivals().size() == 3);
  REQUIRE(bench.dma.arrivals().empty());
  REQUIRE_FALSE(bench.unit.diagnosis().empty());
  bench.run(2);
  REQUIRE(bench.dma.arrivals().size() == 1);
  CHECK(bench.dma.arrivals()[0].at == 200'000);
  CHECK(bench.dma.arrivals()[0].address == bench.output);
  CHECK(bench.registers["followed"] == 1);
  CHECK(bench.unit.diagnosis().empty());
}

TEST_CASE("operands are asked for when the trigger comes: a tile of the residual and one row of the bias") {
  Bench bench;
  bench.follow(bias | residual);
  bench.trigger(bench.output, 3, 40'000);
  bench.run(300);
  const auto& accesses = bench.memory.arrivals();
  REQUIRE(accesses.size() == 3);
  CHECK(accesses[0].at == 40'000);
  CHECK(accesses[0].extension.shape.bytes() == tile.row_bytes);
  CHECK(accesses[1].at == 40'000);
  CHECK(accesses[1].extension.shape.bytes() == tile.bytes());
  CHECK(accesses[2].at == 140'000);
}

TEST_CASE("a bias is added by column, and a residual by place") {
  Bench bench;
  const std::uint64_t second = bench.output + 2 * stride + 32;  // rows 2 and 3, columns 8 to 15
  for (std::uint32_t column = 8; column < 16; ++column) {
    bench.word(bench.biases, 0, column) = static_cast<float>(column);
    for (const std::uint32_t row : {2U, 3U}) {
      bench.word(bench.output, row, column) = 1000;
      bench.word(bench.residuals, row, column) = static_cast<float>(100 * row);
    }
  }
  bench.follow(bias | residual);
  bench.trigger(second, 4);
  bench.run(300);
  for (std::uint32_t column = 8; column < 16; ++column)
    for (const std::uint32_t row : {2U, 3U})
      CHECK(bench.word(bench.output, row, column) == static_cast<float>(1000 + column + 100 * row));
}

TEST_CASE("dropout loads the sums and stores them doubled or as zeros") {
  Bench bench;
  for (std::uint32_t i = 0; i < 16; ++i) bench.word(bench.output, i / 8, i % 8) = 3;
  bench.follow(dropout);
  bench.trigger(bench.output, 3);
  bench.run(300);
  unsigned kept = 0;
  for (std::uint32_t i = 0; i < 16; ++i) {
    const float value = bench.word(bench.output, i / 8, i % 8);
    CHECK((value == 0 || value == 6));
    kept += value == 6;
  }
  CHECK(kept > 0);
  CHECK(kept < 16);
}

TEST_CASE("Adam's step reads four operands, writes three and leaves the gradient") {
  Bench bench;
  for (std::uint32_t i = 0; i < 16; ++i) {
    bench.word(bench.output, i / 8, i % 8) = static_cast<float>(i) - 8;
    bench.word(bench.means, i / 8, i % 8) = 2;
    bench.word(bench.squares, i / 8, i % 8) = 4;
    bench.word(bench.weights, i / 8, i % 8) = 10;
  }
  bench.follow(adam);
  bench.trigger(bench.output, 3);
  bench.run(99);
  REQUIRE(bench.memory.arrivals().size() == 4);
  bench.run(100);
  REQUIRE(bench.memory.arrivals().size() == 7);
  REQUIRE(bench.dma.arrivals().empty());
  bench.run(2);
  REQUIRE(bench.dma.arrivals().size() == 1);
  CHECK(bench.registers["followed"] == 1);
  for (std::uint32_t i = 0; i < 16; ++i) {
    CAPTURE(i);
    const double g = i - 8.0, mean = 0.9 * 2 + 0.1 * g, square = 0.999 * 4 + 0.001 * g * g;
    CHECK(bench.word(bench.output, i / 8, i % 8) == static_cast<float>(g));
    CHECK(bench.word(bench.means, i / 8, i % 8) == Approx(mean).margin(1e-6));
    CHECK(bench.word(bench.squares, i / 8, i % 8) == Approx(square).epsilon(1e-6));
    CHECK(bench.word(bench.weights, i / 8, i % 8) == Approx(10 - 0.25 * mean / std::sqrt(square)).epsilon(1e-6));
  }
}

TEST_CASE("what is staged wrongly is refused by its register's name when the operation is written") {
  struct Wrong {
    const char* name;
    std::uint64_t value;
    Operations operation;
  };
  Bench bench;
  for (const Wrong& wrong :
       {Wrong{"follow_stride", 0, bias}, Wrong{"follow_stride", 40, bias}, Wrong{"follow_output", at(0x1004), bias},
        Wrong{"follow_bias", at(4), bias}, Wrong{"follow_residual", at(4), residual},
        Wrong{"follow_means", at(4), adam}, Wrong{"follow_squares", at(4), adam}, Wrong{"follow_weights", at(4), adam},
        Wrong{"follow_keep", bits_of(0), dropout}, Wrong{"follow_keep", bits_of(1.5F), dropout},
        Wrong{"follow_rate", bits_of(INFINITY), adam}}) {
    CAPTURE(wrong.name, wrong.value);
    const std::uint64_t right = bench.registers[wrong.name];
    bench.registers.set(wrong.name, wrong.value);
    bench.registers.set("follow_operation", wrong.operation);
    REQUIRE(bench.registers.reported.size() == 1);
    CHECK_THAT(bench.registers.reported[0].text, Catch::Contains(wrong.name));
    bench.registers.reported.clear();
    bench.registers.set(wrong.name, right);
  }
  bench.registers.set("follow_operation", adam | bias);
  REQUIRE(bench.registers.reported.size() == 1);
  CHECK_THAT(bench.registers.reported[0].text, Catch::Contains("adam without bias"));
  bench.registers.reported.clear();
}

TEST_CASE("an operation that is changed under its tiles ends neither in a crash nor in a wait") {
  Bench bench;
  bench.follow(bias);
  bench.trigger(bench.output, 3);
  bench.run(50);
  bench.follow(adam);
  bench.trigger(bench.output + 32, 3);
  bench.run(50);
  bench.follow(dropout);
  bench.run(500);
  CHECK(bench.dma.arrivals().size() == 2);
  CHECK(bench.unit.diagnosis().empty());
}

TEST_CASE("a reset forgets the tiles whose operands are on their way") {
  Bench bench;
  bench.follow(bias);
  bench.trigger(bench.output, 3);
  bench.run(50);
  bench.unit.reset();
  bench.run(500);
  CHECK(bench.dma.arrivals().empty());
  CHECK(bench.unit.diagnosis().empty());
  bench.trigger(bench.output, 3);
  bench.run(500);
  CHECK(bench.dma.arrivals().size() == 1);
}

TEST_CASE("an operand in no memory is an entry of the error log, and the tile passes") {
  Bench bench;
  bench.memory.serve = [&bench](tlm::tlm_generic_payload& access) {
    return access.is_write() ? bench.serve(access) : tlm::TLM_ADDRESS_ERROR_RESPONSE;
  };
  bench.follow(adam);
  bench.trigger(bench.output, 3);
  bench.run(500);
  CHECK(bench.dma.arrivals().size() == 1);
  REQUIRE(bench.registers.reported.size() == 4);
  CHECK_THAT(bench.registers.reported[0].text, Catch::Contains("cannot be read"));
  bench.registers.reported.clear();
}

TEST_CASE("a result in no memory is an entry of the error log, and the tile passes") {
  Bench bench;
  bench.memory.serve = [&bench](tlm::tlm_generic_payload& access) {
    return access.is_write() ? tlm::TLM_ADDRESS_ERROR_RESPONSE : bench.serve(access);
  };
  bench.follow(bias);
  bench.trigger(bench.output, 3);
  bench.run(500);
  CHECK(bench.dma.arrivals().size() == 1);
  REQUIRE(bench.registers.reported.size() == 1);
  CHECK_THAT(bench.registers.reported[0].text, Catch::Contains("cannot be written"));
  bench.registers.reported.clear();
}

}  // namespace t3vp::test::following_unit_test
