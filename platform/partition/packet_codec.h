// Packets of links and NICs, and causes, as messages between processes.
#pragma once

#include <map>

#include "nic/wire_boundary.h"
#include "partition/message.h"
#include "protocol/cause.h"
#include "protocol/ring_signal.h"
#include "protocol/transaction_pool.h"

namespace t3vp {

/// The codec of one link, for packets, in one direction, from one process to another.
class PacketCodec {
 public:
  /// `rank`: of this process.
  explicit PacketCodec(std::uint32_t rank) : rank_(rank) {}

  void put(MessageWriter& message, Transaction& packet);
  /// Returns an acquired packet of this process. What it is about stands there for an access of another process, unless
  /// that was made here. Its token names the sender's packet.
  Transaction& take(MessageReader& message, TransactionPool& pool);

 private:
  void put_asked(MessageWriter& message, tlm::tlm_generic_payload& asked, bool with_data) const;
  void take_asked(MessageReader& message, FabricMarks& marks) const;
  void put_ring(MessageWriter& message, const std::shared_ptr<const RingSignal>& ring);
  std::shared_ptr<const RingSignal> take_ring(MessageReader& message);

  std::uint32_t rank_;
  std::shared_ptr<const RingSignal> last_ring_;  ///< that has been sent or has come
};

void put_cause(MessageWriter& message, const Cause& cause);
Cause take_cause(MessageReader& message);

void put_passage(MessageWriter& message, const nic::Passage& passage);
nic::Passage take_passage(MessageReader& message);

}  // namespace t3vp
