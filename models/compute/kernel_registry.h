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

  /// Up to a null pointer; the kernels outlive the registry. Throws std::invalid_argument when one cannot be
  /// distinguished from another, or lacks a part.
  explicit KernelRegistry(const t3_kernel* const* kernels);

  /// Why it cannot be added.
  struct Refusal {
    std::string found, expected;
  };
  std::optional<Refusal> refusal(const t3_kernel& kernel) const;
  /// Throws as the constructor does.
  void add(const t3_kernel& kernel);

  /// Null for a handle that was not registered.
  const t3_kernel* find(std::uint32_t handle) const;
  /// All of them with their handles, in words.
  std::string text() const;

 private:
  std::vector<std::pair<std::uint32_t, const t3_kernel*>> kernels_;
};

}  // namespace t3vp::compute
