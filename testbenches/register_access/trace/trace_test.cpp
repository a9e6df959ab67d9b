// The trace's lines for accesses that are served, held, sent and refused.
#include <catch2/catch.hpp>
#include <sstream>

#include "register_access/names/register_names.h"
#include "register_access/trace/register_trace.h"
#include "system/topology.h"

namespace t3vp::test::trace_test {

namespace {

using processor::CommandProcessor;

const t3_kernel* const no_kernels[] = {nullptr};

/// Two GPUs of a ring; a register access takes 100 ns, the quantum is 1 us.
struct TracedNode {
  std::ostringstream text;
  RegisterTrace trace{text_sink(text)};
  Node node{"node", parameters(), no_kernels, nullptr};

  static NodeParameters parameters() {
    NodeParameters parameters;
    LinkTier tier;
    parameters.fabric = lay_out(tier, 2);
    parameters.gpus.resize(2);
    for (GpuParameters& gpu : parameters.gpus) {
      gpu.memory.channels = 4;
      gpu.memory.capacity_bytes = std::uint64_t{64} << 20;
      gpu.processor.register_access = 100'000;
      gpu.processor.quantum = 1'000'000;
    }
    return parameters;
  }

  void run(const std::function<void(CommandProcessor&)>& a, const std::function<void(CommandProcessor&)>& b = {}) {
    trace.observe(node);
    const std::function<void(CommandProcessor&)> programs[] = {a, b};
    for (std::size_t g = 0; g < 2; ++g)
      node.gpus()[g]->native().run([program = programs[g]](CommandProcessor& p) {
        if (program) program(p);
        return Status::ok;
      });
    sc_core::sc_start();
    trace.finish();
  }

  std::vector<std::string> lines() const {
    std::vector<std::string> lines;
    std::istringstream in(text.str());
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  }
};

std::uint64_t at(const std::string& name) { return find_register(name).address; }

void read(CommandProcessor& p, const std::string& name) {
  std::uint64_t wide = 0;
  std::uint32_t narrow = 0;
  const RegisterPlace place = find_register(name);
  if (place.description->bytes == 8)
    p.read64(place.address, wide);
  else
    p.read32(place.address, narrow);
}

}  // namespace

TEST_CASE("a line tells time and who and each field that changes from what to what") {
  TracedNode traced;
  traced.run([](CommandProcessor& p) {
    p.write32(at("gpu0.dma.rows"), 64);
    p.write32(at("gpu0.dma.rows"), 64);
    p.write32(at("gpu0.dma.layout"), 0x204);
    p.write32(at("gpu0.dma.layout"), 0x104);
    p.write32(at("gpu0.dma.layout"), 0);
    p.write32(at("gpu0.dma.layout"), 0);
    read(p, "gpu0.dma.layout");
    p.write64(at("gpu0.signals.value[7]"), 5000);
  });
  CHECK(traced.lines() ==
        std::vector<std::string>{
            "100.000 ns gpu0.processor writes 0x40: gpu0.dma.rows = 0 -> 64",
            "200.000 ns gpu0.processor writes 0x40: gpu0.dma.rows = 64",
            "300.000 ns gpu0.processor writes 0x204: gpu0.dma.layout.wavefronts = 0 -> 4, gpu0.dma.layout.element = "
            "fp16 -> fp32",
            "400.000 ns gpu0.processor writes 0x104: gpu0.dma.layout.wavefronts = 4, gpu0.dma.layout.element = fp32 -> "
            "bf16",
            "500.000 ns gpu0.processor writes 0x0: gpu0.dma.layout.wavefronts = 4 -> 0, gpu0.dma.layout.element = bf16 "
            "-> fp16",
            "600.000 ns gpu0.processor writes 0x0: gpu0.dma.layout.wavefronts = 0, gpu0.dma.layout.element = fp16",
            "700.000 ns gpu0.processor reads 0x0: gpu0.dma.layout.wavefronts = 0, gpu0.dma.layout.element = fp16",
            "800.000 ns gpu0.processor writes 0x1388: gpu0.signals.value[7] = 0 -> 0x1388"});
}

TEST_CASE("a 64-bit register by halves is written once by the second half") {
  TracedNode traced;
  traced.run([](CommandProcessor& p) {
    const std::uint64_t base = at("gpu0.dma.output_base");
    std::uint32_t value = 0;
    p.write32(base, 0x40);
    p.write32(base + 4, 1);
    p.read32(base, value);
    p.read32(base + 4, value);
  });
  CHECK(traced.lines() ==
        std::vector<std::string>{"100.000 ns gpu0.processor writes 0x40: gpu0.dma.output_base, low half, held",
                                 "200.000 ns gpu0.processor writes 0x1: gpu0.dma.output_base = 0 -> 0x100000040",
                                 "300.000 ns gpu0.processor reads 0x40: gpu0.dma.output_base = 0x100000040, low half",
                                 "400.000 ns gpu0.processor reads 0x1: gpu0.dma.output_base = 0x100000040, high half"});
}

TEST_CASE("a refused access is a line with the reason and nothing has changed") {
  TracedNode traced;
  traced.run([](CommandProcessor& p) {
    std::uint32_t value = 0;
    p.write32(at("gpu0.dma.used"), 5);
    read(p, "gpu0.dma.command");
    p.write32(at("gpu0.dma.layout"), 0x300);
    p.write32(at("gpu0.dma.command") + 1, 1);
    p.write32(at("gpu0.kernel_queue.entries[0]"), 3);
    p.read32(0xF00000A0FFC, value);
    p.read32(0xF0000FF0000, value);
    p.read32(at("gpu1.dma.rows"), value);
    p.write_memory(0x1000, &value, 4);
    p.write64(at("gpu0.kernel_queue.doorbell[0]"), 1);
  });
  const std::vector<std::string> lines = traced.lines();
  const std::vector<std::string> expected{
      "writes 0x5: gpu0.dma.used refused: access_denied: dma.used: 0x5 written, expected reads only",
      "reads: gpu0.dma.command refused: access_denied: dma.command: read, expected writes only",
      "writes 0x300: gpu0.dma.layout refused: bad_value: dma.layout.element: 3, expected one of fp16 (0), bf16 (1), "
      "fp32 (2)",
      "writes 0x1: gpu0.dma.command+1 refused: bad_access: dma.command: 4 bytes at 0xf00000a0039, expected 4 bytes at "
      "0xf00000a0038",
      "writes 0x3: gpu0.kernel_queue.entries[0] refused: invalid_argument: kernel_queue.entries[0]: 0x3, ",
      "reads: gpu0.dma+0xffc refused: bad_address: dma: no register at 0xf00000a0ffc, ",
      "reads: gpu0+0xf0000ff0000 refused: bad_address: read of 4 bytes at 0xf0000ff0000: nothing answers, ",
      "reads: gpu1.dma.rows refused: access_denied: ",
      "writes 0x1: gpu0.kernel_queue.doorbell[0] refused: a doorbell or another GPU's register is written before"};
  REQUIRE(lines.size() == expected.size());
  for (std::size_t i = 0; i < lines.size(); ++i)
    CHECK_THAT(lines[i], Catch::Contains(" ns gpu0.processor " + expected[i]));
}

TEST_CASE("a peer's write is told where it leaves and where it arrives, in the order of time") {
  TracedNode traced;
  const auto rows = [](CommandProcessor& p, std::uint64_t address) {
    for (std::uint32_t i = 1; i <= 9; ++i) p.write32(address, i);  // ahead of simulated time
  };
  traced.run(
      [&](CommandProcessor& p) {
        rows(p, at("gpu0.dma.rows"));
        p.write64(at("gpu1.signals.add[3]"), 2);
      },
      [&](CommandProcessor& p) {
        rows(p, at("gpu1.dma.rows"));
        p.wait_ns(10'000);
        read(p, "gpu1.signals.value[3]");
      });
  const std::vector<std::string> lines = traced.lines();
  REQUIRE(lines.size() == 21);
  double last = 0;
  for (const std::string& line : lines) {
    CHECK(std::stod(line) >= last);
    last = std::stod(line);
  }
  CHECK(lines[18] == "1000.000 ns gpu0.processor writes 0x2: gpu1.signals.add[3] = 2, sent");
  CHECK_THAT(lines[19], Catch::EndsWith(" ns gpu0.peers writes 0x2: gpu1.signals.add[3] = 2"));
  CHECK_THAT(lines[20], Catch::EndsWith(" ns gpu1.processor reads 0x2: gpu1.signals.value[3] = 2"));
}

}  // namespace t3vp::test::trace_test
