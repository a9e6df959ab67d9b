// Firmware and models share no header; what both have to know is compared here.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <type_traits>

#include "protocol/address_map.h"
#include "t3/address.h"
#include "t3/arguments/attention.h"
#include "t3/arguments/gemm.h"
#include "t3/arguments/ring_all_gather.h"
#include "t3/arguments/ring_reduce_scatter.h"
#include "t3/arguments/rows.h"
#include "t3/device.h"
#include "t3/kernel_handle.h"
#include "t3/kernel_packet.h"
#include "t3/t3.h"
#include "t3/traffic_class.h"
#include "t3_hal.h"
#include "workloads/layer/layer_layout.h"

namespace t3vp::test::contract_test {

namespace {

/// C++ takes a number for an enumeration in braces when its type is fixed, and then all numbers are its.
template <typename Enumeration, typename = void>
constexpr bool has_all_numbers = false;
template <typename Enumeration>
constexpr bool has_all_numbers<Enumeration, std::void_t<decltype(Enumeration{~std::uint32_t{0}})>> =
    sizeof(Enumeration) == 4;

template <typename... Enumerations>
constexpr bool have_all_numbers = (has_all_numbers<Enumerations> && ...);

}  // namespace

TEST_CASE("enumerations of programs in C hold any number of 32 bits") {
  CHECK((have_all_numbers<t3_element, t3_status, t3_traffic_class, t3_block, t3_line>));
  CHECK((have_all_numbers<t3_operation, t3_memory_kind, t3_arbitration, t3_attention_pass, t3_row_operation>));
  CHECK((have_all_numbers<t3_layer_kernel, t3_call_kind, t3_tiles_named, t3_contents_kind>));
  enum Loose { one };
  CHECK_FALSE(has_all_numbers<Loose>);
}

TEST_CASE("no enumeration of a public header is of another width") {
  const std::regex loose("enum t3_[a-z_]+ *[{]");
  for (const char* folder : {"/abi/include/t3", "/firmware/include/t3", "/firmware/hal"})
    for (const auto& file : std::filesystem::directory_iterator(std::string(T3VP_SOURCE_DIR) + folder)) {
      if (file.is_directory()) continue;  // a platform's own
      std::ifstream stream(file.path());
      const std::string text{std::istreambuf_iterator<char>(stream), {}};
      INFO(file.path());
      REQUIRE(!text.empty());
      CHECK_FALSE(std::regex_search(text, loose));
    }
}

TEST_CASE("a handle is a hash of the kernel's name") {
  REQUIRE(t3_kernel_handle("") == 0x811C9DC5);  // as published of FNV-1a
  REQUIRE(t3_kernel_handle("a") == 0xE40C292C);
  REQUIRE(t3_kernel_handle("foobar") == 0xBF9CF968);
  REQUIRE(t3_kernel_handle("\xFF") == (0x811C9DC5 ^ 0xFFu) * 0x01000193);
}

TEST_CASE("attention passes are the same in the driver's calls and in the kernel's arguments") {
  REQUIRE(T3_ATTENTION_ARGUMENTS_PASS_FORWARD == T3_ATTENTION_FORWARD);
  REQUIRE(T3_ATTENTION_ARGUMENTS_PASS_BACKWARD_Q == T3_ATTENTION_BACKWARD_Q);
  REQUIRE(T3_ATTENTION_ARGUMENTS_PASS_BACKWARD_KV == T3_ATTENTION_BACKWARD_KV);
}

TEST_CASE("arguments of the driver's kernels fit behind their packets") {
  REQUIRE(T3_ARGUMENT_ROOM + T3_KERNEL_PACKET_BYTES == T3_KERNEL_PACKET_ENTRY_BYTES);
  for (const unsigned bytes : {T3_GEMM_ARGUMENTS_BYTES, T3_ROWS_ARGUMENTS_BYTES, T3_ATTENTION_ARGUMENTS_BYTES,
                               T3_RING_REDUCE_SCATTER_ARGUMENTS_BYTES, T3_RING_ALL_GATHER_ARGUMENTS_BYTES})
    REQUIRE(bytes <= T3_ARGUMENT_ROOM);
}

TEST_CASE("addresses are made alike on both sides") {
  for (std::uint64_t gpu : {0u, 1u, 7u, 1023u}) {
    for (std::uint32_t i = 0; i < T3_BLOCK_COUNT; ++i)
      REQUIRE(t3_block_base(gpu, static_cast<t3_block>(i)) ==
              address_map::on_gpu(gpu, address_map::block_base(static_cast<address_map::Block>(i))));
    const std::uint64_t address = address_map::on_gpu(gpu, 0x123456);
    REQUIRE(t3_gpu_of(address) == address_map::gpu_of(address));
    REQUIRE(t3_on_gpu(gpu + 1, address) == address_map::on_gpu(gpu + 1, address_map::local_of(address)));
    // Numbers that an address has no room for are no other GPU's, nor another block's or memory.
    for (const std::uint64_t wrap : {std::uint64_t{1} << 20, std::uint64_t{1} << 31, std::uint64_t{1} << 63})
      REQUIRE(t3_gpu_of(t3_on_gpu(wrap + gpu, address)) == T3_NO_GPU);
    for (const std::uint64_t wrap : {std::uint64_t{1} << 24, std::uint64_t{1} << 28, std::uint64_t{1} << 60})
      REQUIRE(t3_block_base(gpu, wrap + T3_BLOCK_LINKS) == t3_block_base(gpu, T3_BLOCK_COUNT));
  }
}

}  // namespace t3vp::test::contract_test
