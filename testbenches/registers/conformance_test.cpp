// Every register and field of every block of a GPU does on the bus what its description says.
#include <catch2/catch.hpp>
#include <memory>
#include <set>

#include "registers/catalogue.h"
#include "registers/register_driver.h"
#include "registers/register_file_description.h"

namespace t3vp::test::conformance_test {

namespace {

struct Subject {
  std::string name;
  reference::Block described;
  std::unique_ptr<RegisterBlock> block;
  std::unique_ptr<RegisterDriver> driver;
};

std::vector<Subject> elaborated_blocks() {
  const auto described = reference::all_blocks();
  std::vector<Subject> subjects;
  const auto add = [&](const std::string& name, std::unique_ptr<RegisterBlock> block) {
    Subject subject{name, described.at(name), std::move(block),
                    std::make_unique<RegisterDriver>((name + "_driver").c_str())};
    subject.driver->drive(*subject.block);
    subjects.push_back(std::move(subject));
  };
  for (const registers::CatalogueEntry& entry : registers::catalogue)
    add(entry.description.name, entry.make(entry.description.name));
  REQUIRE(subjects.size() == described.size());
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  return subjects;
}

template <typename Check>
void for_each_element(Check check) {
  for (Subject& subject : elaborated_blocks())
    for (const reference::Register& r : subject.described)
      for (std::uint64_t element = 0; element < r.count; ++element) {
        CAPTURE(subject.name, r.name, element);
        check(*subject.driver, r, r.address(element));
      }
}

std::uint64_t stored(RegisterDriver& driver, const reference::Register& r, std::uint64_t address) {
  const auto [done, value] = driver.debug_read(address, r.bytes);
  REQUIRE(done == r.bytes);
  return value;
}

void require_refused(RegisterDriver& driver, const reference::Register& r, std::uint64_t address, std::uint64_t value,
                     tlm::tlm_response_status status, Status code) {
  const std::uint64_t before = stored(driver, r, address);
  REQUIRE(driver.write(address, r.bytes, value) == status);
  REQUIRE(stored(driver, r, address) == before);
  REQUIRE(driver.take_report() == code);
}

}  // namespace

TEST_CASE("registers hold their reset values and only write-only ones refuse reads") {
  for_each_element([](RegisterDriver& driver, const reference::Register& r, std::uint64_t address) {
    REQUIRE(stored(driver, r, address) == r.reset);
    const auto answer = driver.read(address, r.bytes);
    REQUIRE(answer.status == (r.readable() ? tlm::TLM_OK_RESPONSE : tlm::TLM_COMMAND_ERROR_RESPONSE));
    REQUIRE(driver.take_report() == (r.readable() ? Status::ok : Status::access_denied));
    if (r.readable()) REQUIRE(answer.value == r.as_read(r.reset));
    REQUIRE_FALSE(driver.dmi_allowed());
  });
}

TEST_CASE("a legal write changes every bit as its access type says") {
  std::mt19937_64 random(7);
  for_each_element([&random](RegisterDriver& driver, const reference::Register& r, std::uint64_t address) {
    if (!r.writable()) return;
    for (int repeat = 0; repeat < 16; ++repeat) {
      const std::uint64_t before = r.legal_value(random), written = r.legal_value(random);
      REQUIRE(driver.debug_write(address, r.bytes, before) == r.bytes);
      REQUIRE(driver.write(address, r.bytes, written) == tlm::TLM_OK_RESPONSE);
      REQUIRE(stored(driver, r, address) == r.after_write(before, written));
      if (r.readable()) REQUIRE(driver.read(address, r.bytes).value == r.as_read(r.after_write(before, written)));
      REQUIRE(driver.reported.empty());
    }
  });
}

TEST_CASE("writing to one register leaves all others alone") {
  std::mt19937_64 random(11);
  for (Subject& subject : elaborated_blocks()) {
    std::map<std::uint64_t, std::uint64_t> expected;
    for (const reference::Register& r : subject.described)
      for (std::uint64_t element = 0; element < r.count; ++element) {
        const std::uint64_t value = r.legal_value(random);
        const bool taken = subject.driver->write(r.address(element), r.bytes, value) == tlm::TLM_OK_RESPONSE;
        REQUIRE(taken == r.writable());
        expected[r.address(element)] = taken ? r.after_write(r.reset, value) : r.reset;
      }
    for (const reference::Register& r : subject.described)
      for (std::uint64_t element = 0; element < r.count; ++element) {
        CAPTURE(subject.name, r.name, element);
        REQUIRE(stored(*subject.driver, r, r.address(element)) == expected[r.address(element)]);
      }
  }
}

TEST_CASE("writes to read-only registers are denied") {
  std::mt19937_64 random(13);
  for_each_element([&random](RegisterDriver& driver, const reference::Register& r, std::uint64_t address) {
    if (r.writable()) return;
    REQUIRE(driver.debug_write(address, r.bytes, r.legal_value(random)) == r.bytes);
    require_refused(driver, r, address, r.legal_value(random), tlm::TLM_COMMAND_ERROR_RESPONSE, Status::access_denied);
  });
}

TEST_CASE("reserved bits cannot be set") {
  for_each_element([](RegisterDriver& driver, const reference::Register& r, std::uint64_t address) {
    if (!r.writable()) return;
    for (unsigned bit = 0; bit < r.bytes * 8; ++bit)
      if (r.field_at(bit) == nullptr)
        require_refused(driver, r, address, r.reset | std::uint64_t{1} << bit, tlm::TLM_GENERIC_ERROR_RESPONSE,
                        Status::bad_value);
  });
}

TEST_CASE("enumerated fields take members only") {
  for_each_element([](RegisterDriver& driver, const reference::Register& r, std::uint64_t address) {
    for (const reference::Field& field : r.fields) {
      if (!field.members || (field.access != "RW" && field.access != "WO")) continue;
      const std::set<std::uint64_t> members(field.members->begin(), field.members->end());
      for (std::uint64_t value = 0; value < 256 && field.of(value << field.lsb) == value; ++value) {
        const std::uint64_t other_fields = r.reset & ~(field.of(~std::uint64_t{0}) << field.lsb);
        const std::uint64_t written = other_fields | value << field.lsb;
        CAPTURE(field.name, value);
        if (members.count(value) != 0)
          REQUIRE(driver.write(address, r.bytes, written) == tlm::TLM_OK_RESPONSE);
        else
          require_refused(driver, r, address, written, tlm::TLM_GENERIC_ERROR_RESPONSE, Status::bad_value);
      }
    }
  });
}

TEST_CASE("two halves of every 64-bit register write and read what one access does") {
  std::mt19937_64 random(17);
  for_each_element([&random](RegisterDriver& driver, const reference::Register& r, std::uint64_t address) {
    if (r.bytes != 8) return;
    const std::uint64_t before = r.legal_value(random), written = r.legal_value(random);
    REQUIRE(driver.debug_write(address, 8, before) == 8);
    const tlm::tlm_response_status expected = r.writable() ? tlm::TLM_OK_RESPONSE : tlm::TLM_COMMAND_ERROR_RESPONSE;
    REQUIRE(driver.write(address, 4, written & 0xFFFFFFFF) == expected);
    REQUIRE(stored(driver, r, address) == before);
    REQUIRE(driver.write(address + 4, 4, written >> 32) == expected);
    const std::uint64_t after = r.writable() ? r.after_write(before, written) : before;
    REQUIRE(stored(driver, r, address) == after);
    if (r.readable()) {
      const std::uint64_t low = driver.read(address, 4).value;
      REQUIRE((driver.read(address + 4, 4).value << 32 | low) == r.as_read(after));
    }
    driver.reported.clear();
    REQUIRE(driver.write(address + 4, 4, 0) != tlm::TLM_OK_RESPONSE);
    REQUIRE(driver.take_report() == (r.writable() ? Status::bad_access : Status::access_denied));
    REQUIRE(stored(driver, r, address) == after);
  });
}

TEST_CASE("an access has the width and alignment of its register or of half of it") {
  for_each_element([](RegisterDriver& driver, const reference::Register& r, std::uint64_t address) {
    const std::uint64_t before = stored(driver, r, address);
    for (const unsigned bytes : {0u, 1u, 2u, 4u, 8u, 16u})
      for (std::uint64_t shift = 0; shift < r.bytes; ++shift) {
        if (bytes == r.bytes && shift == 0) continue;
        if (r.bytes == 8 && bytes == 4 && shift % 4 == 0) continue;  // a half
        CAPTURE(bytes, shift);
        REQUIRE(driver.read(address + shift, bytes).status == tlm::TLM_BURST_ERROR_RESPONSE);
        REQUIRE(driver.take_report() == Status::bad_access);
        REQUIRE(driver.write(address + shift, bytes, ~std::uint64_t{0}) == tlm::TLM_BURST_ERROR_RESPONSE);
        REQUIRE(driver.take_report() == Status::bad_access);
      }
    driver.prepare(tlm::TLM_WRITE_COMMAND, address, r.bytes, 0).set_streaming_width(r.bytes / 2);
    REQUIRE(driver.send().status == tlm::TLM_BURST_ERROR_RESPONSE);
    REQUIRE(driver.take_report() == Status::bad_access);
    unsigned char enables[8] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};
    driver.prepare(tlm::TLM_WRITE_COMMAND, address, r.bytes, 0).set_byte_enable_ptr(enables);
    REQUIRE(driver.send().status == tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
    REQUIRE(driver.take_report() == Status::bad_access);
    REQUIRE(stored(driver, r, address) == before);
  });
}

TEST_CASE("nothing answers where no register is described") {
  for (Subject& subject : elaborated_blocks()) {
    std::set<std::uint64_t> words;
    for (const reference::Register& r : subject.described)
      for (std::uint64_t element = 0; element < r.count; ++element)
        for (std::uint64_t word = r.address(element); word < r.address(element) + r.bytes; word += 4)
          words.insert(word);
    for (std::uint64_t word = 0; word < 0x10000; word += 4) {
      CAPTURE(subject.name, word);
      REQUIRE(subject.driver->debug_read(word, 1).first == words.count(word));
      if (words.count(word) != 0) continue;
      REQUIRE(subject.driver->read(word, 4).status == tlm::TLM_ADDRESS_ERROR_RESPONSE);
      REQUIRE(subject.driver->take_report() == Status::bad_address);
    }
    for (unsigned bit = 16; bit < 64; ++bit) {
      const std::uint64_t alias = std::uint64_t{1} << bit;
      CAPTURE(alias);
      REQUIRE(subject.driver->read(alias, 4).status == tlm::TLM_ADDRESS_ERROR_RESPONSE);
      REQUIRE(subject.driver->reporter == subject.name);
      REQUIRE(subject.driver->reported.back().address == alias);
      REQUIRE(subject.driver->take_report() == Status::bad_address);
    }
  }
}

TEST_CASE("registers that lock are locked while their block is busy, and no others") {
  std::vector<Subject> subjects = elaborated_blocks();
  for (Subject& subject : subjects) {
    subject.block->lock_while("it is tested", [] { return true; });
    for (const reference::Register& r : subject.described) {
      CAPTURE(subject.name, r.name);
      if (r.locked_while_busy)
        require_refused(*subject.driver, r, r.offset, r.reset, tlm::TLM_COMMAND_ERROR_RESPONSE, Status::access_denied);
      else if (r.writable())
        REQUIRE(subject.driver->write(r.offset, r.bytes, r.reset) == tlm::TLM_OK_RESPONSE);
      REQUIRE(subject.driver->read(r.offset, r.bytes).status != tlm::TLM_GENERIC_ERROR_RESPONSE);
      subject.driver->reported.clear();  // of write-only registers that were read
    }
  }
}

}  // namespace t3vp::test::conformance_test
