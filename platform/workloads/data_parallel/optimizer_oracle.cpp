#include "workloads/data_parallel/optimizer_oracle.h"

#include <Eigen/Core>
#include <cmath>

namespace t3vp {

namespace {

using Array = Eigen::ArrayXd;

constexpr double rate = 0.125;             // optimizer.h's
constexpr double u = 0x1p-24;              // half a unit in the last place of fp32, in which the step is computed
constexpr double least_in_fp16 = 0x1p-25;  // half of fp16's smallest number

/// Half a unit in the last place: the state is rounded once when it is stored.
double half_unit(ElementType element) {
  switch (element) {
    case ElementType::fp16:
      return 0x1p-11;
    case ElementType::bf16:
      return 0x1p-8;
    default:
      return u;
  }
}

/// A row of the state before the step. All element types hold these numbers.
struct State {
  Array mean, square, weight;
};

State state_of(std::uint32_t row, std::uint32_t columns) {
  State state{Array(columns), Array(columns), Array(columns)};
  for (std::uint32_t column = 0; column < columns; ++column) {
    state.mean[column] = ((row * 3 + column * 5) % 7 - 3.0) / 4;
    state.square[column] = ((row + column) % 5 + 1.0) / 2;
    state.weight[column] = (row * 7 + column) % 11 - 5.0;
  }
  return state;
}

/// The state behind the step, and by how much arithmetic in fp32 may differ.
struct Stepped {
  State value, loss;
};

Stepped step(const State& before, const Array& gradient) {
  const Array mean = 0.9 * before.mean + 0.1 * gradient, square = 0.999 * before.square + 0.001 * gradient.square();
  const Array mean_loss = 3 * u * (0.9 * before.mean.abs() + 0.1 * gradient.abs());
  const Array root = square.sqrt() + 1e-8, change = rate * mean / root, weight = before.weight - change;
  const Array change_loss = rate * mean_loss / root + 12 * u * change.abs();
  return {{mean, square, weight}, {mean_loss, 4 * u * square, change_loss + u * weight.abs()}};
}

std::vector<double> values_of(const Array& array) { return {array.begin(), array.end()}; }

}  // namespace

std::vector<Buffer> optimizer_buffers(const Buffer& gradients) {
  const auto before = [columns = gradients.columns](Array State::*part) {
    return [columns, part](std::uint32_t row) { return values_of(state_of(row, columns).*part); };
  };
  const auto stepped = [gradients](std::uint32_t row) {
    const std::vector<double> gradient = gradients.expected(row);
    return step(state_of(row, gradients.columns), Eigen::Map<const Array>(gradient.data(), gradients.columns));
  };
  const auto buffer = [&](const char* name, Array State::*part) {
    Buffer all = gradients;
    all.name = name;
    all.fill = before(part);
    all.expected = [stepped, part](std::uint32_t row) { return values_of(stepped(row).value.*part); };
    all.tolerance = [stepped, part, half = half_unit(gradients.element)](std::uint32_t row) {
      const Stepped s = stepped(row);
      return values_of((s.value.*part).abs() * half + s.loss.*part + least_in_fp16);
    };
    return all;
  };
  return {buffer("means", &State::mean), buffer("squares", &State::square), buffer("weights", &State::weight)};
}

}  // namespace t3vp
