// ELF files: refused in one line, or segments and symbols within the file.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "config/elf_file.h"
#include "io/input_error.h"

namespace {

using namespace t3vp;

void require(bool holds) {
  if (!holds) std::abort();
}

/// A file that is in memory alone; the same one for all inputs.
int file_of(const std::uint8_t* data, std::size_t bytes) {
  static const int file = memfd_create("program.elf", 0);
  require(file >= 0 && ftruncate(file, 0) == 0);
  require(pwrite(file, data, bytes, 0) == static_cast<ssize_t>(bytes));
  return file;
}

/// Every byte of what a loader would copy is looked at.
void load(const ElfFile& program, std::size_t bytes) {
  unsigned sum = 0;
  for (const ElfFile::Segment& segment : program.segments()) {
    require(segment.bytes != 0 && segment.content.size() <= segment.bytes && segment.content.size() <= bytes);
    require(segment.last() >= segment.address);
    for (const char byte : segment.content) sum += static_cast<unsigned char>(byte);
  }
  static volatile unsigned seen;
  seen = sum;
  (void)seen;
  program.symbol("tohost");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  const std::string path = "/proc/self/fd/" + std::to_string(file_of(data, bytes));
  try {
    load(ElfFile(path), bytes);
  } catch (const InputError& error) {
    require(std::string(error.what()).find('\n') == std::string::npos);
  }
  return 0;
}
