#include "guests/library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <system_error>

#include "guests/guest_ends.h"
#include "guests/library_table.h"
#include "io/output_file.h"

namespace t3vp {
namespace {

namespace fs = std::filesystem;

constexpr const char* a_library = "a native library with a table t3_exports (t3/exports.h)";

/// The file under its own name in a folder of its own, by which debuggers show it.
class PrivateCopy {
 public:
  explicit PrivateCopy(const SoftwareLibrary& library) {
    std::error_code error;
    std::string folder = (fs::temp_directory_path(error) / "t3vp-library-XXXXXX").string();
    if (error || mkdtemp(folder.data()) == nullptr)
      library.place.reject("there is no temporary folder for a copy of it", a_library);
    folder_ = folder;
    file_ = folder_ / library.file.filename();
    remember_partial(file_);  // the library's own code may end the process
    remember_partial(folder_);
    fs::copy_file(library.file, file_, error);
    if (!error) return;
    remove();
    library.place.reject("it cannot be copied to " + folder_.parent_path().string() + ": " + error.message(),
                         a_library);
  }
  ~PrivateCopy() { remove(); }
  PrivateCopy(const PrivateCopy&) = delete;
  PrivateCopy& operator=(const PrivateCopy&) = delete;

  const fs::path& file() const { return file_; }

 private:
  void remove() {
    std::error_code error;
    fs::remove_all(folder_, error);
    forget_partial(file_);
    forget_partial(folder_);
  }

  fs::path folder_, file_;
};

}  // namespace

Library::Library(const SoftwareLibrary& library, const Limits& limits)
    : Library(library, limits, PrivateCopy(library).file()) {
  exports_ = static_cast<const t3_export_table*>(dlsym(handle_, "t3_exports"));
  if (exports_ == nullptr) library.place.reject("it has no such table", a_library);
  programs_ = require_right(*exports_, library.place);
}

Library::Library(const SoftwareLibrary& library, const Limits& limits, const fs::path& copy)
    : library_(library), limits_(limits) {
  require_whole(library, copy, a_library);
  const LibraryCode code(library, limits, LibraryCode::opening);
  handle_ = dlopen(copy.c_str(), RTLD_LOCAL | RTLD_NOW);
  if (handle_ == nullptr) reject_unopened(library, copy, a_library);
}

Library::~Library() {
  {
    const LibraryCode code(library_, limits_, LibraryCode::closing);
    dlclose(handle_);
  }
  Dl_info found{};
  const bool is_open = exports_ != nullptr && dladdr(exports_, &found) != 0;
  // Its thread_local variables live as long as this thread, which ends with the process.
  static LibraryCode* until_the_end = nullptr;
  if (is_open) until_the_end = new LibraryCode(library_, limits_, LibraryCode::closing);
  static_cast<void>(until_the_end);
}

}  // namespace t3vp
