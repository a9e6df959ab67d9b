// A native library of programs and kernels (t3/exports.h), opened.
#pragma once

#include <string>
#include <vector>

#include "config/configuration.h"
#include "config/software.h"
#include "t3/exports.h"

namespace t3vp {

class Library {
 public:
  /// Opens a copy of the file, so that static variables are not shared. The copy's name is removed when it is open.
  /// Throws InputError about a file that cannot be opened, that is no such library of this platform's version, or whose
  /// table has invalid pointers. Its constructors and destructors are guarded (firmware_guard.h).
  Library(const SoftwareLibrary& library, const Limits& limits);
  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  const t3_export_table& exports() const { return *exports_; }
  /// The names of its programs, in the table's order.
  const std::vector<std::string>& programs() const { return programs_; }

 private:
  /// Opens the copy.
  Library(const SoftwareLibrary& library, const Limits& limits, const std::filesystem::path& copy);

  SoftwareLibrary library_;
  Limits limits_;
  void* handle_ = nullptr;
  const t3_export_table* exports_ = nullptr;
  std::vector<std::string> programs_;
};

}  // namespace t3vp
