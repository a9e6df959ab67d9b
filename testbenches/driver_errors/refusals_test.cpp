// What a peer cannot or does not take: maps are checked against the memory that there is, and what a peer refuses is
// the code of the kernel or transfer that sent it, and an entry in the sender's error log.
#include <catch2/catch.hpp>

#include "driver_errors/gpu_pair.h"

namespace t3vp::test::refusals_test {

using Catch::Contains;

namespace {

/// Entries that begin with the same words: text and number.
std::size_t count(const Lines& texts, const std::string& part) {
  std::size_t found = 0;
  for (const std::string& text : texts)
    if (text.find(part) != std::string::npos) ++found;
  return found;
}

}  // namespace

TEST_CASE("maps and fills beyond the memory that there is are refused here and at the peer") {
  GpuPair pair(guest_beyond_memory);
  pair.run();
  REQUIRE(pair.told() == lines({{"remote_map 32 bytes beyond the peer's memory", T3_BAD_ADDRESS},
                                {"dma_map 32 bytes beyond the peer's memory", T3_BAD_ADDRESS},
                                {"remote_map 32 bytes beyond my memory", T3_BAD_ADDRESS},
                                {"dma_map 32 bytes beyond my memory", T3_BAD_ADDRESS},
                                {"remote_map of an output that wraps around", T3_BAD_ADDRESS},
                                {"dma_map of an output that wraps around", T3_BAD_ADDRESS},
                                {"dma_map of rows 2^58 bytes apart", T3_BAD_ADDRESS},
                                {"fill 32 bytes beyond my memory", T3_BAD_ADDRESS},
                                {"remote_map to the end of the peer's memory", T3_OK},
                                {"logged by output_map", T3_BAD_ADDRESS},
                                {"logged by dma", T3_BAD_ADDRESS},
                                {"logged by output_map", T3_BAD_ADDRESS},
                                {"logged by tracker", T3_BAD_ADDRESS},
                                {"logged by output_map", T3_BAD_ADDRESS},
                                {"logged by tracker", T3_BAD_ADDRESS},
                                {"logged by tracker", T3_BAD_ADDRESS},
                                {"logged by dma", T3_BAD_ADDRESS}}));
  pair.require_right_result();
}

TEST_CASE("what a peer refuses is the code of the kernel and of the transfer that sent it") {
  GpuPair pair(guest_refused_by_its_peer, {}, guest_without_updates_at_first);
  pair.run();
  Lines told = lines({{"memory of a", T3_OK},
                      {"memory of b", T3_OK},
                      {"remote_map", T3_OK},
                      {"gemm", T3_OK},
                      {"its end", T3_DISABLED},
                      {"logged by kernel_queue", T3_DISABLED},
                      {"unmap", T3_OK},
                      {"gemm to my own memory", T3_OK},
                      {"its end", T3_OK},
                      {"dma_map", T3_OK},
                      {"gemm with updates", T3_OK},
                      {"its end", T3_OK},
                      {"the DMA's end", T3_DISABLED}});
  const Lines entries(16, lines({{"logged by dma", T3_DISABLED}})[0]);  // as many as the log holds
  told.insert(told.end(), entries.begin(), entries.end());
  REQUIRE(pair.told() == told);
  const Lines sender = pair.logged(0);
  REQUIRE(sender.size() == 1 + 8 * 4);
  CHECK_THAT(sender[0], Contains("update of 2048 bytes at 0x1000000") &&
                            Contains("of GPU 0's workgroup 0 wavefront 0: refused by GPU 1: the unit that should do "
                                     "this is switched off"));
  CHECK(count(sender, "refused by GPU 1: the unit that should do this is switched off") == sender.size());
  CHECK(pair.gpu(0).error_log.records()[0].record.address >> 44 == 1);
  CHECK(pair.logged(1).size() > sender.size());  // each of the GEMM's, which the peer logs too
  pair.require_right_result();
}

TEST_CASE("what a peer refuses of firmware's posted writes is in the sender's log and blocks nothing") {
  GpuPair pair(guest_misuse_of_peers, {}, guest_late);
  pair.run();
  const Lines sender = pair.logged(0);
  REQUIRE(count(sender, "refused by GPU 1: nothing answers at the address") == 2);
  for (const auto& entry : pair.gpu(0).error_log.records())
    if (entry.record.text.find("refused by GPU 1") != std::string::npos) {
      CHECK(entry.block == "links");
      CHECK(entry.record.address >> 44 == 1);
    }
  pair.require_right_result();
}

}  // namespace t3vp::test::refusals_test
