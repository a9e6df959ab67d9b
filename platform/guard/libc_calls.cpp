#include "guard/libc_calls.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdarg>
#include <vector>

#include "guard/firmware_guard.h"

namespace t3vp {
namespace {

/// Where the library begins of which this is a place; null when it is of none.
const void* library_of(const void* within) {
  Dl_info found{};
  return dladdr(within, &found) != 0 ? found.dli_fbase : nullptr;
}

struct ThreadLocal {
  void (*destroy)(void*);
  void* object;
  const void* library;
};

/// Of libraries, on the simulation's thread, in the order in which they were made.
std::vector<ThreadLocal>& thread_locals() {
  static auto* const all = new std::vector<ThreadLocal>;  // libraries may outlive whatever the process destroys
  return *all;
}

template <typename Function>
Function* of_libc(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

/// As the argument list of a call that goes on behind `first` has them, with the null pointer at its end.
std::vector<char*> gathered(const char* first, va_list& more) {
  std::vector<char*> all;
  for (const char* next = first; next != nullptr; next = va_arg(more, const char*))
    all.push_back(const_cast<char*>(next));
  all.push_back(nullptr);
  return all;
}

void report_exec() { report_end(" has called exec()"); }

}  // namespace

void destroy_thread_locals(const void* within) {
  const void* const library = library_of(within);
  std::vector<ThreadLocal>& all = thread_locals();
  for (std::size_t i = all.size(); i-- != 0;) {
    if (all[i].library != library) continue;
    const ThreadLocal last = all[i];
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(i));
    last.destroy(last.object);
    i = all.size();  // there may be new ones
  }
}

}  // namespace t3vp

extern "C" {
int keep_thread_local(void (*destroy)(void*), void* object, void* library) __asm__("__cxa_thread_atexit_impl");
pid_t vfork_as_fork() __asm__("vfork");
int exec_v(const char* path, char* const* arguments) __asm__("execv");
int exec_ve(const char* path, char* const* arguments, char* const* environment) __asm__("execve");
int exec_vp(const char* file, char* const* arguments) __asm__("execvp");
int exec_vpe(const char* file, char* const* arguments, char* const* environment) __asm__("execvpe");
int exec_f(int file, char* const* arguments, char* const* environment) __asm__("fexecve");
int exec_l(const char* path, const char* argument, ...) __asm__("execl");
int exec_lp(const char* file, const char* argument, ...) __asm__("execlp");
int exec_le(const char* path, const char* argument, ...) __asm__("execle");
}

int keep_thread_local(void (*destroy)(void*), void* object, void* library) {
  if (t3vp::computes_here()) {
    t3vp::thread_locals().push_back({destroy, object, t3vp::library_of(library)});
    return 0;
  }
  static const auto call = t3vp::of_libc<decltype(keep_thread_local)>("__cxa_thread_atexit_impl");
  return call(destroy, object, library);
}

/// What vfork() promises fork() does as well, and its child may be told from its parent before it does anything.
pid_t vfork_as_fork() { return fork(); }

int exec_v(const char* path, char* const* arguments) {
  t3vp::report_exec();
  static const auto call = t3vp::of_libc<decltype(exec_v)>("execv");
  return call(path, arguments);
}

int exec_ve(const char* path, char* const* arguments, char* const* environment) {
  t3vp::report_exec();
  static const auto call = t3vp::of_libc<decltype(exec_ve)>("execve");
  return call(path, arguments, environment);
}

int exec_vp(const char* file, char* const* arguments) {
  t3vp::report_exec();
  static const auto call = t3vp::of_libc<decltype(exec_vp)>("execvp");
  return call(file, arguments);
}

int exec_vpe(const char* file, char* const* arguments, char* const* environment) {
  t3vp::report_exec();
  static const auto call = t3vp::of_libc<decltype(exec_vpe)>("execvpe");
  return call(file, arguments, environment);
}

int exec_f(int file, char* const* arguments, char* const* environment) {
  t3vp::report_exec();
  static const auto call = t3vp::of_libc<decltype(exec_f)>("fexecve");
  return call(file, arguments, environment);
}

int exec_l(const char* path, const char* argument, ...) {
  va_list more;
  va_start(more, argument);
  const std::vector<char*> arguments = t3vp::gathered(argument, more);
  va_end(more);
  return exec_v(path, arguments.data());
}

int exec_lp(const char* file, const char* argument, ...) {
  va_list more;
  va_start(more, argument);
  const std::vector<char*> arguments = t3vp::gathered(argument, more);
  va_end(more);
  return exec_vp(file, arguments.data());
}

int exec_le(const char* path, const char* argument, ...) {
  va_list more;
  va_start(more, argument);
  const std::vector<char*> arguments = t3vp::gathered(argument, more);
  char* const* const environment = va_arg(more, char* const*);
  va_end(more);
  return exec_ve(path, arguments.data(), environment);
}
