// A statically linked RISC-V executable (ELF, 64 bits, little-endian): what of it goes to which address.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace t3vp {

class ElfFile {
 public:
  struct Segment {
    std::uint64_t address = 0;  ///< the physical one, where a loader puts it
    std::uint64_t bytes = 0;    ///< never past the end of the address space
    std::string_view content;   ///< its first bytes; the others are 0
    bool is_writable = true;    ///< by its flags
    bool is_code = true;        ///< by its flags
    std::uint64_t last() const { return address + (bytes - 1); }
  };

  /// Throws InputError.
  explicit ElfFile(const std::filesystem::path& file);
  ElfFile(const ElfFile&) = delete;
  ElfFile& operator=(const ElfFile&) = delete;

  const std::filesystem::path& file() const { return file_; }
  std::uint64_t entry() const { return entry_; }
  /// Returns the segments that are loaded and not empty, in the file's order.
  const std::vector<Segment>& segments() const { return segments_; }
  /// The address of a symbol that the file defines; a global one goes before a local one of the same name.
  std::optional<std::uint64_t> symbol(const std::string& name) const;
  /// Name and address of the function or object that the address is in, or may be, where the file does not say how
  /// large it is.
  std::optional<std::pair<std::string, std::uint64_t>> symbol_around(std::uint64_t address) const;

 private:
  struct Symbol {
    std::uint64_t address, bytes;
    bool is_global, is_place;  ///< a function or object, and no mark in code
  };

  [[noreturn]] void refuse(const std::string& found, const std::string& expected) const;
  template <typename T>
  T at(std::uint64_t offset, const std::string& what) const;
  std::string_view part(std::uint64_t offset, std::uint64_t bytes, const std::string& what) const;
  void read_header();
  void read_segments();
  void read_symbols();
  void read_symbol_table(std::string_view table, std::string_view names);

  std::filesystem::path file_;
  std::string content_;
  std::uint64_t entry_ = 0;
  std::vector<Segment> segments_;
  std::map<std::string, Symbol, std::less<>> symbols_;
};

}  // namespace t3vp
