#include "compute/kernel_registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "compute/guest_bool.h"
#include "protocol/plain_name.h"
#include "protocol/traffic_classes.h"
#include "t3/kernel_handle.h"

namespace t3vp::compute {
namespace {
constexpr std::size_t most_class_name = 31;

bool is_class_name(const std::string& name, const std::string& end) {
  const bool plain = std::all_of(name.begin(), name.end(),
                                 [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; });
  return plain && name.size() > end.size() && name.size() <= most_class_name &&
         name.compare(name.size() - end.size(), end.size(), end) == 0;
}

/// The class has a number from now on.
std::optional<KernelRegistry::Refusal> refusal_of_class(const std::string& kernel, const char* what, const char* name,
                                                        const std::string& end) {
  const std::string found = name == nullptr ? fmt::format("{}found no class of what it {}", kernel, what)
                                            : fmt::format("{}found that it {} {}", kernel, what, name);
  if (name == nullptr || !is_class_name(name, end))
    return KernelRegistry::Refusal{
        found, fmt::format("the name of one, in small letters, digits and _, that ends in {}", end)};
  if (traffic_class_of(name)) return {};
  return KernelRegistry::Refusal{found, fmt::format("at most {} classes of traffic, the platform's {} among them",
                                                    traffic_classes_most, std::size(traffic_class_values))};
}

}  // namespace

KernelRegistry::KernelRegistry(const t3_kernel* const* kernels) {
  for (const t3_kernel* const* kernel = kernels; *kernel != nullptr; ++kernel) add(**kernel);
}

std::optional<KernelRegistry::Refusal> KernelRegistry::refusal(const t3_kernel& added) const {
  if (added.name == nullptr || !is_plain_name(added.name))
    return Refusal{fmt::format("kernel number {}: found {}", kernels_.size() + 1,
                               added.name == nullptr ? "no name" : fmt::format("the name \"{}\"", added.name)),
                   a_plain_name};
  const std::string name = fmt::format("kernel {}: ", added.name);
  if (added.check == nullptr || added.plan == nullptr || added.run == nullptr)
    return Refusal{
        name + "found no " + (added.check == nullptr ? "check" : (added.plan == nullptr ? "plan" : "program")),
        "a check, a plan and a program"};
  const t3_argument_format& arguments = added.arguments;
  if (arguments.read == nullptr || arguments.bytes - 1 >= T3_ARGUMENT_BYTES_MAX ||
      arguments.size - 1 >= most_argument_size)
    return Refusal{
        name + fmt::format("found arguments of {} bytes as a structure of {}", arguments.bytes, arguments.size),
        fmt::format("a description of 1 to {}, and of a structure of 1 to {}", static_cast<int>(T3_ARGUMENT_BYTES_MAX),
                    most_argument_size)};
  if (!is_bool(added.is_producer))
    return Refusal{name + fmt::format("found an is_producer of {}", byte_of(added.is_producer)), a_bool};
  if (auto refused = refusal_of_class(name, "reads", added.reads, "_read")) return refused;
  if (auto refused = refusal_of_class(name, "writes", added.writes, "_write")) return refused;
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

}  // namespace t3vp::compute
