#include "cli/register_trace_file.h"

#include "cli/named_output.h"

namespace t3vp {
namespace {

bool is_for_wave_viewers(const std::filesystem::path& file) {
  std::string extension = file.extension().string();
  for (char& letter : extension)
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  return extension == ".vcd";
}

}  // namespace

RegisterTraceFile::RegisterTraceFile(const std::string& option, const std::filesystem::path& file)
    : file_(named_output(option, file)) {
  if (!file_) return;
  std::ostream& out = file_->stream();
  trace_ = std::make_unique<RegisterTrace>(is_for_wave_viewers(file) ? vcd_sink(out) : text_sink(out));
}

void RegisterTraceFile::complete() {
  if (!file_) return;
  trace_->finish();
  file_->complete();
}

}  // namespace t3vp
