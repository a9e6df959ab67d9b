// Every access to the registers of a node's GPUs, in the order of time: who, which register, what it changes, and why
// it was refused.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <ostream>
#include <string>

#include "node/node.h"
#include "registers/register_observer.h"

namespace t3vp {

/// An access as it goes into a file.
struct TracedAccess {
  RegisterAccess access;  ///< its texts are `who` and `reason`
  std::string who;        ///< "gpu0.processor"
  std::string reason;     ///< "access_denied: dma.used: 0x1 written, expected reads only"; empty: it was not refused
};

/// A kind of file.
class RegisterSink {
 public:
  virtual ~RegisterSink() = default;
  /// Never of an earlier time than before.
  virtual void write(const TracedAccess& traced) = 0;
  /// Nothing more comes.
  virtual void finish() {}
};

/// For people, a line for each access. The stream outlives the sink.
std::unique_ptr<RegisterSink> text_sink(std::ostream& out);
/// For wave viewers: value change dump (IEEE 1364-2005, 18), times in picoseconds.
std::unique_ptr<RegisterSink> vcd_sink(std::ostream& out);

class RegisterTrace : public RegisterObserver {
 public:
  explicit RegisterTrace(std::unique_ptr<RegisterSink> sink) : sink_(std::move(sink)) {}
  RegisterTrace(const RegisterTrace&) = delete;
  RegisterTrace& operator=(const RegisterTrace&) = delete;

  /// The trace has the accesses from now on, and outlives the node.
  void observe(Node& node);
  void accessed(const RegisterAccess& access) override;
  /// To be called when it has ended.
  void finish();
  /// From now on the sink has each access when it is made. Those of an initiator that is ahead of simulated time come
  /// before earlier ones of others.
  void write_at_once() { writes_at_once_ = true; }

 private:
  void write_until(Picoseconds time);

  std::unique_ptr<RegisterSink> sink_;
  bool writes_at_once_ = false;
  std::string last_error_;  ///< that was reported since the last access
  /// Accesses by their time, since initiators may be ahead of simulated time. When simulated time has reached an
  /// access, no earlier one follows.
  std::multimap<Picoseconds, TracedAccess> waiting_;
};

}  // namespace t3vp
