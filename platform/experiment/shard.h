// A share of an experiment's runs, for programs that start processes on several machines.
#pragma once

#include <cstddef>

namespace t3vp {

/// It depends on the plan alone, not on what has been made. So shards of one plan share no run, whenever they start.
struct Shard {
  std::size_t number = 1;  ///< from 1 to count
  std::size_t count = 1;   ///< 1: the shard has all runs

  bool has(std::size_t run) const { return run % count == number - 1; }
};

}  // namespace t3vp
