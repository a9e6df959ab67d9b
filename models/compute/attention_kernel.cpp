#include "compute/attention_kernel.h"

#include <algorithm>
#include <limits>

#include "compute/row_operations.h"
#include "protocol/element.h"

namespace t3vp {
namespace {

constexpr std::uint64_t row_alignment = 32;
constexpr std::uint64_t is_kept = 1ull << 31;  // token of a load of the tile

std::uint32_t pieces(std::uint32_t length, std::uint32_t piece) { return (length - 1) / piece + 1; }

}  // namespace

AttentionKernel::AttentionKernel(KernelHost& host, const KernelPacket& packet)
    : host_(host), packet_(packet), element_(static_cast<ElementType>(packet.element)) {
  const Operand q = part_of_a(packet.a, 0), k = part_of_a(packet.a, 1), v = part_of_a(packet.a, 2);
  const Operand gradient{packet.b, packet.ldb, packet.b_batch}, result{packet.c, packet.ldb, packet.b_batch};
  switch (static_cast<AttentionPass>(packet.operation)) {
    case AttentionPass::backward_q:  // scores, their gradient, the gradient of q
      kept_ = {q, gradient, result}, walked_ = {k, v}, products_ = 3;
      written_ = {{packet.out, packet.ldo, packet.out_batch}};
      break;
    case AttentionPass::backward_kv:  // scores, their gradient, the gradients of k and v
      kept_ = {k, v}, walked_ = {q, gradient}, products_ = 4;
      for (const std::uint32_t part : {1u, 2u})
        written_.push_back({part_of_a(packet.out, part).address, packet.ldo, packet.out_batch});
      break;
    default:  // scores, result
      kept_ = {q}, walked_ = {k, v}, products_ = 2;
      written_ = {{packet.out, packet.ldo, packet.out_batch}};
  }
  tiles_ = pieces(packet.m, packet.tile_rows);
  blocks_ = pieces(packet.m, packet.tile_columns);
  const ComputeParameters& parameters = host.parameters();
  workgroups_.resize(std::size_t{parameters.compute_units} * parameters.workgroups_per_cu);
  for (Workgroup& workgroup : workgroups_) workgroup.blocks.resize(parameters.prefetch_slabs);
}

AttentionKernel::Operand AttentionKernel::part_of_a(std::uint64_t address, std::uint32_t part) const {
  const std::uint64_t bytes = std::uint64_t{packet_.n} * bytes_of(element_);
  const std::uint64_t padded = (bytes + row_alignment - 1) / row_alignment * row_alignment;
  return {address + part * padded, packet_.lda, packet_.a_batch};
}

std::uint32_t AttentionKernel::block_rows(std::uint32_t block) const {
  return std::min<std::uint32_t>(packet_.tile_columns, packet_.m - block * packet_.tile_columns);
}

Transaction& AttentionKernel::access(const Workgroup& workgroup, const Operand& operand, std::uint32_t row,
                                     std::uint32_t rows, Operation operation) const {
  Transaction& transaction =
      host_.pool().make(operation, operand.address + workgroup.batch * operand.batch_stride + row * operand.stride,
                        {rows, packet_.n * t3vp::bytes_of(element_), operand.stride});
  transaction.extension().traffic = operation == Operation::load ? TrafficClass::gemm_read : TrafficClass::gemm_write;
  transaction.extension().element = element_;
  if (host_.functional()) transaction.attach_buffer();
  return transaction;
}

void AttentionKernel::start(Slot slot, std::uint32_t index) {
  Workgroup& workgroup = workgroups_[slot];
  workgroup.batch = index / tiles_;
  workgroup.row = index % tiles_ * packet_.tile_rows;
  workgroup.rows = std::min<std::uint32_t>(packet_.tile_rows, packet_.m - workgroup.row);
  workgroup.loaded = workgroup.computed = workgroup.stores = 0;
  workgroup.computing = false;
  workgroup.begin = now();
  if (host_.functional()) {
    workgroup.sum.setZero(workgroup.rows, packet_.n);
    workgroup.norm.setZero(workgroup.rows);
    workgroup.largest.setConstant(workgroup.rows, -std::numeric_limits<float>::max());
  }
  workgroup.kept = static_cast<std::uint32_t>(kept_.size());
  for (const Operand& operand : kept_) {
    Transaction& transaction = access(workgroup, operand, workgroup.row, workgroup.rows, Operation::load);
    transaction.extension().token = is_kept;
    host_.issue(slot, transaction);
  }
  while (workgroup.loaded < std::min<std::size_t>(blocks_, workgroup.blocks.size())) load_block(slot);
}

void AttentionKernel::load_block(Slot slot) {
  Workgroup& workgroup = workgroups_[slot];
  const std::uint32_t block = workgroup.loaded++;
  buffer(workgroup, block).awaited = static_cast<std::uint32_t>(walked_.size());
  for (std::size_t i = 0; i < walked_.size(); ++i) {
    Transaction& transaction =
        access(workgroup, walked_[i], block * packet_.tile_columns, block_rows(block), Operation::load);
    transaction.extension().token = std::uint64_t{block} << 1 | i;
    host_.issue(slot, transaction);
  }
}

void AttentionKernel::answered(Slot slot, Transaction& transaction) {
  Workgroup& workgroup = workgroups_[slot];
  if (transaction.extension().operation != Operation::load) {
    if (--workgroup.stores != 0) return;
    Trace::Track track = 0;
    if (Trace* trace = host_.trace(slot, track)) trace->span(track, "attention", workgroup.begin, now());
    return host_.finished(slot);
  }
  if (host_.functional()) take_data(workgroup, transaction);
  const std::uint64_t token = transaction.extension().token;
  --(token == is_kept ? workgroup.kept : buffer(workgroup, static_cast<std::uint32_t>(token >> 1)).awaited);
  compute(slot);
}

void AttentionKernel::take_data(Workgroup& workgroup, Transaction& transaction) {
  const DataExtension& extension = transaction.extension();
  Block& block = buffer(workgroup, static_cast<std::uint32_t>(extension.token >> 1));
  Matrix& matrix = extension.token == is_kept ? workgroup.q : (extension.token & 1) != 0 ? block.v : block.k;
  matrix.resize(extension.shape.rows, packet_.n);
  widen_elements(element_, transaction.get_data_ptr(), matrix.data(), static_cast<std::size_t>(matrix.size()));
}

/// Begins the next block when it and the tile are there. Matrix and vector units of a compute unit take turns.
void AttentionKernel::compute(Slot slot) {
  Workgroup& workgroup = workgroups_[slot];
  if (workgroup.computing || workgroup.kept != 0 || workgroup.computed == workgroup.loaded) return;
  if (buffer(workgroup, workgroup.computed).awaited != 0) return;
  workgroup.computing = true;
  const ComputeParameters& p = host_.parameters();
  const double scores = static_cast<double>(packet_.tile_rows) * packet_.tile_columns;
  const double matrix = 2 * products_ * scores * packet_.n / (p.matrix_flops_per_cycle * p.matrix_efficiency);
  const double vector = scores * traits_of(RowOperation::softmax).operations / p.vector_elements_per_cycle;
  host_.schedule(host_.occupy(slot, cycle_time(matrix + vector, p.clock_GHz)), slot, 0);
}

void AttentionKernel::elapsed(Slot slot, std::uint32_t) {
  Workgroup& workgroup = workgroups_[slot];
  if (host_.functional()) attend(workgroup);
  workgroup.computing = false;
  ++workgroup.computed;
  if (workgroup.loaded < blocks_) load_block(slot);
  if (workgroup.computed == blocks_) return store(slot);
  compute(slot);
}

/// The softmax of all blocks so far: earlier sums shrink when a larger score turns up.
void AttentionKernel::attend(Workgroup& workgroup) const {
  const Block& block = workgroup.blocks[workgroup.computed % workgroup.blocks.size()];
  Matrix scores = packet_.factor * (workgroup.q * block.k.transpose());
  const Eigen::VectorXf largest = workgroup.largest.cwiseMax(scores.rowwise().maxCoeff());
  const Eigen::VectorXf shrink = (workgroup.largest - largest).array().exp();
  scores = (scores.colwise() - largest).array().exp();
  workgroup.norm = workgroup.norm.cwiseProduct(shrink) + scores.rowwise().sum();
  workgroup.sum = (shrink.asDiagonal() * workgroup.sum).eval() + scores * block.v;
  workgroup.largest = largest;
}

void AttentionKernel::store(Slot slot) {
  Workgroup& workgroup = workgroups_[slot];
  const ComputeParameters& p = host_.parameters();
  workgroup.stores = static_cast<std::uint32_t>(written_.size());
  Picoseconds delay = 0;
  for (const Operand& operand : written_) {
    Transaction& transaction = access(workgroup, operand, workgroup.row, workgroup.rows, Operation::store);
    if (host_.functional()) {
      const Matrix result = workgroup.norm.cwiseInverse().asDiagonal() * workgroup.sum;
      narrow_elements(element_, result.data(), transaction.get_data_ptr(), static_cast<std::size_t>(result.size()));
    }
    delay +=
        cycle_time(static_cast<double>(transaction.extension().shape.bytes()) / p.port_bytes_per_cycle, p.clock_GHz);
    host_.issue(slot, transaction, delay);
  }
}

}  // namespace t3vp
