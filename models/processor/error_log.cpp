#include "processor/error_log.h"

#include "processor/processor_rules.h"
#include "protocol/checked_parameters.h"
#include "registers/catalogue.h"

namespace t3vp::processor {

ErrorLog::ErrorLog(const sc_core::sc_module_name& name, std::uint32_t entries)
    : registers::ErrorLog(checked(name, with_error_log(entries))), capacity_(entries) {
  SC_HAS_PROCESS(ErrorLog);
  reports.bind(*this);
  errors.bind(*this);
  pop.on_write([this] {
    if (!fifo_.empty()) fifo_.pop_front();
    show_oldest();
  });
  on_reset([this] {
    fifo_.clear();
    show_oldest();
  });
  SC_METHOD(drive);
  sensitive << changed_;
}

ErrorLog::~ErrorLog() = default;

void ErrorLog::report(const char* block_name, const ErrorRecord& record) {
  ++reported_;
  if (on_report_) on_report_({block_name, record, now()});
  if (records_.size() < kept_records) records_.push_back({block_name, record, now()});
  if (fifo_.size() == capacity_) return lost.set(lost.value() + 1);
  fifo_.push_back({block_name, record, now()});
  show_oldest();
}

std::uint32_t ErrorLog::number_of(const std::string& block_name) const {
  for (const registers::CatalogueEntry& entry : registers::catalogue)
    if (block_name == entry.description.name) return static_cast<std::uint32_t>(entry.block);
  const auto added = added_.find(block_name);
  return added == added_.end() ? no_block : added->second;
}

void ErrorLog::show_oldest() {
  const Entry oldest = fifo_.empty() ? Entry{} : fifo_.front();
  count.set(fifo_.size());
  code.status.set(static_cast<Status>(oldest.record.code));
  block.set(fifo_.empty() ? 0 : number_of(oldest.block));
  address.set(oldest.record.address);
  time_ns.set(oldest.time / 1000);
  changed_.notify(sc_core::SC_ZERO_TIME);
}

}  // namespace t3vp::processor
