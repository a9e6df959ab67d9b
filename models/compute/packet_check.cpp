#include "compute/packet_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>

#include "compute/row_operations.h"
#include "protocol/address_map.h"
#include "protocol/area.h"
#include "protocol/data_protocol.h"
#include "registers/signals.h"

namespace t3vp {
namespace {

constexpr std::uint32_t most_rows = 1u << 30, most_tile_rows = 1024;  // of columns as well
constexpr std::uint32_t most_gpus = 1u << 16;                         // their number travels in 16 bits

bool unaligned(std::uint64_t value) { return value % 32 != 0; }

/// Bytes from the start of a matrix to the end of its last row. Rows are at most 2^30 and strides below 2^32: nothing
/// wraps.
std::uint64_t extent(std::uint64_t rows, std::uint64_t row_stride, std::uint64_t row) {
  return (rows - 1) * row_stride + row;
}

/// The memory of a GPU; all GPUs have as much.
struct Memory {
  std::uint64_t gpu, bytes;

  bool holds(std::uint64_t address, std::uint64_t size) const {
    return address_map::gpu_of(address) == gpu && size <= bytes && address_map::local_of(address) <= bytes - size;
  }

  /// Empty when it holds the `size` bytes of the operand `name`.
  std::string check(const char* name, std::uint64_t address, std::uint64_t size) const {
    if (holds(address, size)) return {};
    const std::uint64_t begin = address_map::on_gpu(gpu, 0);
    return fmt::format("{} {:#x} of {} bytes does not end in memory, that of GPU {} from {:#x} to {:#x}", name, address,
                       size, gpu, begin, begin + bytes - 1);
  }
};

std::uint32_t batches_of(const KernelPacket& packet) { return std::max<std::uint32_t>(packet.batches, 1); }

/// Where the last matrix of a batch starts.
std::uint64_t last(const KernelPacket& packet, std::uint32_t batch_stride) {
  return std::uint64_t{batches_of(packet) - 1} * batch_stride;
}

std::uint64_t tiles(const KernelPacket& packet) {
  const auto cut = [](std::uint64_t length, std::uint32_t tile) { return (length + tile - 1) / tile; };
  return cut(packet.m, packet.tile_rows) * cut(packet.n, packet.tile_columns);
}

std::uint32_t element_bytes(const KernelPacket& packet) { return bytes_of(static_cast<ElementType>(packet.element)); }

std::uint64_t row_of_out(const KernelPacket& packet) { return std::uint64_t{packet.n} * element_bytes(packet); }

/// A matrix that a kernel reads or writes, or a batch of them.
struct Operand {
  const char* name;
  Area area;                ///< of the first
  std::uint64_t batch = 0;  ///< bytes from one to the next
  std::uint32_t matrices = 1;

  std::uint64_t end() const { return area.end() + (matrices - 1) * batch; }
};

/// Matrices that are equally far apart are compared one by one, since those of several heads lie beside each other in
/// the same rows; of others all that is between the first and the last byte is taken as theirs.
bool overlap(const Operand& one, const Operand& other) {
  if (one.area.begin >= other.end() || other.area.begin >= one.end()) return false;
  if (one.matrices != other.matrices || (one.matrices > 1 && one.batch != other.batch)) return true;
  for (std::uint32_t i = 0; i < one.matrices; ++i) {
    Area later = one.area;
    later.begin += i * one.batch;
    if (later.overlaps(other.area)) return true;
    later = other.area;
    later.begin += i * one.batch;
    if (later.overlaps(one.area)) return true;
  }
  return false;
}

std::string text_of_overlap(const Operand& one, const Operand& other) {
  return fmt::format("{} at {:#x} to {:#x} overlaps {} at {:#x} to {:#x}", one.name, one.area.begin, one.end() - 1,
                     other.name, other.area.begin, other.end() - 1);
}

/// What one workgroup writes another one may still have to read.
std::string check_overlap(const Operand& written, std::initializer_list<Operand> others) {
  for (const Operand& other : others)
    if (overlap(written, other)) return text_of_overlap(written, other);
  return {};
}

/// The matrices of a batch that is written.
std::string check_batch_overlap(const Operand& out) {
  Area later = out.area;
  for (std::uint32_t i = 1; i < out.matrices; ++i) {
    later.begin += out.batch;
    if (later.begin >= out.area.end()) break;
    if (later.overlaps(out.area))
      return fmt::format("matrix {} of out at {:#x} overlaps the first at {:#x} to {:#x}", i, later.begin,
                         out.area.begin, out.area.end() - 1);
  }
  return {};
}

std::string check_batch(const KernelPacket& packet, const Memory& memory) {
  if (packet.batches == 0 && (packet.a_batch | packet.b_batch | packet.out_batch) != 0)
    return fmt::format("batch strides {}, {}, {} of no batch: 0 expected", packet.a_batch, packet.b_batch,
                       packet.out_batch);
  if (unaligned(packet.a_batch) || unaligned(packet.b_batch) || unaligned(packet.out_batch))
    return fmt::format("batch strides {}, {}, {}: multiples of 32 expected", packet.a_batch, packet.b_batch,
                       packet.out_batch);
  // Tracker and output map know an output as one grid of tiles.
  if (batches_of(packet) > 1 && (packet.flags & (KernelPacket::update | KernelPacket::uncached)) != 0)
    return fmt::format("a batch of {} with flags {:#x}: cached stores expected", packet.batches, packet.flags);
  return memory.check("out", packet.out,
                      last(packet, packet.out_batch) + extent(packet.m, packet.ldo, row_of_out(packet)));
}

std::string check_gemm(const KernelPacket& packet, const Memory& memory) {
  const std::uint32_t bytes = element_bytes(packet);
  const bool a_transposed = (packet.flags & KernelPacket::transpose_a) != 0;
  const bool b_transposed = (packet.flags & KernelPacket::transpose_b) != 0;
  const std::uint64_t a_row = std::uint64_t{a_transposed ? packet.m : packet.k} * bytes;
  const std::uint64_t b_row = std::uint64_t{b_transposed ? packet.k : packet.n} * bytes;
  if (packet.k - 1 >= most_rows || packet.lda < a_row || packet.ldb < b_row)
    return fmt::format("k {}, row strides of a {} and b {}: k of 1 to {}, strides of at least a row, expected",
                       packet.k, packet.lda, packet.ldb, most_rows);
  if (unaligned(packet.a) || unaligned(packet.b) || unaligned(packet.lda) || unaligned(packet.ldb))
    return fmt::format("a {:#x}, b {:#x}, row strides {} and {}: multiples of 32 expected", packet.a, packet.b,
                       packet.lda, packet.ldb);
  if (std::string wrong = check_batch(packet, memory); !wrong.empty()) return wrong;
  const std::uint64_t a_extent = extent(a_transposed ? packet.k : packet.m, packet.lda, a_row);
  const std::uint64_t b_extent = extent(b_transposed ? packet.n : packet.k, packet.ldb, b_row);
  for (std::string wrong : {memory.check("a", packet.a, last(packet, packet.a_batch) + a_extent),
                            memory.check("b", packet.b, last(packet, packet.b_batch) + b_extent)})
    if (!wrong.empty()) return wrong;
  if (packet.wavefronts == 0 || packet.wavefronts > 8 || packet.tile_rows % packet.wavefronts != 0)
    return fmt::format("{} wavefronts: 1 to 8 expected that divide the tile's {} rows", packet.wavefronts,
                       packet.tile_rows);
  const std::uint64_t workgroups = tiles(packet) * batches_of(packet);
  if (packet.workgroups != workgroups || packet.first_workgroup >= packet.workgroups)
    return fmt::format("workgroups {} from {}: all {} of the output, from one of them, expected", packet.workgroups,
                       packet.first_workgroup, workgroups);
  const auto width = [](std::uint64_t row) { return static_cast<std::uint32_t>(row); };
  const std::uint32_t matrices = batches_of(packet);
  const Operand out{"out", {packet.out, {packet.m, width(row_of_out(packet)), packet.ldo}}, packet.out_batch, matrices};
  const Operand a{
      "a", {packet.a, {a_transposed ? packet.k : packet.m, width(a_row), packet.lda}}, packet.a_batch, matrices};
  const Operand b{
      "b", {packet.b, {b_transposed ? packet.n : packet.k, width(b_row), packet.ldb}}, packet.b_batch, matrices};
  if (std::string wrong = check_overlap(out, {a, b}); !wrong.empty()) return wrong;
  return check_batch_overlap(out);
}

/// Where the other GPUs of the ring and this one store: as much memory as out takes.
std::string check_receivers(const KernelPacket& packet, const Memory& memory, bool staged) {
  const std::uint64_t bytes = extent(packet.m, packet.ldo, row_of_out(packet));
  const auto check_peer = [&](const char* name, std::uint64_t address) {
    return Memory{address_map::gpu_of(address), memory.bytes}.check(name, address, bytes);
  };
  if (std::string wrong = check_peer("peer_out", packet.peer_out); !wrong.empty()) return wrong;
  if (std::string wrong = staged ? memory.check("staging", packet.staging, bytes) : std::string(); !wrong.empty())
    return wrong;
  if (std::string wrong = staged ? check_peer("peer_staging", packet.peer_staging) : std::string(); !wrong.empty())
    return wrong;
  if (!staged) return {};
  const Shape shape{packet.m, static_cast<std::uint32_t>(row_of_out(packet)), packet.ldo};
  if (std::string wrong = check_overlap({"staging", {packet.staging, shape}}, {{"out", {packet.out, shape}}});
      !wrong.empty())
    return wrong;
  return check_overlap({"peer_staging", {packet.peer_staging, shape}}, {{"peer_out", {packet.peer_out, shape}}});
}

std::string check_ring(const KernelPacket& packet, const ComputeParameters& parameters, const Memory& memory) {
  if (packet.gpus < 2 || packet.gpus > most_gpus)
    return fmt::format("gpus {}: a ring of 2 to {} expected", packet.gpus, most_gpus);
  if (packet.gpu >= packet.gpus)
    return fmt::format("gpu {}: 0 to {}, a position in the ring of {}, expected", packet.gpu, packet.gpus - 1,
                       packet.gpus);
  const bool staged = is_staged(packet);
  if (unaligned(packet.peer_out) || (staged && (unaligned(packet.staging) || unaligned(packet.peer_staging))))
    return fmt::format("peer_out {:#x}, staging {:#x}, peer_staging {:#x}: multiples of 32 expected", packet.peer_out,
                       packet.staging, packet.peer_staging);
  if (std::string wrong = check_receivers(packet, memory, staged); !wrong.empty()) return wrong;
  if (packet.signal_epoch > ~std::uint64_t{0} - packet.gpus)
    return fmt::format("signal_epoch {}: room for the steps of {} GPUs expected", packet.signal_epoch, packet.gpus);
  const std::uint32_t units = packet.max_compute_units == 0
                                  ? parameters.compute_units
                                  : std::min(packet.max_compute_units, parameters.compute_units);
  // All workgroups of a ring kernel wait for each other, so all must be resident.
  if (packet.workgroups == 0 || packet.workgroups > units * parameters.ring_workgroups_per_cu)
    return fmt::format("{} workgroups: 1 to {} that fit at once expected", packet.workgroups,
                       units * parameters.ring_workgroups_per_cu);
  const std::uint64_t signals_end = std::uint64_t{packet.signal_base} + packet.workgroups;
  if (signals_end > registers::Signals::value_count)
    return fmt::format("signals {} to {}: there are {}", packet.signal_base, signals_end - 1,
                       registers::Signals::value_count);
  return {};
}

/// A workgroup reads all of its rows before it writes them: a matrix may be written in the place where it is read. A
/// vector is read by all workgroups.
std::string check_rows_overlap(const KernelPacket& packet, const RowTraits& traits) {
  const auto row = static_cast<std::uint32_t>(row_of_out(packet));
  const auto operand = [&](const char* name, std::uint64_t address, std::uint32_t stride) {
    return Operand{name, {address, {stride == 0 ? 1 : packet.m, row, stride}}};
  };
  const std::array<Operand, row_operand_count> operands{
      operand("a", packet.a, packet.lda), operand("b", packet.b, packet.ldb), operand("c", packet.c, packet.ldc),
      operand("out", packet.out, packet.ldo)};
  for (std::uint32_t written = row_a; written < row_operand_count; ++written)
    for (std::uint32_t other = row_a; other < row_operand_count; ++other) {
      const bool writes_other = (traits.writes >> other & 1) != 0;
      const bool uses_other = ((traits.reads | traits.writes) >> other & 1) != 0;
      if (written == other || (traits.writes >> written & 1) == 0 || !uses_other) continue;
      const Area &w = operands[written].area, &o = operands[other].area;
      const bool in_place =
          !writes_other && w.begin == o.begin && w.shape.rows == o.shape.rows && w.shape.stride == o.shape.stride;
      if (!in_place && overlap(operands[written], operands[other]))
        return text_of_overlap(operands[written], operands[other]);
    }
  return {};
}

std::string check_rows(const KernelPacket& packet, const Memory& memory) {
  const auto operation = static_cast<RowOperation>(packet.operation);
  if (operation == RowOperation::none || operation >= RowOperation::count)
    return fmt::format("rows operation {}: 1 to {} expected", packet.operation,
                       static_cast<int>(RowOperation::count) - 1);
  const RowTraits& traits = traits_of(operation);
  const std::uint64_t row = std::uint64_t{packet.n} * element_bytes(packet);
  const std::pair<std::uint64_t, std::uint32_t> operands[] = {
      {packet.a, packet.lda}, {packet.b, packet.ldb}, {packet.c, packet.ldc}};
  for (std::uint32_t operand = row_a; operand < row_out; ++operand) {
    if (((traits.reads | traits.writes) >> operand & 1) == 0) continue;
    const auto [address, stride] = operands[operand];
    const bool is_vector = stride == 0 && (traits.vectors >> operand & 1) != 0;
    if (stride == 0 && !is_vector)
      return fmt::format("{} {:#x} of {} with row stride 0, a vector: a matrix expected", "abc"[operand], address,
                         traits.name);
    if (unaligned(address) || unaligned(stride) || (!is_vector && stride < row))
      return fmt::format("{} {:#x} of {} with row stride {}: multiples of 32, at least a row of {} bytes, expected",
                         "abc"[operand], address, traits.name, stride, row);
    const char name[] = {"abc"[operand], '\0'};
    if (std::string wrong = memory.check(name, address, extent(is_vector ? 1 : packet.m, stride, row)); !wrong.empty())
      return wrong;
  }
  if (std::string wrong = check_rows_overlap(packet, traits); !wrong.empty()) return wrong;
  const bool drops = operation == RowOperation::dropout || operation == RowOperation::bias_dropout_add;
  if (drops && !(packet.factor > 0 && packet.factor <= 1))
    return fmt::format("factor {}: the probability to keep, above 0 and at most 1, expected", packet.factor);
  return {};
}

std::string check_attention(const KernelPacket& packet, const Memory& memory, bool functional) {
  const auto pass = static_cast<AttentionPass>(packet.operation);
  if (pass == AttentionPass::none || pass >= AttentionPass::count)
    return fmt::format("attention pass {}: 1 (forward), 2 (backward of q) or 3 (of k and v) expected",
                       packet.operation);
  if (std::string wrong = check_batch(packet, memory); !wrong.empty()) return wrong;
  const bool backward = pass != AttentionPass::forward;
  if (backward && functional)
    return fmt::format("attention pass {}: it computes no data, timing-only", packet.operation);
  const std::uint64_t row = std::uint64_t{packet.n} * element_bytes(packet), packed = (row + 31) / 32 * 32 * 3;
  if (packet.lda < packed || (backward && (packet.ldb < row || packet.ldo < packed)))
    return fmt::format(
        "row strides of a {}, b {} and out {}: room for q, k and v, {} bytes, and for rows of {} expected", packet.lda,
        packet.ldb, packet.ldo, packed, row);
  if (unaligned(packet.a) || unaligned(packet.lda) ||
      (backward && (unaligned(packet.b) || unaligned(packet.ldb) || unaligned(packet.c))))
    return fmt::format("a {:#x}, b {:#x}, c {:#x}, row strides {} and {}: multiples of 32 expected", packet.a, packet.b,
                       packet.c, packet.lda, packet.ldb);
  const std::uint64_t b_extent = last(packet, packet.b_batch) + extent(packet.m, packet.ldb, row);
  const std::uint64_t out_extent =
      last(packet, packet.out_batch) + extent(packet.m, packet.ldo, backward ? packed : row);
  const std::uint64_t a_extent = last(packet, packet.a_batch) + extent(packet.m, packet.lda, packed);
  for (std::string wrong : {memory.check("a", packet.a, a_extent), memory.check("out", packet.out, out_extent),
                            backward ? memory.check("b", packet.b, b_extent) : std::string(),
                            backward ? memory.check("c", packet.c, b_extent) : std::string()})
    if (!wrong.empty()) return wrong;
  const std::uint32_t matrices = batches_of(packet);
  const auto columns = [&](bool whole) { return static_cast<std::uint32_t>(whole ? packed : row); };
  const Operand out{"out", {packet.out, {packet.m, columns(backward), packet.ldo}}, packet.out_batch, matrices};
  const Operand a{"a", {packet.a, {packet.m, columns(true), packet.lda}}, packet.a_batch, matrices};
  const auto beside = [&](const char* name, std::uint64_t address) {
    return Operand{name, {address, {packet.m, columns(false), packet.ldb}}, packet.b_batch, matrices};
  };
  if (std::string wrong = check_overlap(out, {a}); !wrong.empty()) return wrong;
  if (std::string wrong = backward ? check_overlap(out, {beside("b", packet.b), beside("c", packet.c)}) : std::string();
      !wrong.empty())
    return wrong;
  if (std::string wrong = check_batch_overlap(out); !wrong.empty()) return wrong;
  const std::uint64_t tiles_down = (packet.m + std::uint64_t{packet.tile_rows} - 1) / packet.tile_rows;
  const std::uint64_t workgroups = tiles_down * batches_of(packet);
  if (packet.workgroups != workgroups)
    return fmt::format("workgroups {}: all {} tiles of rows expected", packet.workgroups, workgroups);
  return {};
}

constexpr unsigned by_gemm = 1, by_ring = 2, by_rows = 4, by_attention = 8;

unsigned kind_of(const KernelPacket& packet) {
  if (is_ring(packet)) return by_ring;
  return packet.kernel == KernelKind::gemm ? by_gemm : packet.kernel == KernelKind::rows ? by_rows : by_attention;
}

std::uint16_t flags_of(const KernelPacket& packet) {
  using P = KernelPacket;
  if (packet.kernel == KernelKind::gemm) return P::update | P::uncached | P::transpose_a | P::transpose_b;
  if (packet.kernel == KernelKind::ring_reduce_scatter) return P::uncached | P::near_memory;
  return packet.kernel == KernelKind::ring_all_gather ? P::uncached : 0;
}

/// What a kernel does not look at is 0: whoever sets it expects something of it. Where a GPU is in its ring, the tiles
/// and their wavefronts may be told to every kernel, and `factor` and `seed` to all that work on rows.
std::string check_unused(const KernelPacket& packet) {
  const std::uint16_t unused_flags = packet.flags & static_cast<std::uint16_t>(~flags_of(packet));
  if (unused_flags != 0)
    return fmt::format("flags {:#x}: {:#x} mean nothing to this kind of kernel, 0 expected", packet.flags,
                       unused_flags);
  const bool forward = packet.operation == static_cast<std::uint8_t>(AttentionPass::forward);
  const unsigned by_backward = forward ? 0 : by_attention, by_staged = is_staged(packet) ? by_ring : 0;
  const struct {
    const char* name;
    std::uint64_t value;
    unsigned users;
  } fields[] = {
      {"b or staging", packet.b, by_gemm | by_rows | by_backward | by_staged},
      {"c or peer_staging", packet.c, by_rows | by_backward | by_staged},
      {"signal_epoch or factor", kind_of(packet) == by_gemm ? packet.signal_epoch : 0, by_ring},
      {"lda", packet.lda, by_gemm | by_rows | by_attention},
      {"ldb", packet.ldb, by_gemm | by_rows | by_backward},
      {"ldc or signal_base", packet.ldc, by_ring | by_rows},
      {"k or seed", packet.k, by_gemm | by_rows},
      {"first_workgroup", packet.first_workgroup, by_gemm},
      {"workgroups", packet.workgroups, by_gemm | by_ring | by_attention},
      {"a_batch", packet.a_batch, by_gemm | by_attention},
      {"b_batch", packet.b_batch, by_gemm | by_attention},
      {"out_batch", packet.out_batch, by_gemm | by_attention},
      {"batches", packet.batches, by_gemm | by_attention},
      {"operation", packet.operation, by_rows | by_attention},
  };
  for (const auto& field : fields)
    if ((field.users & kind_of(packet)) == 0 && field.value != 0)
      return fmt::format("{} {:#x}: 0 expected, it means nothing to this kind of kernel", field.name, field.value);
  return {};
}

std::string check_kind(const KernelPacket& packet, const ComputeParameters& parameters, const Memory& memory,
                       bool functional) {
  if (std::string wrong = check_unused(packet); !wrong.empty()) return wrong;
  switch (packet.kernel) {
    case KernelKind::gemm:
      return check_gemm(packet, memory);
    case KernelKind::rows:
      return check_rows(packet, memory);
    case KernelKind::attention:
      return check_attention(packet, memory, functional);
    default:
      return check_ring(packet, parameters, memory);
  }
}

}  // namespace

std::string check_header(const KernelPacket& packet) {
  if (packet.kernel == KernelKind::none || packet.kernel > KernelKind::attention)
    return fmt::format("kernel {}: 1 (gemm), 2 (reduce-scatter), 3 (all-gather), 4 (rows) or 5 (attention) expected",
                       static_cast<int>(packet.kernel));
  if (packet.completion_signal >= registers::Signals::value_count &&
      packet.completion_signal != KernelPacket::no_signal)
    return fmt::format("completion_signal {}: a counter below {}, or {:#x} for none, expected",
                       packet.completion_signal, registers::Signals::value_count, KernelPacket::no_signal);
  if (packet.arguments != 0)
    return fmt::format("arguments {:#x}: 0 expected, operands are in the packet", packet.arguments);
  return {};
}

std::string check_operands(const KernelPacket& packet, const ComputeParameters& parameters, std::uint16_t gpu,
                           bool functional) {
  const Memory memory{gpu, parameters.memory_bytes};
  if (packet.reserved[0] != 0 || packet.reserved[1] != 0 || packet.reserved[2] != 0)
    return "reserved bytes: 0 expected";
  if (packet.element > static_cast<std::uint8_t>(ElementType::fp32))
    return fmt::format("element {}: 0 (fp16), 1 (bf16) or 2 (fp32) expected", packet.element);
  if ((packet.flags & ~KernelPacket::all_flags) != 0) return fmt::format("flags {:#x}: unknown bits", packet.flags);
  const bool right_size = packet.m - 1 < most_rows && packet.n - 1 < most_rows;
  const bool right_tiles =
      packet.kernel == KernelKind::rows || (packet.tile_rows - 1u < most_tile_rows &&
                                            packet.tile_columns - 1u < most_tile_rows && tiles(packet) < no_workgroup);
  if (!right_size || !right_tiles)
    return fmt::format("output {} x {} in tiles of {} x {}: 1 to {} and 1 to {}, fewer than 2^32 tiles, expected",
                       packet.m, packet.n, packet.tile_rows, packet.tile_columns, most_rows, most_tile_rows);
  const std::uint32_t bytes = element_bytes(packet);
  if (unaligned(packet.out) || unaligned(packet.ldo) || packet.ldo < std::uint64_t{packet.n} * bytes)
    return fmt::format("out {:#x} with row stride {}: multiples of 32, at least a row of {} bytes, expected",
                       packet.out, packet.ldo, std::uint64_t{packet.n} * bytes);
  if (std::string wrong = memory.check("out", packet.out, extent(packet.m, packet.ldo, row_of_out(packet)));
      !wrong.empty())
    return wrong;
  return check_kind(packet, parameters, memory, functional);
}

}  // namespace t3vp
