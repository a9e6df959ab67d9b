#include "memory/following_arithmetic.h"

#include "protocol/element.h"
#include "t3/adam_step.h"
#include "t3/dropout_mask.h"

namespace t3vp::memory {
namespace {

using Floats = std::vector<float>;

Floats widened(ElementType element, const std::vector<unsigned char>& bytes) {
  Floats values(bytes.size() / bytes_of(element));
  widen_elements(element, bytes.data(), values.data(), values.size());
  return values;
}

std::vector<unsigned char> narrowed(ElementType element, const Floats& values) {
  std::vector<unsigned char> bytes(values.size() * bytes_of(element));
  narrow_elements(element, values.data(), bytes.data(), values.size());
  return bytes;
}

}  // namespace

std::vector<unsigned char> followed_sums(ElementType element, const FollowBytes& operands, FollowPlace place,
                                         FollowDropout dropout) {
  Floats result = widened(element, operands[follow_sum]);
  result.resize(std::size_t{place.rows} * place.columns);
  if (const Floats bias = widened(element, operands[follow_bias]); !bias.empty())
    for (std::size_t i = 0; i < result.size(); ++i) result[i] += bias[i % place.columns];
  for (std::size_t i = 0; dropout.keep < 1 && i < result.size(); ++i) {
    const std::uint64_t row = place.first_row + i / place.columns, column = place.first_column + i % place.columns;
    result[i] = t3_dropout_keeps(dropout.seed, row, column, dropout.keep) ? result[i] / dropout.keep : 0;
  }
  if (const Floats residual = widened(element, operands[follow_residual]); !residual.empty())
    for (std::size_t i = 0; i < result.size(); ++i) result[i] += residual[i];
  return narrowed(element, result);
}

void take_adam_step(ElementType element, FollowBytes& operands, float rate) {
  const Floats gradients = widened(element, operands[follow_sum]);
  Floats means = widened(element, operands[follow_means]), squares = widened(element, operands[follow_squares]),
         weights = widened(element, operands[follow_weights]);
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    const t3_adam_state next = t3_adam_step({means[i], squares[i], weights[i]}, gradients[i], rate);
    means[i] = next.mean, squares[i] = next.square, weights[i] = next.weight;
  }
  operands[follow_means] = narrowed(element, means);
  operands[follow_squares] = narrowed(element, squares);
  operands[follow_weights] = narrowed(element, weights);
}

}  // namespace t3vp::memory
