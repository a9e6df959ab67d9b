// The exceptions that a program handles, in C++. Its runtime keeps them in a place of the thread's, of which all
// programs and the platform have one, so that one that is switched away in a handler would end another one's.
#pragma once

#include <cxxabi.h>

namespace t3vp::compute {

/// Saves the thread's exceptions and restores them at its end. Meanwhile the thread handles only exceptions that are
/// thrown then.
class KeptExceptions {
 public:
  KeptExceptions() : before_(here()) { here() = {}; }
  ~KeptExceptions() {
    here().caught = before_.caught;
    here().uncaught += before_.uncaught;  // beside what comes through here
  }
  KeptExceptions(const KeptExceptions&) = delete;
  KeptExceptions& operator=(const KeptExceptions&) = delete;

 private:
  /// The layout of the C++ ABI for Itanium, and of all that follow it (__cxa_eh_globals, 2.2.2).
  struct Globals {
    void* caught;           ///< a list
    unsigned int uncaught;  ///< how many are on their way
  };
  static Globals& here() { return *reinterpret_cast<Globals*>(abi::__cxa_get_globals()); }

  Globals before_;
};

}  // namespace t3vp::compute
