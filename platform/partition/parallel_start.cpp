#include "partition/parallel_start.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <system_error>

#include "io/input_error.h"

namespace t3vp {

namespace fs = std::filesystem;

namespace {

constexpr const char* size_variables[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"};

}  // namespace

bool is_started_by_mpirun() {
  return std::any_of(std::begin(size_variables), std::end(size_variables),
                     [](const char* variable) { return std::getenv(variable) != nullptr; });
}

void require_one_process(const std::string& command) {
  for (const char* const variable : size_variables) {
    const char* const size = std::getenv(variable);
    if (size != nullptr && std::string_view(size) != "1")
      throw InputError("mpirun", fmt::format("{} processes of {}", size, command), "one, or processes of t3vp run");
    unsetenv(variable);
  }
}

bool is_first_process() {
  for (const char* const variable : {"OMPI_COMM_WORLD_RANK", "PMI_RANK"})
    if (const char* const rank = std::getenv(variable)) return std::string_view(rank) == "0";
  return true;
}

std::unique_ptr<Transport> open_transport() {
  constexpr const char* name = "libt3vp_mpi.so";
  constexpr const char* advice = "a build where CMake finds Boost.MPI (libboost-mpi-dev), or a start without mpirun";
  std::error_code none;
  const fs::path own_folder = fs::read_symlink("/proc/self/exe", none).parent_path();
  for (const fs::path& folder : {own_folder, own_folder / "../lib/t3vp"}) {
    const fs::path file = folder / name;
    if (!fs::exists(file, none)) continue;
    void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (library == nullptr) throw InputError("mpirun", dlerror(), advice);
    auto* const open = reinterpret_cast<Transport* (*)()>(dlsym(library, "t3vp_open_transport"));
    if (open == nullptr) throw InputError("mpirun", fmt::format("a strange {}", file.string()), advice);
    return std::unique_ptr<Transport>(open());
  }
  throw InputError("mpirun", fmt::format("no {} beside t3vp", name), advice);
}

}  // namespace t3vp
