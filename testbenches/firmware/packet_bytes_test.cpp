// Packets and arguments are little endian, whoever writes them and whoever reads them.
#include <catch2/catch.hpp>
#include <numeric>
#include <vector>

#include "firmware/packet_on_other_host.h"
#include "t3/arguments/attention.h"
#include "t3/arguments/gemm.h"
#include "t3/arguments/ring_all_gather.h"
#include "t3/arguments/ring_reduce_scatter.h"
#include "t3/arguments/rows.h"
#include "t3/kernel_packet.h"

namespace t3vp::test::packet_bytes_test {

namespace {

using Bytes = std::vector<unsigned char>;

/// Byte i is i.
Bytes counted(std::size_t count) {
  Bytes bytes(count);
  std::iota(bytes.begin(), bytes.end(), static_cast<unsigned char>(0));
  return bytes;
}

/// What the distinct arguments are in memory: 1.5 in place of bytes 0x38 to 0x3B.
Bytes distinct_rows() {
  Bytes bytes = counted(T3_ROWS_ARGUMENTS_BYTES);
  const Bytes factor = {0x00, 0x00, 0xC0, 0x3F};
  std::copy(factor.begin(), factor.end(), bytes.begin() + 0x38);
  return bytes;
}

template <typename From, typename To>
void require_every_byte(std::size_t count, From from, To to) {
  const Bytes bytes = counted(count);
  const auto value = from(bytes.data());
  Bytes written(count, 0xEE);
  to(&value, written.data());
  REQUIRE(written == bytes);
}

}  // namespace

TEST_CASE("packets and arguments are little endian on any host") {
  for (const bool again : {false, true}) {
    CAPTURE(again);
    Bytes packet(T3_KERNEL_PACKET_BYTES, 0xEE), arguments(T3_ROWS_ARGUMENTS_BYTES, 0xEE);
    t3_test_packet_of_this_host(packet.data(), arguments.data(), again);
    REQUIRE(packet == counted(32));
    REQUIRE(arguments == distinct_rows());
    packet.assign(packet.size(), 0xEE), arguments.assign(arguments.size(), 0xEE);
    if (!t3_test_packet_of_other_host(packet.data(), arguments.data(), again)) continue;
    REQUIRE(packet == counted(32));
    REQUIRE(arguments == distinct_rows());
  }
}

TEST_CASE("a packet is read from its bytes") {
  const t3_kernel_packet packet = t3_kernel_packet_from(counted(32).data());
  CHECK((packet.kernel == 0x03020100 && packet.flags == 0x07060504));
  CHECK(packet.arguments == 0x0F0E0D0C0B0A0908);
  CHECK((packet.argument_bytes == 0x13121110 && packet.completion_signal == 0x17161514));
  CHECK((packet.workgroups == 0x1B1A1918 && packet.max_compute_units == 0x1F1E1D1C));
  t3_rows_arguments rows{};
  t3_rows_arguments_read(&rows, distinct_rows().data());
  CHECK((rows.c == 0x1F1E1D1C1B1A1918 && rows.ldc == 0x37363534 && rows.factor == 1.5f && rows.operation == 0x41));
}

TEST_CASE("every byte of a structure in memory belongs to a field and is read and written as it was") {
  require_every_byte(T3_KERNEL_PACKET_BYTES, t3_kernel_packet_from, t3_kernel_packet_to);
  require_every_byte(T3_GEMM_ARGUMENTS_BYTES, t3_gemm_arguments_from, t3_gemm_arguments_to);
  require_every_byte(T3_ROWS_ARGUMENTS_BYTES, t3_rows_arguments_from, t3_rows_arguments_to);
  require_every_byte(T3_ATTENTION_ARGUMENTS_BYTES, t3_attention_arguments_from, t3_attention_arguments_to);
  require_every_byte(T3_RING_ALL_GATHER_ARGUMENTS_BYTES, t3_ring_all_gather_arguments_from,
                     t3_ring_all_gather_arguments_to);
  require_every_byte(T3_RING_REDUCE_SCATTER_ARGUMENTS_BYTES, t3_ring_reduce_scatter_arguments_from,
                     t3_ring_reduce_scatter_arguments_to);
}

}  // namespace t3vp::test::packet_bytes_test
