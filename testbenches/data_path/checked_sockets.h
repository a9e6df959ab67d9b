// Joins the sockets of a bench with protocol checkers in between: what breaks a rule fails the test.
#pragma once

#include <catch2/catch.hpp>

#include "protocol/socket_probes.h"

namespace t3vp {

class CheckedSockets {
 public:
  CheckedSockets() = default;
  CheckedSockets(const CheckedSockets&) = delete;
  CheckedSockets& operator=(const CheckedSockets&) = delete;
  ~CheckedSockets() {
    for (const Violation& violation : probes_.violations().list()) FAIL_CHECK(violation.text());
    for (const Violation& violation : of_tests_.violations().list())
      if (violation.by == Violation::By::target) FAIL_CHECK(violation.text());
  }

  template <typename Initiator, typename Target>
  void join(Initiator& initiator, Target& target) {
    probes_.join(initiator, target);
  }
  /// The initiator is the test's own and may send what is malformed; how the target takes it is checked.
  template <typename Initiator, typename Target>
  void join_test(Initiator& initiator, Target& target) {
    of_tests_.join(initiator, target);
  }

 private:
  SocketProbes probes_{true}, of_tests_{true};
};

}  // namespace t3vp
