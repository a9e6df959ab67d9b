#include "guests/library_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "guests/host_memory.h"
#include "protocol/plain_name.h"

namespace t3vp {
namespace {

constexpr std::size_t most_entries = 1024;  // programs or kernels of a library
constexpr const char* a_table = "a table of programs and kernels";

/// The memory of this process.
class OwnMemory : public TableMemory {
 public:
  bool read(std::uint64_t address, void* to, std::size_t bytes) const override {
    const auto* const at = reinterpret_cast<const void*>(static_cast<std::uintptr_t>(address));
    if (!memory_.can_be_read(at, bytes)) return false;
    std::memcpy(to, at, bytes);
    return true;
  }
  bool has_code(std::uint64_t address) const override {
    return memory_.can_be_called(reinterpret_cast<const void*>(static_cast<std::uintptr_t>(address)));
  }

 private:
  HostMemory memory_;
};

template <typename Pointer>
std::uint64_t address_of(Pointer pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

class TableCheck {
 public:
  TableCheck(std::uint64_t table, const TableMemory& memory, const InputPlace& place)
      : at_(table), memory_(memory), place_(place) {}

  std::vector<std::string> require_right() {
    require_version();
    read("its table t3_exports", at_, table_, a_table);
    require_text("its table", table_.name, "a table with a name");
    require_programs();
    require_kernels();
    return programs_;
  }

 private:
  void require_version() const {
    struct {
      std::uint32_t version, layout;
    } begin;
    read("its table t3_exports", at_, begin, a_table);
    if (begin.version != T3_EXPORTS_VERSION)
      place_.reject(fmt::format("its table is of version {}", begin.version),
                    fmt::format("version {}: build it with this platform's headers", T3_EXPORTS_VERSION));
    if (begin.layout != T3_EXPORTS_LAYOUT)
      place_.reject(fmt::format("its table is of version {} with other structures", begin.version),
                    "this platform's structures: build it with this platform's headers");
  }

  void require_programs() {
    const char* const expected = "a list of programs that ends with one without a name";
    for (std::size_t i = 0; table_.programs != nullptr; ++i) {
      const std::string what = fmt::format("its program number {}", i + 1);
      t3_named_program program;
      read(what, address_of(table_.programs) + i * sizeof program, program, expected);
      if (program.name == nullptr) return;
      if (i == most_entries) place_.reject(fmt::format("it has more than {} programs", most_entries), expected);
      const std::string name = require_name(what, program.name);
      if (std::find(programs_.begin(), programs_.end(), name) != programs_.end())
        place_.reject(fmt::format("it has two programs {}", name), "programs with a name of their own");
      if (program.main == nullptr)
        place_.reject(fmt::format("whose program {} has no main function", name), "a program that can be called");
      require_callable(fmt::format("its program {}", name), address_of(program.main));
      programs_.push_back(name);
    }
  }

  void require_kernels() const {
    const char* const expected = "a list of kernels that ends with NULL";
    for (std::size_t i = 0; table_.kernels != nullptr; ++i) {
      const std::string what = fmt::format("its kernel number {}", i + 1);
      const t3_kernel* at = nullptr;
      read(what, address_of(table_.kernels) + i * sizeof at, at, expected);
      if (at == nullptr) return;
      if (i == most_entries) place_.reject(fmt::format("it has more than {} kernels", most_entries), expected);
      t3_kernel kernel;
      read(what, address_of(at), kernel, "a kernel, or NULL behind the last one");
      require_parts(fmt::format("its kernel {}", require_name(what, kernel.name)), kernel);
    }
  }

  /// The registry refuses parts that are missing completely.
  void require_parts(const std::string& what, const t3_kernel& kernel) const {
    for (const char* traffic : {kernel.reads, kernel.writes})
      if (traffic != nullptr) require_text(what + "'s traffic", traffic, "the name of a class of traffic");
    const std::pair<const char*, std::uint64_t> parts[] = {
        {"the reader of its arguments", address_of(kernel.arguments.read)},
        {"its check", address_of(kernel.check)},
        {"its plan", address_of(kernel.plan)},
        {"its agreement", address_of(kernel.agree)},
        {"its program", address_of(kernel.run)}};
    for (const auto& [part, function] : parts)
      if (function != 0) require_callable(fmt::format("{}: {}", what, part), function);
  }

  template <typename Type>
  void read(const std::string& what, std::uint64_t at, Type& to, const std::string& expected) const {
    if (!memory_.read(at, &to, sizeof to))
      place_.reject(fmt::format("{} is at {:#x}, where nothing can be read", what, at), expected);
  }

  void require_callable(const std::string& what, std::uint64_t function) const {
    if (!memory_.has_code(function))
      place_.reject(fmt::format("{} is at {:#x}, where there is no code", what, function),
                    "a function that can be called");
  }

  /// It ends where it can be read, after at most 64 characters.
  std::string require_text(const std::string& what, const char* text, const char* expected) const {
    constexpr std::size_t most = 64;
    if (text == nullptr) place_.reject(what + " has no name", expected);
    std::string found;
    char next = 1;
    while (found.size() <= most && memory_.read(address_of(text) + found.size(), &next, 1) && next != '\0')
      found += next;
    if (next != '\0')
      place_.reject(fmt::format("the name of {} is at {:#x}, where no text of up to {} characters ends", what,
                                address_of(text), most),
                    expected);
    if (found.empty()) place_.reject(what + " has no name", expected);
    return found;
  }

  std::string require_name(const std::string& what, const char* text) const {
    const std::string name = require_text(what, text, a_plain_name);
    if (!is_plain_name(name)) place_.reject(fmt::format("{} has the name \"{}\"", what, name), a_plain_name);
    return name;
  }

  std::uint64_t at_;
  const TableMemory& memory_;
  const InputPlace& place_;
  t3_export_table table_{};
  std::vector<std::string> programs_;
};

}  // namespace

std::vector<std::string> require_right(std::uint64_t table, const TableMemory& memory, const InputPlace& place) {
  return TableCheck(table, memory, place).require_right();
}

std::vector<std::string> require_right(const t3_export_table& table, const InputPlace& place) {
  return require_right(address_of(&table), OwnMemory(), place);
}

}  // namespace t3vp
