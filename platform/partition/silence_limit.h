// The limit of a rank's wait for the others, after which the run ends.
#pragma once

#include <string>
#include <vector>

#include "partition/transport.h"

namespace t3vp {

/// While it lives, ranks that have not answered for so long end the run, with one line that names them and exit code 1.
/// All ranks make and end it at the same time.
class SilenceLimit {
 public:
  /// `seconds`: of the host's time, limits.rank_s.
  SilenceLimit(Transport& transport, double seconds);
  ~SilenceLimit();
  SilenceLimit(const SilenceLimit&) = delete;
  SilenceLimit& operator=(const SilenceLimit&) = delete;

 private:
  void end_run(const Transport::Silent& silent) const;

  Transport& transport_;
  double seconds_;
  std::vector<std::string> places_;  ///< of the ranks' processes
};

}  // namespace t3vp
