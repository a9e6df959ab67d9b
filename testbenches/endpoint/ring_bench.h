// Engines of all GPUs of a ring, each with a memory, and a wire of a fixed latency between them.
#pragma once

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <memory>

#include "data_path/checked_sockets.h"
#include "data_path/named_registers.h"
#include "data_path/target.h"
#include "endpoint/endpoint_engine.h"
#include "protocol/element.h"

namespace t3vp::endpoint {

/// Passes messages on to the GPU of their address.
class RingWire : public sc_core::sc_module {
 public:
  std::vector<std::unique_ptr<DataTargetSocket<RingWire>>> in;
  std::vector<std::unique_ptr<DataInitiatorSocket<RingWire>>> out;
  Picoseconds latency = 500'000;
  std::vector<std::uint64_t> sent, unanswered, most_unanswered;  ///< by sender
  std::vector<TrafficClass> classes;                             ///< of all messages

  RingWire(const sc_core::sc_module_name& name, std::uint32_t gpus)
      : sc_module(name), sent(gpus), unanswered(gpus), most_unanswered(gpus) {
    for (std::uint32_t gpu = 0; gpu < gpus; ++gpu) {
      in.push_back(std::make_unique<DataTargetSocket<RingWire>>(fmt::format("in_{}", gpu).c_str(), this,
                                                                &RingWire::request, static_cast<int>(gpu)));
      in.back()->on_debug(&RingWire::debug);
      out.push_back(std::make_unique<DataInitiatorSocket<RingWire>>(fmt::format("out_{}", gpu).c_str(), this,
                                                                    &RingWire::response));
      out.back()->on_taken(&RingWire::taken);
    }
  }

 private:
  std::size_t sender_of(tlm::tlm_generic_payload& message) const { return extension_of(message).producer.gpu; }
  void request(int, tlm::tlm_generic_payload& message, Picoseconds delay) {
    const std::size_t sender = sender_of(message);
    ++sent[sender];
    classes.push_back(extension_of(message).traffic);
    most_unanswered[sender] = std::max(most_unanswered[sender], ++unanswered[sender]);
    out[address_map::gpu_of(message.get_address())]->send(message, delay + latency);
  }
  void taken(int, tlm::tlm_generic_payload& message, Picoseconds delay) {
    in[sender_of(message)]->taken(message, delay);
  }
  void response(int, tlm::tlm_generic_payload& message, Picoseconds delay) {
    --unanswered[sender_of(message)];
    in[sender_of(message)]->respond(message, delay + latency);
  }
  unsigned debug(int, tlm::tlm_generic_payload& message) {
    const bool is_there = address_map::gpu_of(message.get_address()) < out.size();
    message.set_response_status(is_there ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return 0;
  }
};

struct RingGpu {
  EndpointEngine engine;
  DataTarget memory;
  std::vector<unsigned char> content = std::vector<unsigned char>(0x10000);
  std::uint64_t read = 0, written = 0;
  sc_core::sc_signal<bool, sc_core::SC_UNCHECKED_WRITERS> interrupt;
  NamedRegisters registers;

  RingGpu(const EndpointParameters& parameters, std::uint16_t gpu)
      : engine(sc_core::sc_gen_unique_name("engine"), parameters, true, gpu),
        memory(sc_core::sc_gen_unique_name("memory")),
        registers(sc_core::sc_gen_unique_name("driver"), engine.registers) {
    memory.latency = 300'000;
    memory.capacity = content.size();
    memory.serve = [this](tlm::tlm_generic_payload& access) { return serve(access); };
    engine.interrupt.bind(interrupt);
  }
  std::string statistic(const std::string& name) const {
    std::string value;
    engine.visit_statistics([&](const std::string& one, const std::string&, const std::string&, double number) {
      if (one == name) value = fmt::format("{}", number);
    });
    return value;
  }

 private:
  tlm::tlm_response_status serve(tlm::tlm_generic_payload& access) {
    (access.is_read() ? read : written) += access.get_data_length();
    unsigned char* const place = content.data() + address_map::local_of(access.get_address());
    if (access.get_data_ptr() == nullptr) return tlm::TLM_OK_RESPONSE;
    if (access.is_read())
      std::memcpy(access.get_data_ptr(), place, access.get_data_length());
    else
      std::memcpy(place, access.get_data_ptr(), access.get_data_length());
    return tlm::TLM_OK_RESPONSE;
  }
};

/// A collective as a program stages it.
struct Staged {
  RingOperation operation = RingOperation::all_reduce;
  ElementType element = ElementType::fp16;
  std::uint64_t address = 0x400, bytes = 4096;
  std::uint32_t ring = 0;
};

struct RingBench {
  std::uint32_t gpus;
  std::vector<std::unique_ptr<RingGpu>> of;
  RingWire wire;
  CheckedSockets checks;

  /// Several benches are made before the first one starts.
  explicit RingBench(std::uint32_t n, const EndpointParameters& parameters = small(), bool starts = true)
      : gpus(n), wire(sc_core::sc_gen_unique_name("wire"), n) {
    for (std::uint16_t gpu = 0; gpu < n; ++gpu) {
      of.push_back(std::make_unique<RingGpu>(parameters, gpu));
      checks.join(of[gpu]->engine.memory, of[gpu]->memory.socket);
      checks.join(of[gpu]->engine.remote, *wire.in[gpu]);
      checks.join(*wire.out[gpu], of[gpu]->engine.arrivals);
    }
    if (starts) sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }
  static std::vector<std::unique_ptr<RingBench>> of_sizes(const std::vector<std::uint32_t>& sizes,
                                                          const EndpointParameters& parameters) {
    std::vector<std::unique_ptr<RingBench>> benches;
    for (const std::uint32_t n : sizes) benches.push_back(std::make_unique<RingBench>(n, parameters, false));
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    return benches;
  }

  /// Messages of 256 bytes, two rings, and room for 16 messages of each.
  static EndpointParameters small() {
    EndpointParameters p;
    p.sram_bytes = 8192;
    p.message_bytes = 256;
    p.rings = 2;
    return p;
  }

  Status start(std::uint32_t gpu, const Staged& staged) {
    NamedRegisters& r = of[gpu]->registers;
    r.set("buffer", address_map::on_gpu(gpu, staged.address));
    r.set("bytes", staged.bytes);
    r.set("place", gpu | static_cast<std::uint64_t>(gpus) << 16);
    r.set("neighbours", (gpu + 1) % gpus | static_cast<std::uint64_t>((gpu + gpus - 1) % gpus) << 16);
    r.set("options", static_cast<std::uint64_t>(staged.operation) | static_cast<std::uint64_t>(staged.element) << 4 |
                         static_cast<std::uint64_t>(staged.ring) << 8);
    return command(gpu);
  }
  Status command(std::uint32_t gpu) {
    of[gpu]->registers.set("command", 1);
    return of[gpu]->registers.command_status();
  }
  void start_all(const Staged& staged) {
    for (std::uint32_t gpu = 0; gpu < gpus; ++gpu) REQUIRE(start(gpu, staged) == Status::ok);
  }
  Status transfer(std::uint32_t gpu) { return static_cast<Status>(of[gpu]->registers["status"] >> 16 & 0xFF); }
  bool busy(std::uint32_t gpu) { return (of[gpu]->registers["status"] >> 8 & 1) != 0; }

  static void settle() { sc_core::sc_start(); }
  static void run_for(Picoseconds time) { sc_core::sc_start(to_sc_time(time)); }

  static std::uint64_t part_begin(const Staged& staged, std::uint32_t part, std::uint32_t of_parts) {
    return staged.bytes / 32 * part / of_parts * 32;
  }
  unsigned char* at(std::uint32_t gpu, const Staged& staged) { return of[gpu]->content.data() + staged.address; }

  /// Numbers whose sums depend on the order of the additions.
  void fill(const Staged& staged) {
    const std::size_t size = bytes_of(staged.element), count = staged.bytes / size;
    for (std::uint32_t gpu = 0; gpu < gpus; ++gpu)
      for (std::size_t i = 0; i < count; ++i) {
        const float value = 0.1f * static_cast<float>(1 + (i * 7 + gpu * 13) % 29) + (i % 3 == gpu % 3 ? 100.0f : 0.0f);
        narrow_elements(staged.element, &value, at(gpu, staged) + i * size, 1);
      }
  }
  /// The sum of a part, which begins at the place behind its owner's. To be called before the collective.
  std::vector<unsigned char> sum_of(const Staged& staged, std::uint32_t part) {
    const std::uint64_t begin = part_begin(staged, part, gpus), end = part_begin(staged, part + 1, gpus);
    const unsigned char* first = at((part + 1) % gpus, staged);
    std::vector<unsigned char> sum(first + begin, first + end);
    for (std::uint32_t i = 2; i <= gpus; ++i)
      add_elements(staged.element, sum.data(), at((part + i) % gpus, staged) + begin,
                   sum.size() / bytes_of(staged.element));
    return sum;
  }
  std::vector<unsigned char> bytes_of_part(std::uint32_t gpu, const Staged& staged, std::uint32_t part) {
    return {at(gpu, staged) + part_begin(staged, part, gpus), at(gpu, staged) + part_begin(staged, part + 1, gpus)};
  }
};

}  // namespace t3vp::endpoint
