#include "node/gpu.h"

#include <catch2/catch.hpp>
#include <set>

#include "nic/wire.h"
#include "registers/catalogue.h"
#include "system/topology.h"

namespace t3vp::test::gpu_test {

namespace {

const t3_kernel* const no_kernels[] = {nullptr};

GpuParameters small() {
  GpuParameters parameters;
  parameters.memory.channels = 4;
  parameters.memory.capacity_bytes = std::uint64_t{64} << 20;
  return parameters;
}

GpuParameters with_all() {
  GpuParameters parameters = small();
  parameters.nic = nic::NicParameters();
  parameters.endpoint = endpoint::EndpointParameters();
  return parameters;
}

/// It has every block of the list.
struct Alone {
  Gpu gpu{"gpu0", with_all(), lay_out({}, 1).gpus[0], {}, no_kernels, nullptr};
  nic::Wire wire{"wire", {}};

  Alone() {
    wire.receivers.bind(gpu.packets());
    gpu.nic->wire.bind(wire);
  }
};

bool answers(Gpu& gpu, std::uint64_t address, std::uint32_t bytes) {
  std::uint64_t data = 0;
  tlm::tlm_generic_payload payload;
  payload.set_command(tlm::TLM_READ_COMMAND);
  payload.set_address(address);
  payload.set_data_ptr(reinterpret_cast<unsigned char*>(&data));
  payload.set_data_length(bytes);
  payload.set_streaming_width(bytes);
  return gpu.processor.socket->transport_dbg(payload) == bytes;
}

}  // namespace

TEST_CASE("every block of the list answers in its window of a GPU that is made from parameters alone") {
  Alone alone;
  alone.gpu.native().run([](processor::CommandProcessor&) { return Status::ok; });
  sc_core::sc_start();
  for (const registers::CatalogueEntry& entry : registers::catalogue) {
    INFO(entry.description.name);
    const std::uint64_t base = address_map::block_base(entry.block);
    for (const RegisterDescription& r : entry.description.registers)
      CHECK(answers(alone.gpu, base + r.offset, r.bytes));
  }
  CHECK_FALSE(answers(alone.gpu, address_map::block_base(address_map::Block::count), 4));
}

TEST_CASE("each interrupt line is the output that the list names for it") {
  Alone alone;
  alone.gpu.native().run([](processor::CommandProcessor&) { return Status::ok; });
  sc_core::sc_start();
  std::set<const sc_core::sc_interface*> signals;
  for (const address_map::LineSource& source : address_map::line_sources) {
    const std::string path = std::string("gpu0.") + source.port;
    INFO(path);
    auto* const output = dynamic_cast<sc_core::sc_port_base*>(sc_core::sc_find_object(path.c_str()));
    REQUIRE(output != nullptr);
    const sc_core::sc_interface* const signal = output->get_interface();
    CHECK(signal == alone.gpu.interrupts.lines[address_map::index_of(source.line)].get_interface());
    signals.insert(signal);
  }
  CHECK(signals.size() == std::size(address_map::line_sources));
}

TEST_CASE("what a program does wrong is logged with the GPU's number and raises the log's line") {
  Placement second = lay_out({}, 2).gpus[1];
  second.neighbours.clear();
  second.route.assign(2, interconnect::Hop{});
  second.receivers = 0;
  Gpu gpu("gpu1", small(), second, {}, no_kernels, nullptr);
  std::uint32_t pending = 0;
  gpu.native().run([&](processor::CommandProcessor& p) {
    const std::uint64_t controller =
        address_map::on_gpu(1, address_map::block_base(address_map::Block::interrupt_controller));
    p.write32(controller, 1);  // pending is read-only
    p.wait_ns(10);
    return p.read32(controller, pending);
  });
  sc_core::sc_start();
  REQUIRE(gpu.processor.status() == Status::ok);
  CHECK(pending == address_map::bit_of(address_map::Line::error_log));
  REQUIRE(gpu.error_log.records().size() == 1);
  CHECK(address_map::gpu_of(gpu.error_log.records()[0].record.address) == 1);
}

TEST_CASE("blocks bring their figures along, in the order of construction") {
  Alone alone;
  std::vector<std::string> groups;
  alone.gpu.visit_statistics([&](const std::string& name, auto&, auto&, double) {
    const std::string group = name.substr(0, name.find('.'));
    if (groups.empty() || groups.back() != group) groups.push_back(group);
  });
  CHECK(groups == std::vector<std::string>{"processor", "compute", "output_map", "cache", "dram", "tracker", "dma",
                                           "nic", "endpoint"});
}

}  // namespace t3vp::test::gpu_test
