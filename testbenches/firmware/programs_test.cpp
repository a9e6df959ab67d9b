// What the programs order, in which order: golden journals, and properties of all GPUs of a ring together.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <sstream>

#include "firmware/gemm_run.h"
#include "firmware/mock_gpu.h"
#include "t3/registers/memory_controller.h"

namespace t3vp::test::programs_test {

namespace {

/// 4 x 2 tiles.
GemmRun job() {
  GemmRun job;
  job.m = 512;
  job.n = 256;
  job.k = 64;
  job.element = T3_FP16;
  job.tile_rows = job.tile_columns = 128;
  job.wavefronts = 8;
  job.arbitration = T3_MCA;
  job.arbitration_limit = 10;
  job.arbitration_ends = true;
  job.updates = 2;
  job.block_tiles = 1;
  job.zero_output = true;
  return job;
}

std::vector<std::string> journal_of(t3_program* program, std::uint32_t gpu, std::uint32_t gpus, const GemmRun& job) {
  MockGpu mock(gpu, gpus);
  REQUIRE(job.run(program, mock.hal()) == T3_OK);
  return mock.take_journal();
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> result;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    if (line.find_first_not_of(' ') != std::string::npos) result.push_back(line.substr(line.find_first_not_of(' ')));
  return result;
}

const char* const fused_end = R"(
    begin total
    begin fused
    begin gemm
    kernel gemm from 4 of 8 update uncached
    end gemm
    end fused
    arbitration 0 limit 0
    begin all_gather
    kernel ring-all-gather uncached
    end all_gather
    end total
    untrack
    unmap
    dma remove)";

}  // namespace

TEST_CASE("fused on GPU 1 of 4") {
  const std::string expected = R"(
    arbitration 2 limit 10
    begin setup
    publish a
    publish b
    publish out
    begin zeroing
    fill 262144 bytes
    end zeroing
    map 4+2 update gpu 0
    track 6+2 x2 update
    dma 6+2 update gpu 0
    track 0+2 x2 update
    dma 0+2 update gpu 0
    track 2+2 x2 update
    dma 2+2 notify
    signal gpu 0
    signal gpu 0
    signal gpu 0
    end setup)";
  REQUIRE(journal_of(t3_run_fused, 1, 4, job()) == lines(expected + fused_end));
}

TEST_CASE("fused on GPU 0 of 2: no chunk is forwarded") {
  const std::string expected = R"(
    arbitration 2 limit 10
    begin setup
    publish a
    publish b
    publish out
    begin zeroing
    fill 262144 bytes
    end zeroing
    map 4+4 update gpu 1
    track 0+4 x2 update
    dma 0+4 notify
    signal gpu 1
    end setup)";
  REQUIRE(journal_of(t3_run_fused, 0, 2, job()) == lines(expected + fused_end));
}

TEST_CASE("fused on GPU 4 of 5: unequal chunks, the order starts at chunk 0") {
  const std::string expected = R"(
    arbitration 2 limit 10
    begin setup
    publish a
    publish b
    publish out
    begin zeroing
    fill 262144 bytes
    end zeroing
    map 0+1 update gpu 3
    track 1+2 x2 update
    dma 1+2 update gpu 3
    track 3+1 x2 update
    dma 3+1 update gpu 3
    track 4+2 x2 update
    dma 4+2 update gpu 3
    track 6+2 x2 update
    dma 6+2 notify
    signal gpu 3
    signal gpu 3
    signal gpu 3
    signal gpu 3
    end setup
    begin total
    begin fused
    begin gemm
    kernel gemm from 0 of 8 update uncached
    end gemm
    end fused
    arbitration 0 limit 0
    begin all_gather
    kernel ring-all-gather uncached
    end all_gather
    end total
    untrack
    unmap
    dma remove)";
  REQUIRE(journal_of(t3_run_fused, 4, 5, job()) == lines(expected));
}

namespace {

/// What GPU 1 of 4 orders, from the first map to the end of its maps.
std::vector<std::string> maps_of(t3_fused_kind kind) {
  GemmRun fused = job();
  fused.fused = kind;
  fused.updates = t3_fused_updates(kind, 4, 4);
  std::vector<std::string> journal = journal_of(t3_run_fused, 1, 4, fused);
  const auto begin = std::find(journal.begin(), journal.end(), "end zeroing");
  REQUIRE(begin != journal.end());
  return {begin + 1, std::find(begin, journal.end(), "signal gpu 0")};
}

}  // namespace

TEST_CASE("a direct reduce-scatter stores each chunk at its owner, and counts all GPUs' in its own") {
  REQUIRE(maps_of(T3_FUSED_DIRECT_REDUCE_SCATTER) == lines(R"(
    map 4+2 update gpu 2
    map 6+2 update gpu 3
    map 0+2 update gpu 0
    track 2+2 x4 update
    dma 2+2 notify)"));
}

TEST_CASE("an all-reduce sends the own sum to all and awaits one store of each other one") {
  REQUIRE(maps_of(T3_FUSED_ALL_REDUCE) == lines(R"(
    map 4+2 update gpu 2
    map 6+2 update gpu 3
    map 0+2 update gpu 0
    track 2+2 x4 update
    dma 2+2 store gpu 2
    dma 2+2 also gpu 3
    dma 2+2 also gpu 0
    track 4+2 x1 store
    dma 4+2 notify
    track 6+2 x1 store
    dma 6+2 notify
    track 0+2 x1 store
    dma 0+2 notify)"));
}

TEST_CASE("an all-to-all stores each chunk in its owner's slab, and awaits one store in each of its own slabs") {
  REQUIRE(maps_of(T3_FUSED_ALL_TO_ALL) == lines(R"(
    map 4+2 store gpu 2
    map 6+2 store gpu 3
    map 0+2 store gpu 0
    track 2+2 x1 store
    dma 2+2 notify
    track 2+2 x1 store
    dma 2+2 notify
    track 2+2 x1 store
    dma 2+2 notify
    track 2+2 x1 store
    dma 2+2 notify)"));
}

TEST_CASE("only what is added to is zeroed, and tiles of all owners take turns") {
  GemmRun fused = job();
  fused.n = 200;  // 400 bytes, 416 with their padding
  const auto journal = [&](t3_fused_kind kind) {
    fused.fused = kind;
    return journal_of(t3_run_fused, 1, 4, fused);
  };
  const auto has = [](const std::vector<std::string>& all, const std::string& line) {
    return std::count(all.begin(), all.end(), line) == 1;
  };
  CHECK(has(journal(T3_FUSED_RING_REDUCE_SCATTER), "fill 212992 bytes"));
  CHECK(has(journal(T3_FUSED_DIRECT_REDUCE_SCATTER), "fill 53248 bytes"));  // workgroups 2 and 3: 128 rows
  CHECK(has(journal(T3_FUSED_ALL_REDUCE), "fill 53248 bytes"));
  for (const std::string& line : journal(T3_FUSED_ALL_TO_ALL)) CHECK(line.rfind("fill", 0) != 0);
  CHECK(has(journal(T3_FUSED_ALL_REDUCE), "kernel gemm from 4 of 8 update uncached chunks 4"));
  CHECK(has(journal(T3_FUSED_ALL_TO_ALL), "kernel gemm from 4 of 8 uncached chunks 4"));
}

TEST_CASE("MCA ends with the reduce-scatter unless it is for always") {
  for (t3_program* const program : {t3_run_fused, t3_run_sequential, t3_run_isolated})
    for (const bool always : {false, true}) {
      GemmRun mca = job();
      mca.arbitration_ends = !always;
      const std::vector<std::string> journal = journal_of(program, 1, 4, mca);
      const auto gather = std::find(journal.begin(), journal.end(), "begin all_gather");
      REQUIRE(gather != journal.end());
      REQUIRE(journal.front() == "arbitration 2 limit 10");
      REQUIRE((gather[-1] == "arbitration 0 limit 0") == !always);
    }
}

TEST_CASE("with valid bits fused arms its output and fills nothing") {
  GemmRun with_bits = job();
  with_bits.valid_bits = true;
  std::vector<std::string> expected = journal_of(t3_run_fused, 1, 4, job());
  for (std::string& line : expected)
    if (line == "fill 262144 bytes") line = "arm 262144 bytes";
  REQUIRE(journal_of(t3_run_fused, 1, 4, with_bits) == expected);
}

TEST_CASE("fused on a single GPU is a GEMM") {
  GemmRun alone = job();
  alone.zero_output = false;
  const std::string expected = R"(
    arbitration 2 limit 10
    begin setup
    publish a
    publish b
    publish out
    end setup
    begin total
    begin fused
    begin gemm
    kernel gemm from 0 of 8 update uncached
    end gemm
    end fused
    arbitration 0 limit 0
    begin all_gather
    end all_gather
    end total
    untrack
    unmap
    dma remove)";
  REQUIRE(journal_of(t3_run_fused, 0, 1, alone) == lines(expected));
}

TEST_CASE("sequential on GPU 2 of 3") {
  GemmRun round_robin = job();
  round_robin.arbitration = T3_ROUND_ROBIN;
  round_robin.arbitration_limit = 0;
  round_robin.arbitration_ends = false;
  const std::string expected = R"(
    arbitration 0 limit 0
    begin setup
    publish a
    publish b
    publish out
    signal gpu 1
    signal gpu 1
    end setup
    begin total
    begin gemm
    kernel gemm from 0 of 8
    end gemm
    begin reduce_scatter
    kernel ring-reduce-scatter
    end reduce_scatter
    begin all_gather
    kernel ring-all-gather
    end all_gather
    end total
    begin hand_over
    flush
    end hand_over)";
  REQUIRE(journal_of(t3_run_sequential, 2, 3, round_robin) == lines(expected));
}

TEST_CASE("isolated flushes and meets between its phases") {
  GemmRun near_memory = job();
  near_memory.near_memory = true;
  const std::string expected = R"(
    arbitration 2 limit 10
    begin setup
    publish a
    publish b
    publish out
    signal gpu 1
    end setup
    begin total
    begin gemm
    kernel gemm from 0 of 8
    end gemm
    flush
    signal gpu 1
    begin reduce_scatter
    kernel ring-reduce-scatter uncached near memory
    end reduce_scatter
    flush
    signal gpu 1
    arbitration 0 limit 0
    begin all_gather
    kernel ring-all-gather
    end all_gather
    end total
    begin hand_over
    flush
    end hand_over)";
  REQUIRE(journal_of(t3_run_isolated, 0, 2, near_memory) == lines(expected));
}

TEST_CASE("every tile is stored remotely by one GPU, forwarded by all but two and kept by its owner") {
  GemmRun ragged = job();
  ragged.m = 1000;
  ragged.n = 776;
  for (std::uint32_t gpus : {2u, 3u, 4u, 5u, 8u}) {
    std::map<unsigned, int> mapped, forwarded, kept;
    for (std::uint32_t gpu = 0; gpu < gpus; ++gpu) {
      for (const std::string& line : journal_of(t3_run_fused, gpu, gpus, ragged)) {
        unsigned first = 0, count = 0;
        std::string verb, chunk, operation;
        std::istringstream words(line);
        words >> verb >> chunk >> operation;
        if (verb != "map" && verb != "dma") continue;
        if (std::sscanf(chunk.c_str(), "%u+%u", &first, &count) != 2) continue;
        auto& counts = verb == "map" ? mapped : operation == "notify" ? kept : forwarded;
        for (unsigned tile = first; tile < first + count; ++tile) ++counts[tile];
      }
    }
    const unsigned tiles = 8 * 7;
    for (unsigned tile = 0; tile < tiles; ++tile) {
      REQUIRE(mapped[tile] == 1);
      REQUIRE(forwarded[tile] == static_cast<int>(gpus) - 2);
      REQUIRE(kept[tile] == 1);
    }
    REQUIRE(mapped.size() == tiles);
  }
}

TEST_CASE("with fewer tiles than GPUs, GPUs without a chunk map nothing for it") {
  GemmRun small = job();
  small.m = small.n = 128;
  for (std::uint32_t gpu = 0; gpu < 4; ++gpu) {
    MockGpu mock(gpu, 4);
    REQUIRE(small.run(t3_run_fused, mock.hal()) == T3_OK);
    int maps = 0;
    for (const std::string& line : mock.journal())
      maps += line.rfind("map", 0) == 0 || line.rfind("dma 0", 0) == 0 ? 1 : 0;
    REQUIRE(maps == 1);
    REQUIRE(mock.packets().front().gemm().first_workgroup == 0);
  }
}

TEST_CASE("the GEMM's packet describes the job") {
  GemmRun j = job();
  j.m = 1000;
  j.n = 776;
  j.k = 200;
  j.transpose_b = true;
  j.element = T3_BF16;
  j.max_compute_units = 40;
  MockGpu mock(2, 4);
  REQUIRE(j.run(t3_run_sequential, mock.hal()) == T3_OK);
  const QueuedKernel& packet = mock.packets()[0];
  CHECK(packet.kernel == t3_kernel_handle("gemm"));
  CHECK(packet.flags == T3_KERNEL_PACKET_FLAGS_BARRIER);
  CHECK(packet.workgroups == 8 * 7);
  CHECK(packet.max_compute_units == 40);
  CHECK(packet.completion_signal == T3_KERNEL_PACKET_COMPLETION_SIGNAL_NONE);
  const t3_gemm_arguments gemm = packet.gemm();
  CHECK(gemm.element == T3_BF16);
  CHECK((gemm.transpose_b == 1 && gemm.transpose_a == 0 && gemm.update == 0 && gemm.uncached == 0));
  CHECK((gemm.m == 1000 && gemm.n == 776 && gemm.k == 200));
  CHECK(gemm.lda == 416);   // 200 bf16 are 400 bytes, rounded up to 32
  CHECK(gemm.ldb == 416);   // n x k
  CHECK(gemm.ldo == 1568);  // 776 bf16 are 1552 bytes
  CHECK((gemm.tile_rows == 128 && gemm.tile_columns == 128 && gemm.wavefronts == 8));
  for (const std::uint64_t address : {gemm.a, gemm.b, gemm.out}) {
    CHECK(t3_gpu_of(address) == 2);
    CHECK(address % 256 == 0);
  }
}

TEST_CASE("buffers are published as the kernels use them") {
  GemmRun j = job();
  j.transpose_b = true;
  MockGpu mock(1, 2);
  REQUIRE(j.run(t3_run_fused, mock.hal()) == T3_OK);
  const auto& buffers = mock.buffers();
  const t3_gemm_arguments gemm = mock.packets()[0].gemm();
  REQUIRE(buffers.size() == 3);
  CHECK((buffers[0].address == gemm.a && buffers[0].rows == j.m && buffers[0].columns == j.k));
  CHECK((buffers[1].address == gemm.b && buffers[1].rows == j.n && buffers[1].columns == j.k));
  CHECK((buffers[2].address == gemm.out && buffers[2].rows == j.m && buffers[2].columns == j.n));
  CHECK((buffers[2].row_stride == gemm.ldo && buffers[2].element == T3_FP16));
}

TEST_CASE("ring kernels know their place, their neighbour's memory and their counters") {
  MockGpu mock(0, 4);
  const GemmRun j = job();
  REQUIRE(j.run(t3_run_sequential, mock.hal()) == T3_OK);
  const t3_ring_reduce_scatter_arguments rs = mock.packets()[1].reduce_scatter();
  const t3_ring_all_gather_arguments ag = mock.packets()[2].all_gather();
  const std::uint64_t out = mock.packets()[0].gemm().out;
  const auto check_place = [&](const auto& ring, std::uint32_t workgroups) {
    CHECK((ring.gpu == 0 && ring.gpus == 4));
    CHECK(ring.out == out);
    CHECK(ring.peer_out == t3_on_gpu(3, out));
    CHECK(workgroups == 80);
    CHECK(ring.signal_base >= 1);  // 0 is the barrier's
    CHECK(ring.signal_base + workgroups <= 512);
  };
  check_place(rs, mock.packets()[1].workgroups);
  check_place(ag, mock.packets()[2].workgroups);
  CHECK(rs.peer_staging == t3_on_gpu(3, rs.staging));
  CHECK(rs.staging >= out + std::uint64_t{j.m} * mock.packets()[0].gemm().ldo);
  CHECK(rs.signal_epoch == 0);
  CHECK(ag.signal_epoch == 3);  // on the same counters
  CHECK(ag.signal_base == rs.signal_base);
}

TEST_CASE("the driver's arbitrations have the numbers of the memory controller's policies") {
  CHECK(T3_ROUND_ROBIN == T3_MEMORY_CONTROLLER_ARBITRATION_POLICY_ROUND_ROBIN);
  CHECK(T3_COMPUTE_FIRST == T3_MEMORY_CONTROLLER_ARBITRATION_POLICY_COMPUTE_FIRST);
  CHECK(T3_MCA == T3_MEMORY_CONTROLLER_ARBITRATION_POLICY_MCA);
  CHECK(T3_SELECT == T3_MEMORY_CONTROLLER_ARBITRATION_POLICY_SELECT);
  CHECK(T3_PLUGIN_POLICY == T3_MEMORY_CONTROLLER_ARBITRATION_POLICY_PLUGIN_0);
}

}  // namespace t3vp::test::programs_test
