// The data that all programs of a kernel read: its arguments and the struct t3_device. They must not change either.
#pragma once

#include <cstddef>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "compute/cluster_parameters.h"
#include "compute/kernel_wave.h"

namespace t3vp::compute {

/// The machine as programs see it.
t3_device device_of(const ComputeParameters& parameters);

/// The arguments as a kernel sees them.
class KernelArguments {
 public:
  /// So many units of alignment, all zero, behind a fence.
  explicit KernelArguments(std::size_t units) : all_(units + 1) {
    static_assert(sizeof(FrontFence) <= sizeof(std::max_align_t));
    std::memset(static_cast<void*>(all_.data()), 0, all_.size() * sizeof all_.front());  // with its padding
    new (all_.data()) FrontFence;
  }
  void* data() { return all_.data() + 1; }
  const void* data() const { return all_.data() + 1; }
  bool is_fence_whole() const { return reinterpret_cast<const FrontFence*>(all_.data())->is_whole(); }

 private:
  std::vector<std::max_align_t> all_;  ///< the first one is the fence
};

class KernelGiven {
 public:
  /// `bytes`: of the arguments' structure.
  KernelGiven(const t3_device& device, KernelArguments arguments, std::size_t bytes)
      : device_(device),
        arguments_(std::move(arguments)),
        known_device_(device_),
        known_arguments_(arguments_),
        bytes_(bytes) {}

  t3_device& device() { return device_; }
  void* arguments() { return arguments_.data(); }
  bool is_changed() const {
    return !arguments_.is_fence_whole() || std::memcmp(arguments_.data(), known_arguments_.data(), bytes_) != 0 ||
           std::memcmp(&device_, &known_device_, sizeof device_) != 0;
  }

 private:
  t3_device device_;
  KernelArguments arguments_;
  const t3_device known_device_;           ///< the same, as programs have got it
  const KernelArguments known_arguments_;  ///< likewise
  std::size_t bytes_;
};

}  // namespace t3vp::compute
