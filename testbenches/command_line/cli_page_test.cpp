// docs/reference/cli.md, and that commands end with the exit codes that it lists.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "command_line/program.h"

namespace t3vp::test::cli_page_test {

namespace {

using Arguments = std::vector<std::string>;

const char* const bare_report =
    R"({"version": "1", "config_hash": "", "seed": 1, "method": "t3", "system": "", "workload": {},
  "time_ns": {"total": 1, "gemm": null, "reduce_scatter": null, "fused": null, "all_gather": null, "setup": 0, "zeroing": 0},
  "dram_bytes": {"gemm_read": 0, "gemm_write": 0, "rs_read": 0, "rs_write": 0, "ag_read": 0, "ag_write": 0, "setup": 0,
                 "control": 0},
  "links": [], "tracker": {"triggers": 0, "peak_entries": 0, "spills": 0, "trigger_wait_ns": 0, "size_bytes": 0},
  "bounds": {"compute_ns": 0, "compute_quantized_ns": 0, "link_ns": 0, "dram_ns": 0},
  "functional": {"checked": false, "elements": 0, "mismatches": 0, "max_abs_error": 0}, "statistics": [],
  "host": {"wall_s": 0, "peak_rss_MiB": 0, "dram_accesses_per_s": 0, "events": 0, "program": ""}})";

}  // namespace

TEST_CASE("docs/reference/cli.md is the program's own description") {
  const Outcome page = run_program({"--markdown"});
  CHECK(page.exit_code == 0);
  INFO("build the target cli_reference");
  CHECK(page.out == text_of(std::filesystem::path(T3VP_SOURCE_DIR) / "docs/reference/cli.md"));
}

TEST_CASE("help has the exit codes of the page") {
  const std::string help = run_program({"compare", "--help"}).out, page = run_program({"--markdown"}).out;
  const std::string differ = "At least one metric differs.";
  CHECK_THAT(help, Catch::Contains("  1  " + differ));
  CHECK_THAT(page, Catch::Contains("| " + differ + " |"));
}

TEST_CASE("commands end with the exit codes of docs/reference/cli.md") {
  const ValidFiles files;
  nlohmann::json other = nlohmann::json::parse(bare_report);
  const auto first = files.write("first.json", other);
  other["time_ns"]["total"] = 2;
  const auto second = files.write("second.json", other);
  const auto passes = files.write("passes.regs", std::string("expect gpu0.dma.rows == 0\n"));
  const auto fails = files.write("fails.regs", std::string("expect gpu0.dma.rows == 1\n"));
  const auto wrong = files.write("wrong.regs", std::string("expect gpu0.nowhere\n"));
  const auto script = [](const std::filesystem::path& file) {
    return Arguments{"registers", "script", file.string(), "--system", config("systems/small-4.json").string()};
  };
  const std::string run = files.run().string(), out = (files / "out").string();
  const std::pair<Arguments, int> cases[] = {
      {{"run", run, "--out", out}, 0},
      {{"run", run, "--out", out, "--set", "data=functional", "--set",
        R"(inject={"lose_updates": {"gpu": 1, "count": 1}})"},
       1},
      {{"run", run, "--out", out, "--set", "gpus=0"}, 2},
      {{"run", run, "--print-config"}, 0},
      {{"check", run}, 0},
      {{"check", passes.string()}, 2},
      {{"registers", "--json"}, 0},
      {script(passes), 0},
      {script(fails), 1},
      {script(wrong), 2},
      {{"compare", first.string(), first.string()}, 0},
      {{"compare", first.string(), second.string()}, 1},
      {{"compare", first.string(), run}, 2},
      {{"explain", first.string()}, 2},
      {{"explain", first.string(), first.string(), first.string()}, 2},
      {{"keys", "dma"}, 0},
      {{"keys", "no such key"}, 2},
  };
  for (const auto& [arguments, exit_code] : cases) {
    const Outcome outcome = run_program(arguments);
    CAPTURE(arguments, outcome.out, outcome.err);
    CHECK(outcome.exit_code == exit_code);
  }
}

}  // namespace t3vp::test::cli_page_test
