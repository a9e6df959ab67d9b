// The arithmetic of a compute unit's matrix unit, apart from its time.
#pragma once

#include <Eigen/Core>

namespace t3vp::compute {

using FloatMatrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// sum += a b in fp32. The products of an element are added in the order of k, each product and each sum rounded to
/// nearest even, so that a reference can repeat the result bit for bit whatever the shapes of tiles and K tiles.
void multiply_add(const Eigen::Ref<const FloatMatrix>& a, const Eigen::Ref<const FloatMatrix>& b,
                  Eigen::Ref<FloatMatrix> sum);

}  // namespace t3vp::compute
