#include "platform/experiment/child_runs.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <map>
#include <stdexcept>
#include <system_error>
#include <thread>

namespace t3vp {
namespace {

/// Between fork and exec: only calls that are safe there.
[[noreturn]] void become(const char* program, char* const* arguments, const char* folder, const char* log,
                         pid_t parent) {
  const int file = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0 || dup2(file, STDOUT_FILENO) < 0 || dup2(file, STDERR_FILENO) < 0 || chdir(folder) != 0) _exit(126);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(126);  // it died before the line above
  execvp(program, arguments);
  _exit(127);
}

pid_t start(const char* program, std::vector<std::string> arguments, const std::filesystem::path& folder,
            const std::filesystem::path& log) {
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) throw std::system_error(errno, std::generic_category(), "no new process");
  if (child == 0) become(program, pointers.data(), folder.c_str(), log.c_str(), parent);
  return child;
}

int exit_code_of(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

}  // namespace

void run_children(const std::vector<ChildRun>& runs, unsigned jobs,
                  const std::function<void(std::size_t run, int exit_code)>& ended, const std::function<void()>& tick) {
  std::map<pid_t, std::size_t> running;
  for (std::size_t next = 0; next < runs.size() || !running.empty();) {
    for (; next < runs.size() && running.size() < jobs; ++next) {
      std::vector<std::string> arguments{"t3vp"};
      arguments.insert(arguments.end(), runs[next].arguments.begin(), runs[next].arguments.end());
      running.emplace(start("/proc/self/exe", arguments, ".", runs[next].log), next);
    }
    tick();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    for (auto child = running.begin(); child != running.end();) {
      int status = 0;
      if (waitpid(child->first, &status, WNOHANG) == 0) {
        ++child;
        continue;
      }
      const std::size_t run = child->second;
      child = running.erase(child);
      ended(run, exit_code_of(status));
    }
  }
}

int run_program(const std::vector<std::string>& arguments, const std::filesystem::path& folder,
                const std::filesystem::path& log) {
  int status = 0;
  waitpid(start(arguments.front().c_str(), arguments, folder, log), &status, 0);
  return exit_code_of(status);
}

}  // namespace t3vp
