// An interrupt line that keeps the cause of what has raised it last, for the program that waits for it.
#pragma once

#include <systemc>

#include "protocol/cause.h"

namespace t3vp {

class CausedLine : public sc_core::sc_signal<bool, sc_core::SC_UNCHECKED_WRITERS> {
 public:
  /// `latest`, which outlives the line, is shared by all lines of a GPU.
  CausedLine(const char* name, Cause& latest) : sc_signal(name), latest_(latest) {}

  /// A line that is up may be raised again for another reason.
  void write(const bool& raised) override {
    if (raised) latest_.follow(Cause::current());
    sc_signal::write(raised);
  }

 private:
  Cause& latest_;
};

}  // namespace t3vp
