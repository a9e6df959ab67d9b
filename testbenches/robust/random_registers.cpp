// Makes random accesses, right and wrong ones, to all registers of three GPUs with links and NICs, while their hardware
// works:
//
//   random_registers COUNT SEED
//
// Every access returns a status. A refused write leaves plain registers unchanged, and a served one leaves the written
// value there. Constants never change, and the blocks keep the protocol. At the end a reset restores every register's
// initial value, and every GPU works. The first broken rule ends the program with the access, its number and the seed,
// and exit code 1.
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/kernels.h"
#include "moves.h"
#include "node/node.h"
#include "protocol/units.h"
#include "register_access/names/register_names.h"
#include "small_gpus.h"

namespace t3vp {
namespace {

using processor::CommandProcessor;

constexpr std::uint32_t gpus = 3;

std::vector<RegisterPlace> all_registers() {
  std::vector<RegisterPlace> all;
  for (std::uint64_t gpu = 0; gpu < gpus; ++gpu)
    for (const BlockDescription* block : register_blocks())
      for (const RegisterDescription& d : block->registers)
        for (std::uint32_t element = 0; element < d.count; ++element) {
          const std::string index = d.count == 1 ? "" : fmt::format("[{}]", element);
          all.push_back(find_register(fmt::format("gpu{}.{}.{}{}", gpu, block->name, d.name, index)));
        }
  return all;
}

std::vector<CommandProcessor*> processors(Node& node) {
  std::vector<CommandProcessor*> all;
  for (const auto& gpu : node.gpus()) all.push_back(&gpu->native());
  return all;
}

bool is(const RegisterPlace& place, const char* block, const char* name) {
  return std::string_view(place.block->name) == block && std::string_view(place.description->name) == name;
}

/// Returns whether only the processor changes the register, so that a written value stays.
bool is_plain(const RegisterPlace& place) {
  for (const FieldDescription& field : place.description->fields)
    if (field.access != Access::rw) return false;
  const bool has_its_own_life = is(place, "signals", "value") || is(place, "nic", "key") || is(place, "nic", "state");
  return place.description->access == Access::rw && !has_its_own_life;
}

class Attack : public sc_core::sc_module {
 public:
  Attack(const sc_core::sc_module_name& name, Node& node, std::uint64_t count, std::uint64_t seed)
      : sc_module(name),
        node_(node),
        count_(count),
        random_(seed),
        registers_(all_registers()),
        moves_(processors(node), t3_kernels, random_) {
    SC_HAS_PROCESS(Attack);
    SC_THREAD(run);
  }

  bool has_ended() const { return has_ended_; }
  const std::string& broken() const { return broken_; }
  std::uint64_t done() const { return done_; }
  std::uint64_t refused() const { return refused_; }
  std::uint64_t moves() const { return move_count_; }

 private:
  void run() {
    const std::vector<std::uint64_t> at_first = snapshot();
    for (; done_ < count_ && broken_.empty(); ++done_) attack();
    if (broken_.empty()) look_at_constants(at_first);
    if (broken_.empty()) reset_all(at_first);
    if (broken_.empty()) zero_memory();
    has_ended_ = true;
  }

  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
  bool one_in(std::uint64_t count) { return below(count) == 0; }
  CommandProcessor& processor_of(std::uint64_t gpu) { return node_.gpus()[gpu]->native(); }

  void attack() {
    const RegisterPlace& place = registers_[pick()];
    if (one_in(16)) return write_memory();
    if (one_in(64)) return pass_time();
    if (one_in(1000)) return act_like_a_driver();
    if (one_in(32)) return wild(place);
    if (one_in(3)) return read(place);
    write(place);
  }

  /// Arrays have thousands of elements, which are not more than other registers.
  std::size_t pick() {
    std::size_t number = below(registers_.size());
    while (registers_[number].description->count > 16 && !one_in(registers_[number].description->count / 4))
      number = below(registers_.size());
    return number;
  }

  std::uint64_t address_in_memory(std::uint64_t gpu) {
    const std::uint64_t steps[] = {1, 4, 32, 64, 128, 4096};
    const std::uint64_t step = steps[below(std::size(steps))];
    return address_map::on_gpu(gpu, below(test::small_memory_bytes / step) * step);
  }

  std::uint64_t value_for(const RegisterPlace& place) {
    const RegisterDescription& d = *place.description;
    switch (below(8)) {
      case 0:
        return random_();
      case 1:
        return below(4);
      case 2:
        return std::uint64_t{1} << below(d.bytes * 8);
      case 3:
        return address_in_memory(one_in(4) ? below(gpus + 1) : place.gpu);
      case 4:
        return below(4096);
      case 5:
        return stored(place).value_or(0) + below(2);
      default:
        return with_members(d);
    }
  }

  /// All fields as they can be.
  std::uint64_t with_members(const RegisterDescription& d) {
    if (d.fields.empty()) return std::uint64_t{32} << below(16);
    std::uint64_t value = 0;
    for (const FieldDescription& field : d.fields) {
      const std::uint64_t part =
          field.values.empty() ? (one_in(2) ? below(10) : random_()) : field.values[below(field.values.size())].value;
      value |= part << field.shift & field.mask();
    }
    // A reset of all blocks is rare, or nothing else would ever happen.
    if (d.name == std::string_view("reset") && !one_in(50)) return 0;
    return value;
  }

  std::optional<std::uint64_t> stored(const RegisterPlace& place) {
    std::uint64_t value = 0;
    tlm::tlm_generic_payload look;
    look.set_command(tlm::TLM_READ_COMMAND);
    look.set_address(place.address);
    look.set_data_ptr(reinterpret_cast<unsigned char*>(&value));
    look.set_data_length(place.description->bytes);
    look.set_streaming_width(place.description->bytes);
    const unsigned done = processor_of(place.gpu).socket->transport_dbg(look);
    if (done != place.description->bytes) return std::nullopt;
    return value;
  }

  void fail(const std::string& what) {
    if (broken_.empty()) broken_ = what;
  }

  void judge(Status status, const std::string& what) {
    if (status != Status::ok) ++refused_;
    if (name_of(status) == std::string_view("unknown status")) fail(fmt::format("{}: no status", what));
  }

  void read(const RegisterPlace& place) {
    std::uint64_t wide = 0;
    std::uint32_t narrow = 0;
    CommandProcessor& processor = processor_of(place.gpu);
    const bool by_halves = place.description->bytes == 8 && one_in(4);
    Status status = place.description->bytes == 8 && !by_halves ? processor.read64(place.address, wide)
                                                                : processor.read32(place.address, narrow);
    judge(status, "read of " + name_of(place));
    if (place.description->access != Access::wo && status != Status::ok)
      fail(fmt::format("{} cannot be read: {}", name_of(place), name_of(status)));
    if (by_halves) judge(processor.read32(place.address + 4, narrow), "read of " + name_of(place));
  }

  void write(const RegisterPlace& place) {
    const std::uint64_t value = value_for(place), all = place.mask();
    const std::optional<std::uint64_t> before = stored(place);
    CommandProcessor& processor = processor_of(place.gpu);
    Status status;
    if (place.description->bytes == 8 && one_in(4)) {
      status = processor.write32(place.address, static_cast<std::uint32_t>(value));
      judge(status, "write of " + name_of(place));
      status = processor.write32(place.address + 4, static_cast<std::uint32_t>(value >> 32));
    } else {
      status = place.description->bytes == 8 ? processor.write64(place.address, value)
                                             : processor.write32(place.address, static_cast<std::uint32_t>(value));
    }
    judge(status, "write of " + name_of(place));
    if (is(place, "system", "reset") && status == Status::ok) wait(to_sc_time(10'000));
    if (!is_plain(place)) return;
    const std::uint64_t expected = status == Status::ok ? value & all : before.value_or(0);
    if (stored(place).value_or(~expected) != expected)
      fail(fmt::format("{}: {:#x} written with {}, it was {:#x}, found {:#x}", name_of(place), value, name_of(status),
                       before.value_or(0), stored(place).value_or(0)));
  }

  /// Accesses an address near a register, or a register of another GPU.
  void wild(const RegisterPlace& place) {
    std::uint32_t value = static_cast<std::uint32_t>(random_());
    const std::uint64_t address = one_in(4) ? random_() : place.address + below(64);
    CommandProcessor& processor = processor_of(below(gpus));
    std::array<unsigned char, 64> bytes{};
    switch (below(4)) {
      case 0:
        return judge(processor.read32(address, value), "wild read");
      case 1:
        return judge(processor.write32(address, value), "wild write");
      case 2:
        return judge(processor.read_memory(address, bytes.data(), static_cast<std::uint32_t>(1 + below(64))),
                     "wild read");
      default:
        return judge(processor.write_memory(address, bytes.data(), static_cast<std::uint32_t>(1 + below(64))),
                     "wild write");
    }
  }

  /// What queues and rings may find there.
  void write_memory() {
    const std::uint64_t gpu = below(gpus);
    std::array<std::uint64_t, 8> words{};
    for (std::uint64_t& word : words) word = one_in(2) ? below(64) : one_in(2) ? address_in_memory(gpu) : random_();
    CommandProcessor& processor = processor_of(gpu);
    judge(processor.write_memory(address_in_memory(gpu), words.data(), sizeof words), "write of memory");
    processor.order_writes();
  }

  void act_like_a_driver() {
    for (std::uint64_t left = below(30); left != 0; --left) {
      moves_.move();
      ++move_count_;
      if (one_in(4)) pass_time();
    }
  }

  void pass_time() { wait(to_sc_time(below(one_in(8) ? 20'000'000 : 200'000))); }

  std::vector<std::uint64_t> snapshot() {
    std::vector<std::uint64_t> values;
    for (const RegisterPlace& place : registers_) {
      values.push_back(stored(place).value_or(0));
      if (!stored(place)) fail(name_of(place) + " is not there");
    }
    return values;
  }

  void look_at_constants(const std::vector<std::uint64_t>& at_first) {
    for (std::size_t i = 0; i < registers_.size(); ++i) {
      const RegisterPlace& place = registers_[i];
      for (const char* name : {"identity", "gpu", "gpus", "memory_bytes"})
        if (is(place, "system", name) && stored(place) != at_first[i])
          fail(fmt::format("{}: found {:#x}, expected {:#x}", name_of(place), stored(place).value_or(0), at_first[i]));
    }
  }

  void reset_all(const std::vector<std::uint64_t>& at_first) {
    constexpr std::uint32_t key = 0xA7000000;
    for (std::uint64_t gpu = 0; gpu < gpus; ++gpu)
      processor_of(gpu).write32(find_register(fmt::format("gpu{}.system.reset", gpu)).address, key);
    wait(to_sc_time(10'000'000'000));  // accesses in flight arrive, and are refused
    for (std::uint64_t gpu = 0; gpu < gpus; ++gpu)
      processor_of(gpu).write32(find_register(fmt::format("gpu{}.system.reset", gpu)).address, key);
    wait(to_sc_time(1'000'000));
    for (std::size_t i = 0; i < registers_.size(); ++i)
      if (stored(registers_[i]) != at_first[i])
        fail(fmt::format("{} behind a reset: found {:#x}, expected {:#x}", name_of(registers_[i]),
                         stored(registers_[i]).value_or(0), at_first[i]));
  }

  /// Each GPU's DMA engine zeroes its memory.
  void zero_memory() {
    for (std::uint64_t gpu = 0; gpu < gpus; ++gpu) {
      const auto at = [gpu](const char* name) { return find_register(name, gpu).address; };
      CommandProcessor& processor = processor_of(gpu);
      const std::uint64_t ones = ~std::uint64_t{0}, place = address_map::on_gpu(gpu, 0x1000);
      processor.write_memory(place, &ones, sizeof ones);
      processor.write64(at("dma.fill_base"), place);
      processor.write64(at("dma.fill_bytes"), 4096);
      processor.write32(at("dma.command"), 3);
      wait(to_sc_time(100'000'000));
      std::uint32_t ends = 0;
      std::uint64_t found = ones;
      processor.read32(at("dma.interrupt"), ends);
      processor.read_memory(place, &found, sizeof found);
      if (ends != 2 || found != 0)
        fail(fmt::format("GPU {}'s DMA engine behind a reset: interrupt {:#x}, memory {:#x}", gpu, ends, found));
    }
  }

  Node& node_;
  std::uint64_t count_;
  std::mt19937_64 random_;
  std::vector<RegisterPlace> registers_;
  Moves moves_;
  std::string broken_;
  std::uint64_t done_ = 0, refused_ = 0, move_count_ = 0;
  bool has_ended_ = false;
};

int attack(std::uint64_t count, std::uint64_t seed) {
  Node node("node", test::small_gpus(gpus), t3_kernels, nullptr);
  Attack attack("attack", node, count, seed);
  const auto begin = std::chrono::steady_clock::now();
  sc_core::sc_start();
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
  std::string broken = attack.broken();
  if (broken.empty() && !attack.has_ended()) broken = "an access never ends";
  for (const Violations* found : node.violations())
    for (const Violation& violation : found->list())
      if (broken.empty()) broken = violation.text();
  if (!broken.empty()) {
    fmt::print(stderr, "random_registers: seed {}, access {}: {}\n", seed, attack.done(), broken);
    return 1;
  }
  fmt::print(
      "{} random accesses to registers, {} refused, {} moves of a driver, seed {}, {:.3f} ms simulated, {:.1f} s\n",
      attack.done(), attack.refused(), attack.moves(), seed, to_ns(now()) / 1e6, passed.count());
  return 0;
}

}  // namespace
}  // namespace t3vp

int sc_main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "random_registers COUNT SEED\n");
    return 2;
  }
  sc_core::sc_report_handler::set_actions(sc_core::SC_INFO, sc_core::SC_DO_NOTHING);
  return t3vp::attack(std::strtoull(argv[1], nullptr, 0), std::strtoull(argv[2], nullptr, 0));
}
