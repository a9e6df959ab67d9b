// Fabric ports, links and switches of a topology between GPUs that store to each other and read from each other at
// random, and nothing else.
#pragma once

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "protocol/address_map.h"
#include "protocol/event_queue.h"
#include "protocol/stubs.h"
#include "protocol/transaction_pool.h"
#include "wired_fabric.h"

namespace t3vp::test {

struct RandomTraffic {
  std::uint32_t packets = 0;      ///< of each GPU
  std::uint32_t in_flight = 32;   ///< of each GPU at most
  std::uint32_t most_bytes = 64;  ///< of a store or load
  bool in_turn = false;           ///< to each GPU round-robin, as in an all-to-all; else to any
  std::uint32_t seed = 1;
  std::uint32_t reads = 0;    ///< of 100 packets: loads, and fetch-and-adds among them
  std::uint32_t signals = 0;  ///< of 100 packets, before reads are chosen among the others
};

/// A GPU's memory takes whatever comes, after a while.
class RandomGpu : public sc_core::sc_module {
 public:
  interconnect::FabricPort port;

  RandomGpu(const sc_core::sc_module_name& name, const Placement& placement, const RandomTraffic& traffic)
      : sc_module(name),
        port("port", placement.gpu, 0, placement.neighbours, placement.route, placement.receivers),
        placement_(placement),
        traffic_(traffic),
        random_(traffic.seed + placement.gpu),
        sent_to_(placement.gpus, 0),
        received_from_(placement.gpus, 0),
        taken_from_(placement.gpus, 0) {
    out_.bind(port.compute);
    port.memory.bind(memory_);
    port.signals.bind(signals_);
    stubs_.stub(port.dma);
    stubs_.stub(port.control);
    stubs_.stub(port.registers.socket);
    port.registers.errors.bind(ignored_);
    SC_HAS_PROCESS(RandomGpu);
    SC_METHOD(send);
    sensitive << again_;
  }

  bool done() const { return answered_ == traffic_.packets; }
  bool in_order() const { return in_order_; }
  const std::vector<std::uint32_t>& sent_to() const { return sent_to_; }
  const std::vector<std::uint32_t>& received_from() const { return received_from_; }

 private:
  struct Ignored : ErrorReport {
    void report(const char*, const ErrorRecord&) override {}
  };

  void send() {
    while (sent_ < traffic_.packets && sent_ - answered_ < traffic_.in_flight) {
      const std::uint32_t others = placement_.gpus - 1;
      const std::uint32_t distance = 1 + (traffic_.in_turn ? sent_ % others : below(others));
      const auto to = static_cast<std::uint16_t>((placement_.gpu + distance) % placement_.gpus);
      const std::uint32_t bytes = 1 + below(traffic_.most_bytes);
      ++sent_;
      if (traffic_.signals != 0 && below(100) < traffic_.signals) {
        signal(to);
        continue;
      }
      if (traffic_.reads != 0 && below(100) < traffic_.reads) {
        read(to, bytes);
        continue;
      }
      Transaction& store = pool_.make(Operation::store, address_map::on_gpu(to, 0), {1, bytes, 0});
      store.extension().producer = {sent_to_[to]++, 0, placement_.gpu};
      store.extension().traffic = TrafficClass::gemm_write;
      out_.send(store, 0);
    }
  }
  /// It says how many stores to that GPU have been before it.
  void signal(std::uint16_t to) {
    const std::uint64_t address = address_map::on_gpu(to, address_map::block_base(address_map::Block::signals));
    Transaction& store = pool_.make(Operation::store, address, {1, 8, 0});
    store.extension().producer = {sent_to_[to], no_wavefront, placement_.gpu};
    out_.send(store, 0);
  }
  void signalled(int, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
    const Producer& producer = extension_of(transaction).producer;
    in_order_ = in_order_ && taken_from_[producer.gpu] >= producer.wg_id;
    transaction.set_response_status(tlm::TLM_OK_RESPONSE);
    signals_.respond(transaction, delay);
  }
  /// What is read says where it comes from.
  void read(std::uint16_t to, std::uint32_t bytes) {
    const bool adds = below(4) == 0;
    Transaction& read = pool_.make(adds ? Operation::fetch_add : Operation::load,
                                   address_map::on_gpu(to, std::uint64_t{below(1000)} * 8), {1, adds ? 8 : bytes, 0});
    read.attach_buffer();
    read.extension().traffic = TrafficClass::gemm_read;
    out_.send(read, 0);
  }
  static unsigned char byte_at(std::uint64_t address) { return static_cast<unsigned char>(address / 8 % 251 + 1); }

  void answered(int, tlm::tlm_generic_payload& transaction, Picoseconds) {
    if (transaction.is_read()) {
      const unsigned char expected = static_cast<unsigned char>(byte_at(transaction.get_address()) +
                                                                address_map::gpu_of(transaction.get_address()));
      for (unsigned i = 0; i < transaction.get_data_length(); ++i)
        in_order_ = in_order_ && transaction.get_data_ptr()[i] == expected;
    }
    in_order_ = in_order_ && transaction.is_response_ok();
    transaction.release();
    ++answered_;
    again_.notify(sc_core::SC_ZERO_TIME);
  }
  void arrived(int, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
    const Producer& producer = extension_of(transaction).producer;
    if (transaction.is_write()) {
      in_order_ = in_order_ && received_from_[producer.gpu] == producer.wg_id;
      ++received_from_[producer.gpu];
    }
    transaction.acquire();
    arrivals_.push(now() + delay + below(200'000), &transaction);
  }
  void take() {
    while (arrivals_.ready()) {
      tlm::tlm_generic_payload* const transaction = arrivals_.pop();
      if (transaction->is_read())
        std::fill_n(transaction->get_data_ptr(), transaction->get_data_length(),
                    static_cast<unsigned char>(byte_at(transaction->get_address()) + placement_.gpu));
      else
        ++taken_from_[extension_of(*transaction).producer.gpu];
      transaction->set_response_status(tlm::TLM_OK_RESPONSE);
      memory_.respond(*transaction, 0);
      transaction->release();
    }
    arrivals_.arm();
  }
  std::uint32_t below(std::uint32_t end) { return static_cast<std::uint32_t>(random_() % end); }

  Placement placement_;
  RandomTraffic traffic_;
  std::mt19937 random_;
  TransactionPool pool_;
  DataInitiatorSocket<RandomGpu> out_{"out", this, &RandomGpu::answered};
  DataTargetSocket<RandomGpu> memory_{"memory", this, &RandomGpu::arrived};
  DataTargetSocket<RandomGpu> signals_{"signals", this, &RandomGpu::signalled};
  EventQueue<tlm::tlm_generic_payload*> arrivals_{[this] { take(); }};
  sc_core::sc_event again_;
  Stubs stubs_;
  Ignored ignored_;
  std::uint32_t sent_ = 0, answered_ = 0;
  std::vector<std::uint32_t> sent_to_, received_from_, taken_from_;  ///< stores, by GPU
  bool in_order_ = true;
};

class RandomFabric {
 public:
  std::vector<std::unique_ptr<RandomGpu>> gpus;

  RandomFabric(const std::string& name, const Fabric& fabric, const RandomTraffic& traffic) {
    for (const Placement& placement : fabric.gpus)
      gpus.push_back(
          std::make_unique<RandomGpu>((name + "_" + std::to_string(placement.gpu)).c_str(), placement, traffic));
    wires_ = std::make_unique<WiredFabric>(name, fabric, ports_of(gpus));
  }

  bool done() const {
    return std::all_of(gpus.begin(), gpus.end(), [](const auto& gpu) { return gpu->done(); });
  }
  /// What each GPU has got of each other one is all of it, in the order in which it was sent.
  bool is_whole() const {
    for (std::size_t from = 0; from < gpus.size(); ++from)
      for (std::size_t to = 0; to < gpus.size(); ++to)
        if (gpus[from]->sent_to()[to] != gpus[to]->received_from()[from] || !gpus[to]->in_order()) return false;
    return true;
  }

 private:
  std::unique_ptr<WiredFabric> wires_;
};

}  // namespace t3vp::test
