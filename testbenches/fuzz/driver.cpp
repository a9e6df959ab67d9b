// Runs a fuzz target: by libFuzzer, or once on each file of the given folders.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes);

namespace {

#ifdef T3VP_FUZZING

extern "C" int LLVMFuzzerRunDriver(int* argc, char*** argv, int (*target)(const std::uint8_t* data, std::size_t bytes));

int drive(int argc, char** argv) { return LLVMFuzzerRunDriver(&argc, &argv, LLVMFuzzerTestOneInput); }

#else

int drive(int argc, char** argv) {
  int files = 0;
  for (int i = 1; i < argc; ++i)
    for (const auto& entry : std::filesystem::directory_iterator(argv[i])) {
      std::ifstream file(entry.path(), std::ios::binary);
      const std::vector<char> content{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
      std::printf("%s\n", entry.path().c_str());  // the last line names what has broken it
      std::fflush(stdout);
      LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(content.data()), content.size());
      ++files;
    }
  std::printf("%d files\n", files);
  return files == 0 ? 1 : 0;
}

#endif

}  // namespace

#ifdef T3VP_FUZZ_IN_SC_MAIN
extern "C" int sc_main(int argc, char** argv) { return drive(argc, argv); }
#else
int main(int argc, char** argv) { return drive(argc, argv); }
#endif
