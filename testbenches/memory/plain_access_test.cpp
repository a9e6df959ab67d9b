#include "data_path/foreign_access.h"
#include "memory/memory_bench.h"

namespace t3vp::test::plain_access_test {

using namespace memory;

namespace {

ForeignAnswer write(MemoryBench& bench, std::uint64_t address, const std::vector<unsigned char>& data) {
  return blocking_access(bench.plain.socket, tlm::TLM_WRITE_COMMAND, address, data);
}
ForeignAnswer read(MemoryBench& bench, std::uint64_t address, std::size_t bytes) {
  return blocking_access(bench.plain.socket, tlm::TLM_READ_COMMAND, address, std::vector<unsigned char>(bytes));
}

}  // namespace

TEST_CASE("plain memory and the data path see the same bytes") {
  MemoryBench bench;
  Random random(4);
  const std::uint64_t address = BackingStore::page_bytes - 50;
  const auto data = random.bytes(100);
  REQUIRE(write(bench, local(address), data).status == tlm::TLM_OK_RESPONSE);
  REQUIRE(bench.load(address, {1, 100, 0}).data == data);
  const auto other = random.bytes(100);
  REQUIRE(bench.store(address, {1, 100, 0}, other).ok());
  REQUIRE(read(bench, local(address), 100).data == other);
}

TEST_CASE("a plain access takes time, a debug access none") {
  MemoryBench bench;
  const Picoseconds begin = now();
  REQUIRE(write(bench, local(0), std::vector<unsigned char>(8, 5)).at > begin);

  tlm::tlm_generic_payload debug;
  std::vector<unsigned char> data(8);
  debug.set_command(tlm::TLM_READ_COMMAND);
  debug.set_address(local(0));
  debug.set_data_ptr(data.data());
  debug.set_data_length(8);
  const Picoseconds before = now();
  REQUIRE(bench.plain.socket->transport_dbg(debug) == 8);
  REQUIRE(now() == before);
  REQUIRE(data == std::vector<unsigned char>(8, 5));
}

TEST_CASE("DMI gives the pages of the memory") {
  MemoryBench bench;
  const std::uint64_t address = 5 * BackingStore::page_bytes + 123;
  tlm::tlm_generic_payload request;
  request.set_address(local(address));
  request.set_command(tlm::TLM_WRITE_COMMAND);
  tlm::tlm_dmi dmi;
  REQUIRE(bench.plain.socket->get_direct_mem_ptr(request, dmi));
  REQUIRE(dmi.is_read_write_allowed());
  REQUIRE(dmi.get_start_address() <= local(address));
  REQUIRE(dmi.get_end_address() >= local(address));
  dmi.get_dmi_ptr()[local(address) - dmi.get_start_address()] = 77;
  *(dmi.get_dmi_ptr() + (dmi.get_end_address() - dmi.get_start_address())) = 78;
  REQUIRE(bench.load(address, {1, 1, 0}).data.front() == 77);
  REQUIRE(bench.load(address_map::local_of(dmi.get_end_address()), {1, 1, 0}).data.front() == 78);

  request.set_address(local(bench.parameters.capacity_bytes));
  REQUIRE_FALSE(bench.plain.socket->get_direct_mem_ptr(request, dmi));
  request.set_address(address_map::on_gpu(0, 0));
  REQUIRE_FALSE(bench.plain.socket->get_direct_mem_ptr(request, dmi));
}

TEST_CASE("plain accesses outside the memory are errors that are logged") {
  MemoryBench bench;
  for (const std::uint64_t address : {local(bench.parameters.capacity_bytes),
                                      local(bench.parameters.capacity_bytes - 4), address_map::on_gpu(0, 0)}) {
    REQUIRE(read(bench, address, 8).status == tlm::TLM_ADDRESS_ERROR_RESPONSE);
    REQUIRE(bench.registers.take_report() == Status::bad_address);
  }
  REQUIRE(read(bench, local(bench.parameters.capacity_bytes - 8), 8).status == tlm::TLM_OK_RESPONSE);
}

}  // namespace t3vp::test::plain_access_test
