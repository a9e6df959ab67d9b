// A native library of programs and kernels (t3/exports.h), opened.
#pragma once

#include <memory>

#include "config/software.h"
#include "t3/exports.h"

namespace t3vp {

class Library {
 public:
  /// Opens a copy of the file, whose static variables nobody shares; the copy's name is gone when it is open. Throws
  /// InputError about what cannot be opened, or is no such library of this platform's version.
  explicit Library(const SoftwareLibrary& library);

  const t3_export_table& exports() const { return *exports_; }

 private:
  struct Close {
    void operator()(void* handle) const;
  };

  std::unique_ptr<void, Close> handle_;
  const t3_export_table* exports_ = nullptr;
};

}  // namespace t3vp
