// Counters by which GPUs signal each other. Peers add to them over the links, workgroups and firmware wait for them. A
// ring kernel's signal says in its header what its kernel is; a wait for it that expects another one, or finds that its
// counter counts something else as well, is refused. So is what a GPU sends that has been reset in between.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "protocol/component.h"
#include "protocol/data_sockets.h"
#include "protocol/event_queue.h"
#include "protocol/ring_signal.h"
#include "protocol/signal_counters.h"
#include "registers/signals.h"

namespace t3vp::interconnect {

class Signals : public sc_core::sc_module,
                public Component,
                public MemoryUser,
                public SignalCounters,
                public OrderTeller {
 public:
  /// Waits of workgroups, and stores to add[i] when a packet has ended.
  DataTargetSocket<Signals> compute{"compute", this, &Signals::compute_request};
  DataTargetSocket<Signals> peers{"peers", this, &Signals::peer_store};  ///< stores of peers to add[i]
  sc_core::sc_out<bool> interrupt{"interrupt"};
  sc_core::sc_in<std::uint32_t> withdraw{"withdraw"};  ///< a bit for each queue whose workgroups do not wait now
  registers::Signals registers{"registers"};

  Signals(const sc_core::sc_module_name& name, std::uint16_t gpu);
  ~Signals() override;

  /// One line for each workgroup's wait that is not fulfilled.
  std::vector<std::string> diagnosis() const override;
  /// One line for each counter with signals of ring kernels that no kernel has awaited.
  std::vector<std::string> untaken() const;
  /// The use of a range by neighbours' ring kernels that have stored there and whose signals no kernel has awaited.
  std::string use_of(const OutputRange& range) const override;
  /// The DMA engine has completed a chunk.
  void count(std::uint32_t counter, OrderPoint point) override;
  const char* group() const override { return "signals"; }

 private:
  struct Wait {
    std::size_t index;
    tlm::tlm_generic_payload* transaction;
    Picoseconds arrival;
  };
  void compute_request(int, tlm::tlm_generic_payload& transaction, Picoseconds delay);
  void peer_store(int, tlm::tlm_generic_payload& transaction, Picoseconds delay);
  void deliver(tlm::tlm_generic_payload& transaction, const char* who);
  void count_store(tlm::tlm_generic_payload& transaction);
  void tell(tlm::tlm_generic_payload& transaction, const char* who) const;
  void add(std::size_t index, std::uint64_t value);
  void changed(std::size_t index);
  void answer_waits(std::size_t index);
  void withdraw_waits() { give_up_waits(withdraw.read()); }
  void give_up_waits(std::uint32_t queues);
  /// A ring kernel's signal that no wait has taken yet, and the counter's value with it; 0: something else has changed
  /// the counter since.
  struct Announced {
    std::size_t index;
    std::uint64_t value;
    std::shared_ptr<const RingSignal> signal;
    OrderPoint order;
  };
  bool is_fulfilled(const Wait& wait) const;
  Announced take_signal(std::size_t index);
  void note_program(std::size_t index);
  void note_order(std::size_t index, OrderPoint point);
  void answer(const Wait& wait);
  struct Refusal {
    Status status = Status::ok;
    std::string why;
    bool is_out_of_step = false;
  };
  Refusal judge_lives(const RingSignal& found) const;
  Refusal judge(const Announced& taken, std::uint64_t threshold, const RingSignal& expected) const;
  bool is_of_its_first_life(const RingSignal& signal) const;
  bool note_sender(const RingSignal& signal, std::uint64_t address);
  void note_other_change(std::size_t index);
  void take_peer_stores();
  void take_own_stores();

  std::uint16_t gpu_;
  std::vector<Wait> waits_;
  std::vector<Announced> announced_;
  std::vector<OrderPoint> points_;  ///< what each counter's value shows
  /// A GPU that has signalled here since this one's reset, and which generation it had then: how often it had been
  /// reset.
  struct Sender {
    std::uint16_t gpu;
    std::uint64_t generation;
    bool is_told;
  };
  std::vector<Sender> senders_;
  Picoseconds reset_at_ = 0;  ///< this GPU
  EventQueue<tlm::tlm_generic_payload*> arrivals_{[this] { take_peer_stores(); }};
  EventQueue<tlm::tlm_generic_payload*> own_stores_{[this] { take_own_stores(); }};  ///< of the compute units
};

}  // namespace t3vp::interconnect
