#include "compute/kernel_registry.h"

#include <fmt/format.h>

#include <stdexcept>

#include "t3/kernel_handle.h"

namespace t3vp {

KernelRegistry::KernelRegistry(const t3_kernel* const* kernels) {
  for (const t3_kernel* const* kernel = kernels; *kernel != nullptr; ++kernel) {
    const t3_kernel& added = **kernel;
    if (added.name == nullptr || *added.name == '\0')
      throw std::invalid_argument(fmt::format("kernel number {}: a name expected", kernels_.size() + 1));
    if (added.check == nullptr || added.plan == nullptr || added.run == nullptr)
      throw std::invalid_argument(
          fmt::format("kernel {}: found no {}, expected a check, a plan and a program", added.name,
                      added.check == nullptr ? "check" : (added.plan == nullptr ? "plan" : "program")));
    if (added.arguments.read == nullptr || added.arguments.size == 0 ||
        added.arguments.bytes - 1 >= T3_ARGUMENT_BYTES_MAX)
      throw std::invalid_argument(
          fmt::format("kernel {}: found arguments of {} bytes, expected a description of 1 to {}", added.name,
                      added.arguments.bytes, static_cast<int>(T3_ARGUMENT_BYTES_MAX)));
    const std::uint32_t handle = t3_kernel_handle(added.name);
    if (const t3_kernel* other = find(handle))
      throw std::invalid_argument(
          fmt::format("kernel {}: its handle {:#010x} is that of {} as well, expected another name", added.name, handle,
                      other->name));
    kernels_.emplace_back(handle, &added);
  }
}

const t3_kernel* KernelRegistry::find(std::uint32_t handle) const {
  for (const auto& [known, kernel] : kernels_)
    if (known == handle) return kernel;
  return nullptr;
}

std::string KernelRegistry::text() const {
  std::string text;
  for (const auto& [handle, kernel] : kernels_)
    text += fmt::format("{}{:#010x} ({})", text.empty() ? "" : ", ", handle, kernel->name);
  return text;
}

}  // namespace t3vp
