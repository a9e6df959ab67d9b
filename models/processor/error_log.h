// The GPU's error log: what guests did wrong, for firmware as a bounded register FIFO, for people with its text.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <systemc>
#include <utility>
#include <vector>

#include "protocol/error_report.h"
#include "protocol/units.h"
#include "registers/error_log.h"

namespace t3vp::processor {

class ErrorLog : public registers::ErrorLog, public ErrorReport {
 public:
  struct Entry {
    std::string block;
    ErrorRecord record;
    Picoseconds time = 0;
  };
  /// Later records are only counted: a guest may err millions of times.
  static constexpr std::size_t kept_records = 1000;
  /// The block number of a reporter that has no registers.
  static constexpr std::uint32_t no_block = 0xFFFFFFFF;

  sc_core::sc_export<ErrorReport> reports{"reports"};
  sc_core::sc_out<bool> interrupt{"interrupt"};  ///< raised while the FIFO has an entry

  ErrorLog(const sc_core::sc_module_name& name, std::uint32_t entries);
  ~ErrorLog() override;

  void report(const char* block_name, const ErrorRecord& record) override;
  /// The register `block` shows this number for reports under the name, besides those of the catalogue. The first
  /// number of a name counts.
  void add_block(const char* block_name, std::uint32_t number) { added_.emplace(block_name, number); }
  using RegisterBlock::report;

  /// Called with every entry, also those that are not kept.
  void on_report(std::function<void(const Entry&)> callback) { on_report_ = std::move(callback); }

  /// The first kept_records of all that was reported, reset or not.
  const std::vector<Entry>& records() const { return records_; }
  std::uint64_t reported() const { return reported_; }

 private:
  std::uint32_t number_of(const std::string& block_name) const;
  void show_oldest();
  void drive() { interrupt.write(!fifo_.empty()); }

  std::uint32_t capacity_;
  std::deque<Entry> fifo_;
  std::vector<Entry> records_;
  std::uint64_t reported_ = 0;
  std::map<std::string, std::uint32_t> added_;
  std::function<void(const Entry&)> on_report_;
  sc_core::sc_event changed_;
};

}  // namespace t3vp::processor
