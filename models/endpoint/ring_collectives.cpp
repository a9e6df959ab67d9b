#include "endpoint/ring_collectives.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "protocol/access_description.h"
#include "protocol/address_map.h"
#include "protocol/element.h"

namespace t3vp::endpoint {
namespace {

constexpr std::uint64_t ring_window = std::uint64_t{1} << 34;

}  // namespace

RingShare RingShare::of(std::uint64_t sram_bytes, std::uint32_t rings, std::uint32_t message_bytes) {
  const auto all = static_cast<std::uint32_t>(sram_bytes / rings / message_bytes);
  RingShare share;
  share.buffers = std::max(1u, all / 4);
  share.places = all - share.buffers;
  share.per_step = share.places / 2;
  return share;
}

std::uint64_t RingCollectives::address_at(std::uint16_t gpu, std::uint32_t ring, std::uint64_t offset) {
  return address_map::on_gpu(gpu, address_map::endpoint_memory + ring * ring_window + offset % ring_window);
}

std::uint32_t RingCollectives::ring_of(std::uint64_t address) {
  return static_cast<std::uint32_t>((address_map::local_of(address) - address_map::endpoint_memory) / ring_window);
}

void RingCollectives::start(Collective collective) {
  collective.number = started_++;
  collectives_.push_back({collective, {collective.plan, engine_.message_bytes, share_.per_step}, 0});
  go_on();
}

bool RingCollectives::uses(std::uint64_t address, std::uint64_t bytes) const {
  return std::any_of(collectives_.begin(), collectives_.end(), [&](const Active& active) {
    return active.collective.buffer < address + bytes &&
           address < active.collective.buffer + active.collective.plan.bytes;
  });
}

void RingCollectives::handle(const RingEvent& event) {
  const bool is_of_unit =
      event.what == RingEvent::kept || event.what == RingEvent::ready || event.what == RingEvent::added;
  if (is_of_unit && event.generation != generation_) return;
  switch (event.what) {
    case RingEvent::arrived:
      take(event);
      break;
    case RingEvent::kept:
      at(event.unit).is_kept = true;
      add_if_there(event.unit);
      break;
    case RingEvent::ready:
      at(event.unit).is_loaded = true;
      add_if_there(event.unit);
      break;
    case RingEvent::added: {
      Unit& unit = at(event.unit);
      if (!unit.data.empty())
        add_elements(unit.active->collective.element, unit.data.data(), unit.own.data(),
                     unit.message.bytes / bytes_of(unit.active->collective.element));
      unit.is_added = true;
      added_bytes_ += unit.message.bytes;
      --buffers_used_;
      use_result(event.unit);
      break;
    }
    default:
      end_access(event);
  }
  if (!has_failed_) go_on();
}

/// Whatever waits for nothing but a place goes on.
void RingCollectives::go_on() {
  load_ahead();
  match_arrivals();
  send_in_order();
}

/// Returns null when no started collective has so many messages.
RingCollectives::Unit* RingCollectives::find_or_make(std::uint64_t unit) {
  while (first_ + units_.size() <= unit)
    if (!make_next()) return nullptr;
  return &at(unit);
}

bool RingCollectives::make_next() {
  for (Active& active : collectives_) {
    if (active.order.is_at_end()) continue;
    ++active.unfinished;
    Unit unit;
    unit.active = &active;
    unit.message = active.order.next();
    units_.push_back(std::move(unit));
    return true;
  }
  return false;
}

void RingCollectives::load_ahead() {
  while (buffers_used_ < share_.buffers) {
    Unit* const unit = find_or_make(next_load_);
    if (unit == nullptr) return;
    if (unit->loads()) load(next_load_, *unit);
    ++next_load_;
  }
}

/// A message has its place already: the previous GPU sends no more than there are. It is taken off the link at once.
void RingCollectives::take(const RingEvent& event) {
  tlm::tlm_generic_payload& message = *event.transaction;
  if (has_failed_) return refuse_message(message, Status::peer_failed);
  if (extension_of(message).producer.wf_id == failure_mark) {
    const std::string text =
        fmt::format("GPU {} has met a failure in ring {}", extension_of(message).producer.gpu, number_);
    const std::uint64_t address = message.get_address();
    refuse_message(message, Status::peer_failed);
    return fail(Status::peer_failed, address, text);
  }
  engine_.arrivals.taken(message, 0);
  arrivals_.push_back(&message);
  ++places_used_;
  note_use();
  if (places_used_ > share_.places)
    fail(Status::mismatch, message.get_address(),
         fmt::format("{}: the ring has room for {} messages; all GPUs must have the same rings_used", describe(message),
                     share_.places));
}

void RingCollectives::match_arrivals() {
  while (!arrivals_.empty()) {
    Unit* unit = find_or_make(next_receive_);
    while (unit != nullptr && !unit->receives()) unit = find_or_make(++next_receive_);
    if (unit == nullptr) return;
    tlm::tlm_generic_payload& message = *arrivals_.front();
    if (!is_expected(*unit, message)) {
      const Collective& collective = unit->active->collective;
      return fail(
          Status::mismatch, message.get_address(),
          fmt::format("{} from GPU {}: {} bytes from {:#x} on of collective {} of ring {} from GPU {} expected; "
                      "all GPUs of a ring start the same collectives",
                      describe(message), extension_of(message).producer.gpu, unit->message.bytes, unit->message.offset,
                      collective.number, number_, collective.previous));
    }
    arrivals_.pop_front();
    unit->incoming = &message;
    if (const unsigned char* data = message.get_data_ptr()) unit->data.assign(data, data + unit->message.bytes);
    push(engine_.sram.end_of(unit->message.bytes), RingEvent::kept, next_receive_++);
  }
}

bool RingCollectives::is_expected(const Unit& unit, const tlm::tlm_generic_payload& message) const {
  const Collective& collective = unit.active->collective;
  const DataExtension& extension = *message.get_extension<DataExtension>();
  const std::uint64_t address = address_at(engine_.gpu, number_, unit.message.offset);
  return message.get_address() == address && extension.shape.rows == 1 &&
         extension.shape.row_bytes == unit.message.bytes && extension.element == collective.element &&
         extension.producer.gpu == collective.previous && extension.producer.wg_id == collective.number &&
         extension.producer.wf_id == static_cast<std::uint8_t>(collective.plan.operation);
}

void RingCollectives::add_if_there(std::uint64_t number) {
  const Unit& unit = at(number);
  if (!unit.adds()) return use_result(number);
  if (unit.is_kept && unit.is_loaded) push(engine_.adders.end_of(unit.message.bytes), RingEvent::added, number);
}

void RingCollectives::use_result(std::uint64_t number) {
  Unit& unit = at(number);
  if (unit.is_ready() && unit.stores()) store(number, unit);
}

void RingCollectives::send_in_order() {
  for (;; ++next_send_) {
    Unit* const unit = find_or_make(next_send_);
    if (unit == nullptr || (unit->sends() && !unit->is_ready())) return note_stall(false);
    if (!unit->sends()) continue;
    if (unanswered_ == share_.places) return note_stall(true);
    send(next_send_, *unit);
  }
}

/// Its place is free when all has been done with what came there: the response tells the previous GPU.
void RingCollectives::finish(Unit& unit) {
  if (unit.is_done || (unit.sends() && !unit.has_left) || (unit.stores() && !unit.is_stored)) return;
  unit.is_done = true;
  if (unit.incoming != nullptr) {
    --places_used_;
    tlm::tlm_generic_payload& message = *std::exchange(unit.incoming, nullptr);
    message.set_response_status(tlm::TLM_OK_RESPONSE);
    engine_.arrivals.respond(message, 0);
    message.release();
  }
  retire();
}

/// Messages leave the list in their order, and so do collectives.
void RingCollectives::retire() {
  while (!units_.empty() && units_.front().is_done) {
    Active& active = *units_.front().active;
    units_.pop_front();
    ++first_;
    next_send_ = std::max(next_send_, first_);
    next_load_ = std::max(next_load_, first_);
    next_receive_ = std::max(next_receive_, first_);
    if (--active.unfinished != 0 || !active.order.is_at_end()) continue;
    const Collective ended = active.collective;
    collectives_.pop_front();
    engine_.ended(ended);
  }
}

void RingCollectives::note_use() { most_used_ = std::max(most_used_, places_used_ + buffers_used_); }

void RingCollectives::note_stall(bool stalls) {
  if (!stalls && stalled_since_ != never) stalled_ += now() - stalled_since_;
  if (stalls == (stalled_since_ != never)) return;
  stalled_since_ = stalls ? now() : never;
}

std::string RingCollectives::diagnosis() const {
  if (collectives_.empty()) {
    if (arrivals_.empty()) return {};
    return fmt::format("ring {}: {} messages wait for a collective that has not been started", number_,
                       arrivals_.size());
  }
  const Collective& collective = collectives_.front().collective;
  return fmt::format(
      "ring {}: collective {} of {} bytes at {:#x} has not ended; {} messages of GPU {} are here, GPU {} "
      "has {} of this GPU",
      number_, collective.number, collective.plan.bytes, collective.buffer, places_used_, collective.previous,
      collective.next, unanswered_);
}

}  // namespace t3vp::endpoint
