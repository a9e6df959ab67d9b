#include "guests/firmware_image.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <system_error>

namespace t3vp {
namespace {

namespace fs = std::filesystem;

constexpr const char* image_name = "t3vp-firmware.elf";

/// Returns the last address of the memory.
std::uint64_t last_of(const processor::CoreMemory& memory) { return memory.base() + (memory.bytes() - 1); }

[[noreturn]] void refuse(const ElfFile& image, const std::string& found, const processor::CoreMemory& memory) {
  throw InputError(image.file().string(), found,
                   fmt::format("it in the core's memory, {:#x} to {:#x} (linker script firmware/hal/riscv/t3.ld)",
                               memory.base(), last_of(memory)));
}

}  // namespace

fs::path built_in_image(const InputPlace& firmware) {
  std::error_code error;
  const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const fs::path& place : {folder, folder / ".." / "share" / "t3vp"})
    if (fs::exists(place / image_name, error)) return place / image_name;
  firmware.reject(fmt::format("there is no {} in {}", image_name, folder.string()),
                  "one: install gcc-riscv64-unknown-elf and picolibc-riscv64-unknown-elf, configure and build anew");
}

void load(const ElfFile& image, processor::CoreMemory& memory) {
  for (const ElfFile::Segment& segment : image.segments()) {
    unsigned char* const place = memory.at(segment.address, segment.bytes);
    if (place == nullptr)
      refuse(image, fmt::format("a segment from {:#x} to {:#x}", segment.address, segment.last()), memory);
    std::memcpy(place, segment.content.data(), segment.content.size());
  }
  for (const bool is_writable : {false, true})
    for (const ElfFile::Segment& segment : image.segments())
      if (segment.is_writable == is_writable) memory.let_write(segment.address, segment.last(), is_writable);
  if (memory.at(image.entry(), 2) == nullptr) refuse(image, fmt::format("entry point {:#x}", image.entry()), memory);
}

std::string place_in(const ElfFile& image, std::uint64_t address) {
  const auto& segments = image.segments();
  const bool is_in_image = std::any_of(segments.begin(), segments.end(), [=](const auto& one) {
    return one.address <= address && address <= one.last();
  });
  const auto name = is_in_image ? image.symbol_around(address) : std::nullopt;
  return fmt::format("{:#x}", address) +
         (name ? fmt::format(" ({}+{:#x})", name->first, address - name->second) : std::string());
}

}  // namespace t3vp
