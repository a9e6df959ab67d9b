#include "partition/packet_codec.h"

#include <utility>

namespace t3vp {
namespace {

/// Of DataExtension, what is a value.
struct Fields {
  Stream stream;
  Operation operation;
  ElementType element;
  TrafficClass traffic;
  bool cached, real;
  std::uint8_t queue, channel;
  std::uint16_t input, source;
  Producer producer;
  Shape shape;
  std::uint64_t threshold, addend;
  Picoseconds made, lead;
};

Fields fields_of(const DataExtension& e) {
  return {e.stream,
          e.operation,
          e.element,
          e.traffic,
          e.cached,
          e.real,
          e.queue,
          e.fabric.lane.channel,
          e.fabric.lane.input,
          e.fabric.source,
          e.producer,
          e.shape,
          e.threshold,
          e.addend,
          e.made,
          e.fabric.lead};
}

void set(DataExtension& e, const Fields& f) {
  e.stream = f.stream;
  e.operation = f.operation;
  e.element = f.element;
  e.traffic = f.traffic;
  e.cached = f.cached;
  e.real = f.real;
  e.queue = f.queue;
  e.producer = f.producer;
  e.shape = f.shape;
  e.threshold = f.threshold;
  e.addend = f.addend;
  e.made = f.made;
  e.fabric.lane = {f.channel, f.input};
  e.fabric.source = f.source;
  e.fabric.lead = f.lead;
}

void put_data(MessageWriter& message, const tlm::tlm_generic_payload& payload, bool with_data) {
  message.put(with_data && payload.get_data_ptr() != nullptr);
  if (with_data && payload.get_data_ptr() != nullptr)
    message.put_bytes(payload.get_data_ptr(), payload.get_data_length());
}

/// Names an access in the process that has made it.
struct AccessKey {
  std::uint32_t rank;
  std::uint64_t address;
};

/// An access of another process, as packets about it know it here.
class StandIn : public Transaction {
 public:
  StandIn(const AccessKey& key, Operation operation, std::uint64_t address, const DataExtension& of)
      : Transaction(nullptr), key_(key) {
    set_command(t3vp::is_read(operation) ? tlm::TLM_READ_COMMAND : tlm::TLM_WRITE_COMMAND);
    set_address(address);
    set_data_length(static_cast<unsigned>(of.shape.bytes()));
    set_streaming_width(get_data_length());
    extension() = of;
  }
  const AccessKey& key() const { return key_; }

 private:
  AccessKey key_;
};

template <typename Time>
void put_parts(MessageWriter& message, const std::array<Time, part_count>& parts) {
  std::uint32_t there = 0;
  for (std::size_t i = 0; i < part_count; ++i)
    if (parts[i] != 0) there |= 1u << i;
  message.put(there);
  for (const Time part : parts)
    if (part != 0) message.put(part);
}

TimeParts take_parts(MessageReader& message) {
  TimeParts parts{};
  const auto there = message.take<std::uint32_t>();
  for (std::size_t i = 0; i < part_count; ++i)
    if ((there >> i & 1) != 0) parts[i] = message.take<Picoseconds>();
  return parts;
}

}  // namespace

void PacketCodec::put(MessageWriter& message, Transaction& packet) {
  const DataExtension& extension = packet.extension();
  message.put(reinterpret_cast<std::uintptr_t>(&packet));
  message.put(fields_of(extension));
  message.put(packet.get_address());
  message.put(packet.generation);
  put_data(message, packet, true);
  put_ring(message, extension.ring);
  message.put(extension.fabric.asked != nullptr);
  if (extension.fabric.asked != nullptr)
    put_asked(message, *extension.fabric.asked, extension.operation == Operation::answer);
}

Transaction& PacketCodec::take(MessageReader& message, TransactionPool& pool) {
  const auto sender = message.take<std::uintptr_t>();
  const auto fields = message.take<Fields>();
  Transaction& packet = pool.make(fields.operation, message.take<std::uint64_t>(), fields.shape);
  DataExtension& extension = packet.extension();
  set(extension, fields);
  packet.set_command(tlm::TLM_WRITE_COMMAND);
  packet.generation = message.take<std::uint32_t>();
  extension.token = sender;
  if (message.take<bool>()) {
    packet.attach_buffer();
    message.take_bytes(packet.get_data_ptr(), packet.get_data_length());
  }
  extension.ring = take_ring(message);
  if (message.take<bool>()) take_asked(message, extension.fabric);
  return packet;
}

/// A response brings the data that a request has asked for.
void PacketCodec::put_asked(MessageWriter& message, tlm::tlm_generic_payload& asked, bool with_data) const {
  const auto* const stand_in = dynamic_cast<const StandIn*>(&asked);
  message.put(stand_in != nullptr ? stand_in->key() : AccessKey{rank_, reinterpret_cast<std::uintptr_t>(&asked)});
  message.put(fields_of(extension_of(asked)));
  message.put(asked.get_address());
  message.put(asked.get_data_ptr() != nullptr);
  put_data(message, asked, with_data);
}

void PacketCodec::take_asked(MessageReader& message, FabricMarks& marks) const {
  const auto key = message.take<AccessKey>();
  DataExtension extension;
  set(extension, message.take<Fields>());
  const auto address = message.take<std::uint64_t>();
  const bool has_data = message.take<bool>();
  if (key.rank == rank_) {
    marks.asked = reinterpret_cast<tlm::tlm_generic_payload*>(static_cast<std::uintptr_t>(key.address));
  } else {
    const auto stand_in = std::make_shared<StandIn>(key, extension.operation, address, extension);
    if (has_data) stand_in->attach_buffer();
    marks.asked = stand_in.get();
    marks.stand_in = stand_in;
  }
  if (message.take<bool>()) message.take_bytes(marks.asked->get_data_ptr(), marks.asked->get_data_length());
}

void PacketCodec::put_ring(MessageWriter& message, const std::shared_ptr<const RingSignal>& ring) {
  enum : std::uint8_t { none, same, other };
  if (ring == nullptr || ring == last_ring_) return message.put(ring == nullptr ? none : same);
  message.put(other);
  last_ring_ = ring;
  message.put(ring->receiver);
  message.put(ring->gpus);
  message.put(ring->workgroups);
  message.put_all(ring->properties, [&](const RingSignal::Property& property) {
    message.put_text(property.name);
    message.put(property.value);
    message.put_text(property.text);
    message.put(property.is_address);
  });
  message.put(ring->sender);
  message.put(ring->generation);
  message.put(ring->begun);
  message.put(ring->stored);
  message.put(ring->failure);
  message.put_text(ring->why);
  message.put(ring->is_out_of_step);
}

std::shared_ptr<const RingSignal> PacketCodec::take_ring(MessageReader& message) {
  const auto which = message.take<std::uint8_t>();
  if (which < 2) return which == 0 ? nullptr : last_ring_;
  RingSignal ring;
  ring.receiver = message.take<std::uint32_t>();
  ring.gpus = message.take<std::uint32_t>();
  ring.workgroups = message.take<std::uint32_t>();
  message.take_all([&] {
    RingSignal::Property property;
    property.name = message.take_text();
    property.value = message.take<std::uint64_t>();
    property.text = message.take_text();
    property.is_address = message.take<bool>();
    ring.properties.push_back(std::move(property));
  });
  ring.sender = message.take<std::uint16_t>();
  ring.generation = message.take<std::uint64_t>();
  ring.begun = message.take<Picoseconds>();
  ring.stored = message.take<OutputRange>();
  ring.failure = message.take<std::uint32_t>();
  ring.why = message.take_text();
  ring.is_out_of_step = message.take<bool>();
  last_ring_ = std::make_shared<const RingSignal>(std::move(ring));
  return last_ring_;
}

void put_cause(MessageWriter& message, const Cause& cause) {
  message.put(cause.is_known());
  if (!cause.is_known()) return;
  const Cause::Portable portable = cause.portable();
  message.put(portable.time);
  put_parts(message, portable.parts);
  message.put_all(portable.steps, [&](const Cause::PortableStep& step) { message.put(step); });
  message.put_all(portable.marks, [&](const Cause::PortableMark& mark) {
    message.put(mark.window);
    put_parts(message, mark.parts);
  });
}

Cause take_cause(MessageReader& message) {
  if (!message.take<bool>()) return {};
  Cause::Portable portable;
  portable.time = message.take<Picoseconds>();
  portable.parts = take_parts(message);
  message.take_all([&] { portable.steps.push_back(message.take<Cause::PortableStep>()); });
  message.take_all([&] {
    const auto window = message.take<Cause::WindowKey>();
    portable.marks.push_back({window, take_parts(message)});
  });
  return Cause::from(portable);
}

void put_passage(MessageWriter& message, const nic::Passage& passage) {
  message.put(passage.sent);
  message.put(passage.arrives);
  put_cause(message, passage.cause);
  message.put<nic::PacketHeader>(*passage.packet);
  message.put(passage.packet->data.size());
  message.put_bytes(passage.packet->data.data(), passage.packet->data.size());
}

nic::Passage take_passage(MessageReader& message) {
  nic::Passage passage;
  passage.sent = message.take<Picoseconds>();
  passage.arrives = message.take<Picoseconds>();
  passage.cause = take_cause(message);
  const auto packet = std::make_shared<nic::Packet>();
  static_cast<nic::PacketHeader&>(*packet) = message.take<nic::PacketHeader>();
  packet->data.resize(message.take<std::size_t>());
  message.take_bytes(packet->data.data(), packet->data.size());
  passage.packet = packet;
  return passage;
}

}  // namespace t3vp
