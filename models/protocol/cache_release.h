// The last-level cache as the dispatcher uses it at a kernel's end (AQL's release fence).
#pragma once

#include <functional>

#include <systemc>

namespace t3vp {

class CacheRelease : public virtual sc_core::sc_interface {
 public:
  /// Writes every stored byte back to memory, empties the cache, and calls `done` when memory has all of them. A reset
  /// of the cache drops the call.
  virtual void release(std::function<void()> done) = 0;
};

}  // namespace t3vp
