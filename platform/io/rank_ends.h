// Ends of ranks, the processes of one run over several processes. A signal ends all of them at about the same time, and
// one of them alone reports it.
#pragma once

#include <atomic>
#include <cstdint>

namespace t3vp {

/// What the ranks on one machine share. Memory of zeros is one without ranks.
struct RankPage {
  static constexpr std::uint32_t most = 256;
  struct Rank {
    std::atomic<int> process;   ///< 0: not on this machine
    std::atomic<bool> is_over;  ///< it has come to its end by itself, or by a signal that it could handle
  };
  std::atomic<bool> is_reported;
  Rank ranks[most];
};

/// While it lives, a signal ends this process with exit code 1. The first of the machine's ranks that one ends names
/// those that have died. It says nothing when its parent has sent the signal and none has died, as on Ctrl-C.
class EndOfRank {
 public:
  EndOfRank(RankPage& page, std::uint32_t rank);
  ~EndOfRank();
  EndOfRank(const EndOfRank&) = delete;
  EndOfRank& operator=(const EndOfRank&) = delete;
};

/// Whether this process reports the end of the run: the first of a machine's ranks to ask does. A handler of signals
/// may ask.
bool reports_end();

}  // namespace t3vp
