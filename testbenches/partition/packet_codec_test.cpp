// Packets as messages: what another process makes of them.
#include "partition/packet_codec.h"

#include <catch2/catch.hpp>
#include <cstring>

namespace t3vp::test::packet_codec_test {

namespace {

constexpr std::uint32_t here = 0, there = 1;  // ranks

Transaction& request_for(TransactionPool& pool, Transaction& read) {
  Transaction& request = pool.make(Operation::request, read.get_address(), read.extension().shape);
  request.extension().fabric.asked = &read;
  request.extension().fabric.source = 2;
  return request;
}

}  // namespace

TEST_CASE("a packet of a NIC has its times, its header and its data in another process") {
  auto packet = std::make_shared<nic::Packet>();
  packet->kind = nic::Packet::Kind::accumulate;
  packet->from_nic = 3;
  packet->to_nic = 1;
  packet->sequence = 77;
  packet->address = 0x1234567890;
  packet->tile.row_bytes = 96;
  packet->addend = 5;
  packet->syndrome = NicSyndrome::remote_access;
  packet->last = true;
  packet->data = {1, 2, 3};
  MessageWriter writer;
  put_passage(writer, {packet, 1'000, 305'000, {}});
  put_passage(writer, {std::make_shared<nic::Packet>(), 2'000, 306'000, {}});
  const Message message = writer.take();
  MessageReader reader(message);
  const nic::Passage first = take_passage(reader), second = take_passage(reader);
  CHECK(reader.is_at_end());
  CHECK(first.sent == 1'000);
  CHECK(first.arrives == 305'000);
  CHECK_FALSE(first.cause.is_known());
  CHECK(first.packet->kind == packet->kind);
  CHECK(first.packet->sequence == 77);
  CHECK(first.packet->address == packet->address);
  CHECK(first.packet->tile.row_bytes == 96);
  CHECK(first.packet->addend == 5);
  CHECK(first.packet->syndrome == packet->syndrome);
  CHECK(first.packet->last);
  CHECK(first.packet->data == packet->data);
  CHECK(nic::describe(*first.packet) == nic::describe(*packet));
  CHECK(second.sent == 2'000);
  CHECK(second.packet->data.empty());
}

TEST_CASE("a load is a stand-in in another process, and its answer brings the data back to the load") {
  TransactionPool pool, pool_there;
  PacketCodec sends(here), serves(there), receives(here);
  Transaction& read = pool.make(Operation::load, 0x4000, {1, 8, 0});
  read.attach_buffer();
  MessageWriter writer;
  sends.put(writer, request_for(pool, read));
  const Message asked = writer.take();
  MessageReader asks(asked);
  Transaction& request = serves.take(asks, pool_there);
  CHECK(request.extension().operation == Operation::request);
  CHECK(request.extension().fabric.source == 2);
  REQUIRE(request.extension().fabric.stand_in != nullptr);
  tlm::tlm_generic_payload& stand_in = *request.extension().fabric.asked;
  CHECK(&stand_in == request.extension().fabric.stand_in.get());
  CHECK(&stand_in != &read);
  CHECK(stand_in.get_address() == 0x4000);
  std::memcpy(stand_in.get_data_ptr(), "12345678", 8);

  Transaction& answer = pool_there.make(Operation::answer, 0x4000, {1, 8, 0});
  answer.extension().fabric.asked = &stand_in;
  serves.put(writer, answer);
  const Message answered = writer.take();
  MessageReader answers(answered);
  const Transaction& came = receives.take(answers, pool);
  CHECK(answers.is_at_end());
  CHECK(came.get_extension<DataExtension>()->fabric.asked == &read);
  CHECK(std::memcmp(read.get_data_ptr(), "12345678", 8) == 0);
}

}  // namespace t3vp::test::packet_codec_test
