// The workgroups of a running kernel: each wave's program is stepped on a fiber of its own, and what it asks for (the
// device API, abi/include/t3/device.h) is done here, on the cluster's stack.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "compute/fiber.h"
#include "compute/kernel_host.h"
#include "compute/lent_tiles.h"
#include "compute/local_memory.h"
#include "compute/ring_agreement.h"
#include "compute/tile_file.h"

namespace t3vp::compute {

/// The machine as programs see it.
t3_device device_of(const ComputeParameters& parameters);

inline constexpr const char* stray_call = "it calls the device for another wave, from its work, or for nothing";
inline constexpr const char* changed_given =
    "it has changed its arguments or the struct t3_device, which all of its workgroups read: the same expected";

/// What an access touches in memory.
struct AccessedBytes {
  std::uint64_t address, stride;
  std::uint32_t rows;
  std::uint64_t row_bytes;

  std::uint64_t end() const { return address + (rows - 1) * stride + row_bytes; }
};

/// What is zero in front of what a kernel is lent: free() takes it for the size of the piece, which none has, and ends
/// who hands that over.
struct NoHeap {
  std::uint64_t sizes[2] = {};
};

/// What a kernel is told.
class KernelArguments {
 public:
  /// So many units of alignment, all zero.
  explicit KernelArguments(std::size_t units) : all_(units + 1) {
    static_assert(sizeof(NoHeap) <= sizeof(std::max_align_t));
    std::memset(static_cast<void*>(all_.data()), 0, all_.size() * sizeof all_.front());  // with its padding
  }
  void* data() { return all_.data() + 1; }
  const void* data() const { return all_.data() + 1; }

 private:
  std::vector<std::max_align_t> all_;  ///< the first stays zero, as NoHeap is
};

class KernelRun {
 public:
  /// Arguments, plan and agreement have been checked. `name`: on the timeline.
  KernelRun(KernelHost& host, FiberStacks& stacks, LentTiles& lent_tiles, const t3_kernel& kernel,
            KernelArguments arguments, const t3_plan& plan, std::string name, RingAgreement agreement);
  KernelRun(const KernelRun&) = delete;
  KernelRun& operator=(const KernelRun&) = delete;
  ~KernelRun();

  const char* name() const { return kernel_.name; }
  const t3_plan& plan() const { return plan_; }
  std::uint32_t workgroups() const { return plan_.workgroups; }
  std::uint32_t workgroups_per_cu() const { return plan_.workgroups_per_cu; }
  /// True for the producer of a collective: its first stage is observed by the memory controller (T3 4.5).
  bool is_producer() const { return kernel_.is_producer; }
  /// The `index`th workgroup in the order of the kernel starts in a free slot.
  void start(Slot slot, std::uint32_t index);
  /// Memory's answer has reached the compute unit. The cluster releases the transaction afterwards.
  void answered(Slot slot, Transaction& transaction);
  /// The wave's work is done.
  void elapsed(Slot slot, std::uint32_t wave);
  /// The wave reads again what it polls.
  void poll_again(Slot slot, std::uint32_t wave);
  /// Waves that have read something else than what they await.
  std::uint32_t polling() const;
  /// What the first of them awaits, in words; empty when there is none.
  std::string awaited() const;

 private:
  struct Wave : NoHeap, t3_wave {
    t3_wave given{};  ///< the same, as the program has got it
    KernelRun* run = nullptr;
    Fiber fiber;
    Slot slot = 0;
    t3_call asked{};                      ///< a copy of the latest call, which the program may overwrite meanwhile
    const t3_call* waiting = nullptr;     ///< the call that has not returned
    bool in_flight = false;               ///< it only ends when somebody says so: work, a signal, a meeting
    std::uint32_t loads = 0, stores = 0;  ///< that have not come back; stores and updates that have not been taken
    Picoseconds port_until = 0;           ///< when the most recent store has passed the port
    std::vector<std::uint32_t> stored;    ///< numbers of the accesses that are stores and updates under way
    Picoseconds polled_at = 0;            ///< when the latest read of a poll was sent
    std::uint64_t polls = 0, seen = 0;    ///< reads of the poll that it waits in, in vain; what the latest has brought
    std::string shown;                    ///< what the program calls its present part; empty: by the plan's name
    Picoseconds shown_since = 0;
    std::uint32_t shown_tile = T3_NO_TILE;
  };
  struct Workgroup {
    std::uint32_t running = 0, met = 0;  ///< waves
    Picoseconds begin = 0;
    bool shows_parts = false;  ///< its waves have spans of their own
  };
  /// What a wave has under way in memory; its number travels in the transaction's token.
  struct Access {
    Wave* wave;  ///< null: nothing is under way
    t3_call_kind kind;
    t3_tile tile;
    t3_access part;  ///< of memory and of the tile, where there is one
    AccessedBytes bytes;
  };

  static void enter(void* wave);
  static void call(t3_wave* wave, const t3_call* call);
  static bool has_jumped();
  [[noreturn]] static void come_back();
  void go_on(Wave& wave);
  void run_ready();
  KernelCode code_of(const Wave& wave) const;
  void step(Wave& wave);
  void ended(Wave& wave);
  void show(Wave& wave, const t3_span& part);
  void note(const Wave& wave, const t3_mark& instant);
  void end_part(const Wave& wave);

  bool serve(Wave& wave);
  bool begin(Wave& wave);
  bool meet(Wave& wave);
  double cycles_of(const t3_call& work) const;
  bool occupy(Wave& wave, const t3_call& work);
  void finish(Wave& wave, const t3_call& work);
  void compute(Wave& wave, const t3_vector_work& work);
  std::string validate_computed(const Wave& wave, const t3_vector_work& work, bool returned) const;
  void add(Wave& wave, const t3_tile& sum, const t3_tile& addend);

  Transaction& transfer(Wave& wave, Operation operation);
  Picoseconds behind_stores(const Wave& wave, std::uint64_t address) const;
  void load(Wave& wave);
  void store(Wave& wave, Operation operation);
  void fetch_add(Wave& wave);
  void tell_old(const Wave& wave, const Transaction& transaction);
  Transaction& real_bytes(Operation operation, std::uint64_t address, std::uint32_t bytes, bool cached);
  void read(Wave& wave);
  void tell_read(const Wave& wave, const Transaction& transaction);
  void write(Wave& wave);
  std::string told_failure(const Wave& wave);
  void begin_poll(Wave& wave);
  void poll(Wave& wave);
  bool ends_poll(Wave& wave, const Transaction& transaction);
  static bool is_polling(const Wave& wave);
  Picoseconds pass_port(Wave& wave, std::uint64_t bytes) const;
  void signal(Wave& wave);
  void await(Wave& wave);
  void issue(Wave& wave, Transaction& transaction, Picoseconds delay);

  std::string mistake(const Wave& wave, const t3_call& call) const;
  std::string validate_step(const Wave& wave) const;
  std::string validate_load(const Wave& wave, const t3_call& call) const;
  std::string validate_signal(const t3_counter& counter) const;
  bool may_pass(const t3_call& call, const AccessedBytes& bytes, const AccessedBytes& stored) const;
  std::string validate_order(const Wave& wave, const t3_call& call) const;
  bool has_changed_given() const;
  void fail(const Wave& wave, const std::string& what);

  std::size_t index_of(const Wave& wave) const { return static_cast<std::size_t>(&wave - waves_.data()); }
  bool is_here(const Wave& wave, const t3_tile& tile) const { return tiles_.is_here(index_of(wave), tile); }
  TileContents& contents(const Wave& wave, const t3_tile& tile) { return tiles_.contents(index_of(wave), tile); }

  KernelHost& host_;
  FiberStacks& stacks_;
  LentTiles& lent_tiles_;
  const t3_kernel& kernel_;
  t3_device device_;
  KernelArguments arguments_;
  const t3_device known_device_;           ///< the same, as programs have got it
  const KernelArguments known_arguments_;  ///< likewise
  t3_plan plan_;
  std::string name_;
  TrafficClass reads_, writes_;
  std::vector<Wave> waves_;            ///< by slot, then by number
  std::vector<Workgroup> workgroups_;  ///< by slot
  TileFile tiles_;
  LocalMemory local_;
  RingAgreement agreement_;
  std::vector<Access> accesses_;
  std::vector<std::uint32_t> free_accesses_;
  std::vector<Wave*> ready_;     ///< to be stepped, in this order
  std::vector<Wave*> stepping_;  ///< those before them
  bool running_ready_ = false;
  bool failed_ = false;
  Multiplier multiplier_;

  // One program runs at a time, on all GPUs.
  static inline Wave* stepped = nullptr;    ///< whose it is
  static inline Wave* computing = nullptr;  ///< it is what this wave's work computes
  static inline bool strayed = false;       ///< it has made a call that is not its own
  static inline bool jumped = false;        ///< it has gone on where another program has been called
  static inline void* way_back[5] = {};     ///< from what a wave's work computes
  static inline bool left_floats = false;   ///< it has come back with another floating-point environment, which is gone
};

}  // namespace t3vp::compute
