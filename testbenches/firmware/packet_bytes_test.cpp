// A kernel packet is little endian, whoever writes it and whoever reads it.
#include <catch2/catch.hpp>
#include <numeric>
#include <vector>

#include "compute/kernel_packet.h"
#include "firmware/packet_on_other_host.h"
#include "t3/kernel_handle.h"

namespace t3vp::test::packet_bytes_test {

namespace {

using Bytes = std::vector<unsigned char>;

/// Byte i is i, but for the kernel's handle, and of a rows kernel the factor 1.5 and nothing behind it.
Bytes expected(bool rows) {
  Bytes bytes(128);
  std::iota(bytes.begin(), bytes.end(), static_cast<unsigned char>(0));
  const std::uint32_t handle = t3_kernel_handle(rows ? "rows" : "ring-all-gather");
  for (std::size_t i = 0; i < 4; ++i) bytes[i] = static_cast<unsigned char>(handle >> 8 * i);
  const Bytes factor = {0x00, 0x00, 0xC0, 0x3F, 0, 0, 0, 0};
  if (rows) std::copy(factor.begin(), factor.end(), bytes.begin() + 56);
  return bytes;
}

}  // namespace

TEST_CASE("packets are little endian on any host") {
  for (const bool rows : {false, true}) {
    CAPTURE(rows);
    Bytes bytes(128, 0xEE);
    t3_test_packet_of_this_host(rows, bytes.data());
    REQUIRE(bytes == expected(rows));
    bytes.assign(128, 0xEE);
    if (t3_test_packet_of_other_host(rows, bytes.data())) REQUIRE(bytes == expected(rows));
  }
}

TEST_CASE("a packet is read from its bytes") {
  for (const bool rows : {false, true}) {
    const KernelPacket packet = packet_from(expected(rows).data());
    CHECK(packet.kernel == t3_kernel_handle(rows ? "rows" : "ring-all-gather"));
    CHECK(packet.completion_signal == 0x07060504);
    CHECK(packet.arguments == 0x0F0E0D0C0B0A0908);
    CHECK((packet.m == 0x13121110 && packet.n == 0x17161514));
    CHECK(packet.out == 0x1F1E1D1C1B1A1918);
    CHECK((packet.a == 0x2726252423222120 && packet.b == 0x2F2E2D2C2B2A2928 && packet.c == 0x3736353433323130));
    if (rows)
      CHECK(packet.factor == 1.5f);
    else
      CHECK(packet.signal_epoch == 0x3F3E3D3C3B3A3938);
    CHECK((packet.ldo == 0x43424140 && packet.lda == 0x47464544 && packet.ldb == 0x4B4A4948));
    CHECK((packet.ldc == 0x4F4E4D4C && packet.k == 0x53525150 && packet.first_workgroup == 0x57565554));
    CHECK((packet.workgroups == 0x5B5A5958 && packet.max_compute_units == 0x5F5E5D5C));
    CHECK((packet.gpu == 0x63626160 && packet.gpus == 0x67666564));
    CHECK((packet.a_batch == 0x6B6A6968 && packet.b_batch == 0x6F6E6D6C && packet.out_batch == 0x73727170));
    CHECK((packet.tile_rows == 0x7574 && packet.tile_columns == 0x7776 && packet.batches == 0x7978));
    CHECK((packet.element == 0x7A && packet.wavefronts == 0x7B && packet.operation == 0x7C));
    CHECK((packet.reserved == 0x7D && packet.flags == 0x7F7E));
  }
}

}  // namespace t3vp::test::packet_bytes_test
