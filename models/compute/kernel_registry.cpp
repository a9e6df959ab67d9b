#include "compute/kernel_registry.h"

#include <fmt/format.h>

#include <stdexcept>

#include "t3/kernel_handle.h"

namespace t3vp {

KernelRegistry::KernelRegistry(const t3_kernel* const* kernels) {
  for (const t3_kernel* const* kernel = kernels; *kernel != nullptr; ++kernel) add(**kernel);
}

std::optional<KernelRegistry::Refusal> KernelRegistry::refusal(const t3_kernel& added) const {
  if (added.name == nullptr || *added.name == '\0')
    return Refusal{fmt::format("kernel number {}: found no name", kernels_.size() + 1), "a name"};
  const std::string name = fmt::format("kernel {}: ", added.name);
  if (added.check == nullptr || added.plan == nullptr || added.run == nullptr)
    return Refusal{
        name + "found no " + (added.check == nullptr ? "check" : (added.plan == nullptr ? "plan" : "program")),
        "a check, a plan and a program"};
  if (added.arguments.read == nullptr || added.arguments.size == 0 ||
      added.arguments.bytes - 1 >= T3_ARGUMENT_BYTES_MAX)
    return Refusal{name + fmt::format("found arguments of {} bytes", added.arguments.bytes),
                   fmt::format("a description of 1 to {}", static_cast<int>(T3_ARGUMENT_BYTES_MAX))};
  const std::uint32_t handle = t3_kernel_handle(added.name);
  if (const t3_kernel* other = find(handle))
    return Refusal{name + fmt::format("its handle {:#010x} is that of {} as well", handle, other->name),
                   "another name"};
  return {};
}

void KernelRegistry::add(const t3_kernel& added) {
  if (const auto refused = refusal(added))
    throw std::invalid_argument(fmt::format("{}, expected {}", refused->found, refused->expected));
  kernels_.emplace_back(t3_kernel_handle(added.name), &added);
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
