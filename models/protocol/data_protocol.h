// The protocol of the data path: pooled generic payloads with a mandatory extension, in two phases. This is the
// contract. docs/models/protocol.md explains it with its reasons; protocol_checker.h checks it.
//
//   initiator -> target   nb_transport_fw(BEGIN_REQ, delay)   the request reaches the target after `delay`
//   target -> initiator   nb_transport_bw(END_REQ, delay)     a store or update is taken: it needs its sender's place
//                                                             no longer, its response comes later. May be left out
//   target -> initiator   nb_transport_bw(BEGIN_RESP, delay)  the response reaches the initiator after `delay`
//
// Return values of the calls. A request returns TLM_ACCEPTED when notice and response come by nb_transport_bw later. It
// returns TLM_UPDATED and END_REQ when it is taken `delay` from now. It returns TLM_COMPLETED when the response comes
// `delay` from now; no nb_transport_bw follows. END_REQ returns TLM_ACCEPTED, and a response returns TLM_COMPLETED.
// DataInitiatorSocket and DataTargetSocket keep all this for their blocks: one handler gets every response and one
// every notice, however it came.
//
// Taken. A posted request (a store to a peer, until a link has sent it) is taken once, before its response; the
// response gives the outcome at the destination. A request without a notice is taken by its response. A block that
// passes a request on passes both on; one that takes requests itself sends them on under its own name
// (TransactionPool::relay).
//
// Re-entrancy. While a request call runs, its target calls no nb_transport_bw on that socket. An initiator's response
// handler may run within its send(), after the request call has returned, and may send: a block's state is in order
// whenever it calls send() or respond().
//
// Time. A response arrives no earlier than its request. Delays are at most longest_delay. They may be long: a target
// that looks ahead (the memory controller) relies on them, and makes the effects of what arrives within its next slice
// visible to debug, plain and DMI accesses up to one slice (71 ns) early.
//
// Response. The response to a load comes when its data is there. That to a store or update comes when the memory or
// counter that it addresses, on any GPU, has accepted it for good. An endpoint engine takes a message at once, and
// responds when the message's place there is free again. The response to a wait comes when its signal has reached the
// threshold, or with GENERIC_ERROR when its kernel is aborted. The status is INCOMPLETE in the request, and set by the
// target alone.
//
// Reads of other GPUs. A load or fetch-and-add of another GPU's memory travels as two messages between the fabric ports
// of both: a request, and a response when the memory has served it. Both are posted, as stores are. The field `asked`
// of both names the access. The owner's memory writes the data to that access's data pointer, which is valid until its
// response. A block that refuses a request responds with the error, which reaches the initiator as that of a store
// does.
//
// Fetch-and-add. A read of 4 or 8 aligned bytes that carries data in every run: memory adds `addend` to the integer
// there, as it accepts the request, and the data are what was there before.
//
// Changes between request and response. Blocks on the route may change the address, the operation (a mapped store
// becomes an update), the stream, `cached`, the lane and the lead, the traffic class (a mapped store's is its map's)
// and the producer. The target may change the status, a read's data and a wait's order. No block may change command,
// length, data pointer, shape, element type, threshold, addend, `real`, token and queue.
//
// Resets. A request is lost when its GPU or the addressed GPU is reset before a memory or counter has taken it. The
// response is then COMMAND_ERROR, with peer_failed as its refusal.
//
// Lifetime. The payload has a memory manager and is acquired by its sender. A block that keeps it beyond a call
// acquires it, and the response releases it. The data pointer is valid from the request call to the response (call or
// TLM_COMPLETED) and must not be used afterwards. A null data pointer means timing only, where the target is not
// functional.
//
// Refusals. A malformed request (request_check.h) gets a response with an error status at the time of its arrival, and
// the target's socket reports it to the error log. A request that no block serves gets ADDRESS_ERROR.
//
// b_transport serves foreign initiators on every target, any number at a time, also without a memory manager.
//
// The traits type differs from the base protocol's on purpose. It prevents a binding to a plain memory, which cannot
// accumulate.
#pragma once

#include <cstdint>
#include <memory>
#include <tlm>

#include "protocol/access.h"
#include "protocol/cause.h"
#include "protocol/order_observer.h"
#include "protocol/picoseconds.h"
#include "registers/status.h"

namespace t3vp {

struct RingSignal;

/// A packet's lane on a link: the virtual channel that its route names, and the input of its arrival. Packets of one
/// lane do not overtake each other.
struct Lane {
  std::uint8_t channel = 0;
  std::uint16_t input = 0;  ///< 0: made here; else 1 + the number of the link that it has come by
};

inline bool operator==(const Lane& a, const Lane& b) { return a.channel == b.channel && a.input == b.input; }

inline bool operator<(const Lane& a, const Lane& b) {
  return a.channel != b.channel ? a.channel < b.channel : a.input < b.input;
}

/// Fields that links and fabric ports write on a packet for the next one. Only diagnoses and checks read them
/// otherwise.
struct FabricMarks {
  Lane lane;                 ///< on the next link, set by whose link it is
  Picoseconds lead = 0;      ///< set by a link: how long before the last one its first packet has come
  std::uint16_t source = 0;  ///< number of the GPU that has sent it
  /// The load or fetch-and-add that a request or response is about; null for everything else.
  tlm::tlm_generic_payload* asked = nullptr;
  /// Owns `asked` where that stands for an access of another process.
  std::shared_ptr<tlm::tlm_generic_payload> stand_in = {};
  /// Set by the links of the GPU that sends it: since when that has not been reset.
  const Picoseconds* sender_generation_since = nullptr;
};

class DataExtension : public tlm::tlm_extension<DataExtension> {
 public:
  Stream stream = Stream::compute;
  Operation operation = Operation::load;
  ElementType element = ElementType::fp16;
  TrafficClass traffic = TrafficClass::control;
  bool cached = true;           ///< may be served and kept by the last-level cache
  bool real = false;            ///< its data count in every run: flags, queues; tensors without data are elsewhere
  Producer producer;            ///< wg_id == no_workgroup where no tile is meant
  Shape shape;                  ///< of the access; rows x row_bytes is the payload's data length
  std::uint64_t threshold = 0;  ///< of a wait
  /// Of a fetch-and-add, as many of its low bytes as the access has. Of an update: further updates that a switch has
  /// added to it.
  std::uint64_t addend = 0;
  std::uint64_t token = 0;  ///< the initiator's own, not touched by anyone else
  /// The agreement of neighbours' kernels (ring_signal.h). A ring kernel's stores and signals carry it in the packet's
  /// header, and its waits have it as well; so do firmware's signals. It is null for everything else.
  std::shared_ptr<const RingSignal> ring;
  /// Set by who refuses the request: a code (error_report.h) that no response has; 0: the response says it.
  std::uint32_t refusal = 0;
  bool taken = false;        ///< set by the sender's socket: there has been a notice, only the response is missing
  OrderPoint order = 0;      ///< where its initiator is, for who checks for races; a wait's response: what it has seen
  Cause seen = {};           ///< set by memory for a load of a flag: how what it has read was written last
  std::uint8_t queue = 0;    ///< of kernels, at the sending GPU: who gives up a wait
  Picoseconds made = never;  ///< when; never: it is of no GPU that can be reset
  FabricMarks fabric;        ///< on its way between GPUs

  tlm::tlm_extension_base* clone() const override { return new DataExtension(*this); }
  void copy_from(const tlm::tlm_extension_base& other) override { *this = static_cast<const DataExtension&>(other); }
};

/// The longest delay of a request or response in picoseconds, 13 days: blocks may add theirs without a wrap.
inline constexpr std::uint64_t longest_delay = std::uint64_t{1} << 60;

/// Whether what arrives at a GPU was made before this was reset the last time, or the GPU that has sent it: such
/// stores, updates and signals are lost.
inline bool is_of_an_earlier_generation(const DataExtension& extension, Picoseconds receiver_generation_since) {
  return extension.made < receiver_generation_since || (extension.fabric.sender_generation_since != nullptr &&
                                                        extension.made < *extension.fabric.sender_generation_since);
}

/// The answer to it.
inline void refuse_of_an_earlier_generation(tlm::tlm_generic_payload& transaction) {
  transaction.get_extension<DataExtension>()->refusal = static_cast<std::uint32_t>(Status::peer_failed);
  transaction.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
}

struct DataProtocol {
  using tlm_payload_type = tlm::tlm_generic_payload;
  using tlm_phase_type = tlm::tlm_phase;
};

inline DataExtension& extension_of(tlm::tlm_generic_payload& transaction) {
  return *transaction.get_extension<DataExtension>();
}

}  // namespace t3vp
