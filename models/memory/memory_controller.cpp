#include "memory/memory_controller.h"

#include <fmt/format.h>

#include <algorithm>

#include "memory/controller_rules.h"
#include "memory/pieces.h"
#include "protocol/address_map.h"
#include "protocol/checked_parameters.h"
#include "protocol/traffic_classes.h"

namespace t3vp::memory {
namespace {

constexpr Picoseconds trace_interval = 1'000'000;
/// In the tag of an access: it is an update that ends with its data.
constexpr std::uint32_t tag_of_fetch_add = 1u << 31;

/// A switch's sum has several (interconnect/switch.h).
std::uint64_t updates_in(const DataExtension& extension) {
  return extension.operation == Operation::update ? 1 + extension.addend : 1;
}

}  // namespace

MemoryController::MemoryController(const sc_core::sc_module_name& name, const MemoryParameters& parameters,
                                   const TrackerParameters& tracker_parameters, bool functional, std::uint16_t gpu,
                                   Trace* trace)
    : sc_module(checked(name, parameters)),
      tracker("tracker", tracker_parameters, gpu, trace),
      parameters_(parameters),
      gpu_(gpu),
      trace_(trace),
      interleave_(parameters.channels, parameters.interleave_bytes, parameters.channel_hash),
      cycle_(cycle_time(1, parameters.dram.clock_GHz)),
      slice_(std::max<Picoseconds>(1, parameters.path_latency / cycle_) * cycle_),
      read_time_((parameters.dram.timing.CL + parameters.dram.timing.BURST) * cycle_) {
  require_policies_of(registers::descriptions::memory_controller_arbitration_policy, known_policies());
  if (!functional) dataless_ = std::make_unique<DatalessSectors>(parameters.capacity_bytes);
  for (const Port port : {from_cache, from_bypass, from_peers, from_dma, from_tracker, from_nic}) make_port(port);
  plain.register_b_transport(this, &MemoryController::plain_transport);
  plain.register_transport_dbg(this, &MemoryController::plain_debug);
  plain.register_get_direct_mem_ptr(this, &MemoryController::direct_memory);
  if (trace_ != nullptr) track_ = trace_->track(fmt::format("GPU {}", gpu), "HBM");
  if (parameters.faults.any()) faults_ = std::make_unique<FaultyAccess>(parameters.faults);
  for (std::uint32_t i = 0; i < parameters.channels; ++i)
    channels_.push_back(std::make_unique<ChannelState>(parameters.dram));
  registers.aging_ps.set(aging_of(parameters));
  registers.channels.set(parameters.channels);
  registers.interleave.set(parameters.interleave_bytes);
  registers.arbitration.on_write([this] { check_policy(); });
  registers.aging_ps.on_write([this] { choose_policy(); });
  registers.on_reset([this] {
    generation_since_ = now() + 1;
    registers.aging_ps.set(aging_of(parameters_));
    registers.channels.set(parameters_.channels);
    registers.interleave.set(parameters_.interleave_bytes);
    observation_ = {};  // the kernels to come are not judged by those before, nor by one whose first stage is cut off
    in_stage_ = false;
    choose_policy();
  });
  near_memory.valid_storage.set(parameters.valid_bits_bytes);
  near_memory.command.on_write([this] { near_memory_command(); });
  near_memory.not_valid.on_refresh([this] { near_memory.not_valid.set(valid_bits_.clear()); });
  near_memory.on_reset([this] {
    updated_elements_ = {};
    near_memory.valid_storage.set(parameters_.valid_bits_bytes);
    valid_bits_.disarm();
    if (unit_ != nullptr) unit_->reset();
  });
  near_memory.updates.on_refresh([this](std::size_t i) { near_memory.updates[i].set(updated_elements_[i]); });
  choose_policy();

  SC_HAS_PROCESS(MemoryController);
  SC_METHOD(stage_changed);
  sensitive << first_stage << kernel_active;
}

MemoryController::~MemoryController() = default;

void MemoryController::make_port(Port port) {
  const char* names[] = {"from_cache",   "from_bypass", "from_peers", "from_dma",
                         "from_tracker", "from_nic",    "from_unit",  "from_endpoint"};
  auto& socket = ports[port];
  socket = std::make_unique<DataTargetSocket<MemoryController>>(names[port], this, &MemoryController::request, port);
  socket->on_debug(&MemoryController::debug);
  socket->report_to(registers.errors, registers.description().name);
  // The cache writes back what was stored, and that may be parts of sectors.
  socket->expect({dataless_ == nullptr, false, port == from_cache});
}

DataTargetSocket<MemoryController>& MemoryController::port_for(FollowingOperations& unit) {
  unit_ = &unit;
  make_port(from_unit);
  return *ports[from_unit];
}

DataTargetSocket<MemoryController>& MemoryController::port_for_endpoint() {
  make_port(from_endpoint);
  return *ports[from_endpoint];
}

void MemoryController::request(int port, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
  transaction.acquire();
  const FabricMarks& marks = extension_of(transaction).fabric;
  const Origin origin = port == from_peers ? Origin{marks.source, marks.lane.channel} : Origin{gpu_};
  arrivals_.push(now() + delay, {&transaction, origin, static_cast<Port>(port), Cause::current()});
  schedule();
}

bool MemoryController::busy() const {
  return std::any_of(channels_.begin(), channels_.end(),
                     [](const auto& state) { return !state->streams.empty() || !state->channel.idle(); });
}

/// The next slice begins where the last one ended while channels are busy, else on the slice grid before the arrival.
void MemoryController::schedule() {
  Picoseconds next = never;
  if (busy())
    next = simulated_until_;
  else if (!arrivals_.empty())
    next = std::max(arrivals_.next_time() / slice_ * slice_, simulated_until_);
  next = next == never ? never : std::max(next, now());
  if (next < next_slice_.due()) next_slice_.run_at(next);
}

void MemoryController::slice() {
  recent_traffic_.keep(traffic());
  if (traced_from_ == never) traced_from_ = now();
  const Picoseconds end = (now() / slice_ + 1) * slice_;
  while (arrivals_.next_time() < end) {
    const Picoseconds time = std::max(arrivals_.next_time(), simulated_until_);
    accept(arrivals_.pop(), time);
  }
  const dram::Cycle until = end / cycle_;
  for (auto& state : channels_) {
    if (state->streams.empty() && state->channel.idle()) continue;
    state->channel.run(
        until,
        [this, &state](dram::Cycle cycle, unsigned occupancy, dram::Access& access, dram::Cycle& retry) {
          return feed(*state, cycle, occupancy, access, retry);
        },
        [this](std::uint32_t request, dram::Kind kind, dram::Cycle cycle, std::uint32_t accesses) {
          if (kind == dram::Kind::read || (request & tag_of_fetch_add) != 0)
            finish_accesses(request & ~tag_of_fetch_add, cycle, accesses);
        });
  }
  simulated_until_ = end;
  note_waits();
  if (trace_ != nullptr) trace_traffic(end);
  respond();
  schedule();
}

/// The counter gets an interval's mean rate in GB/s at the interval's begin, and keeps its value until the next one. An
/// interval also ends when there is nothing more to do, so that no byte is missing in the end.
void MemoryController::trace_traffic(Picoseconds end) {
  const bool idle = !busy();
  if (!idle && end - traced_from_ < trace_interval) return;
  for (const TrafficClass traffic : traffic_classes()) {
    const std::size_t c = index_of(traffic);
    const std::uint64_t bytes = dram_bytes_[c] - traced_bytes_[c];
    if (bytes == 0 && !flowing_[c]) continue;
    const char* name = name_of_traffic(traffic);
    trace_->counter(track_, name, traced_from_, static_cast<double>(bytes) / to_ns(end - traced_from_));
    if (idle && bytes != 0) trace_->counter(track_, name, end, 0);
    flowing_[c] = !idle && bytes != 0;
    traced_bytes_[c] = dram_bytes_[c];
  }
  traced_from_ = idle ? never : end;
}

void MemoryController::accept(const Arrival& arrival, Picoseconds time) {
  tlm::tlm_generic_payload& transaction = *arrival.transaction;
  const DataExtension& extension = extension_of(transaction);
  Cause::current() = arrival.cause;
  Cause::current().extend(time, Part::dram_latency);
  if (refuse(arrival, extension, time)) return;
  note_flag(transaction);
  if (extension.operation != Operation::load) ++written_;
  if (extension.operation == Operation::update && !parameters_.near_memory)
    return count_alone(arrival, extension, time);
  take_effect(transaction, extension, is_local(arrival.port), time);
  if (trace_ != nullptr && arrival.port == from_peers) trace_arrival(extension, time);
  transaction.set_response_status(tlm::TLM_OK_RESPONSE);
  if (free_requests_.empty()) {
    requests_.emplace_back();
    free_requests_.push_back(static_cast<std::uint32_t>(requests_.size() - 1));
  }
  const std::uint32_t request = free_requests_.back();
  free_requests_.pop_back();
  requests_[request] = {&transaction,
                        arrival.port,
                        0,
                        0,
                        extension.operation == Operation::fetch_add,
                        updates_in(extension),
                        tracked(arrival),
                        time,
                        Cause::current(),
                        waits_};
  enqueue(request, extension, time);
}

bool MemoryController::in_memory(std::uint64_t local, const Shape& shape) const {
  const std::uint64_t capacity = parameters_.capacity_bytes;
  if (shape.row_bytes > capacity || local > capacity - shape.row_bytes) return false;
  const std::uint64_t left = capacity - shape.row_bytes - local, steps = shape.rows - 1;
  return steps == 0 || shape.stride <= left / steps;
}

bool MemoryController::refuse(const Arrival& arrival, const DataExtension& extension, Picoseconds time) {
  tlm::tlm_generic_payload& transaction = *arrival.transaction;
  const auto answer = [&](tlm::tlm_response_status response, Status status, const std::string& text) {
    registers.report(status, transaction.get_address(), text);
    transaction.set_response_status(response);
    ports[arrival.port]->respond(transaction, time - now());
    transaction.release();
    return true;
  };
  const std::uint64_t address = transaction.get_address();
  if (extension.operation != Operation::load && extension.made < generation_since_) {
    refuse_of_an_earlier_generation(transaction);
    ports[arrival.port]->respond(transaction, time - now());
    transaction.release();
    return true;
  }
  if (address_map::gpu_of(address) != gpu_ || !in_memory(address_map::local_of(address), extension.shape))
    return answer(tlm::TLM_ADDRESS_ERROR_RESPONSE, Status::bad_address,
                  fmt::format("{} bytes at {:#x} are not in the {} bytes of HBM of GPU {}", extension.shape.bytes(),
                              address, parameters_.capacity_bytes, gpu_));
  if (extension.operation == Operation::wait)
    return answer(tlm::TLM_COMMAND_ERROR_RESPONSE, Status::invalid_argument, "memory has no signals to wait for");
  if (extension.operation == Operation::request || extension.operation == Operation::answer)
    return answer(tlm::TLM_COMMAND_ERROR_RESPONSE, Status::invalid_argument, "memory takes no messages of links");
  const bool adds = extension.operation == Operation::fetch_add;
  if (const Refusal wrong = dataless_ == nullptr || adds ? Refusal{} : validate_kind(transaction, extension))
    return answer(tlm::TLM_COMMAND_ERROR_RESPONSE, wrong.status,
                  fmt::format("{} at {:#x}: {}", name_of(extension.operation), address, wrong.text));
  if (!adds && extension.operation != Operation::update) return false;
  if (const Refusal wrong = adds ? Refusal{} : validate_update(arrival.port))
    return answer(tlm::TLM_GENERIC_ERROR_RESPONSE, wrong.status,
                  fmt::format("update at {:#x}: {}", address, wrong.text));
  if (near_memory.control.enable() == 0 && (adds || parameters_.near_memory))
    return answer(tlm::TLM_GENERIC_ERROR_RESPONSE, Status::disabled,
                  fmt::format("{} while near_memory.control.enable is 0", name_of(extension.operation)));
  const std::uint32_t element = adds ? transaction.get_data_length() : bytes_of(extension.element);
  if (address % element != 0 || extension.shape.row_bytes % element != 0 || extension.shape.stride % element != 0)
    return answer(tlm::TLM_BURST_ERROR_RESPONSE, Status::unaligned,
                  fmt::format("{} at {:#x} is not aligned to its {}-byte elements", name_of(extension.operation),
                              address, element));
  if (const Refusal wrong = adds ? validate_fetch_add(transaction, extension) : Refusal{})
    return answer(tlm::TLM_COMMAND_ERROR_RESPONSE, wrong.status,
                  fmt::format("fetch-and-add at {:#x}: {}", address, wrong.text));
  return false;
}

/// Without near-memory units memory adds nothing: updates come through the cache.
Refusal MemoryController::validate_update(Port port) const {
  const bool by_cache = port == from_bypass || port == from_peers || port == from_nic;
  if (parameters_.near_memory || by_cache) return {};
  return refused(Status::disabled, "this GPU has no near-memory units, and its cache has not added it");
}

void MemoryController::count_alone(const Arrival& arrival, const DataExtension& extension, Picoseconds time) {
  tlm::tlm_generic_payload& transaction = *arrival.transaction;
  transaction.set_response_status(tlm::TLM_OK_RESPONSE);
  if (const Tracker::Counted counted = tracked(arrival); counted.any())
    tracker.count(counted, extension.shape.bytes() * updates_in(extension), time, Cause::current());
  ports[arrival.port]->respond(transaction, time - now());
  transaction.release();
}

void MemoryController::take_effect(tlm::tlm_generic_payload& transaction, const DataExtension& extension, bool local,
                                   Picoseconds time) {
  if (extension.operation == Operation::fetch_add) return fetch_and_add(transaction, extension);
  const std::uint64_t bytes = extension.shape.bytes();
  if (valid_bits_.clear() != 0 && transaction.get_data_ptr() != nullptr)
    for_each_piece(address_map::local_of(transaction.get_address()), extension.shape,
                   [this](std::uint64_t address, std::uint64_t part) { find_zeros(address, part); });
  if (faults_ != nullptr) {
    faults_->take_effect(store_, transaction, local, time);
  } else if (unsigned char* data = transaction.get_data_ptr()) {
    const std::uint64_t base = address_map::local_of(transaction.get_address());
    const unsigned char* enables = transaction.get_byte_enable_ptr();
    for_each_piece(base, extension.shape, [&](std::uint64_t address, std::uint64_t part) {
      switch (extension.operation) {
        case Operation::store:
          store_.write(address, data, part, enables);  // a cache writes back what was stored
          break;
        case Operation::update:
          store_.update(extension.element, address, data, part);
          break;
        default:
          store_.read(address, data, part);
      }
      data += part;
      if (enables != nullptr) enables += part;
    });
  }
  if (extension.operation == Operation::update)
    updated_elements_[static_cast<std::size_t>(extension.element)] += bytes / bytes_of(extension.element);
}

Tracker::Counted MemoryController::tracked(const Arrival& arrival) {
  const DataExtension& extension = extension_of(*arrival.transaction);
  if (is_read(extension.operation) || arrival.port == from_unit) return {};  // whose tiles are complete
  if (arrival.port == from_cache && !parameters_.near_memory) return {};     // of updates that have been counted
  // Writes of peers' firmware are control, and peers' DMA engines name all that they send; the rest is their kernels'.
  // A NIC's writes name nothing and are not the driver's, so the counters there are notified of them too.
  const bool of_kernel = arrival.port == from_bypass || arrival.port == from_nic ||
                         (arrival.port == from_peers && extension.traffic != TrafficClass::control);
  return tracker.accept({extension.producer, arrival.transaction->get_address(), extension.shape, extension.operation,
                         extension.element, is_local(arrival.port), arrival.port == from_cache, of_kernel,
                         extension.order});
}

void MemoryController::enqueue(std::uint32_t request, const DataExtension& extension, Picoseconds time) {
  const std::uint64_t access_bytes = parameters_.dram.geometry.access_bytes;
  const std::uint64_t run_bytes = std::min(interleave_.block_bytes(), StreamQueues::ordered_bytes);
  Run run;
  run.request = request;
  run.traffic = extension.traffic;
  run.arrival = (time + cycle_ - 1) / cycle_;
  run.kind = extension.operation == Operation::load    ? dram::Kind::read
             : extension.operation == Operation::store ? dram::Kind::write
                                                       : dram::Kind::update;
  const dram::Kind kind = run.kind;
  std::uint32_t total = 0;
  for_each_piece(
      address_map::local_of(requests_[request].transaction->get_address()), extension.shape,
      [&](std::uint64_t address, std::uint64_t bytes) {
        std::uint64_t at = address / access_bytes * access_bytes;
        const std::uint64_t end = (address + bytes + access_bytes - 1) / access_bytes * access_bytes;
        while (at < end) {
          const std::uint64_t block_end = (at / run_bytes + 1) * run_bytes;
          std::uint64_t part = std::min(end, block_end) - at;
          if (kind != dram::Kind::read && valid_bits_.concerns(at, part)) {
            bool first = false;
            part = uniform(at, part, address, address + bytes, first);
            run.kind = first ? dram::Kind::write : kind;
            if (first && kind == dram::Kind::update) first_updates_ += part / access_bytes;
            valid_bits_.set(std::max(at, address), std::min(at + part, address + bytes) - std::max(at, address));
          } else {
            run.kind = kind;
          }
          run.address = interleave_.local_of(at);
          run.accesses = static_cast<std::uint16_t>(part / access_bytes);
          run.bytes = static_cast<std::uint16_t>(std::min(at + part, address + bytes) - std::max(at, address));
          channels_[interleave_.channel_of(at)]->streams.push(
              extension.stream == Stream::compute ? StreamQueues::compute : StreamQueues::communication, run);
          total += run.accesses;
          at += part;
        }
      });
  requests_[request].remaining = total;
}

dram::Fed MemoryController::feed(ChannelState& state, dram::Cycle cycle, unsigned occupancy, dram::Access& access,
                                 dram::Cycle& retry) {
  retry = dram::never_cycle;
  ArbitrationView view = view_of(state.streams, state.channel, occupancy, cycle, retry);
  if (!view.compute.ready && !view.communication.ready) return dram::Fed::none;
  if (view.communication.ready && !state.communication_waits) {
    state.communication_waits = true;
    state.waiting_since = cycle;
  }
  view.waiting_since = state.waiting_since;
  dram::Cycle policy_retry = dram::never_cycle;
  const Grant grant = state.policy->choose(view, policy_retry);
  retry = std::min(retry, policy_retry);
  if (!is_possible(grant, view, policy_retry, retry)) refuse_grant(grant, policy());
  if (grant == Grant::none) return dram::Fed::refused;

  const unsigned stream = grant == Grant::compute ? StreamQueues::compute : StreamQueues::communication;
  Run& run = state.streams.front(stream);
  // A loosely-timed channel takes a run at once. Where streams compete it takes four accesses, and of aged
  // communication one.
  std::uint32_t entering = std::min<std::uint32_t>(access.accesses, run.accesses);
  const StreamView& other = stream == StreamQueues::compute ? view.communication : view.compute;
  if (other.oldest != nullptr) entering = std::min(entering, grant == Grant::aged ? 1u : 4u);
  if (is_communication(grant)) {
    state.communication_waits = false;
    state.communication += entering;
    if (grant == Grant::aged) state.aged += entering;
  }
  access.address = run.address;
  access.kind = run.kind;
  access.tag = run.request;
  access.accesses = entering;
  run.address += std::uint64_t{entering} * parameters_.dram.geometry.access_bytes;
  dram_bytes_[static_cast<std::size_t>(run.traffic)] +=
      std::uint64_t{entering} * parameters_.dram.geometry.access_bytes;
  cycle += entering - 1;
  run.accesses = static_cast<std::uint16_t>(run.accesses - entering);
  if (run.accesses == 0) {
    if (const Request& request = requests_[run.request]; request.counted.any())
      tracker.count(request.counted, run.bytes * request.updates, cycle * cycle_, cause_of(request, cycle * cycle_));
    state.streams.pop(stream);
  }
  if (access.kind == dram::Kind::read) return dram::Fed::access;
  if (requests_[access.tag].is_fetch_add)
    access.tag |= tag_of_fetch_add;
  else
    finish_accesses(access.tag, cycle, entering);
  return dram::Fed::access;
}

void MemoryController::finish_accesses(std::uint32_t index, dram::Cycle cycle, std::uint32_t accesses) {
  Request& request = requests_[index];
  request.finished = std::max(request.finished, cycle);
  request.remaining -= accesses;
  if (request.remaining == 0) finished_.push(request.finished * cycle_, index);
}

/// Whoever polls a flag is released by who has written it.
void MemoryController::note_flag(tlm::tlm_generic_payload& transaction) {
  constexpr std::uint64_t flag_bytes = 8;
  DataExtension& extension = extension_of(transaction);
  const bool is_flag = extension.real || extension.operation == Operation::fetch_add;
  if (!is_flag || extension.shape.bytes() > flag_bytes || !Cause::current().is_known()) return;
  const std::uint64_t flag = transaction.get_address() / flag_bytes;
  if (extension.operation != Operation::load) flags_[flag] = Cause::current();
  if (!is_read(extension.operation)) return;
  const auto written = flags_.find(flag);
  if (written != flags_.end()) extension.seen = written->second;
}

void MemoryController::note_waits() {
  waits_ = {};
  for (const auto& state : channels_)
    for (std::size_t i = 0; i < waits_.size(); ++i) waits_[i] += state->channel.statistics().waits[i];
}

/// Splits the time since the request's arrival as all channels have spent theirs meanwhile. The DRAM's own latency is
/// no wait. The channels are alike, since addresses are interleaved.
Cause MemoryController::cause_of(const Request& request, Picoseconds time) const {
  Cause cause = request.cause;
  if (!cause.is_known()) return cause;
  const auto since = [&](dram::Wait wait) {
    return waits_[static_cast<std::size_t>(wait)] - request.waits[static_cast<std::size_t>(wait)];
  };
  const std::array<Cause::Share, 4> waits{{{Part::dram_bandwidth, since(dram::Wait::bandwidth)},
                                           {Part::dram_turnaround, since(dram::Wait::turnaround)},
                                           {Part::dram_row_misses, since(dram::Wait::row_miss)},
                                           {Part::dram_update, since(dram::Wait::update)}}};
  const bool waits_for_data = is_read(extension_of(*request.transaction).operation);
  cause.extend(time - (waits_for_data ? std::min(time, read_time_) : 0), waits, Part::dram_bandwidth);
  cause.extend(time, Part::dram_latency);
  return cause;
}

void MemoryController::note_latency(const Request& request, Picoseconds time) {
  const DataExtension& extension = extension_of(*request.transaction);
  Latency& latency = latencies_[extension.stream == Stream::compute ? 0 : 1];
  const Picoseconds spent = time - std::min(time, request.arrival);
  ++latency.requests;
  latency.spent += spent;
  latency.queued += spent - (is_read(extension.operation) ? std::min(spent, read_time_) : 0);
}

void MemoryController::respond() {
  while (!finished_.empty()) {
    const Picoseconds time = std::max(finished_.next_time(), now());
    const std::uint32_t index = finished_.pop();
    const Request request = std::move(requests_[index]);
    free_requests_.push_back(index);
    note_latency(request, time);
    Cause::current() = cause_of(request, time);
    ports[request.port]->respond(*request.transaction, time - now());
    request.transaction->release();
  }
}

void MemoryController::check_policy() {
  const PolicyDescription* const chosen = parameters_.policies.numbered(policy_number());
  if (chosen == nullptr)
    return registers.refuse(Status::bad_value, fmt::format("the policy {}: {} expected", policy_number(),
                                                           "a number of the platform's policies or of the run's"));
  const auto limit = static_cast<unsigned>(registers.arbitration.limit());
  if (!chosen->parameter.takes(limit))
    return registers.refuse(Status::invalid_argument, fmt::format("the limit {} of the policy {}: {} expected", limit,
                                                                  chosen->name, chosen->parameter.values()));
  choose_policy();
}

/// Channels hold on to what belongs to their policy: they go first.
void MemoryController::choose_policy() {
  const dram::Cycle aging = registers.aging_ps.value() / cycle_;
  for (auto& state : channels_) state->policy.reset();
  policy_ = policy().make({parameters_, static_cast<unsigned>(registers.arbitration.limit()), aging});
  for (auto& state : channels_) state->policy = policy_->for_channel();
  observe();
}

void MemoryController::observe() {
  observation_.kernel_runs = !sc_core::sc_is_running() || kernel_active.read();
  policy_->observe(observation_);
  registers.active_limit.set(policy_->active_limit());
}

void MemoryController::stage_changed() {
  if (first_stage.read() && !in_stage_) {
    stage_integral_ = occupancy_integral();
    stage_begin_ = now();
    observation_.first_stage_is_over = false;
  } else if (!first_stage.read() && in_stage_ && now() > stage_begin_) {
    const std::uint64_t cycles = std::max<std::uint64_t>(1, (now() - stage_begin_) / cycle_ * parameters_.channels);
    const double mean = (occupancy_integral() - stage_integral_) / static_cast<double>(cycles);
    registers.observed.set(static_cast<std::uint64_t>(mean * 256));
    last_observed_ = static_cast<double>(registers.observed.value()) / 256;
    observation_.first_stage_occupancy = mean;
    observation_.first_stage_is_over = true;
  }
  in_stage_ = first_stage.read();
  observe();
}

}  // namespace t3vp::memory
