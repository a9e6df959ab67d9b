// A small ELF executable, valid or spoilt, made without any compiler.
#pragma once

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace t3vp::test {

struct ElfWriter {
  std::uint64_t address = 0x80000000, tohost = 0x80001000, memory_bytes = 0x2000;
  std::vector<std::uint32_t> words;
  std::string symbol = "tohost";
  Elf64_Ehdr header{};  ///< what is 0 here is filled in
  Elf64_Phdr segment{};

  std::string text() const {
    const std::string code(reinterpret_cast<const char*>(words.data()), 4 * words.size());
    const std::string names = std::string(1, '\0') + symbol + '\0';
    const std::uint64_t code_at = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr), symbols_at = code_at + code.size(),
                        names_at = symbols_at + 2 * sizeof(Elf64_Sym), sections_at = names_at + names.size();
    Elf64_Ehdr h{};
    std::memcpy(h.e_ident, ELFMAG, SELFMAG);
    h.e_ident[EI_CLASS] = ELFCLASS64;
    h.e_ident[EI_DATA] = ELFDATA2LSB;
    h.e_type = header.e_type != 0 ? header.e_type : Elf64_Half{ET_EXEC};
    h.e_machine = header.e_machine != 0 ? header.e_machine : Elf64_Half{EM_RISCV};
    h.e_entry = header.e_entry != 0 ? header.e_entry : address;
    h.e_phoff = header.e_phoff != 0 ? header.e_phoff : sizeof(Elf64_Ehdr);
    h.e_phentsize = header.e_phentsize != 0 ? header.e_phentsize : Elf64_Half{sizeof(Elf64_Phdr)};
    h.e_phnum = 1;
    h.e_shoff = header.e_shoff != 0 ? header.e_shoff : sections_at;
    h.e_shentsize = sizeof(Elf64_Shdr);
    h.e_shnum = 3;
    Elf64_Phdr p{};
    p.p_type = PT_LOAD;
    p.p_paddr = p.p_vaddr = address;
    p.p_offset = segment.p_offset != 0 ? segment.p_offset : code_at;
    p.p_filesz = segment.p_filesz != 0 ? segment.p_filesz : code.size();
    p.p_memsz = memory_bytes;
    Elf64_Sym symbols[2]{};
    symbols[1].st_name = 1;
    symbols[1].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT);
    symbols[1].st_shndx = SHN_ABS;
    symbols[1].st_value = tohost;
    Elf64_Shdr sections[3]{};
    sections[1].sh_type = SHT_SYMTAB;
    sections[1].sh_offset = symbols_at;
    sections[1].sh_size = sizeof symbols;
    sections[1].sh_link = 2;
    sections[2].sh_type = SHT_STRTAB;
    sections[2].sh_offset = names_at;
    sections[2].sh_size = names.size();
    return bytes_of(h) + bytes_of(p) + code + bytes_of(symbols) + names + bytes_of(sections);
  }

 private:
  template <typename T>
  static std::string bytes_of(const T& value) {
    return {reinterpret_cast<const char*>(&value), sizeof value};
  }
};

}  // namespace t3vp::test
