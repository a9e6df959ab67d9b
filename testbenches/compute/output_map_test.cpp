#include "compute/output_map.h"

#include <catch2/catch.hpp>

#include "data_path/checked_sockets.h"
#include "data_path/foreign_access.h"
#include "data_path/named_registers.h"
#include "protocol/address_map.h"
#include "protocol/transaction_pool.h"

namespace t3vp::test::output_map_test {

using namespace compute;

using address_map::on_gpu;

namespace {

constexpr std::uint16_t own = 1, peer = 2, beyond = 9;
constexpr std::uint32_t table_entries = 4;
constexpr std::uint64_t output = on_gpu(own, 0x10000), peer_output = on_gpu(peer, 0x80000);
constexpr std::uint64_t row_stride = 0x400, output_bytes = 16 * row_stride;

/// A row of a workgroup's tile, 32 bytes: 16 x 512 fp16 in tiles of 16 x 16.
constexpr std::uint64_t in_tile(std::uint32_t wg_id, std::uint32_t row = 0) { return 32 * wg_id + row * row_stride; }
constexpr std::uint64_t tile(std::uint32_t wg_id, std::uint32_t row = 0) { return output + in_tile(wg_id, row); }
constexpr std::uint64_t peer_tile(std::uint32_t wg_id, std::uint32_t row = 0) {
  return peer_output + in_tile(wg_id, row);
}

using Registers = registers::OutputMap;
using Kind = Registers::Operation::Kind;
using Action = Registers::Command::Action;

/// Records what arrives.
struct Sink : sc_core::sc_module {
  DataTargetSocket<Sink> socket{"socket", this, &Sink::request};
  std::vector<tlm::tlm_generic_payload*> received;
  std::vector<std::uint64_t> addresses;  ///< of those; transactions are used again
  Picoseconds delay = 0;
  unsigned debug_accesses = 0;
  bool reaches_everything = false;
  std::uint64_t capacity = address_map::hbm_limit;         ///< of each memory that it reaches
  bool at_once = false;                                    ///< answers within the request call
  tlm::tlm_response_status status = tlm::TLM_OK_RESPONSE;  ///< of its answers

  explicit Sink(const sc_core::sc_module_name& name) : sc_module(name) { socket.on_debug(&Sink::debug); }
  void request(int, tlm::tlm_generic_payload& transaction, Picoseconds time) {
    received.push_back(&transaction);
    addresses.push_back(transaction.get_address());
    delay = time;
    if (at_once)
      respond(transaction, time);
    else
      transaction.acquire();
  }
  void respond(tlm::tlm_generic_payload& transaction, Picoseconds time) {
    transaction.set_response_status(status);
    socket.respond(transaction, time);
  }
  unsigned debug(int, tlm::tlm_generic_payload& transaction) {
    ++debug_accesses;
    const std::uint64_t address = transaction.get_address();
    const bool reached = (reaches_everything || address_map::gpu_of(address) == peer) &&
                         (transaction.get_data_length() == 0 || address_map::local_of(address) < capacity);
    transaction.set_response_status(reached ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return reached ? transaction.get_data_length() : 0;
  }
};

struct ComputeUnits : sc_core::sc_module {
  DataInitiatorSocket<ComputeUnits> socket{"socket", this, &ComputeUnits::response};
  std::vector<tlm::tlm_generic_payload*> taken, answered;

  explicit ComputeUnits(const sc_core::sc_module_name& name) : sc_module(name) {
    socket.on_taken(&ComputeUnits::notice);
  }
  void notice(int, tlm::tlm_generic_payload& transaction, Picoseconds) { taken.push_back(&transaction); }
  void response(int, tlm::tlm_generic_payload& transaction, Picoseconds) { answered.push_back(&transaction); }
};

struct Mapping {
  std::uint64_t base = output, to = peer_output, stride = row_stride;
  std::uint32_t rows = 16, columns = 512, tile_rows = 16, tile_columns = 16, wavefronts = 1;
  ElementType element = ElementType::fp16;
  std::uint32_t first = 4, count = 4;
  Kind kind = Kind::update;
  TrafficClass traffic = TrafficClass::rs_write;
};

struct Bench {
  OutputMap map{"map", OutputMapParameters{table_entries, 64}, own};
  ComputeUnits compute{"compute"};
  Sink cache{"cache"}, remote{"remote"}, signals{"signals"};
  NamedRegisters registers{map.registers};
  sc_core::sc_signal<OutputRange> running_output{"running_output"};
  TransactionPool pool;
  CheckedSockets checks;

  Bench() {
    checks.join_test(compute.socket, map.compute);
    checks.join(map.cache, cache.socket);
    checks.join(map.remote, remote.socket);
    checks.join(map.signals, signals.socket);
    cache.reaches_everything = true;
    map.running_output.bind(running_output);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }

  Status add(const Mapping& m) {
    registers.set("output_base", m.base);
    registers.set("row_stride", m.stride);
    registers.set("rows", m.rows);
    registers.set("columns", m.columns);
    registers.set("tile_rows", m.tile_rows);
    registers.set("tile_columns", m.tile_columns);
    registers.set("layout", m.wavefronts | static_cast<std::uint64_t>(m.element) << 8);
    registers.set("peer_base", m.to);
    registers.set("first_workgroup", m.first);
    registers.set("workgroups", m.count);
    registers.set("operation", static_cast<std::uint64_t>(m.kind) | index_of(m.traffic) << 8);
    return command(Action::add);
  }
  Status remove(const Mapping& m, bool force = false) {
    registers.set("output_base", m.base);
    registers.set("first_workgroup", m.first);
    registers.set("workgroups", m.count);
    return command(Action::remove, force);
  }
  Status command(Action action, bool force = false) {
    const std::uint64_t value = static_cast<std::uint64_t>(action) | (force ? 1u : 0u) << 8;
    REQUIRE(registers.set("command", value) == tlm::TLM_OK_RESPONSE);
    return static_cast<Status>(registers["status"] & 0xFF);
  }
  std::uint64_t used() { return registers["used"]; }
  void kernel_writes(std::uint64_t begin, std::uint64_t end) {
    running_output.write({begin, end});
    sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_PS));
  }

  Transaction& send(Operation operation, std::uint64_t address, std::uint32_t wg_id = no_workgroup,
                    unsigned char first_byte = 0) {
    Transaction& transaction = pool.make(operation, address, {1, 32, 0});
    if (wg_id != no_workgroup) transaction.extension().producer = {wg_id, 0, own};
    transaction.attach_buffer();
    transaction.get_data_ptr()[0] = first_byte;
    compute.socket.send(transaction, 777);
    return transaction;
  }
  /// The address and operation with which a store of the compute units leaves.
  std::pair<std::uint64_t, Operation> sent(Operation operation, std::uint64_t address, std::uint32_t wg_id) {
    Transaction& transaction = send(operation, address, wg_id);
    return {transaction.get_address(), transaction.extension().operation};
  }
};

}  // namespace

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
  REQUIRE(bench.remote.delay == 777);  // it had been under way
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

TEST_CASE("every mistake has its status and one entry in the error log, and maps nothing") {
  Bench bench;
  REQUIRE(bench.add({}) == Status::ok);
  const auto refused = [&](Status expected, auto change) {
    Mapping mapping;
    mapping.first = 12;
    change(mapping);
    const Status status = bench.add(mapping);
    INFO("expected " << static_cast<int>(expected));
    CHECK(status == expected);
    CHECK(bench.registers.take_report() == expected);
    CHECK(bench.used() == 1);
  };
  refused(Status::invalid_argument, [](Mapping& m) { m.kind = Kind::none; });
  refused(Status::invalid_argument, [](Mapping& m) { m.count = 0; });
  refused(Status::invalid_argument, [](Mapping& m) { m.rows = 0; });
  refused(Status::invalid_argument, [](Mapping& m) { m.tile_columns = 0; });
  refused(Status::invalid_argument, [](Mapping& m) { m.wavefronts = 0; });
  refused(Status::invalid_argument, [](Mapping& m) { m.wavefronts = 3; });
  refused(Status::invalid_argument, [](Mapping& m) { m.stride = 992; });
  refused(Status::invalid_argument, [](Mapping& m) { m.first = 29; });
  refused(Status::invalid_argument, [](Mapping& m) { m.first = 32; });
  refused(Status::unaligned, [](Mapping& m) { m.stride = 1040; });
  refused(Status::unaligned, [](Mapping& m) { m.base += 16; });
  refused(Status::unaligned, [](Mapping& m) { m.to += 16; });
  refused(Status::bad_address, [](Mapping& m) { m.base = on_gpu(peer, 0x10000); });
  refused(Status::bad_address, [](Mapping& m) { m.base = on_gpu(own, address_map::hbm_limit); });
  refused(Status::bad_address, [](Mapping& m) { m.base = on_gpu(own, address_map::hbm_limit - 32); });
  refused(Status::bad_address, [](Mapping& m) { m.stride = std::uint64_t{1} << address_map::gpu_shift; });
  refused(Status::bad_address, [](Mapping& m) { m.stride = ~std::uint64_t{31}; });
  refused(Status::bad_address, [](Mapping& m) { m.to = on_gpu(peer, address_map::registers_base); });
  refused(Status::bad_address, [](Mapping& m) { m.to = on_gpu(peer, address_map::hbm_limit - 32); });
  refused(Status::no_peer, [](Mapping& m) { m.to = on_gpu(beyond, 0x80000); });
  refused(Status::no_peer, [](Mapping& m) { m.to = on_gpu(own, 0x80000); });
  refused(Status::overlap, [](Mapping& m) { m.first = 4; });
  refused(Status::overlap, [](Mapping& m) { m.first = 7; });
  refused(Status::overlap, [](Mapping& m) { m.first = 0, m.count = 5; });
  refused(Status::overlap, [](Mapping& m) { m.first = 0, m.count = 32; });
  refused(Status::invalid_argument, [](Mapping& m) { m.first = 0, m.count = (1u << 20) + 1; });
  refused(Status::invalid_argument, [](Mapping& m) { m.first = 5, m.count = 0xFFFFFFFF; });
  refused(Status::overlap, [](Mapping& m) { m.first = 5, m.count = 1, m.base = output + 0x1000; });
}

TEST_CASE("a map has to lie in the memory that there is, here and at the peer") {
  Bench bench;
  const auto refused = [&](auto change) {
    Mapping mapping;
    change(mapping);
    CHECK(bench.add(mapping) == Status::bad_address);
    CHECK(bench.registers.take_report() == Status::bad_address);
    CHECK(bench.used() == 0);
  };
  const std::uint64_t here = output - on_gpu(own, 0) + output_bytes,
                      there = peer_output - on_gpu(peer, 0) + output_bytes;
  bench.cache.capacity = here - 1;
  refused([](Mapping&) {});
  bench.cache.capacity = here;
  bench.remote.capacity = there - 1;
  refused([](Mapping&) {});
  bench.remote.capacity = there;
  REQUIRE(bench.add({}) == Status::ok);
}

TEST_CASE("the same workgroups of another output, and neighbours, do not overlap") {
  Bench bench;
  REQUIRE(bench.add({}) == Status::ok);
  Mapping other;
  other.base = output + output_bytes;
  REQUIRE(bench.add(other) == Status::ok);
  Mapping next;
  next.first = 8;
  REQUIRE(bench.add(next) == Status::ok);
  REQUIRE(bench.registers.reported.empty());
}

TEST_CASE("a full table says so and is emptied by remove_all and by reset") {
  Bench bench;
  REQUIRE(bench.registers["capacity"] == table_entries);
  const auto fill = [&] {
    for (std::uint32_t i = 0; i < table_entries; ++i) {
      Mapping mapping;
      mapping.first = 4 * i;
      REQUIRE(bench.add(mapping) == Status::ok);
    }
    Mapping one_more;
    one_more.first = 4 * table_entries;
    REQUIRE(bench.add(one_more) == Status::table_full);
    REQUIRE(bench.registers.take_report() == Status::table_full);
  };
  fill();
  REQUIRE(bench.command(Action::remove_all) == Status::ok);
  REQUIRE(bench.used() == 0);
  bench.send(Operation::store, tile(4), 4);
  REQUIRE(bench.remote.received.empty());
  fill();
  bench.map.registers.reset();
  REQUIRE(bench.used() == 0);
  REQUIRE(bench.registers["capacity"] == table_entries);
}

TEST_CASE("one entry is removed by itself, by its output and workgroups") {
  Bench bench;
  Mapping first, second;
  second.first = first.first + first.count;
  REQUIRE(bench.add(first) == Status::ok);
  REQUIRE(bench.add(second) == Status::ok);
  Mapping part = second;
  --part.count;
  REQUIRE(bench.remove(part) == Status::invalid_argument);
  REQUIRE(bench.registers.take_report() == Status::invalid_argument);
  REQUIRE(bench.remove(first) == Status::ok);
  REQUIRE(bench.used() == 1);
  bench.send(Operation::store, tile(first.first), first.first);
  REQUIRE(bench.remote.received.empty());
  bench.send(Operation::store, tile(second.first), second.first);
  REQUIRE(bench.remote.received.size() == 1);
}

TEST_CASE("entries are busy while a kernel that writes their output runs") {
  Bench bench;
  Mapping mapping, other;
  other.first = mapping.first + mapping.count;
  REQUIRE(bench.add(mapping) == Status::ok);
  bench.kernel_writes(mapping.base + output_bytes - 1, mapping.base + output_bytes + 64);
  REQUIRE(bench.remove(mapping) == Status::busy);
  REQUIRE(bench.registers.take_report() == Status::busy);
  REQUIRE(bench.command(Action::remove_all) == Status::busy);
  REQUIRE(bench.registers.take_report() == Status::busy);
  REQUIRE(bench.add(other) == Status::busy);
  REQUIRE(bench.registers.take_report() == Status::busy);
  REQUIRE(bench.used() == 1);
  REQUIRE(bench.remove(mapping, true) == Status::ok);
  REQUIRE(bench.used() == 0);
  bench.kernel_writes(mapping.base + output_bytes, mapping.base + output_bytes + 64);
  REQUIRE(bench.add(mapping) == Status::ok);
  REQUIRE(bench.command(Action::remove_all) == Status::ok);
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
