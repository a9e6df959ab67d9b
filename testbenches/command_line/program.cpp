#include "command_line/program.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace t3vp::test {
namespace {

namespace fs = std::filesystem;

void redirect(int descriptor, const fs::path& file) {
  const int to = open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (to < 0 || dup2(to, descriptor) < 0) _exit(126);
}

}  // namespace

Outcome run_program(const std::vector<std::string>& arguments, const std::function<void()>& in_child) {
  const Folder folder;
  const std::string program = T3VP_BINARY_DIR "/t3vp";
  std::vector<std::string> all{program};
  all.insert(all.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& argument : all) argv.push_back(argument.data());
  argv.push_back(nullptr);

  const pid_t child = fork();
  if (child == 0) {
    redirect(STDOUT_FILENO, folder / "out");
    redirect(STDERR_FILENO, folder / "err");
    if (in_child) in_child();
    execv(program.c_str(), argv.data());
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text_of(folder / "out"), text_of(folder / "err")};
}

Folder::Folder() {
  std::string name = (fs::temp_directory_path() / "t3vp-test-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
  path_ = name;
}

Folder::~Folder() { fs::remove_all(path_); }

fs::path Folder::write(const std::string& name, const std::string& text) const {
  std::ofstream(path_ / name, std::ios::binary) << text;
  return path_ / name;
}

fs::path Folder::write(const std::string& name, const nlohmann::json& content) const {
  return write(name, content.dump(2));
}

ValidFiles::ValidFiles() {
  nlohmann::json system = json_of(config("systems/small-4.json"));
  system["memory"]["file"] = "memory.json";
  write("system.json", system);
  write("memory.json", json_of(config("memory/hbm2-legacy.json")));
  write("run.json", nlohmann::json{{"system", "system.json"},
                                   {"gpus", 4},
                                   {"method", "t3"},
                                   {"workload", {{"gemm", {{"m", 256}, {"n", 256}, {"k", 64}}}}}});
}

void ValidFiles::change(const std::string& file, const std::string& pointer, const nlohmann::json& value) const {
  nlohmann::json content = json_of(*this / file);
  const nlohmann::json::json_pointer at(pointer);
  if (value.is_null())
    content.at(at.parent_pointer()).erase(at.back());
  else
    content[at] = value;
  write(file, content);
}

std::string text_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

nlohmann::json json_of(const fs::path& file) { return nlohmann::json::parse(text_of(file)); }

fs::path config(const std::string& name) { return fs::path(T3VP_SOURCE_DIR) / "configs" / name; }

}  // namespace t3vp::test
