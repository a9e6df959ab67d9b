// The kernels that packets may ask for, by their handles.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "t3/device.h"

namespace t3vp::compute {

class KernelRegistry {
 public:
  /// Bytes of the structure that programs see: several times as many as in memory.
  static constexpr std::uint32_t most_argument_size = 8 * T3_ARGUMENT_BYTES_MAX;

  /// Takes the kernels up to a null pointer; they outlive the registry. Throws std::invalid_argument when two of them
  /// have the same name or handle, or when one lacks a part.
  explicit KernelRegistry(const t3_kernel* const* kernels);

  /// Why it cannot be added.
  struct Refusal {
    std::string found, expected;
  };
  std::optional<Refusal> refusal(const t3_kernel& kernel) const;
  /// Throws as the constructor does.
  void add(const t3_kernel& kernel);

  /// Returns null for a handle that is not registered.
  const t3_kernel* find(std::uint32_t handle) const;
  /// All of them with their handles, in words.
  std::string text() const;

 private:
  std::vector<std::pair<std::uint32_t, const t3_kernel*>> kernels_;
};

}  // namespace t3vp::compute
