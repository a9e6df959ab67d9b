#include "config/elf_file.h"

#include <elf.h>
#include <fmt/format.h>

#include <cstring>

#include "io/input_error.h"
#include "io/input_file.h"

namespace t3vp {

ElfFile::ElfFile(const std::filesystem::path& file) : file_(file), content_(read_input(file, "executable (ELF)")) {
  read_header();
  read_segments();
  read_symbols();
}

std::optional<std::uint64_t> ElfFile::symbol(const std::string& name) const {
  const auto found = symbols_.find(name);
  if (found == symbols_.end()) return std::nullopt;
  return found->second.address;
}

std::optional<std::pair<std::string, std::uint64_t>> ElfFile::symbol_around(std::uint64_t address) const {
  const std::pair<const std::string, Symbol>* best = nullptr;
  for (const auto& named : symbols_) {
    const Symbol& symbol = named.second;
    if (symbol.is_place && symbol.address <= address && (best == nullptr || symbol.address > best->second.address))
      best = &named;
  }
  if (best == nullptr || (best->second.bytes != 0 && address - best->second.address >= best->second.bytes)) return {};
  return std::pair(best->first, best->second.address);
}

void ElfFile::refuse(const std::string& found, const std::string& expected) const {
  throw InputError(file_.string(), found, expected);
}

std::string_view ElfFile::part(std::uint64_t offset, std::uint64_t bytes, const std::string& what) const {
  if (offset > content_.size() || bytes > content_.size() - offset)
    refuse(fmt::format("{} of {:#x} B at {:#x}", what, bytes, offset),
           fmt::format("it within the file's {:#x} B", content_.size()));
  return std::string_view(content_).substr(offset, bytes);
}

template <typename T>
T ElfFile::at(std::uint64_t offset, const std::string& what) const {
  T value;
  std::memcpy(&value, part(offset, sizeof value, what).data(), sizeof value);
  return value;
}

void ElfFile::read_header() {
  const std::string expected = "an executable for RISC-V (ELF, 64 bits, little-endian, at fixed addresses)";
  if (content_.compare(0, SELFMAG, ELFMAG) != 0) refuse("no ELF file", expected);
  if (content_.size() <= EI_DATA || content_[EI_CLASS] != ELFCLASS64) refuse("an ELF file not of 64 bits", expected);
  if (content_[EI_DATA] != ELFDATA2LSB) refuse("a big-endian ELF file", expected);
  const auto header = at<Elf64_Ehdr>(0, "an ELF header");
  if (header.e_machine != EM_RISCV) refuse(fmt::format("an ELF file for machine {}", header.e_machine), expected);
  if (header.e_type != ET_EXEC) refuse(fmt::format("an ELF file of type {}", header.e_type), expected);
  entry_ = header.e_entry;
  if (entry_ % 2 != 0) refuse(fmt::format("entry point {:#x}", entry_), "an even one");
}

void ElfFile::read_segments() {
  const auto header = at<Elf64_Ehdr>(0, "an ELF header");
  if (header.e_phnum != 0 && header.e_phentsize != sizeof(Elf64_Phdr))
    refuse(fmt::format("program headers of {} B", header.e_phentsize), fmt::format("{} B", sizeof(Elf64_Phdr)));
  part(header.e_phoff, std::uint64_t{header.e_phnum} * sizeof(Elf64_Phdr), "program headers");
  for (std::uint64_t i = 0; i < header.e_phnum; ++i) {
    const std::string name = fmt::format("segment {}", i);
    const auto segment = at<Elf64_Phdr>(header.e_phoff + i * sizeof(Elf64_Phdr), name);
    if (segment.p_type != PT_LOAD || segment.p_memsz == 0) continue;
    if (segment.p_filesz > segment.p_memsz)
      refuse(fmt::format("{} with {:#x} B of content", name, segment.p_filesz),
             fmt::format("at most its {:#x} B in memory", segment.p_memsz));
    if (segment.p_memsz - 1 > ~segment.p_paddr)
      refuse(fmt::format("{} of {:#x} B at {:#x}", name, segment.p_memsz, segment.p_paddr),
             "it within 64-bit addresses");
    segments_.push_back({segment.p_paddr, segment.p_memsz,
                         part(segment.p_offset, segment.p_filesz, name + " with content"),
                         (segment.p_flags & PF_W) != 0, (segment.p_flags & PF_X) != 0});
  }
  if (segments_.empty())
    refuse("an ELF file without a segment to load", "program headers (PT_LOAD), as a linker writes them");
}

void ElfFile::read_symbols() {
  const auto header = at<Elf64_Ehdr>(0, "an ELF header");
  if (header.e_shnum == 0) return;
  if (header.e_shentsize != sizeof(Elf64_Shdr))
    refuse(fmt::format("section headers of {} B", header.e_shentsize), fmt::format("{} B", sizeof(Elf64_Shdr)));
  part(header.e_shoff, std::uint64_t{header.e_shnum} * sizeof(Elf64_Shdr), "section headers");
  for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
    const std::string name = fmt::format("section {}", i);
    const auto section = at<Elf64_Shdr>(header.e_shoff + i * sizeof(Elf64_Shdr), name);
    if (section.sh_type != SHT_SYMTAB) continue;
    if (section.sh_link >= header.e_shnum)
      refuse(fmt::format("{}, symbols with their names in section {}", name, section.sh_link),
             fmt::format("one of {} sections", header.e_shnum));
    const auto names = at<Elf64_Shdr>(header.e_shoff + section.sh_link * sizeof(Elf64_Shdr), name);
    read_symbol_table(part(section.sh_offset, section.sh_size, name), part(names.sh_offset, names.sh_size, name));
  }
}

void ElfFile::read_symbol_table(std::string_view table, std::string_view names) {
  for (std::size_t offset = 0; offset + sizeof(Elf64_Sym) <= table.size(); offset += sizeof(Elf64_Sym)) {
    Elf64_Sym symbol;
    std::memcpy(&symbol, table.data() + offset, sizeof symbol);
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_name == 0) continue;
    if (symbol.st_name >= names.size())
      refuse(fmt::format("a symbol with its name at {:#x}", symbol.st_name),
             fmt::format("it within {:#x} B of names", names.size()));
    const std::string_view name = names.substr(symbol.st_name, names.find('\0', symbol.st_name) - symbol.st_name);
    const bool is_global = ELF64_ST_BIND(symbol.st_info) != STB_LOCAL;
    const auto type = ELF64_ST_TYPE(symbol.st_info);
    const Symbol found{symbol.st_value, symbol.st_size, is_global, type == STT_FUNC || type == STT_OBJECT};
    const auto [place, is_new] = symbols_.try_emplace(std::string(name), found);
    if (!is_new && is_global && !place->second.is_global) place->second = found;
  }
}

}  // namespace t3vp
