// Registers refuse values: the log has the place, the value found and the rule that it broke.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "driver_errors/prober.h"
#include "registers/catalogue.h"

namespace t3vp::test::register_rules_test {

using address_map::Block;
using address_map::on_gpu;

namespace {

bool takes_reads(const RegisterDescription& r) { return r.access != Access::wo; }
bool takes_writes(const RegisterDescription& r) { return r.access != Access::ro && r.access != Access::rc; }

std::uint64_t known_bits(const RegisterDescription& r) {
  if (r.fields.empty()) return ~std::uint64_t{0} >> (64 - 8 * r.bytes);
  std::uint64_t known = 0;
  for (const FieldDescription& field : r.fields) known |= field.mask();
  return known;
}

/// The smallest value of the field that has no name; none for a field without names.
std::optional<std::uint64_t> nameless(const FieldDescription& field) {
  if (field.values.empty() || field.access == Access::ro) return std::nullopt;
  for (std::uint64_t value = 0; value <= field.mask() >> field.shift; ++value) {
    const auto has = [value](const EnumerationValue& member) { return member.value == value; };
    if (std::none_of(field.values.begin(), field.values.end(), has)) return value;
  }
  return std::nullopt;
}

/// All that the description of one register forbids; how many accesses were refused.
std::size_t probe(Prober& prober, const char* block, const RegisterDescription& r, std::size_t element,
                  std::uint64_t address) {
  std::size_t refused = 0;
  const std::string name = fmt::format("{}.{}{}", block, r.name, r.count == 1 ? "" : fmt::format("[{}]", element));
  const auto expect = [&](Status answer, Status code, const std::string& text) {
    CAPTURE(name);
    CHECK(answer == code);
    prober.require_told(block, code, address, name + text);
    ++refused;
  };
  if (!takes_writes(r))
    expect(prober.write(address, r.bytes, 0x5A), Status::access_denied, ": 0x5a written, expected reads only");
  if (!takes_reads(r)) expect(prober.read(address, r.bytes), Status::access_denied, ": read, expected writes only");
  if (r.bytes == 4) {
    expect(prober.write(address, 8, 0), Status::bad_access,
           fmt::format(": 8 bytes at {0:#x}, expected 4 bytes at {0:#x}", address));
  } else if (takes_writes(r)) {
    const std::uint64_t high = address + 4;
    CHECK(prober.write(high, 4, 0) == Status::bad_access);
    prober.require_told(
        block, Status::bad_access, high,
        fmt::format("{}: high half written at {:#x}, expected the low half at {:#x} before it", name, high, address));
    ++refused;
  }
  if (!takes_writes(r)) return refused;
  const std::uint64_t known = known_bits(r);
  for (unsigned bit = 0; bit < 8 * r.bytes; ++bit) {
    const std::uint64_t value = std::uint64_t{1} << bit;
    if ((known & value) == 0)
      expect(prober.write(address, r.bytes, value), Status::bad_value,
             fmt::format(": {0:#x} sets reserved bits {0:#x}, expected bits of {1:#x} only", value, known));
    if ((known & value) == 0) break;
  }
  for (const FieldDescription& field : r.fields) {
    const std::optional<std::uint64_t> value = nameless(field);
    if (!value) continue;
    std::string members;
    for (const EnumerationValue& member : field.values)
      members += fmt::format("{}{} ({})", members.empty() ? "" : ", ", member.name, member.value);
    expect(prober.write(address, r.bytes, *value << field.shift), Status::bad_value,
           fmt::format(".{}: {}, expected one of {}", field.name, *value, members));
  }
  return refused;
}

}  // namespace

TEST_CASE("every register of every block tells which rule of its description an access broke") {
  std::size_t registers_seen = 0, refused = 0;
  const Prober prober([&](Prober& p) {
    for (const registers::CatalogueEntry& entry : registers::catalogue)
      for (const RegisterDescription& r : entry.description.registers) {
        ++registers_seen;
        for (const std::uint32_t element : std::set<std::uint32_t>{0, r.count - 1})
          refused += probe(p, entry.description.name, r, element,
                           at(entry.block, r.offset + std::uint64_t{element} * r.stride));
      }
  });
  CHECK(registers_seen > 90);
  CHECK(refused > 150);
}

TEST_CASE("values that a block refuses are told with register and rule") {
  struct Refused {
    const char* name;
    std::uint64_t offset;
    std::uint32_t bytes;
    std::uint64_t value;
    Status code;
    const char* text;
  };
  // These are the kernel queue's, whose ring of 16 packets begins at the memory's 0x1000: the other blocks look at what
  // is staged when a command comes.
  const std::uint64_t base = 0x00, entries = 0x08, doorbell = 0x10, memory = on_gpu(own, 0);
  const Refused table[] = {
      {"base", base, 8, memory + 0x40, Status::unaligned, "0x100000000040, a multiple of 128 expected"},
      {"base", base, 8, 0x1000, Status::bad_address,
       "0x1000, a ring in the memory of GPU 1, 0x100000000000 to 0x10003fffffff, expected, found 16 packets of 128 "
       "bytes "
       "from 0x1000 on; with the GPU's number, 0x100000001000 expected"},
      {"base", base, 8, on_gpu(2, 0x1000), Status::bad_address,
       "0x200000001000, a ring in the memory of GPU 1, 0x100000000000 to 0x10003fffffff, expected, found 16 packets of "
       "128 bytes from 0x200000001000 on"},
      {"base", base, 8, memory + memory_bytes - 0x780, Status::bad_address,
       "0x10003ffff880, a ring in the memory of GPU 1, 0x100000000000 to 0x10003fffffff, expected, found 16 packets of "
       "128 bytes from 0x10003ffff880 on"},
      {"entries", entries, 4, 0, Status::invalid_argument, "0x0, a power of two up to 256 expected"},
      {"entries", entries, 4, 24, Status::invalid_argument, "0x18, a power of two up to 256 expected"},
      {"entries", entries, 4, 512, Status::invalid_argument, "0x200, a power of two up to 256 expected"},
      {"doorbell", doorbell, 8, 17, Status::invalid_argument,
       "0x11, 1 to 16 expected: 0 packets have been announced, 0 have ended, the ring has 16 entries"},
  };
  const Prober prober([&](Prober& p) {
    CHECK(p.write(at(Block::kernel_queue, doorbell), 8, 1) == Status::bad_value);
    p.require_told(
        "kernel_queue", Status::invalid_argument, at(Block::kernel_queue, doorbell),
        "kernel_queue.doorbell[0]: 0x1, a ring expected before it: entries is 0, base and entries come first");
    REQUIRE(p.write(at(Block::kernel_queue, entries), 4, 16) == Status::ok);
    REQUIRE(p.write(at(Block::kernel_queue, base), 8, memory + 0x1000) == Status::ok);
    for (const Refused& r : table) {
      CAPTURE(r.name, r.value);
      CHECK(p.write(at(Block::kernel_queue, r.offset), r.bytes, r.value) == Status::bad_value);
      p.require_told("kernel_queue", r.code, at(Block::kernel_queue, r.offset),
                     fmt::format("kernel_queue.{}[0]: {}", r.name, r.text));
    }
    REQUIRE(p.write(at(Block::kernel_queue, base), 8, memory + memory_bytes - 0x800) == Status::ok);
    CHECK(p.write(at(Block::kernel_queue, entries), 4, 32) == Status::bad_value);
    p.require_told("kernel_queue", Status::bad_address, at(Block::kernel_queue, entries),
                   "kernel_queue.entries[0]: 0x20, a ring in the memory of GPU 1, 0x100000000000 to 0x10003fffffff, "
                   "expected, found 32 packets of 128 bytes from 0x10003ffff800 on");
  });
}

TEST_CASE("a 64-bit register takes its 8 bytes or two halves and nothing else at any place in it") {
  const Prober prober([](Prober& p) {
    std::vector<unsigned char> bytes(17, 0xFF);
    const std::uint64_t base = at(Block::kernel_queue, 0);
    for (std::uint32_t shift = 0; shift < 8; ++shift)
      for (std::uint32_t size = 1; size <= bytes.size(); ++size) {
        if ((size == 8 && shift == 0) || (size == 4 && shift % 4 == 0)) continue;
        CAPTURE(size, shift);
        const std::string text = fmt::format(
            "kernel_queue.base[0]: {} bytes at {:#x}, expected 8 bytes at {:#x}, or 4 bytes there and then 4 at {:#x}",
            size, base + shift, base, base + 4);
        CHECK(p.processor().read_memory(base + shift, bytes.data(), size) == Status::bad_access);
        p.require_told("kernel_queue", Status::bad_access, base + shift, text);
        CHECK(p.processor().write_memory(base + shift, bytes.data(), size) == Status::bad_access);
        p.require_told("kernel_queue", Status::bad_access, base + shift, text);
      }
    std::uint64_t value = 1;
    CHECK(p.processor().read_memory(base, &value, 8) == Status::ok);
    CHECK(value == 0);
  });
}

TEST_CASE("a limit that a policy does not have is refused and changes nothing") {
  const std::uint64_t arbitration = at(Block::memory_controller, 0);
  const auto written = [](std::uint32_t policy, std::uint32_t limit) { return policy | limit << 8; };
  const Prober prober([&](Prober& p) {
    REQUIRE(p.write(arbitration, 4, written(2, 10)) == Status::ok);
    const std::tuple<std::uint32_t, std::uint32_t, const char*> refused[] = {
        {0, 3, "the limit 3 of the policy round-robin: 0, since it has no parameter, expected"},
        {0, 255, "the limit 255 of the policy round-robin: 0, since it has no parameter, expected"},
        {1, 200, "the limit 200 of the policy compute-first: 0, since it has no parameter, expected"},
        {3, 255, "the limit 255 of the policy select: 0 or 1 to 254 expected"}};
    for (const auto& [policy, limit, text] : refused) {
      CHECK(p.write(arbitration, 4, written(policy, limit)) == Status::bad_value);
      p.require_told("memory_controller", Status::invalid_argument, arbitration,
                     fmt::format("memory_controller.arbitration: {:#x}, {}", written(policy, limit), text));
      std::uint32_t value = 0;
      CHECK(p.processor().read32(arbitration, value) == Status::ok);
      CHECK(value == written(2, 10));
    }
    for (const auto& [policy, limit] :
         {std::pair{0u, 0u}, {1u, 0u}, {2u, 0u}, {2u, 1u}, {2u, 254u}, {2u, 255u}, {3u, 0u}, {3u, 1u}, {3u, 254u}})
      CHECK(p.write(arbitration, 4, written(policy, limit)) == Status::ok);
    p.require_nothing_told();
  });
}

TEST_CASE("what is neither register nor memory is told by its whole address") {
  const Prober prober([](Prober& p) {
    std::vector<unsigned char> many(65);
    CHECK(p.read(at(Block::tracker, 0x8000), 4) == Status::bad_address);
    p.require_told("tracker", Status::bad_address, at(Block::tracker, 0x8000),
                   "tracker: no register at 0x1f0000098000, expected one of those between 0x1f0000090000 and "
                   "0x1f000009006f");
    CHECK(p.read(at(Block::system, 6), 4) == Status::bad_access);
    p.require_told("system", Status::bad_access, at(Block::system, 6),
                   "system.gpu: 4 bytes at 0x1f0000000006, expected 4 bytes at 0x1f0000000004");
    CHECK(p.read(on_gpu(own, memory_bytes - 4), 8) == Status::bad_address);
    p.require_told(
        "memory_controller", Status::bad_address, on_gpu(own, memory_bytes - 4),
        "read of 8 bytes at 0x10003ffffffc: not all in the memory of GPU 1, 0x100000000000 to 0x10003fffffff");
    CHECK(p.processor().write_memory(on_gpu(own, 0), nullptr, 8) == Status::bad_access);
    p.require_told("memory_controller", Status::bad_access, on_gpu(own, 0),
                   "write of 8 bytes at 0x100000000000: no data");
    CHECK(p.write(at(Block::count, 0), 4, 1) == Status::bad_address);
    p.require_told("control_bus", Status::bad_address, at(Block::count, 0),
                   "write of 4 bytes at 0x1f0000120000: nothing answers, expected a register block, memory below "
                   "0x10000000000 or a linked GPU");
    const std::uint64_t theirs = on_gpu(0, address_map::block_base(Block::signals) + 0x1000);
    CHECK(p.read(theirs, 8) == Status::access_denied);
    p.require_told("links", Status::access_denied, theirs,
                   "read of 8 bytes at 0xf0000031000: a peer's addresses can be written, not read");
    CHECK(p.processor().write_memory(theirs, many.data(), 65) == Status::bad_access);
    p.require_told("links", Status::bad_access, theirs,
                   "write of 65 bytes at 0xf0000031000: posted writes of 1 to 64 bytes, all of them, expected");
    CHECK(p.write(on_gpu(9, 0), 4, 1) == Status::bad_address);
    p.require_told("links", Status::no_peer, on_gpu(9, 0), "no link leads to GPU 9");
  });
}

}  // namespace t3vp::test::register_rules_test
