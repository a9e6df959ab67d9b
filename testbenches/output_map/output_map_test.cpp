#include "output_map_bench.h"

#include "data_path/foreign_access.h"

namespace t3vp::test::output_map_test {

TEST_CASE("accesses go where their address says") {
  Bench bench;
  Transaction& local = bench.send(Operation::load, on_gpu(own, 0x40));
  Transaction& far = bench.send(Operation::store, on_gpu(peer, 0x40));
  Transaction& wait = bench.send(Operation::wait, on_gpu(own, address_map::block_base(address_map::Block::signals)));
  REQUIRE(bench.cache.received == std::vector<tlm::tlm_generic_payload*>{&local});
  REQUIRE(bench.remote.received == std::vector<tlm::tlm_generic_payload*>{&far});
  REQUIRE(bench.signals.received == std::vector<tlm::tlm_generic_payload*>{&wait});
  REQUIRE(bench.cache.delay == 777);
  for (Sink* sink : {&bench.signals, &bench.cache, &bench.remote}) sink->respond(*sink->received.front(), 782);
  REQUIRE(bench.compute.answered == std::vector<tlm::tlm_generic_payload*>{&wait, &local, &far});
}

TEST_CASE("a mapped chunk's stores go to the peer in the mapped operation") {
  Bench bench;
  REQUIRE(bench.add({}) == Status::ok);
  REQUIRE(bench.used() == 1);
  using Sent = std::pair<std::uint64_t, Operation>;
  REQUIRE(bench.sent(Operation::store, tile(4, 1), 4) == Sent{peer_tile(4, 1), Operation::update});
  REQUIRE(bench.sent(Operation::update, tile(7, 15), 7) == Sent{peer_tile(7, 15), Operation::update});
  REQUIRE(bench.remote.received.size() == 2);
  REQUIRE(bench.cache.received.empty());
  std::uint64_t mapped = 0;
  bench.map.visit_statistics([&](auto&, auto&, auto&, double value) { mapped = static_cast<std::uint64_t>(value); });
  REQUIRE(mapped == 64);
}

TEST_CASE("mapped stores are of their map's class, whatever their kernel's is, and others stay what they are") {
  Bench bench;
  for (const TrafficClass traffic : traffic_class_values) {
    Mapping mapping;
    mapping.traffic = traffic;
    REQUIRE(bench.add(mapping) == Status::ok);
    Transaction& mapped = bench.send(Operation::store, tile(4, 1), 4);
    REQUIRE(mapped.extension().traffic == traffic);
    bench.remote.respond(*bench.remote.received.back(), 800);
    const TrafficClass before = DataExtension().traffic;
    REQUIRE(bench.send(Operation::store, tile(8, 1), 8).extension().traffic == before);
    REQUIRE(bench.send(Operation::store, on_gpu(peer, 0x40)).extension().traffic == before);
    REQUIRE(bench.remove(mapping) == Status::ok);
  }
}

TEST_CASE("mapped stores are posted while there is room, then in the order of their arrival") {
  Bench bench;
  REQUIRE(bench.add({}) == Status::ok);
  std::vector<tlm::tlm_generic_payload*> sent;
  for (std::uint32_t i = 0; i < 4; ++i) {
    sent.push_back(&bench.send(Operation::store, tile(4, i), 4, static_cast<unsigned char>(i)));
  }
  // Room for two of 32 bytes.
  REQUIRE(bench.compute.taken == std::vector<tlm::tlm_generic_payload*>{sent[0], sent[1]});
  REQUIRE(bench.remote.received.size() == 2);
  const auto taken_by_link = [&](std::size_t i) { bench.remote.socket.taken(*bench.remote.received[i], 777); };
  taken_by_link(0);
  REQUIRE(bench.compute.taken.size() == 3);
  taken_by_link(1);
  REQUIRE(bench.compute.taken == sent);
  REQUIRE(bench.remote.received.size() == 4);
  for (std::uint32_t i = 0; i < 4; ++i) REQUIRE(bench.remote.received[i]->get_address() == peer_tile(4, i));
  REQUIRE(bench.remote.delay == 777);  // it had been in flight
  REQUIRE(bench.remote.received[3]->get_data_ptr()[0] == 3);
  REQUIRE(bench.compute.answered.empty());
}

TEST_CASE("a read of a peer waits behind mapped stores without room, others do not") {
  Bench bench;
  REQUIRE(bench.add({}) == Status::ok);
  for (std::uint32_t i = 0; i < 3; ++i) bench.send(Operation::store, tile(4, i), 4);
  REQUIRE(bench.remote.received.size() == 2);
  bench.send(Operation::load, peer_tile(4, 2));
  bench.send(Operation::load, tile(9));
  CHECK(bench.remote.received.size() == 2);
  bench.remote.socket.taken(*bench.remote.received[0], 777);
  REQUIRE(bench.remote.received.size() == 4);
  CHECK(bench.remote.received[2]->is_write());
  CHECK(bench.remote.received[2]->get_address() == peer_tile(4, 2));
  CHECK(bench.remote.received[3]->is_read());
  CHECK(bench.remote.delay >= 777);
  bench.send(Operation::load, peer_tile(4, 3));
  CHECK(bench.remote.received.size() == 5);
}

TEST_CASE("a mapped store is answered with what its peer answers, whose address it has then") {
  Bench bench;
  REQUIRE(bench.add({}) == Status::ok);
  Transaction &good = bench.send(Operation::store, tile(4, 1), 4), &bad = bench.send(Operation::store, tile(4), 4);
  const auto answer = [&](std::size_t i, tlm::tlm_response_status status, bool taken_before) {
    if (taken_before) bench.remote.socket.taken(*bench.remote.received[i], 777);
    bench.remote.status = status;
    bench.remote.respond(*bench.remote.received[i], 800);
  };
  answer(1, tlm::TLM_GENERIC_ERROR_RESPONSE, true);
  REQUIRE(bench.compute.answered == std::vector<tlm::tlm_generic_payload*>{&bad});
  REQUIRE(bad.get_response_status() == tlm::TLM_GENERIC_ERROR_RESPONSE);
  REQUIRE(bad.get_address() == peer_tile(4));
  answer(0, tlm::TLM_OK_RESPONSE, false);  // refused by no link: taken by its answer
  REQUIRE(bench.compute.answered.size() == 2);
  REQUIRE(good.is_response_ok());
  REQUIRE(bench.compute.taken.size() == 2);
  for (int i = 0; i < 2; ++i) bench.send(Operation::store, tile(4, 2), 4);  // there is all the room again
  REQUIRE(bench.compute.taken.size() == 4);
}

TEST_CASE("a store to a peer that no map concerns is taken when the link takes it") {
  Bench bench;
  Transaction& store = bench.send(Operation::store, on_gpu(peer, 0x40));
  REQUIRE(bench.compute.taken.empty());
  bench.remote.socket.taken(*bench.remote.received.at(0), 900);
  REQUIRE(bench.compute.taken == std::vector<tlm::tlm_generic_payload*>{&store});
  REQUIRE(bench.compute.answered.empty());
  bench.remote.respond(store, 900);
  REQUIRE(bench.compute.answered == bench.compute.taken);
}

TEST_CASE("a mapped store larger than all the room goes when nothing is posted") {
  Bench bench;
  REQUIRE(bench.add({}) == Status::ok);
  bench.send(Operation::store, tile(4), 4);
  Transaction& large = bench.pool.make(Operation::store, tile(4, 1), {4, 32, row_stride});
  large.extension().producer = {4, 0, own};
  bench.compute.socket.send(large, 0);
  REQUIRE(bench.remote.received.size() == 1);
  bench.remote.socket.taken(*bench.remote.received[0], 777);
  REQUIRE(bench.remote.received.size() == 2);
  REQUIRE(bench.compute.taken.back() == &large);
}

TEST_CASE("a small mapped store does not overtake a large one that waits for room") {
  Bench bench;
  REQUIRE(bench.add({}) == Status::ok);
  Transaction& first = bench.send(Operation::store, tile(4), 4);  // half of the room
  Transaction& large = bench.pool.make(Operation::store, tile(4, 1), {2, 32, row_stride});
  large.extension().producer = {4, 0, own};
  bench.compute.socket.send(large, 0);
  Transaction& small = bench.send(Operation::store, tile(4, 3), 4);
  REQUIRE(bench.compute.taken == std::vector<tlm::tlm_generic_payload*>{&first});
  for (std::size_t i = 0; i < 3; ++i) {
    REQUIRE(bench.remote.received.size() == i + 1);
    bench.remote.socket.taken(*bench.remote.received[i], 777);
  }
  REQUIRE(bench.compute.taken == std::vector<tlm::tlm_generic_payload*>{&first, &large, &small});
  REQUIRE(bench.remote.received[1]->get_address() == peer_tile(4, 1));
  REQUIRE(bench.remote.received[2]->get_address() == peer_tile(4, 3));
}

TEST_CASE("only stores of the chunk's workgroups to the output are mapped") {
  Bench bench;
  REQUIRE(bench.add({}) == Status::ok);
  bench.send(Operation::load, tile(4), 4);
  bench.send(Operation::store, tile(3), 3);
  bench.send(Operation::store, tile(8), 8);
  bench.send(Operation::store, tile(8), no_workgroup);
  bench.send(Operation::store, output - 32, 4);
  bench.send(Operation::store, output + output_bytes, 4);
  REQUIRE(bench.remote.received.empty());
  REQUIRE(bench.cache.received.size() == 6);
  for (auto* transaction : bench.cache.received) REQUIRE(address_map::gpu_of(transaction->get_address()) == own);
}

TEST_CASE("a store can be mapped to a store, and chunks of one output to different peers") {
  Bench bench;
  bench.remote.reaches_everything = true;
  Mapping second;
  second.first = 8;
  second.to = on_gpu(3, 0x100);
  second.kind = Kind::store;
  REQUIRE(bench.add({}) == Status::ok);
  REQUIRE(bench.add(second) == Status::ok);
  using Sent = std::pair<std::uint64_t, Operation>;
  REQUIRE(bench.sent(Operation::store, tile(8, 2), 8) == Sent{on_gpu(3, 0x100) + in_tile(8, 2), Operation::store});
  REQUIRE(bench.sent(Operation::store, tile(5, 2), 5) == Sent{peer_tile(5, 2), Operation::update});
}

TEST_CASE(
    "a store that touches a mapped chunk and is not to its wavefront's tile is refused and the first one is told") {
  Bench bench;
  const auto refused = [&](const char* text, std::uint64_t address, const Shape& shape, const Producer& producer,
                           ElementType element = ElementType::fp16) {
    INFO(text);
    REQUIRE(bench.add({}) == Status::ok);
    bench.compute.answered.clear();
    for (int again = 0; again < 2; ++again) {
      Transaction& store = bench.pool.make(Operation::store, address, shape);
      store.extension().producer = producer;
      store.extension().element = element;
      bench.compute.socket.send(store, 0);
      REQUIRE(bench.compute.answered.size() == static_cast<std::size_t>(again) + 1);
      REQUIRE(store.is_response_error());
      REQUIRE(store.extension().refusal == static_cast<std::uint32_t>(Status::mismatch));
    }
    REQUIRE(bench.registers.reported.size() == 1);
    CHECK_THAT(bench.registers.reported[0].text, Catch::Contains(text));
    CHECK(bench.registers.reported[0].address == address);
    bench.registers.reported.clear();
    REQUIRE(bench.command(Action::remove_all) == Status::ok);
  };
  const Shape row{1, 32, 0};
  refused("store of wavefront 0 of workgroup 9", tile(4), row, {9, 0, own});  // in another one's place
  refused("store of wavefront 0 of workgroup 99, which has no such tile", tile(7, 15), row, {99, 0, own});
  refused("store of wavefront 1 of workgroup 4, which has no such tile", tile(4), row, {4, 1, own});
  refused("store of no wavefront of workgroup 4", tile(4), row, {4, no_wavefront, own});
  refused("store of no workgroup", tile(4), row, {});
  refused("in bf16: the mapped", tile(4), row, {4, 0, own}, ElementType::bf16);
  refused("1 rows of 64 bytes", tile(3), {1, 64, 0}, {3, 0, own});                // reaches into the chunk
  refused("2 rows of 32 bytes, 64 apart", tile(4), {2, 32, 64}, {4, 0, own});     // of another stride
  refused("17 rows of 32 bytes", tile(4), {17, 32, row_stride}, {4, 0, own});     // larger tiles
  refused("16 rows of 1024 bytes", output, {16, 1024, row_stride}, {0, 0, own});  // all of the output
}

TEST_CASE("what lies beside a mapped chunk in the same rows is nobody's business") {
  Bench bench;
  Mapping left;
  left.columns = 256;
  REQUIRE(bench.add(left) == Status::ok);
  const std::uint64_t right_half = output + 512;
  Transaction& block = bench.pool.make(Operation::store, right_half, {16, 512, row_stride});
  block.extension().producer = {4, 0, own};  // of a GEMM with its own output there
  bench.compute.socket.send(block, 0);
  REQUIRE(bench.cache.received == std::vector<tlm::tlm_generic_payload*>{&block});
  REQUIRE(bench.registers.reported.empty());
}

TEST_CASE("a kernel that names no tiles must not store to a mapped output") {
  Bench bench;
  const OutputRange there{output + 64, output + 96}, beside{output + output_bytes, output + 2 * output_bytes};
  REQUIRE(bench.map.in_the_way(there, true).empty());
  REQUIRE(bench.add({}) == Status::ok);
  REQUIRE_THAT(bench.map.in_the_way(there, true), Catch::StartsWith("workgroups 4 to 7 of the output at 0x"));
  REQUIRE(bench.map.in_the_way(there, false).empty());
  REQUIRE(bench.map.in_the_way(beside, true).empty());
}

TEST_CASE("a link that takes each posted store at once empties a long queue in order") {
  Bench bench;
  REQUIRE(bench.add({}) == Status::ok);
  constexpr std::uint32_t stores = 200'000;  // each within the last would need more stack than there is
  bench.send(Operation::store, tile(4), 4);
  bench.send(Operation::store, tile(4), 4);
  for (std::uint32_t i = 0; i < stores; ++i) bench.send(Operation::store, tile(4, i % 16), 4);
  REQUIRE(bench.compute.taken.size() == 2);
  bench.remote.at_once = true;
  bench.remote.respond(*bench.remote.received[0], 777);
  REQUIRE(bench.compute.taken.size() == stores + 2);
  REQUIRE(bench.compute.answered.size() == stores + 1);  // all but the second
  for (std::uint32_t i = 0; i < stores; ++i)
    if (bench.remote.addresses[i + 2] != peer_tile(4, i % 16)) FAIL("store " << i << " overtook");
}

TEST_CASE("debug accesses go the same ways") {
  Bench bench;
  tlm::tlm_generic_payload plain;
  plain.set_address(output);
  bench.compute.socket->transport_dbg(plain);
  REQUIRE(bench.cache.debug_accesses == 1);
  plain.set_address(peer_output);
  bench.compute.socket->transport_dbg(plain);
  REQUIRE(bench.remote.debug_accesses == 1);
}

TEST_CASE("the output map serves blocking initiators on all its ways between others") {
  Bench bench;
  REQUIRE(bench.add({}) == Status::ok);
  for (Sink* sink : {&bench.cache, &bench.remote, &bench.signals}) sink->at_once = true;
  std::vector<DataAccess> accesses(5);
  for (DataAccess& access : accesses) {
    access.operation = Operation::store;
    access.address = on_gpu(own, 0x40);
    access.shape = {1, 32, 0};
  }
  accesses[1].operation = Operation::load;
  accesses[2].address = on_gpu(peer, 0x40);
  accesses[3].address = tile(4);  // mapped
  accesses[3].producer = {4, 0, own};
  accesses[4].operation = Operation::wait;
  accesses[4].address = on_gpu(own, address_map::block_base(address_map::Block::signals));
  const auto answers = blocking_accesses(bench.compute.socket, accesses, [&] {
    for (int i = 0; i < 4; ++i) bench.send(Operation::store, tile(4), 4);
  });
  REQUIRE(all_ok(answers));
  REQUIRE(bench.compute.answered.size() == 4);
  REQUIRE(bench.cache.received.size() == 6);
  REQUIRE(bench.remote.received.size() == 10);
  REQUIRE(bench.signals.received.size() == 3);
}

}  // namespace t3vp::test::output_map_test
