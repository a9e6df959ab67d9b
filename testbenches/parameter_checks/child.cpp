#include "parameter_checks/child.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <exception>

#include "protocol/parameter_check.h"

namespace t3vp {
namespace {

enum Code : int { ended_well = 0, was_refused = 3, failed = 4 };

[[noreturn]] void end(int pipe, Code code, const std::string& text) {
  if (write(pipe, text.data(), text.size()) < 0) std::_Exit(failed);
  std::_Exit(code);
}

[[noreturn]] void child(int pipe, const std::function<void()>& work) {
  alarm(60);
  const int nowhere = open("/dev/null", O_WRONLY);
  dup2(nowhere, STDOUT_FILENO);  // SystemC's banner
  dup2(nowhere, STDERR_FILENO);
  try {
    work();
  } catch (const ParameterError& error) {
    end(pipe, was_refused, error.parameter + "\n" + error.what());
  } catch (const std::exception& error) {
    end(pipe, failed, error.what());
  }
  end(pipe, ended_well, "");
}

std::string all_of(int pipe) {
  std::string text;
  std::array<char, 4096> part{};
  for (ssize_t bytes = 0; (bytes = read(pipe, part.data(), part.size())) > 0;)
    text.append(part.data(), static_cast<std::size_t>(bytes));
  return text;
}

}  // namespace

ChildEnd run_in_child(const std::function<void()>& work) {
  int ends[2];
  if (pipe(ends) != 0) return {true, "", "no pipe"};
  std::fflush(nullptr);
  const pid_t process = fork();
  if (process == 0) {
    close(ends[0]);
    child(ends[1], work);
  }
  close(ends[1]);
  const std::string text = all_of(ends[0]);
  close(ends[0]);
  int status = 0;
  waitpid(process, &status, 0);
  if (WIFSIGNALED(status)) return {true, "", strsignal(WTERMSIG(status))};
  if (WEXITSTATUS(status) == ended_well) return {};
  if (WEXITSTATUS(status) != was_refused) return {true, "", text.empty() ? "an unknown exit code" : text};
  const std::size_t line = text.find('\n');
  return {false, text.substr(0, line), text.substr(line + 1)};
}

}  // namespace t3vp
