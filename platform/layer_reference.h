// What the operations of a layer should compute, by Eigen in double precision from what their operands hold.
#pragma once

#include <vector>

#include "platform/buffer_access.h"
#include "platform/layer.h"
#include "platform/report.h"

namespace t3vp {

class LayerReference {
 public:
  LayerReference(Gpu& gpu, std::uint64_t seed) : gpu_(gpu), seed_(seed) {}

  /// Fills the next tensor of the program with values in [-1, 1]; second moments are not negative.
  void fill(const PublishedBuffer& tensor);
  /// Keeps the operands of an operation that is about to run.
  void before(const t3_layer_operation& operation);
  /// Compares what it has written. One rounding to the element type is allowed, and what fp32 loses on the way.
  void after(const t3_layer_operation& operation);

  const FunctionalCheck& result() const { return result_; }

 private:
  /// A matrix of each operand.
  struct Operands {
    Matrix a, b, c, out;
  };
  PublishedBuffer place(const t3_operand& operand, std::uint32_t matrix, std::uint32_t stride) const;
  Matrix read_operand(const t3_operand& operand, std::uint32_t matrix, std::uint32_t stride) const;
  void compare(const t3_operand& operand, std::uint32_t matrix, std::uint32_t stride, const Matrix& expected,
               const Matrix& loss);
  void check_gemm(const t3_layer_operation& operation, std::uint32_t matrix);
  void check_rows(const t3_layer_operation& operation);
  void check_attention(const t3_layer_operation& operation, std::uint32_t matrix);

  Gpu& gpu_;
  std::uint64_t seed_;
  std::vector<PublishedBuffer> tensors_;
  std::vector<Operands> operands_;  ///< by matrix of the batch
  FunctionalCheck result_;
};

}  // namespace t3vp
