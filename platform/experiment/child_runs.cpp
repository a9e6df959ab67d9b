#include "experiment/child_runs.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <stdexcept>
#include <system_error>

namespace t3vp {
namespace {

struct Program {
  const char* name;
  char* const* arguments;
  const char *folder, *log;
  pid_t parent;
};

/// It runs in the child before exec, and makes only calls that are safe there.
int become(void* what) {
  const Program& program = *static_cast<const Program*>(what);
  unlink(program.log);  // a link there is replaced, not followed
  const int file = open(program.log, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (file < 0 || dup2(file, STDOUT_FILENO) < 0 || dup2(file, STDERR_FILENO) < 0 || chdir(program.folder) != 0)
    _exit(126);
  for (const int ignored : {SIGPIPE, SIGXFSZ}) std::signal(ignored, SIG_DFL);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != program.parent) _exit(126);  // it died before the line above
  execvp(program.name, program.arguments);
  _exit(127);
}

/// The child borrows this process's memory until exec, as copying the tables of its pages takes milliseconds when it
/// has thousands of runs in it.
pid_t start(const char* program, std::vector<std::string> arguments, const std::filesystem::path& folder,
            const std::filesystem::path& log) {
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  Program what{program, pointers.data(), folder.c_str(), log.c_str(), getpid()};
  constexpr std::size_t stack_bytes = 64 << 10;
  alignas(16) static char stack[stack_bytes];
  const pid_t child = clone(&become, stack + stack_bytes, CLONE_VM | CLONE_VFORK | SIGCHLD, &what);
  if (child < 0) throw std::system_error(errno, std::generic_category(), "no new process");
  return child;
}

int exit_code_of(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

}  // namespace

void ChildRuns::start(std::size_t run, const ChildRun& child) {
  std::vector<std::string> arguments{"t3vp"};
  arguments.insert(arguments.end(), child.arguments.begin(), child.arguments.end());
  children_.emplace(t3vp::start("/proc/self/exe", arguments, ".", child.log), run);
}

std::vector<ChildRuns::Ended> ChildRuns::take_ended() {
  std::vector<Ended> ended;
  for (auto child = children_.begin(); child != children_.end();) {
    int status = 0;
    if (waitpid(child->first, &status, WNOHANG) == 0) {
      ++child;
      continue;
    }
    ended.push_back({child->second, exit_code_of(status)});
    child = children_.erase(child);
  }
  return ended;
}

int run_program(const std::vector<std::string>& arguments, const std::filesystem::path& folder,
                const std::filesystem::path& log) {
  int status = 0;
  const pid_t child = start(arguments.front().c_str(), arguments, folder, log);
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return exit_code_of(status);
}

}  // namespace t3vp
