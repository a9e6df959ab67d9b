#include "cli/register_trace_file.h"

#include "cli/named_output.h"

namespace t3vp {

RegisterTraceFile::RegisterTraceFile(const std::string& option, const std::filesystem::path& file)
    : file_(named_output(option, file)) {
  if (!file_) return;
  std::ostream& out = file_->stream();
  trace_ = std::make_unique<RegisterTrace>(file.extension() == ".vcd" ? vcd_sink(out) : text_sink(out));
}

void RegisterTraceFile::complete() {
  if (!file_) return;
  trace_->finish();
  file_->complete();
}

}  // namespace t3vp
