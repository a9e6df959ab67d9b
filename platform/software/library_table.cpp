#include "software/library_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "guard/host_memory.h"
#include "protocol/plain_name.h"

namespace t3vp {
namespace {

constexpr std::size_t most_entries = 1024;  // programs or kernels of a library
constexpr const char* a_table = "a table of programs and kernels";

class TableCheck {
 public:
  TableCheck(const t3_export_table& table, const InputPlace& place) : table_(table), place_(place) {}

  void require_right() const {
    require_version();
    require_text("its table", table_.name, "a table with a name");
    require_programs();
    require_kernels();
  }

 private:
  void require_version() const {
    require_readable("its table t3_exports", &table_, 2 * sizeof table_.version, a_table);
    if (table_.version != T3_EXPORTS_VERSION)
      place_.reject(fmt::format("its table is of version {}", table_.version),
                    fmt::format("version {}: build it with this platform's headers", T3_EXPORTS_VERSION));
    if (table_.layout != T3_EXPORTS_LAYOUT)
      place_.reject(fmt::format("its table is of version {} with other structures", table_.version),
                    "this platform's structures: build it with this platform's headers");
    require_readable("its table t3_exports", &table_, sizeof table_, a_table);
  }

  void require_programs() const {
    std::set<std::string_view> names;
    for (std::size_t i = 0; table_.programs != nullptr; ++i) {
      const std::string what = fmt::format("its program number {}", i + 1);
      const t3_named_program* const program = table_.programs + i;
      require_readable(what, program, sizeof *program, "a list of programs that ends with one without a name");
      if (program->name == nullptr) return;
      if (i == most_entries)
        place_.reject(fmt::format("it has more than {} programs", most_entries),
                      "a list of programs that ends with one without a name");
      const std::string_view name = require_name(what, program->name);
      if (!names.insert(name).second)
        place_.reject(fmt::format("it has two programs {}", name), "programs with a name of their own");
      if (program->main == nullptr)
        place_.reject(fmt::format("whose program {} has no main function", name), "a program that can be called");
      require_callable(fmt::format("its program {}", name), reinterpret_cast<const void*>(program->main));
    }
  }

  void require_kernels() const {
    for (std::size_t i = 0; table_.kernels != nullptr; ++i) {
      const std::string what = fmt::format("its kernel number {}", i + 1);
      require_readable(what, table_.kernels + i, sizeof *table_.kernels, "a list of kernels that ends with NULL");
      const t3_kernel* const kernel = table_.kernels[i];
      if (kernel == nullptr) return;
      if (i == most_entries)
        place_.reject(fmt::format("it has more than {} kernels", most_entries),
                      "a list of kernels that ends with NULL");
      require_readable(what, kernel, sizeof *kernel, "a kernel, or NULL behind the last one");
      require_parts(fmt::format("its kernel {}", require_name(what, kernel->name)), *kernel);
    }
  }

  /// What is not there at all is the registry's to refuse.
  void require_parts(const std::string& what, const t3_kernel& kernel) const {
    for (const char* traffic : {kernel.reads, kernel.writes})
      if (traffic != nullptr) require_text(what + "'s traffic", traffic, "the name of a class of traffic");
    const std::pair<const char*, const void*> parts[] = {
        {"the reader of its arguments", reinterpret_cast<const void*>(kernel.arguments.read)},
        {"its check", reinterpret_cast<const void*>(kernel.check)},
        {"its plan", reinterpret_cast<const void*>(kernel.plan)},
        {"its agreement", reinterpret_cast<const void*>(kernel.agree)},
        {"its program", reinterpret_cast<const void*>(kernel.run)}};
    for (const auto& [part, function] : parts)
      if (function != nullptr) require_callable(fmt::format("{}: {}", what, part), function);
  }

  void require_readable(const std::string& what, const void* at, std::size_t bytes, const std::string& expected) const {
    if (!memory_.can_be_read(at, bytes))
      place_.reject(fmt::format("{} is at {}, where nothing can be read", what, fmt::ptr(at)), expected);
  }

  void require_callable(const std::string& what, const void* function) const {
    if (!memory_.can_be_called(function))
      place_.reject(fmt::format("{} is at {}, where there is no code", what, fmt::ptr(function)),
                    "a function that can be called");
  }

  /// It ends where it can be read, after at most 64 characters.
  std::string_view require_text(const std::string& what, const char* text, const char* expected) const {
    constexpr std::size_t most = 64;
    if (text == nullptr) place_.reject(what + " has no name", expected);
    std::size_t length = 0;
    while (length <= most && memory_.can_be_read(text + length, 1) && text[length] != '\0') ++length;
    if (length == 0 && memory_.can_be_read(text, 1)) place_.reject(what + " has no name", expected);
    if (length > most || !memory_.can_be_read(text + length, 1))
      place_.reject(
          fmt::format("the name of {} is at {}, where no text of up to {} characters ends", what, fmt::ptr(text), most),
          expected);
    return {text, length};
  }

  std::string_view require_name(const std::string& what, const char* text) const {
    const std::string_view name = require_text(what, text, a_plain_name);
    if (!is_plain_name(name)) place_.reject(fmt::format("{} has the name \"{}\"", what, name), a_plain_name);
    return name;
  }

  const t3_export_table& table_;
  const InputPlace& place_;
  HostMemory memory_;
};

}  // namespace

void require_right(const t3_export_table& table, const InputPlace& place) { TableCheck(table, place).require_right(); }

}  // namespace t3vp
