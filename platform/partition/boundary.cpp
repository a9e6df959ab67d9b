#include "partition/boundary.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace t3vp {
namespace {

enum class Kind : std::uint8_t { packet, credit, answer, nic_packet };

}  // namespace

/// One end of a link that crosses.
class Boundary::CutLink : public interconnect::LinkBoundary {
 public:
  CutLink(Boundary& boundary, std::uint32_t number, interconnect::Link& link, std::uint32_t other_rank)
      : boundary_(boundary), number_(number), link_(link), other_rank_(other_rank), codec_(boundary.rank_) {
    link_.cut(*this);
  }

  void send_packet(interconnect::Crossing crossing, Transaction& packet) override {
    codec_.put(begin(Kind::packet, crossing), packet);
  }
  void send_credit(interconnect::Crossing crossing, std::uint64_t bytes, std::uint8_t channel) override {
    MessageWriter& message = begin(Kind::credit, crossing);
    message.put(bytes);
    message.put(channel);
  }
  void send_answer(interconnect::Crossing crossing, Transaction& packet) override {
    MessageWriter& message = begin(Kind::answer, crossing);
    message.put(packet.extension().token);
    message.put(packet.get_response_status());
    message.put(packet.extension().refusal);
    packet.release();
  }

  void deliver(Kind kind, Picoseconds time, MessageReader& message) {
    interconnect::Crossing crossing{time, take_cause(message)};
    if (kind == Kind::packet) return link_.arrive(std::move(crossing), codec_.take(message, boundary_.pool_));
    if (kind == Kind::credit) {
      const auto bytes = message.take<std::uint64_t>();
      return link_.credited(std::move(crossing), bytes, message.take<std::uint8_t>());
    }
    auto& packet = *reinterpret_cast<Transaction*>(static_cast<std::uintptr_t>(message.take<std::uint64_t>()));
    packet.set_response_status(message.take<tlm::tlm_response_status>());
    packet.extension().refusal = message.take<std::uint32_t>();
    require_same_generation(packet.extension());
    link_.answered(std::move(crossing), packet);
  }

 private:
  MessageWriter& begin(Kind kind, const interconnect::Crossing& crossing) {
    MessageWriter& message = boundary_.message_to(other_rank_, crossing.time);
    message.put(kind);
    message.put(number_);
    message.put(crossing.time);
    put_cause(message, crossing.cause);
    return message;
  }

  /// The receiver cannot know of a reset of the sender before its latency has passed.
  static void require_same_generation(const DataExtension& packet) {
    const Picoseconds* const since = packet.fabric.sender_generation_since;
    if (since != nullptr && packet.made < *since)
      throw std::runtime_error(fmt::format(
          "GPU {} has been reset while its packets were on their way to another process: a run over several "
          "processes cannot have that",
          packet.fabric.source));
  }

  Boundary& boundary_;
  std::uint32_t number_;
  interconnect::Link& link_;
  std::uint32_t other_rank_;
  PacketCodec codec_;
};

/// The NIC fabric.
class Boundary::CutWire : public nic::WireBoundary {
 public:
  CutWire(Boundary& boundary, nic::Wire& wire, const Partition& partition, std::vector<bool> is_elsewhere)
      : boundary_(boundary), wire_(wire), rank_of_nic_(partition.gpus) {
    wire_.cut(*this, std::move(is_elsewhere));
  }

  void send(const nic::Passage& passage) override {
    MessageWriter& message = boundary_.message_to(rank_of_nic_[passage.packet->to_nic], passage.arrives);
    message.put(Kind::nic_packet);
    put_passage(message, passage);
  }

  void deliver(MessageReader& message) { wire_.arrive(take_passage(message)); }

 private:
  Boundary& boundary_;
  nic::Wire& wire_;
  std::vector<std::uint32_t> rank_of_nic_;
};

Boundary::Boundary(Node& node, const NodeParameters& parameters, const Partition& partition, std::uint32_t rank)
    : rank_(rank) {
  const std::vector<LinkPlacement>& placements = parameters.fabric.links;
  links_.resize(placements.size());
  for (std::uint32_t number = 0; number < placements.size(); ++number) {
    const std::uint32_t from = partition.rank_of(placements[number].from);
    const std::uint32_t to = partition.rank_of(placements[number].to);
    if (from == to || (from != rank && to != rank)) continue;
    const std::uint32_t other = from == rank ? to : from;
    links_[number] = std::make_unique<CutLink>(*this, number, *node.links()[number], other);
    partners_.push_back(other);
  }
  if (const std::vector<bool> is_elsewhere = nics_elsewhere(parameters, partition, rank); !is_elsewhere.empty()) {
    wire_ = std::make_unique<CutWire>(*this, *node.wire(), partition, is_elsewhere);
    for (std::size_t nic = 0; nic < is_elsewhere.size(); ++nic)
      if (is_elsewhere[nic]) partners_.push_back(partition.gpus[nic]);
  }
  std::sort(partners_.begin(), partners_.end());
  partners_.erase(std::unique(partners_.begin(), partners_.end()), partners_.end());
}

Boundary::~Boundary() = default;

Picoseconds Boundary::next_event_time() {
  if (!sc_core::sc_pending_activity()) return never;
  return now() + from_sc_time(sc_core::sc_time_to_pending_activity());
}

MessageWriter& Boundary::message_to(std::uint32_t rank, Picoseconds time) {
  earliest_sent_ = std::min(earliest_sent_, time);
  return sent_[rank];
}

std::vector<Message> Boundary::take_sent() {
  std::vector<Message> messages;
  for (const std::uint32_t partner : partners_) messages.push_back(sent_[partner].take());
  earliest_sent_ = never;
  return messages;
}

void Boundary::deliver(const Message& message) {
  for (MessageReader reader(message); !reader.is_at_end();) {
    const auto kind = reader.take<Kind>();
    if (kind == Kind::nic_packet) {
      wire_->deliver(reader);
      continue;
    }
    const auto number = reader.take<std::uint32_t>();
    const auto time = reader.take<Picoseconds>();
    links_.at(number)->deliver(kind, time, reader);
  }
}

}  // namespace t3vp
