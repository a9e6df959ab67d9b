#include "compute/row_kernel.h"

#include <algorithm>

#include "protocol/element.h"

namespace t3vp {
namespace {

std::uint64_t token_of(std::uint32_t operand, std::uint32_t piece) { return std::uint64_t{piece} << 2 | operand; }
std::uint32_t operand_of(std::uint64_t token) { return static_cast<std::uint32_t>(token & 3); }
std::uint32_t piece_of(std::uint64_t token) { return static_cast<std::uint32_t>(token >> 2); }

}  // namespace

RowKernel::RowKernel(KernelHost& host, const KernelPacket& packet)
    : host_(host),
      packet_(packet),
      operation_(static_cast<RowOperation>(packet.operation)),
      element_(static_cast<ElementType>(packet.element)),
      operands_{{{packet.a, packet.lda}, {packet.b, packet.ldb}, {packet.c, packet.ldc}, {packet.out, packet.ldo}}} {
  const ComputeParameters& parameters = host.parameters();
  const std::uint64_t row_bytes = std::uint64_t{packet.n} * bytes_of(element_);
  block_rows_ = static_cast<std::uint32_t>(std::max<std::uint64_t>(1, parameters.row_block_bytes / row_bytes));
  piece_columns_ = std::min(packet.n, parameters.row_block_bytes / bytes_of(element_));
  pieces_ = (packet.n - 1) / piece_columns_ + 1;
  workgroups_.resize(std::size_t{parameters.compute_units} * parameters.row_workgroups_per_cu);
}

std::uint32_t RowKernel::workgroups() const { return (packet_.m - 1) / block_rows_ + 1; }

std::uint32_t RowKernel::columns(std::uint32_t piece) const {
  return std::min(piece_columns_, packet_.n - piece * piece_columns_);
}

void RowKernel::start(Slot slot, std::uint32_t index) {
  Workgroup& workgroup = workgroups_[slot];
  workgroup.row = index * block_rows_;
  workgroup.rows = std::min(block_rows_, packet_.m - workgroup.row);
  workgroup.piece = 0;
  workgroup.begin = now();
  for (std::uint32_t o = 0; host_.functional() && o < row_operand_count; ++o)
    workgroup.data[o].setZero(operands_[o].stride == 0 ? 1 : workgroup.rows, packet_.n);
  load_piece(slot);
}

Transaction& RowKernel::access(const Workgroup& workgroup, std::uint32_t operand, std::uint32_t piece,
                               Operation operation) const {
  const auto [address, stride] = operands_[operand];
  const std::uint32_t bytes = bytes_of(element_);
  const std::uint32_t rows = stride == 0 ? 1 : workgroup.rows;
  Transaction& transaction =
      host_.pool().make(operation, address + workgroup.row * stride + std::uint64_t{piece} * piece_columns_ * bytes,
                        {rows, columns(piece) * bytes, stride});
  DataExtension& extension = transaction.extension();
  extension.traffic = operation == Operation::load ? TrafficClass::gemm_read : TrafficClass::gemm_write;
  extension.element = element_;
  extension.token = token_of(operand, piece);
  if (host_.functional()) transaction.attach_buffer();
  return transaction;
}

void RowKernel::load_piece(Slot slot) {
  Workgroup& workgroup = workgroups_[slot];
  const std::uint8_t reads = traits_of(operation_).reads;
  for (std::uint32_t operand = 0; operand < row_operand_count; ++operand) {
    if ((reads >> operand & 1) == 0) continue;
    ++workgroup.awaited;
    host_.issue(slot, access(workgroup, operand, workgroup.piece, Operation::load));
  }
}

void RowKernel::answered(Slot slot, Transaction& transaction) {
  Workgroup& workgroup = workgroups_[slot];
  const bool is_load = transaction.extension().operation == Operation::load;
  if (is_load && host_.functional()) take_data(workgroup, transaction);
  if (--workgroup.awaited != 0) return;
  if (is_load) {
    if (++workgroup.piece < pieces_) return load_piece(slot);
    return compute(slot);
  }
  Trace::Track track = 0;
  if (Trace* trace = host_.trace(slot, track)) trace->span(track, traits_of(operation_).name, workgroup.begin, now());
  host_.finished(slot);
}

void RowKernel::take_data(Workgroup& workgroup, Transaction& transaction) {
  const std::uint64_t token = transaction.extension().token;
  const std::uint32_t count = columns(piece_of(token));
  const unsigned char* data = transaction.get_data_ptr();
  Rows& rows = workgroup.data[operand_of(token)];
  for (Eigen::Index row = 0; row < rows.rows(); ++row, data += std::size_t{count} * bytes_of(element_))
    widen_elements(element_, data, &rows(row, piece_of(token) * piece_columns_), count);
}

void RowKernel::compute(Slot slot) {
  const ComputeParameters& p = host_.parameters();
  const double elements = static_cast<double>(workgroups_[slot].rows) * packet_.n;
  const double operations = elements * traits_of(operation_).operations;
  host_.schedule(host_.occupy(slot, cycle_time(operations / p.vector_elements_per_cycle, p.clock_GHz)), slot, 0);
}

void RowKernel::elapsed(Slot slot, std::uint32_t) {
  Workgroup& workgroup = workgroups_[slot];
  if (host_.functional()) compute_rows(operation_, {packet_.factor, packet_.seed, workgroup.row}, workgroup.data);
  store(slot);
}

/// All pieces of the written operands leave one after the other at the port's rate.
void RowKernel::store(Slot slot) {
  Workgroup& workgroup = workgroups_[slot];
  const ComputeParameters& p = host_.parameters();
  const std::uint8_t writes = traits_of(operation_).writes;
  Picoseconds delay = 0;
  for (std::uint32_t piece = 0; piece < pieces_; ++piece)
    for (std::uint32_t operand = 0; operand < row_operand_count; ++operand) {
      if ((writes >> operand & 1) == 0) continue;
      Transaction& transaction = access(workgroup, operand, piece, Operation::store);
      if (host_.functional()) fill_store(workgroup, operand, piece, transaction);
      ++workgroup.awaited;
      delay +=
          cycle_time(static_cast<double>(transaction.extension().shape.bytes()) / p.port_bytes_per_cycle, p.clock_GHz);
      host_.issue(slot, transaction, delay);
    }
}

void RowKernel::fill_store(const Workgroup& workgroup, std::uint32_t operand, std::uint32_t piece,
                           Transaction& transaction) const {
  unsigned char* data = transaction.get_data_ptr();
  const Rows& rows = workgroup.data[operand];
  for (Eigen::Index row = 0; row < rows.rows(); ++row, data += std::size_t{columns(piece)} * bytes_of(element_))
    narrow_elements(element_, &rows(row, piece * piece_columns_), data, columns(piece));
}

}  // namespace t3vp
