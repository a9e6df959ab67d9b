#include "run/phase_table.h"

#include "partition/message.h"
#include "report/phases.h"

namespace t3vp {
namespace {

using PhaseTime = PhaseTable::PhaseTime;

/// A window is sent by the name that other ranks know.
void put(MessageWriter& message, const PhaseTime& time) {
  message.put_text(time.phase);
  for (const Picoseconds at : {time.first, time.begin, time.end, time.last, time.spent}) message.put(at);
  message.put(time.ended);
  message.put(time.parts);
  message.put(Cause::key_of(time.first_window));
}

PhaseTime take(MessageReader& message) {
  PhaseTime time;
  time.phase = message.take_text();
  for (Picoseconds* at : {&time.first, &time.begin, &time.end, &time.last, &time.spent})
    *at = message.take<Picoseconds>();
  time.ended = message.take<std::uint64_t>();
  time.parts = message.take<TimeParts>();
  time.first_window = Cause::window_of(message.take<Cause::WindowKey>());
  return time;
}

}  // namespace

PhaseTable::PhaseTable(const Node& node) {
  for (const auto& gpu : node.gpus()) phases_.push_back(gpu->processor.phases());
  if (const Span span = span_of_total(); span.end != nullptr)
    parts_of_total_ = span.end->cause.within(span.begin->first_window, span.end->last);
}

PhaseTable::PhaseTable(const Node& node, const Partition& partition, Transport& transport) {
  MessageWriter mine;
  for (std::size_t gpu = 0; gpu < node.gpus().size(); ++gpu)
    if (partition.gpus[gpu] == transport.rank())
      mine.put_all(node.gpus()[gpu]->processor.phases(), [&](const PhaseTime& time) { put(mine, time); });
  const std::vector<Message> messages = transport.all_gather(mine.take());
  std::vector<MessageReader> readers(messages.begin(), messages.end());
  for (std::size_t gpu = 0; gpu < node.gpus().size(); ++gpu) {
    MessageReader& reader = readers[partition.gpus[gpu]];
    std::vector<PhaseTime>& times = phases_.emplace_back();
    reader.take_all([&] { times.push_back(take(reader)); });
    if (partition.gpus[gpu] == transport.rank()) times = node.gpus()[gpu]->processor.phases();
  }
  const Span span = span_of_total();
  if (span.end == nullptr) return;
  const std::uint32_t owner = partition.gpus[span.last];
  MessageWriter parts;
  if (owner == transport.rank()) parts.put(span.end->cause.within(span.begin->first_window, span.end->last));
  const std::vector<Message> all = transport.all_gather(parts.take());
  parts_of_total_ = MessageReader(all[owner]).take<TimeParts>();
}

std::vector<const PhaseTime*> PhaseTable::finished(const std::string& phase) const {
  std::vector<const PhaseTime*> times;
  for (const auto& of_gpu : phases_)
    for (const PhaseTime& time : of_gpu)
      if (time.phase == phase && time.ended != 0) times.push_back(&time);
  return times;
}

PhaseTable::Span PhaseTable::span_of_total() const {
  Span span;
  for (std::size_t gpu = 0; gpu < phases_.size(); ++gpu)
    for (const PhaseTime& time : phases_[gpu]) {
      if (time.phase != phases::total || time.ended == 0) continue;
      if (span.begin == nullptr || time.first < span.begin->first) span.begin = &time;
      if (span.end == nullptr || time.last > span.end->last) {
        span.end = &time;
        span.last = gpu;
      }
    }
  return span;
}

}  // namespace t3vp
