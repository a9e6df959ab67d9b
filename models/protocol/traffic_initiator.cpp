#include "protocol/traffic_initiator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <stdexcept>
#include <utility>

#include "protocol/element.h"

namespace t3vp {
namespace {

void require(bool holds, const std::string& message) {
  if (!holds) throw std::invalid_argument("traffic: " + message);
}

void check_size(std::uint64_t bytes) {
  require(bytes != 0 && bytes % 32 == 0, fmt::format("an access of {} bytes, a multiple of 32 expected", bytes));
}

void check_access(const TrafficAccess& listed) {
  check_size(listed.bytes);
  require(listed.operation <= Operation::update,
          fmt::format("operation {}, load, store or update expected", name_of(listed.operation)));
}

}  // namespace

TrafficInitiator::TrafficInitiator(const sc_core::sc_module_name& name, const Options& options)
    : sc_module(name), options_(options) {
  SC_HAS_PROCESS(TrafficInitiator);
  SC_METHOD(send);
  sensitive << wake_;
  dont_initialize();
}

void TrafficInitiator::start(std::vector<TrafficAccess> list, const TrafficLimits& limits) {
  require(!list.empty(), "the list has no access, 1 or more expected");
  for (const TrafficAccess& listed : list) check_access(listed);
  start([list = std::move(list)](std::uint64_t i) { return list[i % list.size()]; }, limits);
}

void TrafficInitiator::start(const RandomTraffic& random, const TrafficLimits& limits) {
  check_size(random.access_bytes);
  const std::uint64_t places = random.bytes / random.access_bytes;
  require(places != 0, fmt::format("a range of {} bytes, one access of {} bytes or more expected", random.bytes,
                                   random.access_bytes));
  const double total = random.loads + random.stores + random.updates;
  require(random.loads >= 0 && random.stores >= 0 && random.updates >= 0 && total > 0,
          "frequencies of loads, stores and updates: 0 or more expected, not all 0");
  start(
      [random, places, total, engine = std::mt19937_64(random.seed)](std::uint64_t) mutable {
        // Only the engine's own numbers are the same with every library.
        const std::uint64_t place = engine() % places;
        const double kind = total * static_cast<double>(engine() >> 11) / 9007199254740992.0;
        const Operation operation = kind < random.loads                   ? Operation::load
                                    : kind < random.loads + random.stores ? Operation::store
                                                                          : Operation::update;
        return TrafficAccess{operation, random.first + place * random.access_bytes, random.access_bytes};
      },
      limits);
}

void TrafficInitiator::start(std::function<TrafficAccess(std::uint64_t)> next, const TrafficLimits& limits) {
  require(limits.count != 0 && limits.in_flight != 0, "limits: count and in_flight of 1 or more expected");
  require(limits.GBps >= 0, fmt::format("a rate of {} GB/s, 0 or more expected", limits.GBps));
  if (counts_.sent() != counts_.responses)
    throw std::logic_error(fmt::format("{}: {} accesses are in flight", name(), counts_.sent() - counts_.responses));
  next_ = std::move(next);
  limits_ = limits;
  counts_ = {};
  next_time_ = now();
  free_from_ = {};
  for (std::uint32_t i = 0; i < limits.in_flight; ++i) free_from_.push(next_time_);
  wake_.notify(sc_core::SC_ZERO_TIME);
}

/// Sends what the limits allow. Accesses of later times are sent now with a delay.
void TrafficInitiator::send() {
  if (sending_) return;
  sending_ = true;
  while (counts_.sent() < limits_.count && !free_from_.empty()) {
    const Picoseconds at = std::max({now(), free_from_.top(), next_time_});
    free_from_.pop();
    const TrafficAccess next = next_(counts_.sent());
    if (limits_.GBps > 0) next_time_ = at + transfer_time(next.bytes, limits_.GBps);
    send(next, at + options_.lead);
  }
  sending_ = false;
}

void TrafficInitiator::send(const TrafficAccess& next, Picoseconds arrival) {
  Transaction& sent = pool_.make(next.operation, next.address, {1, next.bytes, 0});
  DataExtension& extension = sent.extension();
  extension.stream = options_.stream;
  extension.traffic = options_.traffic;
  extension.element = options_.element;
  extension.token = arrival;
  if (options_.has_data) fill(sent);
  if (on_send) on_send(sent);

  if (counts_.sent() == 0) counts_.begin = arrival;
  std::uint64_t& count = next.operation == Operation::load    ? counts_.loads
                         : next.operation == Operation::store ? counts_.stores
                                                              : counts_.updates;
  ++count;
  counts_.bytes += next.bytes;
  socket.send(sent, arrival - now());
}

/// Ones in the element type.
void TrafficInitiator::fill(Transaction& access) const {
  access.attach_buffer();
  if (access.is_read()) return;
  unsigned char one[4];
  const std::uint32_t bytes = bytes_of(options_.element);
  const float value = 1;
  narrow_elements(options_.element, &value, one, 1);
  for (unsigned at = 0; at + bytes <= access.get_data_length(); at += bytes)
    std::memcpy(access.get_data_ptr() + at, one, bytes);
}

/// It may come within send(), which then goes on by itself.
void TrafficInitiator::response(int, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
  const Picoseconds end = now() + delay, latency = end - extension_of(transaction).token;
  counts_.end = std::max(counts_.end, end);
  counts_.least_latency = std::min(counts_.least_latency, latency);
  counts_.most_latency = std::max(counts_.most_latency, latency);
  counts_.total_latency += latency;
  ++counts_.responses;
  if (!transaction.is_response_ok()) ++counts_.refused;
  if (on_response) on_response(transaction);
  transaction.release();
  free_from_.push(end);
  send();
}

}  // namespace t3vp
