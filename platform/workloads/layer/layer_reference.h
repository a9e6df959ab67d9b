// The operations of a layer against what they should compute from what their operands held before.
#pragma once

#include <string>
#include <vector>

#include "workloads/layer/layer_program.h"
#include "workloads/layer/operation_reference.h"
#include "workloads/operations.h"

namespace t3vp {

class LayerReference : public OperationChecker {
 public:
  LayerReference(GpuMemory& memory, std::uint64_t seed, const std::vector<LayerOperation>& operations)
      : memory_(memory), seed_(seed), program_(operations) {}

  /// Fills the next tensor of the program with values in [-1, 1]; second moments are not negative.
  void publish(const PublishedTensor& tensor) override;
  /// Keeps the operands of an operation that is about to run.
  void before(std::size_t operation) override;
  /// Compares what it has written. One rounding to the element type is allowed, and what fp32 loses on the way.
  void after(std::size_t operation) override;
  /// At the end of the run every tensor has to lie in memory, to the bit, as the last operation that wrote it left it
  /// for compute units to see: what lies in the cache alone is wrong, and so is what has changed on its way to memory.
  FunctionalCheck result() override;
  /// The result of the operations so far.
  const FunctionalCheck& so_far() const { return result_; }

 private:
  /// A matrix of each operand; of attention, queries, keys and values.
  struct Operands {
    Matrix a, b, c, out;
  };
  /// Takes over what compute units see of a matrix that an operation has written.
  void take(const t3_operand& operand, std::uint32_t matrix, std::uint32_t stride);
  Matrix content(const t3_operand& operand, std::uint32_t matrix, std::uint32_t stride) const;
  void fill(const PublishedTensor& tensor);
  void check_memory(const PublishedTensor& tensor, const std::vector<unsigned char>& content);
  Matrix read_part(const t3_layer_operation& operation, std::uint32_t matrix, std::uint32_t part) const;
  void compare(const std::string& operation, const t3_operand& operand, std::uint32_t matrix, std::uint32_t stride,
               const Expected& expected);

  GpuMemory& memory_;
  std::uint64_t seed_;
  const std::vector<LayerOperation>& program_;
  std::vector<PublishedTensor> tensors_;
  /// Each tensor as it was filled, then written by operations. Operands come from here: bytes that go wrong on the way
  /// through memory must not pass for an operand.
  std::vector<std::vector<unsigned char>> contents_;
  std::vector<Operands> operands_;  ///< by matrix of the batch
  FunctionalCheck result_;
};

}  // namespace t3vp
