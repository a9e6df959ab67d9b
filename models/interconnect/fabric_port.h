// A GPU's access to the links: sends what addresses other GPUs to the link of the route, hands what arrives for this
// GPU to its memory or signals, and passes on what is for others.
//
// Loads and fetch-and-adds of other GPUs' memory (fabric_reads.cpp) leave as requests. The owner's port has its memory
// serve a request, keeps its place in the receive buffer until the answer has left, and sends that back. The port of
// the GPU that has asked takes answers at once, as it has the place for their data.
//
// An endpoint engine, where there is one, sends by the port too, and takes what addresses its messages.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "interconnect/pending_packets.h"
#include "interconnect/route.h"
#include "protocol/component.h"
#include "protocol/data_sockets.h"
#include "protocol/ring_signal.h"
#include "protocol/transaction_pool.h"
#include "registers/links.h"

namespace t3vp::interconnect {

class FabricPort : public sc_core::sc_module, public Component, public OrderTeller {
 public:
  DataTargetSocket<FabricPort> compute{"compute", this, &FabricPort::request, from_compute};
  DataTargetSocket<FabricPort> dma{"dma", this, &FabricPort::request, from_dma};
  tlm_utils::simple_target_socket<FabricPort, 64> control{"control"};             ///< firmware's writes to peers
  DataInitiatorSocket<FabricPort> memory{"memory", this, &FabricPort::response};  ///< of this GPU
  DataInitiatorSocket<FabricPort> signals{"signals", this, &FabricPort::response};
  std::unique_ptr<DataTargetSocket<FabricPort>> from_endpoint;  ///< null, as the next one, unless they are made
  std::unique_ptr<DataInitiatorSocket<FabricPort>> to_endpoint;
  std::vector<std::unique_ptr<DataInitiatorSocket<FabricPort>>> egress;
  std::vector<std::unique_ptr<DataTargetSocket<FabricPort>>> ingress;
  registers::Links registers{"registers"};

  /// `neighbours[i]` is the GPU or switch behind port i.
  FabricPort(const sc_core::sc_module_name& name, std::uint16_t gpu, std::uint32_t header_bytes,
             const std::vector<std::uint32_t>& neighbours, Route route, std::uint32_t receivers);
  ~FabricPort() override;

  /// Makes the sockets of an endpoint engine, once, before the simulation starts.
  void make_endpoint_sockets();
  /// Returns the stores to other GPUs that are not acknowledged, the loads without a response, and the signals that
  /// wait for data; empty when there are none.
  std::vector<std::string> diagnosis() const override;
  const char* group() const override { return "fabric"; }
  /// Bytes of a wavefront tile that this GPU has sent to the GPU of an address without an answer so far.
  std::uint64_t unacknowledged_bytes(std::uint32_t wg_id, std::uint8_t wf_id, std::uint64_t to) const;

 private:
  enum Source : int { from_compute, from_dma, from_control, from_engine, own_answers, first_ingress };

  void request(int source, tlm::tlm_generic_payload& transaction, Picoseconds delay);
  void taken(int, tlm::tlm_generic_payload& transaction, Picoseconds delay);
  void response(int, tlm::tlm_generic_payload& transaction, Picoseconds delay);
  void control_write(tlm::tlm_generic_payload& transaction, sc_core::sc_time& delay);
  void posted_write_ended(Transaction& packet);
  unsigned debug(int source, tlm::tlm_generic_payload& transaction);
  void answer(int source, tlm::tlm_generic_payload& transaction, Picoseconds delay);
  void forward(tlm::tlm_generic_payload& transaction, int source, const Hop& hop, Picoseconds delay);
  bool is_here(const tlm::tlm_generic_payload& transaction) const;
  void deliver(tlm::tlm_generic_payload& transaction, int source, Picoseconds delay);
  void hand_over(const Pending& arrival);
  bool passed_on(const tlm::tlm_generic_payload& transaction, Picoseconds time);
  void release_signals();
  void note_refusal(tlm::tlm_generic_payload& transaction);
  void mark_if_refused(DataExtension& signal);
  void begin_generation();

  bool is_own_request(tlm::tlm_generic_payload& transaction, int source) const;
  void ask(tlm::tlm_generic_payload& read, int source, const Hop& hop, Picoseconds delay);
  void asked(Transaction& request, Picoseconds delay);
  void end_read(tlm::tlm_generic_payload& read, Picoseconds delay);
  void serve(tlm::tlm_generic_payload& request, int source, Picoseconds delay);
  void served(Transaction& read, tlm::tlm_generic_payload& request, int source, Picoseconds delay);
  void send_answer(tlm::tlm_generic_payload& request, int source, Picoseconds delay);
  void answer_left(Transaction& answer, tlm::tlm_generic_payload*& request, Picoseconds delay);
  void take_answer(tlm::tlm_generic_payload& answer, int source, Picoseconds delay);
  void tell_reads(std::vector<std::string>& lines) const;

  std::uint16_t gpu_;
  Route route_;
  TransactionPool pool_;
  PendingPackets pending_;
  std::vector<Pending> arriving_;            ///< of them those from links which memory and signals here have not taken
  std::map<int, Picoseconds> passed_until_;  ///< of each source: when the last of its data is with the memory
  std::vector<Pending> reads_;               ///< of this GPU at others that are not answered
  /// Signals that arrived after data which the memory has not taken yet. They must not overtake it: whoever sees the
  /// signal may read the data. They do not wait for what passes through to other GPUs: links would wait for links in an
  /// order of which no route knows.
  struct HeldSignal {
    Pending signal;
    std::vector<const tlm::tlm_generic_payload*> before;
    Picoseconds ready;
  };
  std::vector<HeldSignal> held_;
  /// The first store of a peer's running ring kernel that was refused here: its signals say so from then on.
  struct RefusedStore {
    std::shared_ptr<const RingSignal> kernel;
    Status status;
  };
  std::vector<RefusedStore> refused_;
  std::vector<std::uint64_t> sent_, received_;
  std::uint64_t resets_ = 0;
  Picoseconds generation_since_ = 0;       ///< what was made before is of an earlier generation
  std::shared_ptr<const RingSignal> own_;  ///< what firmware's signals say of their sender
};

}  // namespace t3vp::interconnect
