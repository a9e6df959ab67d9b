// The file of --register-trace: text, or a value change dump when its name ends with .vcd.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "io/output_file.h"
#include "register_access/trace/register_trace.h"

namespace t3vp {

class RegisterTraceFile {
 public:
  /// Nothing is made when no file is named. Throws InputError when none can be written there.
  RegisterTraceFile(const std::string& option, const std::filesystem::path& file);

  /// Null when no file is named.
  RegisterTrace* trace() { return trace_.get(); }
  /// Puts the file in place.
  void complete();
  /// From now on the file has at once what is traced, and comes into place however the process ends.
  void keep() { file_->keep(""); }

 private:
  std::unique_ptr<OutputFile> file_;
  std::unique_ptr<RegisterTrace> trace_;
};

}  // namespace t3vp
