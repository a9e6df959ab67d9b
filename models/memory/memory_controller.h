// Memory controller of a GPU: two streams per channel and an arbitration policy in front of the DRAM scheduler, the
// near-memory updates at acceptance and the Tracker (T3 4.2 to 4.5).
//
// A request's data take effect when it reaches the controller, in the order of arrival; its column accesses then wait
// in the stream queues of their channels, and the Tracker counts each run of them as it enters the DRAM queue. A load
// is answered when its last data leaves the DRAM, a store or update when its last access has entered the DRAM queue. A
// fetch-and-add is an update of an integer by the near-memory units that is answered as a load is. Without such units
// the cache has added an update before it comes: the Tracker counts it, and nothing else happens.
//
// The controller looks ahead: it simulates slices of lookahead() at once, so a request must be sent at least that long
// before it arrives. The path latency of every initiator of the GPU is that long; one that arrives earlier is
// taken with the next slice (docs/models/timing.md).
#pragma once

#include <array>
#include <memory>
#include <unordered_map>
#include <vector>

#include "dram/channel.h"
#include "memory/arbitration.h"
#include "memory/arrivals.h"
#include "memory/backing_store.h"
#include "memory/controller_parameters.h"
#include "memory/dataless_sectors.h"
#include "memory/following_operations.h"
#include "memory/interleave.h"
#include "memory/memory_faults.h"
#include "memory/stream_queues.h"
#include "memory/tracker.h"
#include "memory/valid_bits.h"
#include "protocol/component.h"
#include "protocol/data_sockets.h"
#include "protocol/event_queue.h"
#include "protocol/recent_values.h"
#include "protocol/refusal.h"
#include "protocol/trace.h"
#include "registers/memory_controller.h"
#include "registers/near_memory.h"

namespace t3vp::memory {

class MemoryController : public sc_core::sc_module, public Component {
 public:
  /// The sources of requests: fills and write-backs of the cache, accesses that bypass it, peers, DMA engine, Tracker
  /// spills, NIC, near-memory unit, endpoint engine.
  enum Port : std::uint8_t {
    from_cache,
    from_bypass,
    from_peers,
    from_dma,
    from_tracker,
    from_nic,
    from_unit,
    from_endpoint,
    port_count
  };

  std::array<std::unique_ptr<DataTargetSocket<MemoryController>>, port_count> ports;
  tlm_utils::simple_target_socket<MemoryController, 64> plain{"plain"};  ///< firmware and loaders: plain memory
  sc_core::sc_in<bool> kernel_active{"kernel_active"};                   ///< a producer kernel runs
  sc_core::sc_in<bool> first_stage{"first_stage"};                       ///< and is in its first stage
  /// The other users of memory that is to be zeroed.
  sc_core::sc_port<MemoryUser, 0, sc_core::SC_ZERO_OR_MORE_BOUND> users{"users"};
  registers::MemoryController registers{"registers"};
  registers::NearMemory near_memory{"near_memory"};
  Tracker tracker;

  MemoryController(const sc_core::sc_module_name& name, const MemoryParameters& parameters,
                   const TrackerParameters& tracker_parameters, bool functional, std::uint16_t gpu, Trace* trace);
  ~MemoryController() override;

  /// Makes the port of a near-memory unit with these registers, once, before the simulation starts. The unit is reset
  /// with them and outlives the controller's use.
  DataTargetSocket<MemoryController>& port_for(FollowingOperations& unit);
  /// Makes the port of an endpoint engine, once, before the simulation starts.
  DataTargetSocket<MemoryController>& port_for_endpoint();
  Picoseconds lookahead() const { return slice_; }
  /// Bytes moved by the DRAM for each class, whole column accesses.
  const std::array<std::uint64_t, traffic_classes_most>& dram_bytes() const { return dram_bytes_; }
  std::uint64_t dram_accesses() const;
  /// Accesses that have changed the memory, or might have.
  std::uint64_t writes() const { return written_; }
  /// Bytes that have entered the DRAM queues and are yet to be moved.
  std::uint64_t queued_bytes() const { return traffic().queued; }
  /// Traffic before the events of a time.
  struct Traffic {
    std::array<std::uint64_t, traffic_classes_most> entered{};  ///< the DRAM queues: as dram_bytes()
    std::uint64_t queued = 0;                                   ///< of that, bytes that are yet to be moved
  };
  /// The time is since_when_asked() or later (recent_values.h).
  Traffic traffic_before(Picoseconds time) const;
  /// A text that names the current user of some of these bytes. It is empty when there is none.
  std::string use_of(const OutputRange& range) const;
  const char* group() const override { return "dram"; }
  void visit_statistics(const StatisticVisitor& visit) const override;
  void visit_details(const StatisticVisitor& visit) const override;
  /// The effects of injected faults; null when there are none.
  const FaultyAccess* faults() const { return faults_.get(); }

  /// Injects these faults from now on. What they count, they count from now on.
  void inject(const MemoryFaults& faults);
  /// Takes the arbitration's parameters, and the policy `to` where `from` is in force. Other registers of the driver's
  /// stay.
  void change_arbitration(const MemoryParameters& parameters, const PolicyChoice& from, const PolicyChoice& to);

 private:
  struct Request {
    tlm::tlm_generic_payload* transaction = nullptr;
    Port port = from_cache;
    std::uint32_t remaining = 0;  ///< column accesses without data (load) or outside the DRAM queue (store)
    dram::Cycle finished = 0;
    bool is_fetch_add = false;
    std::uint64_t updates = 1;  ///< that a switch has merged into it
    Tracker::Counted counted;
    Picoseconds arrival = 0;
    Cause cause;          ///< of its arrival
    dram::Waits waits{};  ///< of all channels until then
  };
  struct Arrival {
    tlm::tlm_generic_payload* transaction;
    Origin origin;
    Port port;
    Cause cause;
  };
  struct ChannelState {
    explicit ChannelState(const dram::MemorySpec& spec) : channel(spec) {}
    StreamQueues streams;
    dram::Channel channel;
    std::unique_ptr<ChannelPolicy> policy;
    dram::Cycle waiting_since = 0;
    bool communication_waits = false;
    std::uint64_t communication = 0, aged = 0;  ///< accesses granted to that stream; of those, by aging
  };

  /// Returns whether the port is one of this GPU's own blocks, and not for peers.
  static bool is_local(Port port) { return port != from_peers && port != from_nic; }
  void make_port(Port port);
  void request(int port, tlm::tlm_generic_payload& transaction, Picoseconds delay);
  unsigned debug(int port, tlm::tlm_generic_payload& transaction);
  void plain_transport(tlm::tlm_generic_payload& transaction, sc_core::sc_time& delay);
  unsigned plain_debug(tlm::tlm_generic_payload& transaction);
  bool direct_memory(tlm::tlm_generic_payload& transaction, tlm::tlm_dmi& dmi);

  Traffic traffic() const;
  void slice();
  void schedule();
  void accept(const Arrival& arrival, Picoseconds time);
  bool refuse(const Arrival& arrival, const DataExtension& extension, Picoseconds time);
  bool in_memory(std::uint64_t local, const Shape& shape) const;
  Refusal validate_kind(const tlm::tlm_generic_payload& transaction, const DataExtension& extension);
  Refusal validate_fetch_add(const tlm::tlm_generic_payload& transaction, const DataExtension& extension);
  void fetch_and_add(tlm::tlm_generic_payload& transaction, const DataExtension& extension);
  Refusal validate_update(Port port) const;
  void count_alone(const Arrival& arrival, const DataExtension& extension, Picoseconds time);
  void take_effect(tlm::tlm_generic_payload& transaction, const DataExtension& extension, bool local, Picoseconds time);
  Tracker::Counted tracked(const Arrival& arrival);
  void enqueue(std::uint32_t request, const DataExtension& extension, Picoseconds time);
  dram::Fed feed(ChannelState& state, dram::Cycle cycle, unsigned occupancy, dram::Access& access, dram::Cycle& retry);
  void finish_accesses(std::uint32_t request, dram::Cycle cycle, std::uint32_t accesses);
  void note_waits();
  void note_latency(const Request& request, Picoseconds time);
  void note_flag(tlm::tlm_generic_payload& transaction);
  Cause cause_of(const Request& request, Picoseconds time) const;
  void respond();
  void trace_traffic(Picoseconds end);
  void trace_arrival(const DataExtension& extension, Picoseconds time);
  bool busy() const;
  void note_plain_write(std::uint64_t address, std::uint64_t bytes);
  void near_memory_command();
  void arm();
  void disarm();
  void refuse_command(Status status, std::uint64_t address, const std::string& text);
  void find_zeros(std::uint64_t address, std::uint64_t bytes);
  std::uint64_t uniform(std::uint64_t at, std::uint64_t part, std::uint64_t begin, std::uint64_t end,
                        bool& first) const;
  void check_policy();
  PolicyDescription::Number policy_number() const {
    return static_cast<PolicyDescription::Number>(registers.arbitration.policy());
  }
  const PolicyDescription& policy() const { return *parameters_.policies.numbered(policy_number()); }
  void choose_policy();
  void observe();
  void stage_changed();
  double occupancy_integral() const;
  void visit_channel(const StatisticVisitor& visit, const std::string& name, const dram::Channel& channel) const;

  MemoryParameters parameters_;
  std::uint16_t gpu_;
  Trace* trace_;
  Trace::Track track_ = 0;
  Interleave interleave_;
  BackingStore store_;
  ValidBits valid_bits_;
  std::unique_ptr<DatalessSectors> dataless_;  ///< null in functional runs
  std::uint64_t written_ = 0;
  std::uint64_t most_valid_bits_ = 0;     ///< bytes of storage that any range has taken
  std::uint64_t first_updates_ = 0;       ///< column accesses of updates that need not read
  FollowingOperations* unit_ = nullptr;   ///< null where there is none
  std::unique_ptr<FaultyAccess> faults_;  ///< null unless injected
  Picoseconds cycle_, slice_, simulated_until_ = 0;
  Arrivals<Arrival> arrivals_;
  TimeOrdered<std::uint32_t> finished_;
  std::vector<Request> requests_;
  std::vector<std::uint32_t> free_requests_;
  std::vector<std::unique_ptr<ChannelState>> channels_;
  std::unique_ptr<ArbitrationPolicy> policy_;
  Observation observation_;
  double stage_integral_ = 0;
  double last_observed_ = 0;  ///< occupancy in the last kernel's first stage, in DRAM queue entries; of the whole run
  Picoseconds stage_begin_ = 0;
  bool in_stage_ = false;
  std::array<std::uint64_t, traffic_classes_most> dram_bytes_{}, traced_bytes_{};
  std::array<bool, traffic_classes_most> flowing_{};  ///< by the counter's last value
  /// The causes of flags: of what kernels, NICs and peers have written last to 8 bytes that programs poll.
  std::unordered_map<std::uint64_t, Cause> flags_;
  struct Latency {
    std::uint64_t requests = 0;
    Picoseconds spent = 0, queued = 0;  ///< from arrival to response; without the DRAM's own latency
  };
  std::array<Latency, 2> latencies_{};  ///< by stream
  dram::Waits waits_{};                 ///< of all channels, at the end of the latest slice
  Picoseconds read_time_ = 0;           ///< of a column access, from its command to its last data
  Picoseconds traced_from_ = never;
  std::array<std::uint64_t, 3> updated_elements_{};
  Picoseconds generation_since_ = 0;  ///< the reset that was the last one; what was made before is lost
  RecentValues<Traffic> recent_traffic_;
  Activity next_slice_{[this] { slice(); }};
};

}  // namespace t3vp::memory
