// Streaming kernels: softmax, layer norm, element-wise. A workgroup takes a block of whole rows, loads its operands
// piece by piece, computes, and stores; several workgroups per compute unit keep memory busy.
#pragma once

#include <vector>

#include "compute/kernel_model.h"
#include "compute/row_operations.h"
#include "protocol/data_protocol.h"

namespace t3vp {

class RowKernel : public KernelModel {
 public:
  RowKernel(KernelHost& host, const KernelPacket& packet);

  std::uint32_t workgroups() const override;
  std::uint32_t workgroups_per_cu() const override { return host_.parameters().row_workgroups_per_cu; }
  bool is_producer() const override { return false; }
  void start(Slot slot, std::uint32_t index) override;
  void answered(Slot slot, Transaction& transaction) override;
  void elapsed(Slot slot, std::uint32_t tag) override;

 private:
  struct Operand {
    std::uint64_t address = 0, stride = 0;  ///< stride 0: a vector
  };
  struct Workgroup {
    std::uint32_t row = 0, rows = 0;
    std::uint32_t piece = 0;    ///< of the rows' columns
    std::uint32_t awaited = 0;  ///< loads of the piece, later stores
    Picoseconds begin = 0;
    std::array<Rows, row_operand_count> data;  ///< functional only
  };
  std::uint32_t columns(std::uint32_t piece) const;
  Transaction& access(const Workgroup& workgroup, std::uint32_t operand, std::uint32_t piece,
                      Operation operation) const;
  void load_piece(Slot slot);
  void take_data(Workgroup& workgroup, Transaction& transaction);
  void compute(Slot slot);
  void store(Slot slot);
  void fill_store(const Workgroup& workgroup, std::uint32_t operand, std::uint32_t piece,
                  Transaction& transaction) const;

  KernelHost& host_;
  KernelPacket packet_;
  RowOperation operation_;
  ElementType element_;
  std::array<Operand, row_operand_count> operands_;
  std::uint32_t block_rows_, piece_columns_, pieces_;
  std::vector<Workgroup> workgroups_;  ///< by slot
};

}  // namespace t3vp
