// Run files: refused in one line, or a configuration that is a run file again.
#include <cstdlib>
#include <string>

#include "config/configuration.h"
#include "io/input_error.h"

namespace {

using namespace t3vp;

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  const std::string_view text(reinterpret_cast<const char*>(data), bytes);
  try {
    const RunConfiguration run = load_run(Document{"run.json", "", parse_json(text, "run.json"), {}}, {});
    require(load_run(Document{"run.json", "", run.resolved, {}}, {}).config_hash == run.config_hash);
  } catch (const InputError& error) {
    require(std::string(error.what()).find('\n') == std::string::npos);
  }
  return 0;
}
