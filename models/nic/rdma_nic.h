// RDMA network interface: takes work entries from send queues in memory, sends them as messages to the NIC of a peer
// over a wire that may lose packets, does in memory what peers ask for, and tells the end of each in completion queues.
// The registers (nic.registers.json) say what software sees; README.md tells the way of a message.
#pragma once

#include <tlm_utils/peq_with_get.h>

#include <deque>
#include <string>
#include <vector>

#include "nic/completion_queues.h"
#include "nic/io_link.h"
#include "nic/queue_pair.h"
#include "nic/region_table.h"
#include "protocol/component.h"
#include "protocol/trace.h"
#include "registers/nic.h"

namespace t3vp::nic {

class Nic : public sc_core::sc_module, public PacketReceiver, public Component {
 public:
  IoLink io;  ///< its socket `memory` goes to the memory that keys and queues are about
  /// Kernels' stores of 4 bytes to doorbells; everything else of theirs is refused.
  DataTargetSocket<Nic> doorbells{"doorbells", this, &Nic::kernel_request};
  /// The DMA engine's stores to doorbells, and its waits for nic.finished[i].
  DataTargetSocket<Nic> engine{"engine", this, &Nic::engine_request};
  sc_core::sc_port<PacketCarrier> wire{"wire"};
  sc_core::sc_out<bool> interrupt{"interrupt"};
  registers::Nic registers{"registers"};

  /// `number` is the NIC's place on the wire, and on the timeline its GPU's. Without `functional`, what segments bring
  /// has no data; inline data, fetch-and-adds, queues and completions are always real.
  Nic(const sc_core::sc_module_name& name, const NicParameters& parameters, bool functional, std::uint16_t number,
      Trace* trace = nullptr);

  void receive(const PacketPointer& packet, Picoseconds sent) override;

  const char* group() const override { return "nic"; }
  void visit_statistics(const StatisticVisitor& visit) const override;
  std::uint64_t resent() const { return figures_.resent; }  ///< packets
  bool has_work() const { return !diagnosis().empty(); }    ///< entries that have not ended
  /// One line for each queue pair with entries that have not ended.
  std::vector<std::string> diagnosis() const override;

 private:
  struct Event {
    enum What : std::uint8_t { doorbell, begin, left, timeout, receiver_wait } what;
    std::uint32_t queue = 0, generation = 0;
    std::uint64_t value = 0;
  };
  struct Figures {
    std::uint64_t doorbells = 0, messages = 0, writes = 0, inline_writes = 0, written = 0, completions = 0, payload = 0,
                  packets = 0, wire_bytes = 0, lost = 0, placed = 0, acknowledgements = 0, resent = 0, dropped = 0,
                  errors = 0;
    Picoseconds sending = 0;
  };

  // nic.cpp: what happens next
  void step();
  void answered(const Purpose& purpose, const tlm::tlm_generic_payload& access);
  Purpose purpose(Purpose::What what, std::uint32_t queue, std::uint64_t number = 0, std::uint32_t offset = 0) const;
  bool is_current(std::uint32_t queue, std::uint32_t generation) const {
    return queue_pairs_[queue].generation == generation;
  }
  void log(Status status, std::uint64_t address, const std::string& text);
  void raise_error();
  void update_interrupt();
  void reset();

  // nic_states.cpp: what software writes, but for doorbells
  void command();
  void register_region();
  void withdraw();
  void change_state(std::size_t queue);
  std::string missing_for(QueuePairState to, std::size_t queue);
  void refuse_outside(QueuePairState last, std::size_t queue);
  std::string user_of_completions(std::size_t queue) const;
  void forget(std::uint32_t queue);
  void enter_error(std::uint32_t queue, const ErrorCause& cause);

  // doorbells.cpp
  struct Mistake {
    Status status = Status::ok;
    std::string text;
  };
  Mistake validate_doorbell(std::uint32_t queue, std::uint32_t posted) const;
  void ring(std::uint32_t queue, std::uint32_t posted);
  void doorbell_written(std::size_t queue);
  void kernel_request(int, tlm::tlm_generic_payload& transaction, Picoseconds delay);
  void take_stores();
  void take_completions(tlm::tlm_generic_payload& store, std::uint32_t queue, std::uint32_t consumed);
  void take_store(tlm::tlm_generic_payload& store, const char* who);
  void serve_store(tlm::tlm_generic_payload& store, const char* who);
  void post_receive(std::size_t queue);
  std::uint32_t posted(std::size_t queue) const;

  // engine_requests.cpp
  unsigned engine_debug(int, tlm::tlm_generic_payload& transaction);
  void engine_request(int, tlm::tlm_generic_payload& transaction, Picoseconds delay);
  void take_engine_requests();
  void take_wait(tlm::tlm_generic_payload& request);
  void answer_wait(const Wait& wait, tlm::tlm_response_status response, Status status);
  void answer_waits(std::uint32_t queue);
  void end_waits(std::uint32_t queue);

  // requester.cpp: from the doorbell to the wire
  void read_record(std::uint32_t queue, std::uint32_t announced);
  void learn(std::uint32_t queue, std::uint32_t posted, std::uint32_t announced);
  void fetch();
  void entry_arrived(const Purpose& purpose, const tlm::tlm_generic_payload& access);
  bool can_begin(const QueuePair& pair) const;
  void make_ready(std::uint32_t queue);
  void begin_messages();
  void begin(std::uint32_t queue);
  void make_packets(std::uint32_t queue);
  void make_packet(std::uint32_t queue, Message& message);
  void load_payload(std::uint32_t queue, const Message& message, Loading& loading, std::uint64_t offset);
  void payload_arrived(const Purpose& purpose, const tlm::tlm_generic_payload& access);
  void send_loaded(std::uint32_t queue);
  void show_sent(const Packet& packet, const PacketCarrier::Departure& departure);
  void put_on_wire(const PacketPointer& packet, std::uint64_t payload);
  void room_made(std::uint64_t bytes);

  // requester_answers.cpp: what becomes of messages
  void answer_received(std::uint32_t queue, const Packet& packet);
  void acknowledge(std::uint32_t queue, std::uint32_t sequence);
  void take_result(std::uint32_t queue, const Packet& packet);
  void scattered(const Purpose& purpose, const tlm::tlm_generic_payload& access);
  void end_messages(std::uint32_t queue, std::uint32_t sequence);
  void fail(std::uint32_t queue, std::uint32_t number, NicSyndrome syndrome, std::uint64_t address,
            const std::string& text, Status reason = Status::ok);
  void refused(std::uint32_t queue, const Packet& packet);
  void finish(std::uint32_t queue);
  void count(const Message& message);
  void complete(std::uint32_t queue, const Message& message, std::uint32_t number);
  void add_completion(std::uint32_t queue, const t3_nic_completion& completion);
  void progress(QueuePair& pair);
  void resend(std::uint32_t queue, const char* reason);
  void send_again(QueuePair& pair);
  void start_timer(std::uint32_t queue);
  void timer_ended(std::uint32_t queue);
  void receiver_not_ready(std::uint32_t queue, std::uint32_t sequence);

  // responder.cpp: what peers ask for
  void request_received(std::uint32_t queue, const Packet& packet);
  void serve(std::uint32_t queue, const Packet& packet);
  void serve_write(std::uint32_t queue, const Packet& packet);
  void serve_accumulate(std::uint32_t queue, const Packet& packet);
  Duty& owe_write(std::uint32_t queue, const Packet& packet);
  void serve_read(std::uint32_t queue, const Packet& packet);
  void serve_add(std::uint32_t queue, const Packet& packet);
  void serve_again(std::uint32_t queue, const Packet& packet);
  bool refuse_unless(std::uint32_t queue, const Packet& packet, Use use, std::uint64_t bytes);
  Duty& owe(std::uint32_t queue, const Packet& packet, Packet::Kind kind);
  std::uint64_t last_duty(std::uint32_t queue) const;
  void refuse(std::uint32_t queue, const Packet& packet, NicSyndrome syndrome, const std::string& text);
  void placed(const Purpose& purpose, const tlm::tlm_generic_payload& access);
  void pay(std::uint32_t queue);
  void show_stored(const Duty& duty);
  void drop(std::uint32_t queue, const Packet& packet);

  NicParameters parameters_;
  bool functional_;
  std::uint16_t number_;
  RegionTable regions_;
  CompletionQueues completions_;
  std::vector<QueuePair> queue_pairs_;
  EventQueue<Event> events_;
  std::deque<std::uint32_t> to_fetch_;       ///< queue pairs with entries to fetch, in turns
  std::uint32_t fetching_ = 0;               ///< entries that are being read
  std::deque<std::uint32_t> ready_;          ///< queue pairs with an entry to begin, in turns
  Picoseconds next_begin_ = 0;               ///< when the next message may begin
  bool begin_is_due_ = false;                ///< an event will come then
  std::deque<std::uint32_t> wait_for_room_;  ///< queue pairs whose next packet has no room yet
  std::uint64_t payload_in_flight_ = 0;
  Picoseconds reset_at_ = 0;
  Figures figures_;
  Trace* trace_;
  Trace::Track sends_ = 0, stores_of_peers_ = 0;
  tlm_utils::peq_with_get<tlm::tlm_generic_payload> stores_{"stores"};  ///< of kernels
  EventQueue<tlm::tlm_generic_payload*> engine_requests_;
};

}  // namespace t3vp::nic
