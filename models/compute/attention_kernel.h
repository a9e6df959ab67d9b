// Fused attention (Dao et al., FlashAttention, 2022): a workgroup keeps a tile of rows and walks over blocks of the
// other operands' rows, so that scores never reach memory. The forward pass keeps q and walks over k and v. The
// backward pass recomputes the scores twice: one kernel keeps q and gives its gradient, one keeps k and v and gives
// theirs, so that no gradient is added up across workgroups.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "compute/kernel_model.h"
#include "protocol/data_protocol.h"

namespace t3vp {

class AttentionKernel : public KernelModel {
 public:
  AttentionKernel(KernelHost& host, const KernelPacket& packet);

  std::uint32_t workgroups() const override { return packet_.workgroups; }
  std::uint32_t workgroups_per_cu() const override { return host_.parameters().workgroups_per_cu; }
  bool is_producer() const override { return false; }
  void start(Slot slot, std::uint32_t index) override;
  void answered(Slot slot, Transaction& transaction) override;
  void elapsed(Slot slot, std::uint32_t tag) override;

 private:
  using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  /// A matrix of the batch: m x n elements.
  struct Operand {
    std::uint64_t address = 0, stride = 0, batch_stride = 0;
  };
  struct Block {
    std::uint32_t awaited = 0;  ///< loads that have not come back
    Matrix k, v;                ///< forward, functional
  };
  struct Workgroup {
    std::uint32_t batch = 0, row = 0, rows = 0;
    std::uint32_t kept = 0;                  ///< loads of the tile that have not come back
    std::uint32_t loaded = 0, computed = 0;  ///< blocks asked for, blocks done
    bool computing = false;
    std::uint32_t stores = 0;  ///< not yet answered
    Picoseconds begin = 0;
    std::vector<Block> blocks;  ///< ring of prefetch_slabs buffers
    Matrix q, sum;              ///< forward, functional: with the largest score and the sum of exponents of each row
    Eigen::VectorXf largest, norm;
  };
  Operand part_of_a(std::uint64_t address, std::uint32_t part) const;
  std::uint32_t block_rows(std::uint32_t block) const;
  Block& buffer(Workgroup& workgroup, std::uint32_t block) const {
    return workgroup.blocks[block % workgroup.blocks.size()];
  }
  Transaction& access(const Workgroup& workgroup, const Operand& operand, std::uint32_t row, std::uint32_t rows,
                      Operation operation) const;
  void load_block(Slot slot);
  void take_data(Workgroup& workgroup, Transaction& transaction);
  void compute(Slot slot);
  void attend(Workgroup& workgroup) const;
  void store(Slot slot);

  KernelHost& host_;
  KernelPacket packet_;
  ElementType element_;
  std::vector<Operand> kept_, walked_, written_;
  double products_;  ///< matrix products of a block: a tile's rows x a block's rows x n each
  std::uint32_t tiles_, blocks_;
  std::vector<Workgroup> workgroups_;  ///< by slot
};

}  // namespace t3vp
