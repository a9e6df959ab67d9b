#include "compute/kernel_packet.h"

#include <cstring>
#include <type_traits>

#include "t3/kernel_handle.h"

namespace t3vp {
namespace {

/// A little-endian number in as many bytes as the field has.
template <typename Value>
Value number_at(const unsigned char* bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < sizeof(Value); ++i) value |= std::uint64_t{bytes[i]} << 8 * i;
  return static_cast<Value>(value);
}

}  // namespace

KernelPacket packet_from(const unsigned char* bytes) {
  KernelPacket packet{};
  const auto take = [bytes](auto& field, std::size_t offset) {
    field = number_at<std::remove_reference_t<decltype(field)>>(bytes + offset);
  };
  take(packet.kernel, offsetof(KernelPacket, kernel));
  take(packet.flags, offsetof(KernelPacket, flags));
  take(packet.completion_signal, offsetof(KernelPacket, completion_signal));
  take(packet.arguments, offsetof(KernelPacket, arguments));
  take(packet.m, offsetof(KernelPacket, m));
  take(packet.n, offsetof(KernelPacket, n));
  take(packet.out, offsetof(KernelPacket, out));
  take(packet.a, offsetof(KernelPacket, a));
  take(packet.b, offsetof(KernelPacket, b));
  take(packet.c, offsetof(KernelPacket, c));
  take(packet.ldo, offsetof(KernelPacket, ldo));
  take(packet.lda, offsetof(KernelPacket, lda));
  take(packet.ldb, offsetof(KernelPacket, ldb));
  take(packet.ldc, offsetof(KernelPacket, ldc));
  take(packet.k, offsetof(KernelPacket, k));
  take(packet.first_workgroup, offsetof(KernelPacket, first_workgroup));
  take(packet.workgroups, offsetof(KernelPacket, workgroups));
  take(packet.max_compute_units, offsetof(KernelPacket, max_compute_units));
  take(packet.gpu, offsetof(KernelPacket, gpu));
  take(packet.gpus, offsetof(KernelPacket, gpus));
  take(packet.a_batch, offsetof(KernelPacket, a_batch));
  take(packet.b_batch, offsetof(KernelPacket, b_batch));
  take(packet.out_batch, offsetof(KernelPacket, out_batch));
  take(packet.tile_rows, offsetof(KernelPacket, tile_rows));
  take(packet.tile_columns, offsetof(KernelPacket, tile_columns));
  take(packet.batches, offsetof(KernelPacket, batches));
  take(packet.element, offsetof(KernelPacket, element));
  take(packet.wavefronts, offsetof(KernelPacket, wavefronts));
  take(packet.operation, offsetof(KernelPacket, operation));
  take(packet.reserved, offsetof(KernelPacket, reserved));
  if (packet.kernel == t3_kernel_handle("rows") || packet.kernel == t3_kernel_handle("attention")) {
    const auto bits = number_at<std::uint32_t>(bytes + offsetof(KernelPacket, factor));
    static_assert(sizeof packet.factor == sizeof bits);
    std::memcpy(&packet.factor, &bits, sizeof bits);
  } else {
    take(packet.signal_epoch, offsetof(KernelPacket, signal_epoch));
  }
  return packet;
}

}  // namespace t3vp
