// Memory that is zero until it is written, by valid bits: whatever it holds, it is as if zeros had been written there.
#include <cstring>

#include "memory/memory_bench.h"

namespace t3vp::test::valid_bits_test {

using namespace memory;

namespace {

constexpr std::uint64_t base = BackingStore::page_bytes - 4096, bytes = 8192;

MemoryParameters with_bits(std::uint64_t valid_bits_bytes = 64) {
  MemoryParameters parameters = MemoryBench::small();
  parameters.valid_bits_bytes = valid_bits_bytes;
  return parameters;
}

struct ValidBitsBench : MemoryBench {
  ValidBitsBench() : MemoryBench(with_bits()) { plain_write(base - 64, std::vector<unsigned char>(bytes + 128, 0xFF)); }

  Status arm(std::uint64_t address, std::uint64_t size) {
    near_memory.set("valid_base", address);
    near_memory.set("valid_bytes", size);
    near_memory.set("command", 1);
    return near_memory.command_status();
  }
  void plain_write(std::uint64_t address, std::vector<unsigned char> data) {
    plain_access(tlm::TLM_WRITE_COMMAND, address, data);
  }
  std::vector<unsigned char> plain_read(std::uint64_t address, std::size_t size) {
    std::vector<unsigned char> data(size);
    plain_access(tlm::TLM_READ_COMMAND, address, data);
    return data;
  }
  double statistic(const std::string& name) {
    double found = -1;
    controller.visit_statistics([&](const std::string& one, const std::string&, const std::string&, double value) {
      if (one == name) found = value;
    });
    return found;
  }
  DataAccess update(std::uint64_t address, const Shape& shape, ElementType type, std::vector<unsigned char> data) {
    return {Operation::update,
            local(address),
            shape,
            std::move(data),
            Stream::compute,
            TrafficClass::gemm_write,
            type,
            {},
            0};
  }

 private:
  void plain_access(tlm::tlm_command command, std::uint64_t address, std::vector<unsigned char>& data) {
    tlm::tlm_generic_payload access;
    access.set_command(command);
    access.set_address(local(address));
    access.set_data_ptr(data.data());
    access.set_data_length(static_cast<unsigned>(data.size()));
    access.set_streaming_width(access.get_data_length());
    sc_core::sc_time delay;
    plain.socket->b_transport(access, delay);
    REQUIRE(access.is_response_ok());
  }
};

/// Random updates and stores, parts of sectors among them, by two sources that race.
void check_random(ElementType type) {
  ValidBitsBench bench;
  Random random(5);
  BackingStore expected;
  const std::uint32_t element = bytes_of(type);
  REQUIRE(bench.arm(local(base), bytes) == Status::ok);
  for (int i = 0; i < 400; ++i) {
    const std::uint32_t rows = 1 + random.below(4), row_bytes = element * (1 + random.below(48));
    const std::uint64_t stride = element * (row_bytes / element + random.below(64));
    const std::uint64_t span = (rows - 1) * stride + row_bytes,
                        address = base + element * random.below(static_cast<std::uint32_t>((bytes - span) / element));
    std::vector<unsigned char> data(std::size_t{rows} * row_bytes, 0);
    for (std::size_t at = element - 1; at < data.size(); at += element)
      data[at] = static_cast<unsigned char>(0x38 + random.below(8));
    DataAccess access = bench.update(address, {rows, row_bytes, stride}, type, data);
    if (random.below(8) == 0) access.operation = Operation::store;
    for (std::uint32_t row = 0; row < rows; ++row)
      if (access.operation == Operation::store)
        expected.write(address + row * stride, data.data() + row * row_bytes, row_bytes);
      else
        expected.update(type, address + row * stride, data.data() + row * row_bytes, row_bytes);
    bench.send(random.coin() ? bench.bypass : bench.peers, access, static_cast<Picoseconds>(i) * 100);
  }
  bench.settle();
  std::vector<unsigned char> all(bytes);
  expected.read(base, all.data(), bytes);
  REQUIRE((bench.load(base, {1, bytes, 0}).data == all));
  REQUIRE((bench.plain_read(base, bytes) == all));
  for (const std::uint64_t beside : {base - 64, base + bytes})  // what is not armed is left alone
    REQUIRE(bench.plain_read(beside, 64) == std::vector<unsigned char>(64, 0xFF));
}

}  // namespace

TEST_CASE("with valid bits fp16 updates and stores over NaN are as over zeros") { check_random(ElementType::fp16); }
TEST_CASE("with valid bits bf16 updates and stores over NaN are as over zeros") { check_random(ElementType::bf16); }
TEST_CASE("with valid bits fp32 updates and stores over NaN are as over zeros") { check_random(ElementType::fp32); }

TEST_CASE("the first update of each 32 bytes is a write whoever comes first and every later one an update") {
  ValidBitsBench bench;
  REQUIRE(bench.arm(local(base), bytes) == Status::ok);
  const auto count = [&](const char* name) { return static_cast<std::uint64_t>(bench.statistic(name)); };
  const auto add = [&](DataInitiator& source, std::uint64_t address, std::uint32_t size) {
    REQUIRE(bench.perform(source, bench.update(address, {1, size, 0}, ElementType::fp16, {})).ok());
  };
  REQUIRE(bench.near_memory["not_valid"] == bytes / 32);
  add(bench.bypass, base, 1024);
  CHECK(count("writes") == 32);
  CHECK(count("updates") == 0);
  add(bench.peers, base + 512, 1024);  // half of it was there
  CHECK(count("writes") == 48);
  CHECK(count("updates") == 16);
  add(bench.peers, base + 1536 + 8, 8);  // part of a sector is the whole sector's first
  add(bench.peers, base + 1536, 8);
  CHECK(count("writes") == 49);
  CHECK(count("updates") == 17);
  add(bench.peers, base - 32, 64);  // over the range's begin
  CHECK(count("writes") == 49);
  CHECK(count("updates") == 19);
  CHECK(count("first_updates") == 49);
  CHECK(bench.near_memory["not_valid"] == bytes / 32 - 49);
  bench.store(base + 4096, {1, 40, 0}, {});
  CHECK(bench.near_memory["not_valid"] == bytes / 32 - 51);
  CHECK(count("valid_bits") == bytes / 32 / 8);
}

TEST_CASE("armed memory reads as zero on every way before it is written and gives no DMI") {
  ValidBitsBench bench;
  tlm::tlm_generic_payload request;
  request.set_address(local(base));
  tlm::tlm_dmi dmi;
  REQUIRE(bench.plain.socket->get_direct_mem_ptr(request, dmi));
  REQUIRE(bench.arm(local(base), bytes) == Status::ok);
  REQUIRE_FALSE(bench.plain.socket->get_direct_mem_ptr(request, dmi));
  CHECK(bench.load(base + 100, {1, 60, 0}).data == std::vector<unsigned char>(60, 0));
  CHECK(bench.plain_read(base + 200, 60) == std::vector<unsigned char>(60, 0));
  CHECK(bench.near_memory["not_valid"] == bytes / 32);
  bench.plain_write(base + 36, {1, 2, 3, 4});
  CHECK(bench.plain_read(base + 32, 8) == std::vector<unsigned char>{0, 0, 0, 0, 1, 2, 3, 4});
  bench.perform(bench.bypass, bench.update(base + 32, {1, 4, 0}, ElementType::fp16, {0, 0x3C, 0, 0x3C}));
  CHECK(bench.plain_read(base + 32, 8) == std::vector<unsigned char>{0, 0x3C, 0, 0x3C, 1, 2, 3, 4});
  bench.store(base, {1, bytes, 0}, std::vector<unsigned char>(bytes, 7));
  CHECK(bench.plain.socket->get_direct_mem_ptr(request, dmi));
}

TEST_CASE("without valid bits an update of NaN is NaN") {
  ValidBitsBench bench;
  bench.perform(bench.bypass, bench.update(base, {1, 2, 0}, ElementType::fp16, {0, 0x3C}));
  CHECK((bench.plain_read(base, 2)[1] & 0x7C) == 0x7C);
}

TEST_CASE("a range is armed whole or not at all and not before the last one is written") {
  ValidBitsBench bench;
  const auto refused = [&](std::uint64_t address, std::uint64_t size, Status code) {
    CAPTURE(address, size);
    CHECK(bench.arm(address, size) == code);
    CHECK(bench.near_memory.take_report() == code);
    CHECK(bench.near_memory["not_valid"] == 0);
  };
  const std::uint64_t end = bench.parameters.capacity_bytes;
  refused(local(base + 8), 64, Status::unaligned);
  refused(local(base), 48, Status::unaligned);
  refused(local(base), 0, Status::bad_address);
  refused(local(end - 32), 64, Status::bad_address);
  refused(local(base), ~std::uint64_t{31}, Status::bad_address);
  refused(address_map::on_gpu(0, base), 64, Status::bad_address);
  refused(local(0), 64 * 8 * 32 + 32, Status::table_full);
  CHECK(bench.plain_read(base, 2) == std::vector<unsigned char>(2, 0xFF));

  REQUIRE(bench.near_memory["valid_storage"] == 64);
  REQUIRE(bench.arm(local(base), 64) == Status::ok);
  REQUIRE(bench.arm(local(base), 64) == Status::ok);  // the same once more
  CHECK(bench.arm(local(base + 64), 64) == Status::busy);
  CHECK(bench.near_memory.take_report() == Status::busy);
  bench.store(base, {1, 64, 0}, std::vector<unsigned char>(64, 1));
  CHECK(bench.arm(local(base + 64), 64) == Status::ok);
  bench.near_memory.set("command", 2);
  CHECK(bench.near_memory["not_valid"] == 0);
  CHECK(bench.plain_read(base + 64, 2) == std::vector<unsigned char>(2, 0xFF));
  CHECK(bench.plain_read(base, 2) == std::vector<unsigned char>(2, 1));
  REQUIRE(bench.arm(local(base), 64) == Status::ok);
  bench.controller.near_memory.reset();
  CHECK(bench.near_memory["not_valid"] == 0);
}

TEST_CASE("memory that a kernel writes or a map counts is not armed") {
  ValidBitsBench bench;
  bench.user.text = "a kernel runs that writes";
  bench.user.used = {local(base + 32), local(base + 64)};
  CHECK(bench.arm(local(base), 64) == Status::busy);
  REQUIRE(bench.near_memory.reported.size() == 1);
  CHECK_THAT(bench.near_memory.reported[0].text,
             Catch::StartsWith("64 bytes at 0x") && Catch::Contains(": a kernel runs that writes 0x"));
  bench.near_memory.reported.clear();
  CHECK(bench.near_memory["not_valid"] == 0);
  CHECK(bench.plain_read(base, 2) == std::vector<unsigned char>(2, 0xFF));
  CHECK(bench.arm(local(base + 64), 64) == Status::ok);
  bench.user.text.clear();
  bench.near_memory.set("command", 2);

  const std::pair<const char*, std::uint64_t> staged[] = {
      {"output_base", local(base)}, {"row_stride", 64}, {"rows", 2},    {"columns", 32},  {"tile_rows", 2},
      {"tile_columns", 32},         {"layout", 2},      {"updates", 1}, {"workgroups", 1}};
  for (const auto& [name, value] : staged) bench.tracker.set(name, value);
  bench.tracker.set("command", 1 | 2u << 4);
  REQUIRE(bench.tracker.command_status() == Status::ok);
  const auto update = [&](std::uint8_t wavefront) {
    DataAccess access =
        bench.update(base + wavefront * 64u, {1, 64, 64}, ElementType::fp16, std::vector<unsigned char>(64));
    access.producer = {0, wavefront, 0};
    bench.perform(bench.peers, access);
  };
  CHECK(bench.arm(local(base), 128) == Status::ok);  // nothing has come
  update(0);
  CHECK(bench.arm(local(base), 128) == Status::busy);
  CHECK_THAT(bench.near_memory.reported.back().text, Catch::Contains("1 of 2 wavefront tiles are complete"));
  CHECK(bench.near_memory.take_report() == Status::busy);
  CHECK(bench.near_memory["not_valid"] == 2);
  update(1);
  CHECK(bench.arm(local(base), 128) == Status::ok);
}

}  // namespace t3vp::test::valid_bits_test
