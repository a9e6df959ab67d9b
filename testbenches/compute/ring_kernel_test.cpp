#include <catch2/catch.hpp>
#include <map>

#include "registers/signals.h"
#include "ring_blocks.h"
#include "ring_case.h"

namespace t3vp::test::ring_kernel_test {

using namespace compute;

namespace {

constexpr std::uint64_t signals_base = address_map::block_base(address_map::Block::signals);
constexpr std::uint64_t add_base = signals_base + registers::Signals::add_offset;

bool is_signal(const LoggedAccess& access) {
  return access.operation == Operation::store && !address_map::is_hbm(access.address);
}

struct Ring : ClusterBench {
  RingCase data;
  std::uint64_t epoch = 0;

  Ring(const RingCase& ring, bool functional = true)
      : ClusterBench(small(), functional, static_cast<std::uint16_t>(ring.gpus)), data(ring) {}

  void run_all(std::uint32_t kind, std::uint16_t flags) {
    memory.log.clear();
    for (auto& gpu : gpus) {
      gpu->put(memory, data.packet(kind, gpu->gpu, flags, epoch));
      gpu->ring();
    }
    REQUIRE(finish());
    epoch += data.gpus - 1;
    for (auto& gpu : gpus) REQUIRE(gpu->error() == Status::ok);
  }
  std::uint64_t bytes(std::uint32_t g, Operation operation, TrafficClass traffic) const {
    std::uint64_t sum = 0;
    for (const LoggedAccess& access : memory.log)
      if (access.port == static_cast<int>(g) && access.operation == operation && access.traffic == traffic)
        sum += access.shape.bytes();
    return sum;
  }
};

RingCase ragged(std::uint32_t gpus, ElementType element = ElementType::fp32) {
  const std::uint64_t row_bytes = (80 * bytes_of(element) + 31) / 32 * 32;
  return {{70, 75, 16, 32, 1, row_bytes, element}, gpus, 3};
}

void check_reduced(Ring& ring, const RingCase::Output& sum) {
  for (std::uint32_t g = 0; g < ring.data.gpus; ++g) {
    const RingCase::Output result = ring.data.read(ring.memory, g);
    std::uint64_t wrong = 0;
    ring.data.for_each_element(g, [&](std::uint32_t row, std::uint32_t column) {
      if (result(row, column) != sum(row, column)) ++wrong;
    });
    INFO("GPU " << g);
    REQUIRE(wrong == 0);
  }
}

RingCase::Output fill_all(Ring& ring, std::mt19937& random) {
  RingCase::Output sum = RingCase::Output::Zero(ring.data.grid.rows, ring.data.grid.columns);
  for (std::uint32_t g = 0; g < ring.data.gpus; ++g) sum += ring.data.fill(ring.memory, g, random);
  return sum;
}

/// A kernel on one GPU whose peer is the test.
struct Alone : ClusterBench {
  RingCase data;

  explicit Alone(const RingCase& ring)
      : ClusterBench(small(), true, 1, static_cast<std::uint16_t>(ring.gpus)), data(ring) {}

  void start(std::uint32_t kind, std::uint16_t flags, std::uint64_t epoch) {
    gpu().put(memory, data.packet(kind, 0, flags, epoch));
    gpu().ring();
    wait(100'000'000);
  }
  /// The sender's signals of one step, and what the kernel does then.
  std::vector<LoggedAccess> signal_all() {
    memory.log.clear();
    for (std::uint32_t w = 0; w < data.workgroups; ++w) memory.add_signal(0, RingCase::signal_base + w, 1);
    wait(100'000'000);
    return memory.log;
  }
};

std::uint64_t signal_of(const RingCase& data, std::uint32_t workgroup) {
  return address_map::on_gpu(data.receiver(0), add_base + std::uint64_t{8} * (RingCase::signal_base + workgroup));
}

/// Bytes by chunk of the accesses of an operation to a buffer.
std::map<std::uint32_t, std::uint64_t> by_chunk(const std::vector<LoggedAccess>& log, const RingCase& data,
                                                Operation operation, std::uint64_t gpu, std::uint64_t base) {
  std::map<std::uint32_t, std::uint64_t> bytes;
  for (const LoggedAccess& access : log) {
    const std::uint64_t offset = access.address - address_map::on_gpu(gpu, base);
    if (access.operation == operation && address_map::is_hbm(access.address) && offset < data.grid.bytes())
      bytes[data.chunk_of_offset(offset)] += access.shape.bytes();
  }
  return bytes;
}

using Chunks = std::map<std::uint32_t, std::uint64_t>;

}  // namespace

TEST_CASE("reduce-scatter leaves each GPU its chunk of the sum, all-gather everyone all of it") {
  std::mt19937 random(16);
  Ring ring(ragged(4));
  for (int repetition = 0; repetition < 3; ++repetition) {
    const RingCase::Output sum = fill_all(ring, random);
    ring.run_all(handle::ring_reduce_scatter, 0);
    check_reduced(ring, sum);
    ring.run_all(handle::ring_all_gather, 0);
    for (std::uint32_t g = 0; g < ring.data.gpus; ++g) REQUIRE(ring.data.read(ring.memory, g) == sum);
  }
}

TEST_CASE("two GPUs reduce in fp16") {
  std::mt19937 random(17);
  Ring ring(ragged(2, ElementType::fp16));
  const RingCase::Output sum = fill_all(ring, random);
  ring.run_all(handle::ring_reduce_scatter, 0);
  check_reduced(ring, sum);
}

TEST_CASE("more GPUs than tiles: some chunks are empty") {
  std::mt19937 random(18);
  Ring ring({{70, 32, 16, 32, 1, 64, ElementType::fp16}, 7, 2});
  const RingCase::Output sum = fill_all(ring, random);
  ring.run_all(handle::ring_reduce_scatter, 0);
  check_reduced(ring, sum);
  ring.run_all(handle::ring_all_gather, 0);
  for (std::uint32_t g = 0; g < 7; ++g) REQUIRE(ring.data.read(ring.memory, g) == sum);
}

TEST_CASE("near-memory updates reduce to the same sum") {
  std::mt19937 random(19);
  Ring ring(ragged(3, ElementType::bf16));
  const RingCase::Output sum = fill_all(ring, random);
  ring.run_all(handle::ring_reduce_scatter, flag::near_memory | flag::uncached);
  check_reduced(ring, sum);
}

TEST_CASE("the bytes of each kernel are the closed form's") {
  Ring ring(ragged(4), false);
  std::uint64_t all = 0;
  for (std::uint32_t c = 0; c < 4; ++c) all += ring.data.chunk_bytes(c);
  REQUIRE(all == 70 * 75 * 4);

  ring.run_all(handle::ring_reduce_scatter, 0);
  for (std::uint32_t g = 0; g < 4; ++g) {
    const std::uint64_t first = ring.data.chunk_bytes((g + 1) % 4);
    // 2N - 1 chunks are read: all once, and all but the first sent also from the receive buffer.
    REQUIRE(ring.bytes(g, Operation::load, TrafficClass::rs_read) == 2 * all - first);
    REQUIRE(ring.bytes(g, Operation::store, TrafficClass::rs_write) == all);
  }
  ring.run_all(handle::ring_reduce_scatter, flag::near_memory);
  for (std::uint32_t g = 0; g < 4; ++g) {
    const std::uint64_t kept = ring.data.chunk_bytes(g);
    REQUIRE(ring.bytes(g, Operation::load, TrafficClass::rs_read) == all - kept);
    REQUIRE(ring.bytes(g, Operation::update, TrafficClass::rs_write) == all - kept);
    REQUIRE(ring.bytes(g, Operation::store, TrafficClass::rs_write) == 0);
  }
  ring.run_all(handle::ring_all_gather, 0);
  for (std::uint32_t g = 0; g < 4; ++g) {
    const std::uint64_t last = ring.data.chunk_bytes((g + 3) % 4);
    REQUIRE(ring.bytes(g, Operation::load, TrafficClass::ag_read) == all - last);
    REQUIRE(ring.bytes(g, Operation::store, TrafficClass::ag_write) == all - last);
  }
}

TEST_CASE("a staged reduction goes step by step, each after its sender's signals") {
  Alone ring(ragged(4));
  const RingCase& data = ring.data;
  constexpr std::uint64_t epoch = 40;
  for (std::uint32_t w = 0; w < data.workgroups; ++w) ring.memory.add_signal(0, RingCase::signal_base + w, epoch);
  ring.start(handle::ring_reduce_scatter, 0, epoch);
  std::vector<LoggedAccess> log = ring.memory.log;
  const std::uint32_t receiver = data.receiver(0);
  for (std::uint32_t step = 0; step < 4; ++step) {
    INFO("step " << step);
    const std::uint32_t c = RingCase::chunk(handle::ring_reduce_scatter, 4, 0, step);
    const Chunks whole{{c, data.chunk_bytes(c)}};
    const bool last = step == 3;
    REQUIRE(by_chunk(log, data, Operation::load, 0, RingCase::out_base) == whole);
    REQUIRE(by_chunk(log, data, Operation::load, 0, RingCase::staging_base) == (step == 0 ? Chunks{} : whole));
    REQUIRE(by_chunk(log, data, Operation::store, receiver, RingCase::staging_base) == (last ? Chunks{} : whole));
    REQUIRE(by_chunk(log, data, Operation::store, 0, RingCase::out_base) == (last ? whole : Chunks{}));
    REQUIRE(by_chunk(log, data, Operation::store, receiver, RingCase::out_base).empty());
    REQUIRE(ring.memory.waiting() == (last ? 0 : data.workgroups));
    for (std::uint32_t w = 0; w < data.workgroups; ++w)
      REQUIRE(ring.memory.signal(receiver, RingCase::signal_base + w) == std::min(step + 1, 3u));
    REQUIRE(ring.gpu().busy() == !last);
    if (!last) log = ring.signal_all();
  }
}

TEST_CASE("near-memory steps send updates of the receiver's output and add nothing here") {
  Alone ring(ragged(3));
  const RingCase& data = ring.data;
  ring.start(handle::ring_reduce_scatter, flag::near_memory, 0);
  std::vector<LoggedAccess> log = ring.memory.log;
  for (std::uint32_t step = 0; step < 3; ++step) {
    INFO("step " << step);
    const std::uint32_t c = RingCase::chunk(handle::ring_reduce_scatter, 3, 0, step);
    const Chunks moved = step == 2 ? Chunks{} : Chunks{{c, data.chunk_bytes(c)}};
    REQUIRE(by_chunk(log, data, Operation::load, 0, RingCase::out_base) == moved);
    REQUIRE(by_chunk(log, data, Operation::update, data.receiver(0), RingCase::out_base) == moved);
    for (const LoggedAccess& access : log) REQUIRE((access.operation != Operation::store || is_signal(access)));
    REQUIRE(ring.gpu().busy() == (step < 2));
    if (step < 2) log = ring.signal_all();
  }
  REQUIRE(ring.gpu().busy_ns() == 0);
}

TEST_CASE("all-gather sends its own chunk first, then what it has received, and waits for the last") {
  Alone ring(ragged(4));
  const RingCase& data = ring.data;
  ring.start(handle::ring_all_gather, 0, 0);
  std::vector<LoggedAccess> log = ring.memory.log;
  for (std::uint32_t step = 0; step < 4; ++step) {
    INFO("step " << step);
    const std::uint32_t c = RingCase::chunk(handle::ring_all_gather, 4, 0, step);
    const Chunks moved = step == 3 ? Chunks{} : Chunks{{c, data.chunk_bytes(c)}};
    REQUIRE(by_chunk(log, data, Operation::load, 0, RingCase::out_base) == moved);
    REQUIRE(by_chunk(log, data, Operation::store, data.receiver(0), RingCase::out_base) == moved);
    REQUIRE(ring.gpu().busy() == (step < 3));
    if (step < 3) log = ring.signal_all();
  }
}

TEST_CASE("a workgroup signals when its own stores are answered, then waits for its own sender") {
  Alone ring(ragged(4));
  const RingCase& data = ring.data;
  ring.start(handle::ring_reduce_scatter, 0, 0);
  const std::uint32_t begin = data.grid.chunk_begin(1, 4), end = data.grid.chunk_begin(2, 4);
  const ChunkBlocks chunk(data.grid, begin, end - begin, ring.parameters.kernels.ring.block_bytes);
  for (std::uint32_t w = 0; w < data.workgroups; ++w) {
    Picoseconds last_store = 0;
    std::vector<Picoseconds> signals;
    for (const LoggedAccess& access : ring.memory.log) {
      if (is_signal(access) && access.address == signal_of(data, w)) signals.push_back(access.arrival);
      for (std::uint64_t i = chunk.count() * w / data.workgroups; i < chunk.count() * (w + 1) / data.workgroups; ++i)
        if (access.operation == Operation::store &&
            access.address == address_map::on_gpu(data.receiver(0), RingCase::staging_base) + chunk.block(i).offset)
          last_store = std::max(last_store, access.arrival);
    }
    REQUIRE(last_store > 0);
    REQUIRE(signals == std::vector<Picoseconds>{last_store + ring.memory.latency});
  }
  for (const LoggedAccess& wait : ring.memory.accesses(Operation::wait)) REQUIRE(wait.threshold == 1);
  REQUIRE(ring.memory.waiting() == 3);

  ring.memory.log.clear();
  ring.memory.add_signal(0, RingCase::signal_base + 1, 1);  // workgroup 1 alone goes on
  ring.wait(100'000'000);
  REQUIRE(ring.memory.waiting() == 3);
  for (const LoggedAccess& access : ring.memory.log)
    if (is_signal(access)) REQUIRE(access.address == signal_of(data, 1));
  const Chunks moved = by_chunk(ring.memory.log, data, Operation::store, data.receiver(0), RingCase::staging_base);
  REQUIRE(moved.size() == 1);
  REQUIRE(moved.at(2) < data.chunk_bytes(2));
}

TEST_CASE("stores carry the tile they belong to, and at most so many blocks are under way") {
  Ring ring(ragged(2), false);
  ring.run_all(handle::ring_reduce_scatter, flag::uncached);
  const TileGrid& grid = ring.data.grid;
  for (const LoggedAccess& access : ring.memory.log) {
    if (access.traffic == TrafficClass::control) continue;
    REQUIRE(!access.cached);
    if (access.operation != Operation::store) continue;
    const std::uint64_t local = address_map::local_of(access.address);
    const std::uint64_t offset =
        local - (local >= RingCase::staging_base ? RingCase::staging_base : RingCase::out_base);
    const std::uint64_t row = offset / grid.row_stride, column = offset % grid.row_stride / 4;
    REQUIRE(access.producer.wg_id == row / grid.tile_rows * grid.tiles_across() + column / grid.tile_columns);
    REQUIRE(access.producer.wf_id == no_wavefront);
    REQUIRE(access.producer.gpu == access.port);
  }
  // The first blocks of all workgroups are loaded together; the next load leaves when a store has been answered.
  const std::uint64_t together = std::uint64_t{ring.data.workgroups} * ring.parameters.kernels.ring.blocks_in_flight;
  std::map<int, std::vector<Picoseconds>> loads;
  for (const LoggedAccess& access : ring.memory.log)
    if (access.traffic == TrafficClass::rs_read) loads[access.port].push_back(access.arrival);
  for (const auto& [port, arrivals] : loads) {
    REQUIRE(arrivals.at(together - 1) == arrivals.front());
    REQUIRE(arrivals.at(together) >= arrivals.front() + 2 * ring.memory.latency);
  }
}

TEST_CASE("additions occupy the compute units at the vector rate") {
  Ring ring(ragged(4));
  ring.run_all(handle::ring_reduce_scatter, 0);
  for (std::uint32_t g = 0; g < 4; ++g) {
    const double elements = 70.0 * 75 - static_cast<double>(ring.data.chunk_bytes((g + 1) % 4)) / 4;
    const double expected = elements / ring.parameters.vector_elements_per_cycle / ring.parameters.clock_GHz;
    REQUIRE(ring.gpus[g]->busy_ns() == Approx(expected).epsilon(0.01));
  }
}

TEST_CASE("errors on the way end a ring kernel with an error, on both sides nothing hangs") {
  Ring ring(ragged(2));
  ring.memory.judge = [](const LoggedAccess& access) {
    return access.port == 0 && access.operation == Operation::store && address_map::is_hbm(access.address)
               ? tlm::TLM_ADDRESS_ERROR_RESPONSE
               : tlm::TLM_OK_RESPONSE;
  };
  for (auto& gpu : ring.gpus) {
    gpu->put(ring.memory, ring.data.packet(handle::ring_reduce_scatter, gpu->gpu, 0, 0));
    gpu->ring();
  }
  REQUIRE(ring.finish());
  REQUIRE(ring.gpus[0]->error() == Status::bad_address);
  REQUIRE(ring.gpus[1]->error() == Status::ok);
  // The signals behind what failed say so.
  for (const LoggedAccess& access : ring.memory.log)
    if (is_signal(access))
      REQUIRE(access.ring->failure == static_cast<std::uint32_t>(access.port == 0 ? Status::bad_address : Status::ok));
}

TEST_CASE("what a ring kernel stores to a peer says which kernel's it is") {
  Ring ring(ragged(3));
  ring.run_all(handle::ring_reduce_scatter, 0);
  std::size_t named = 0;
  for (const LoggedAccess& access : ring.memory.log) {
    const bool is_store = access.operation == Operation::store && address_map::is_hbm(access.address);
    const bool to_peer = address_map::gpu_of(access.address) != static_cast<std::uint64_t>(access.port);
    if (!is_store) continue;
    REQUIRE((access.ring != nullptr) == to_peer);
    if (!to_peer) continue;
    REQUIRE(access.ring->sender == ring.gpus[static_cast<std::size_t>(access.port)]->gpu);
    ++named;
  }
  REQUIRE(named != 0);
}

TEST_CASE("ring kernels do not drive the producer's lines") {
  Alone ring(ragged(2));
  ring.start(handle::ring_all_gather, 0, 0);
  REQUIRE(ring.gpu().busy());
  REQUIRE(!ring.gpu().kernel_active.read());
  REQUIRE(!ring.gpu().first_stage.read());
}

}  // namespace t3vp::test::ring_kernel_test
