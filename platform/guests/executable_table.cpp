#include "guests/executable_table.h"

#include <algorithm>
#include <cstring>

#include "guests/library_table.h"
#include "guests/program_choice.h"

namespace t3vp {
namespace {

static_assert(sizeof(void*) == 8, "structures of the host are those of the core");

class ImageMemory : public TableMemory {
 public:
  explicit ImageMemory(const ElfFile& image) : image_(image) {}

  /// A structure lies within one segment.
  bool read(std::uint64_t address, void* to, std::size_t bytes) const override {
    const ElfFile::Segment* const segment = segment_of(address);
    if (segment == nullptr || bytes - 1 > segment->last() - address) return false;
    const std::uint64_t offset = address - segment->address, filled = segment->content.size();
    std::memset(to, 0, bytes);
    if (offset < filled)
      std::memcpy(to, segment->content.data() + offset, std::min<std::uint64_t>(bytes, filled - offset));
    return true;
  }

  bool has_code(std::uint64_t address) const override {
    const ElfFile::Segment* const segment = segment_of(address);
    return segment != nullptr && segment->is_code && address % 2 == 0;
  }

 private:
  const ElfFile::Segment* segment_of(std::uint64_t address) const {
    const auto& segments = image_.segments();
    const auto found = std::find_if(segments.begin(), segments.end(), [=](const ElfFile::Segment& segment) {
      return segment.address <= address && address <= segment.last();
    });
    return found == segments.end() ? nullptr : &*found;
  }

  const ElfFile& image_;
};

}  // namespace

void require_program(const ElfFile& image, const std::string& program, const InputPlace& place) {
  if (const auto table = image.symbol("t3_exports"))
    choose_program(require_right(*table, ImageMemory(image), place), program, "an executable", place);
}

}  // namespace t3vp
