#include "guests/opened_software.h"

#include <fmt/format.h>

#include <stdexcept>

#include "built_in.h"
#include "compute/kernel_registry.h"
#include "guests/executable_table.h"
#include "guests/firmware_image.h"
#include "guests/program_choice.h"

namespace t3vp {
namespace {

std::string in_words(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

t3_program* built_in(const std::string& name) {
  for (const t3_named_program* program = t3_built_in.programs; program->name != nullptr; ++program)
    if (name == program->name) return program->main;
  throw std::logic_error("no program " + name);
}

void add_kernels(const t3_export_table& table, const InputPlace& place, compute::KernelRegistry& registry,
                 std::vector<const t3_kernel*>& kernels) {
  for (const t3_kernel* const* kernel = table.kernels; kernel != nullptr && *kernel != nullptr; ++kernel) {
    if (const auto refused = registry.refusal(**kernel)) place.reject(refused->found, refused->expected);
    registry.add(**kernel);
    kernels.push_back(*kernel);
  }
}

}  // namespace

OpenedSoftware::OpenedSoftware(const RunConfiguration& configuration)
    : gpus_(configuration.mirror ? 1 : configuration.gpus) {
  const Software& software = configuration.software;
  if (software.on_core)
    image_ =
        std::make_unique<ElfFile>(software.library ? software.library->file : built_in_image(software.firmware_at));
  if (software.on_core && software.library) require_program(*image_, software.program, software.library->place);
  for (OnGpu& gpu : gpus_) {
    compute::KernelRegistry registry(t3_built_in.kernels);
    for (const t3_kernel* const* kernel = t3_built_in.kernels; *kernel != nullptr; ++kernel)
      gpu.kernels.push_back(*kernel);
    if (software.on_core) {
      // its programs are found by itself, when it runs
    } else if (software.library) {
      const Library& library = gpu.libraries.emplace_back(*software.library, configuration.limits);
      const t3_export_table& table = library.exports();
      gpu.program =
          table.programs[choose_program(library.programs(), software.program, "a library", software.library->place)]
              .main;
      add_kernels(table, software.library->place, registry, gpu.kernels);
    } else {
      gpu.program = built_in(software.program);
    }
    for (const SoftwareLibrary& library : software.kernels) {
      const t3_export_table& table = gpu.libraries.emplace_back(library, configuration.limits).exports();
      if (table.kernels == nullptr || *table.kernels == nullptr)
        library.place.reject("a library without kernels", "a library that has kernels");
      add_kernels(table, library.place, registry, gpu.kernels);
    }
    gpu.kernels.push_back(nullptr);
  }
}

Arguments arguments_of(const RunConfiguration& configuration) {
  Arguments::Values values;
  for (const auto& [name, argument] : configuration.software.arguments) {
    const nlohmann::json& value = argument.value;
    if (value.is_boolean())
      values[name] = value.get<bool>();
    else if (value.is_number_unsigned() || (value.is_number_integer() && value == 0))  // -0 is signed
      values[name] = value.get<std::uint64_t>();
    else if (value.is_number_integer())
      values[name] = value.get<std::int64_t>();
    else if (value.is_number())
      values[name] = value.get<double>();
    else
      values[name] = value.get<std::string>();
  }
  return Arguments(std::move(values));
}

void require_fit(const RunConfiguration& configuration, const Arguments& arguments, bool have_succeeded) {
  const Software& software = configuration.software;
  if (!arguments.refusals().empty()) {
    const Arguments::Refusal& first = arguments.refusals().front();
    const auto found = software.arguments.find(first.name);
    const std::string expected = first.expected + ", which the program asks for";
    if (found == software.arguments.end())
      throw InputError(software.arguments_at.where + "/" + first.name, "nothing", expected);
    throw InputError(found->second.place.where, found->second.place.given, expected);
  }
  const std::vector<std::string> unused = arguments.unused();
  if (unused.empty() || !have_succeeded) return;
  const std::string asked = in_words({arguments.asked().begin(), arguments.asked().end()});
  software.arguments.at(unused.front())
      .place.reject("which the program never asks for",
                    asked.empty() ? "no arguments" : "one of those that it asks for: " + asked);
}

}  // namespace t3vp
