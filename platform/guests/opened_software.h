// The program and the kernels of a run, opened for each GPU.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "config/configuration.h"
#include "config/elf_file.h"
#include "guests/arguments.h"
#include "guests/library.h"

namespace t3vp {

class OpenedSoftware {
 public:
  /// Throws InputError about a library that cannot be opened, a program that does not exist, or kernels with the same
  /// name or handle.
  explicit OpenedSoftware(const RunConfiguration& configuration);

  /// Returns the program of a GPU's command processor. GPUs count from 0, in the node's order.
  t3_program* program(std::size_t gpu) const { return gpus_.at(gpu).program; }
  /// Returns the kernels that packets for the GPU's compute units may name, up to a null pointer.
  const t3_kernel* const* kernels(std::size_t gpu) const { return gpus_.at(gpu).kernels.data(); }
  /// Returns the executable of the GPUs' cores; null when programs are native.
  const ElfFile* image() const { return image_.get(); }

 private:
  struct OnGpu {
    std::deque<Library> libraries;
    t3_program* program = nullptr;
    std::vector<const t3_kernel*> kernels;
  };

  std::unique_ptr<const ElfFile> image_;
  std::vector<OnGpu> gpus_;
};

/// Returns the arguments that the run file gives to its program.
Arguments arguments_of(const RunConfiguration& configuration);

/// Throws InputError about the first argument that programs have asked for in vain; when all have come to a good end,
/// about one that none of them has asked for too.
void require_fit(const RunConfiguration& configuration, const Arguments& arguments, bool have_succeeded);

}  // namespace t3vp
