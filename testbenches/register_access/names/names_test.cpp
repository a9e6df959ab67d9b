// Names of registers against the descriptions themselves, read without the generator.
#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "register_access/names/register_names.h"
#include "registers/register_file_description.h"

namespace t3vp::test::names_test {

namespace {

/// First address of each block of GPU 0.
std::map<std::string, std::uint64_t> bases() {
  std::ifstream file(T3VP_SOURCE_DIR "/models/gpu.json");
  const nlohmann::json device = nlohmann::json::parse(file);
  const auto number = [&](const char* key) { return std::stoull(device[key].get<std::string>(), nullptr, 0); };
  std::map<std::string, std::uint64_t> bases;
  for (const nlohmann::json& block : device["blocks"])
    if (!block.contains("spare"))
      bases[block["name"]] = number("registers_base") + block["window"].get<std::uint64_t>() * number("block_bytes");
  return bases;
}

std::string error_of(const std::string& name) {
  try {
    find_register(name);
  } catch (const NameError& error) {
    return std::to_string(error.position) + ": " + error.what();
  }
  return "none";
}

std::string value_error(const std::string& name, const std::string& value) {
  try {
    value_of(find_register(name), value);
  } catch (const NameError& error) {
    return error.what();
  }
  return "none";
}

}  // namespace

TEST_CASE("a block that is added has names in its window, and spare windows before it have none") {
  BlockDescription mine = *register_blocks().front();
  mine.name = "mine";
  const std::string first = mine.registers[0].name;
  REQUIRE_THROWS_AS(find_register("gpu0.mine." + first), NameError);
  add_register_block(15, mine);
  const std::uint64_t address = 0xF00000F0000 + mine.registers[0].offset;
  CHECK(find_register("gpu0.mine." + first).address == address);
  CHECK(name_of_address(address) == "gpu0.mine." + first);
  CHECK(name_of_address(0xF00000E0000) == "gpu0.plugin_1+0x0");
}

TEST_CASE("every element and field has a name that leads to where the description puts it and back") {
  const auto bases = names_test::bases();
  const auto described = reference::all_blocks();
  const auto has_registers = [](const BlockDescription* block) { return !block->registers.empty(); };
  const std::vector<const BlockDescription*>& blocks = register_blocks();
  REQUIRE(static_cast<std::size_t>(std::count_if(blocks.begin(), blocks.end(), has_registers)) == bases.size());
  for (const auto& [block, base] : bases)
    for (const reference::Register& r : described.at(block))
      for (std::uint64_t element = 0; element < r.count; ++element) {
        const std::string index = r.count == 1 ? "" : "[" + std::to_string(element) + "]";
        const std::string name = "gpu5." + block + "." + r.name + index;
        CAPTURE(name);
        const RegisterPlace place = find_register(name);
        const std::uint64_t address = (std::uint64_t{5} << 44) + base + r.address(element);
        REQUIRE(place.address == address);
        REQUIRE(place.mask() == (r.bytes == 8 ? ~std::uint64_t{0} : 0xFFFFFFFF));
        REQUIRE(name_of(place) == name);
        REQUIRE(name_of_address(address) == name);
        for (std::uint64_t byte = 1; byte < r.bytes; ++byte)
          REQUIRE(name_of_address(address + byte) == name + "+" + std::to_string(byte));
        REQUIRE(find_register(name.substr(5), 5).address == address);
        for (const reference::Field& field : r.fields) {
          if (field.name == "whole") continue;
          const RegisterPlace part = find_register(name + "." + field.name);
          REQUIRE(name_of(part) == name + "." + field.name);
          REQUIRE(part.address == address);
          REQUIRE(part.mask() == field.of(~std::uint64_t{0}) << field.lsb);
        }
      }
}

TEST_CASE("what is no register is named by what lies there") {
  CHECK(name_of_address(0x1234) == "gpu0.memory+0x1234");
  CHECK(name_of_address((std::uint64_t{3} << 44) + 0xF00000A0FFC) == "gpu3.dma+0xffc");
  CHECK(name_of_address(0xF0000FF0000) == "gpu0+0xf0000ff0000");
  CHECK(name_of_address(0x20000000000) == "gpu0+0x20000000000");
  CHECK_FALSE(register_at(0x1234));
  CHECK_FALSE(register_at(0xF00000A0FFC));
  CHECK_FALSE(register_at(0xF0000FF0000));
}

TEST_CASE("a wrong name tells its place and what could stand there") {
  CHECK_THAT(error_of("dma.command"), Catch::StartsWith("0: found dma, expected gpu and its number"));
  CHECK_THAT(error_of("gpu.dma.command"), Catch::StartsWith("0: found gpu, expected gpu and its number"));
  CHECK_THAT(error_of("gpu01.dma.command"), Catch::StartsWith("0: found gpu01, "));
  CHECK_THAT(error_of("gpu0x1.dma.command"), Catch::StartsWith("0: found gpu0x1, "));
  CHECK_THAT(error_of("gpu99999999999999999999.dma.command"), Catch::StartsWith("0: found gpu9999"));
  CHECK_THAT(error_of("gpu1048574.dma.command"), Catch::StartsWith("0: found gpu1048574"));
  CHECK(error_of("") == "0: found nothing, expected gpu and its number, such as gpu0");
  CHECK(error_of("gpu0") == "4: found nothing, expected a dot and a block");
  CHECK(error_of("gpu0[1]") == "4: found [1], expected a dot and a block");
  CHECK_THAT(error_of("gpu0.dm"), Catch::StartsWith("5: found dm, expected one of system, interrupt_controller, "));
  CHECK(error_of("gpu0.dma") == "8: found nothing, expected a dot and a register of dma");
  CHECK_THAT(error_of("gpu0.dma.commnd"), Catch::StartsWith("9: found commnd, expected one of output_base, "));
  CHECK(error_of("gpu0.dma.command[0]") == "16: found [0], expected none: command is no array");
  CHECK(error_of("gpu0.signals.value") == "18: found nothing, expected [0 to 511] of the array value");
  CHECK(error_of("gpu0.signals.value[512]") == "19: found 512], expected 0 to 511");
  CHECK(error_of("gpu0.signals.value[]") == "19: found ], expected 0 to 511");
  CHECK(error_of("gpu0.signals.value[1") == "20: found nothing, expected ]");
  CHECK(error_of("gpu0.signals.value[-1]") == "19: found -1], expected 0 to 511");
  CHECK(error_of("gpu0.signals.value[1]x") == "21: found x, expected nothing: value has no fields");
  CHECK_THAT(error_of("gpu0.dma.command.actio"),
             Catch::StartsWith("17: found actio, expected one of action, operation"));
  CHECK(error_of("gpu0.dma.command.action.x") == "23: found .x, expected nothing");
  CHECK(error_of("gpu0.kernel_queue.status[0]busy") ==
        "27: found busy, expected a dot and a field of status, or nothing");
  CHECK_THAT(error_of("gpu0.dma.command."), Catch::StartsWith("17: found nothing, expected one of action, "));
}

TEST_CASE("values read as their fields' names and are written by them") {
  const RegisterPlace command = find_register("gpu0.dma.command"), action = find_register("gpu0.dma.command.action");
  CHECK(text_of_value(command, 0x21) ==
        "action = add, operation = update, force = 0, reads = control, writes = control");
  CHECK(text_of_value(action, 0x21) == "add");
  CHECK(text_of_value(find_register("gpu0.dma.command.operation"), 0x21) == "update");
  CHECK(text_of_value(action, 0x7) == "copy");
  CHECK(text_of_value(find_register("gpu0.dma.rows"), 4095) == "4095");
  CHECK(text_of_value(find_register("gpu0.dma.rows"), 4096) == "0x1000");
  CHECK(value_of(action, "add") == 1);
  CHECK(value_of(action, "7") == 7);
  CHECK(value_of(action, "0x3") == 3);
  CHECK(value_of(command, "0xFFFFFFFF") == 0xFFFFFFFF);
  CHECK(value_of(find_register("gpu0.dma.fill_base"), "0xFFFFFFFFFFFFFFFF") == ~std::uint64_t{0});
  CHECK(value_error("gpu0.dma.command.action", "8") ==
        "found 8, expected one of none (0), add (1), remove_all (2), fill (3), remove (4), add_destination (5), look "
        "(6), copy (7), or a number up to 7");
  CHECK(value_error("gpu0.dma.command.force", "2") == "found 2, expected a number up to 1");
  CHECK(value_error("gpu0.dma.rows", "0x100000000") == "found 0x100000000, expected a number up to 0xffffffff");
  for (const char* text : {"", "0x", "-1", "1 ", "add", "0x1g", "18446744073709551616"})
    CHECK_THAT(value_error("gpu0.dma.fill_base", text), Catch::EndsWith("expected a number up to 0xffffffffffffffff"));
}

TEST_CASE("names are completed part by part") {
  using Names = std::vector<std::string>;
  CHECK(completions_of("", 3) == Names{"gpu0.", "gpu1.", "gpu2."});
  CHECK(completions_of("gpu1", 12) == Names{"gpu1.", "gpu10.", "gpu11."});
  CHECK(completions_of("x", 3).empty());
  CHECK(completions_of("gpu1.", 2).size() == register_blocks().size());
  CHECK(completions_of("gpu1.dm", 2) == Names{"gpu1.dma."});
  CHECK(completions_of("gpu1.dma.fill", 2) == Names{"gpu1.dma.fill_base", "gpu1.dma.fill_bytes"});
  CHECK(completions_of("gpu1.dma.way", 2) == Names{"gpu1.dma.way", "gpu1.dma.way.kind", "gpu1.dma.way.queue"});
  CHECK(completions_of("gpu1.signals.v", 2) == Names{"gpu1.signals.value["});
  CHECK(completions_of("gpu0.kernel_queue.status[1]", 2) ==
        Names{"gpu0.kernel_queue.status[1]", "gpu0.kernel_queue.status[1].busy", "gpu0.kernel_queue.status[1].running",
              "gpu0.kernel_queue.status[1].error"});
  CHECK(completions_of("gpu0.kernel_queue.status[16]", 2).empty());
  CHECK(completions_of("gpu0.nothing.x", 2).empty());
}

}  // namespace t3vp::test::names_test
