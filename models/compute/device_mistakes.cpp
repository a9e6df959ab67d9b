#include "compute/device_mistakes.h"

#include <fmt/format.h>

#include <algorithm>

namespace t3vp {
namespace {

const char* name_of(t3_element element) {
  return element == T3_FP16 ? "fp16" : element == T3_BF16 ? "bf16" : element == T3_FP32 ? "fp32" : "unknown elements";
}

std::string text_of(const t3_tile& tile) {
  return fmt::format("tile {} of {} x {} {}", tile.index, tile.rows, tile.columns, name_of(tile.element));
}

bool is_tile(const t3_tile& tile, std::uint32_t tiles) {
  return tile.index < tiles && tile.rows != 0 && tile.columns != 0 && tile.element <= T3_FP32;
}

bool fits(const t3_tile& tile, std::uint32_t rows, std::uint32_t columns) {
  return tile.element == T3_FP32 && tile.rows == rows && tile.columns == columns;
}

std::string mistake_of_agreement(const t3_agreement& agreement) {
  if (agreement.count > T3_PROPERTIES_MAX || agreement.receiver >= agreement.gpus)
    return fmt::format("an agreement of {} properties with GPU {} of {}: up to {}, and a GPU of the ring, expected",
                       agreement.count, agreement.receiver, agreement.gpus, static_cast<int>(T3_PROPERTIES_MAX));
  for (std::uint32_t i = 0; i < agreement.count; ++i)
    if (agreement.properties[i].name == nullptr)
      return fmt::format("an agreement whose property {} has no name", i + 1);
  return {};
}

}  // namespace

std::string mistake_of_plan(const t3_plan& plan) {
  const auto within = [](std::uint32_t value, std::uint32_t most) { return value != 0 && value <= most; };
  if (plan.name != nullptr && plan.workgroups != 0 && within(plan.workgroups_per_cu, T3_WORKGROUPS_PER_CU_MAX) &&
      within(plan.waves, T3_WAVES_MAX) && plan.tiles <= T3_TILES_MAX && within(plan.written_count, T3_RANGES_MAX) &&
      plan.read_count <= T3_RANGES_MAX)
    return {};
  return fmt::format(
      "a plan of {} workgroups, {} per compute unit, with {} waves of {} tiles, that writes {} ranges and reads {}: a "
      "name, 1 or more, 1 to {}, 1 to {}, up to {}, 1 to {}, up to {} expected",
      plan.workgroups, plan.workgroups_per_cu, plan.waves, plan.tiles, plan.written_count, plan.read_count,
      static_cast<int>(T3_WORKGROUPS_PER_CU_MAX), static_cast<int>(T3_WAVES_MAX), static_cast<int>(T3_TILES_MAX),
      static_cast<int>(T3_RANGES_MAX), static_cast<int>(T3_RANGES_MAX));
}

std::uint32_t resident_workgroups(const t3_plan& plan, const t3_device& device) {
  constexpr std::uint32_t most = T3_WORKGROUPS_PER_CU_MAX;
  const auto fit = [](std::uint32_t all, std::uint32_t each) { return each == 0 ? most : all / each; };
  return std::min({plan.workgroups_per_cu, fit(device.register_bytes, plan.register_bytes),
                   fit(device.local_bytes, plan.local_bytes)});
}

std::string mistake_of_residency(const t3_plan& plan, const t3_device& device, std::uint32_t compute_units) {
  if (plan.workgroups_per_cu == 0)
    return fmt::format(
        "a workgroup takes {} bytes of registers and {} of local memory: at most {} and {}, what a compute unit has, "
        "expected",
        plan.register_bytes, plan.local_bytes, device.register_bytes, device.local_bytes);
  const std::uint64_t fit = std::uint64_t{compute_units} * plan.workgroups_per_cu;
  if (plan.together && plan.workgroups > fit)
    return fmt::format("{} workgroups that wait for each other: 1 to {} that fit at once expected", plan.workgroups,
                       fit);
  return {};
}

std::string mistake_of_agreements(const t3_kernel& kernel, const void* arguments) {
  if (kernel.agree == nullptr) return {};
  t3_agreement sent{}, expected{};
  kernel.agree(arguments, &sent, &expected);
  for (const t3_agreement* agreement : {&sent, &expected})
    if (std::string wrong = mistake_of_agreement(*agreement); !wrong.empty()) return wrong;
  return {};
}

std::string mistake_of_tile(const t3_tile& tile, std::uint32_t tiles) {
  if (is_tile(tile, tiles)) return {};
  return fmt::format("{}: one of the wave's {}, with elements, expected", text_of(tile), tiles);
}

std::string mistake_of_access(const t3_tile& tile, const t3_access& access, std::uint32_t tiles) {
  if (std::string wrong = mistake_of_tile(tile, tiles); !wrong.empty()) return wrong;
  const bool within = access.rows != 0 && access.columns != 0 && std::uint64_t{access.row} + access.rows <= tile.rows &&
                      std::uint64_t{access.column} + access.columns <= tile.columns;
  if (!within)
    return fmt::format("an access of {} x {} elements from ({}, {}) on: a part of {} expected", access.rows,
                       access.columns, access.row, access.column, text_of(tile));
  const bool converts = access.element == tile.element || tile.element == T3_FP32;
  if (access.element > T3_FP32 || !converts)
    return fmt::format("an access of {} elements: those of {}, or fp32 there, expected", name_of(access.element),
                       text_of(tile));
  return {};
}

std::string mistake_of_product(const t3_product& product, std::uint32_t tiles) {
  for (const t3_tile& tile : {product.sum, product.a, product.b})
    if (std::string wrong = mistake_of_tile(tile, tiles); !wrong.empty()) return wrong;
  if (product.sum.index == product.a.index || product.sum.index == product.b.index ||
      product.a.index == product.b.index)
    return fmt::format("a product of tiles {} and {} in {}: different ones expected", product.a.index, product.b.index,
                       product.sum.index);
  const std::uint32_t m = product.sum.rows, n = product.sum.columns;
  const std::uint32_t k = product.transpose_a ? product.a.rows : product.a.columns;
  const bool right = fits(product.sum, m, n) && (product.transpose_a ? fits(product.a, k, m) : fits(product.a, m, k)) &&
                     (product.transpose_b ? fits(product.b, n, k) : fits(product.b, k, n));
  if (!right)
    return fmt::format("a product of {} and {} in {}: fp32 tiles that fit expected", text_of(product.a),
                       text_of(product.b), text_of(product.sum));
  return {};
}

std::string mistake_of_sum(const t3_tile& sum, const t3_tile& addend, std::uint32_t tiles) {
  for (const t3_tile& tile : {sum, addend})
    if (std::string wrong = mistake_of_tile(tile, tiles); !wrong.empty()) return wrong;
  if (sum.rows != addend.rows || sum.columns != addend.columns || sum.element != addend.element)
    return fmt::format("a sum of {} and {}: tiles alike expected", text_of(sum), text_of(addend));
  return {};
}

std::string mistake_of_work(const t3_vector_work& work, std::uint32_t tiles) {
  if (work.operands > T3_OPERANDS_MAX || !(work.operations >= 0))
    return fmt::format("work of {} operations on {} tiles: 0 or more on at most {} expected", work.operations,
                       work.operands, static_cast<int>(T3_OPERANDS_MAX));
  for (std::uint32_t i = 0; i < work.operands; ++i) {
    if (std::string wrong = mistake_of_tile(work.tiles[i], tiles); !wrong.empty()) return wrong;
    for (std::uint32_t other = 0; other < i; ++other)
      if (work.tiles[i].index == work.tiles[other].index)
        return fmt::format("work on tile {} twice: different ones expected", work.tiles[i].index);
    if (work.tiles[i].element != T3_FP32) return fmt::format("work on {}: fp32 expected", text_of(work.tiles[i]));
  }
  return {};
}

}  // namespace t3vp
