// Files that cannot be read as what they are, command lines, and results that have no place: one line, exit code 2.
#include <catch2/catch.hpp>

#include "command_line/refusals.h"

namespace t3vp::test::bad_files_test {

using nlohmann::json;

TEST_CASE("a setting that is no path=value is refused") {
  const ValidFiles files;
  for (const char* setting : {"gpus", "=4", "workload..m=3", ".gpus=4", "workload.label=\xff"})
    require_refusal(run_file(files.run(), {"--set", setting}), "--set");
}

TEST_CASE("files that are not there or not readable are refused") {
  const ValidFiles files;
  require_refusal(run_file(files / "nothing.json"), (files / "nothing.json").string());
  require_refusal(run_file(files / "."), (files / ".").string());
  require_refusal(run_program({"check", (files / "nothing.json").string()}), (files / "nothing.json").string());

  files.change("run.json", "/system", "nothing.json");
  require_refusal(run_file(files.run()), (files / "run.json: /system").string());
}

TEST_CASE("invalid JSON is refused with line and column") {
  const ValidFiles files;
  const std::pair<const char*, const char*> texts[] = {{"", ":1:1"},
                                                       {"{\n  \"gpus\": 4,\n}", ":3:1"},
                                                       {"{\"gpus\": 04}", ":1:11"},
                                                       {"{\"gpus\": 4", ":1:11"},
                                                       {"{'gpus': 4}", ":1:2"},
                                                       {"{}\n{}", ":2:1"},
                                                       {"{\"a\": \"\x01\"}", ":1:8"},
                                                       {"{\"a\":\n \"\xff\"}", ":2:3"}};
  for (const auto& [text, place] : texts) {
    const auto file = files.write("bad.json", std::string(text));
    INFO(text);
    require_refusal(run_file(file), file.string() + place);
  }
}

TEST_CASE("text behind a NUL character is not left out") {
  const ValidFiles files;
  const std::string valid = text_of(files.run());
  const auto lines = std::to_string(std::count(valid.begin(), valid.end(), '\n') + 1);
  for (const char* behind : {"", "garbage", "\n"}) {
    const auto file = files.write("nul.json", valid + std::string(1, '\0') + behind);
    const Outcome run = run_file(file);
    require_refusal(run, file.string() + ":" + lines + ":2");
    CHECK_THAT(run.err, Catch::Contains("found a NUL character"));
  }
  const auto file = files.write("nul.json", std::string("{\"a\": \"\0\"}", 11));
  require_refusal(run_file(file), file.string() + ":1:8");
}

TEST_CASE("a root that is no object is refused") {
  const ValidFiles files;
  const auto file = files.write("list.json", std::string("[1, 2]"));
  require_refusal(run_file(file), file.string() + ": /");
  require_refusal(run_program({"check", file.string()}), file.string() + ": /");
}

TEST_CASE("a key that comes twice is refused, however deep") {
  const ValidFiles files;
  const std::pair<const char*, const char*> texts[] = {
      {R"({"gpus": 4, "gpus": 5})", "/gpus"},
      {R"({"workload": {"gemm": {"m": 1, "n": 2, "m": 1}}})", "/workload/gemm/m"},
      {R"({"a": [{"x": 1}, {"y": 1, "y": 2}]})", "/a/1/y"},
      {R"({"a": {"x": 1}, "b": {"x": 1}, "a/b": 0, "a/b": 0})", "/a~1b"}};
  for (const auto& [text, pointer] : texts) {
    const auto file = files.write("twice.json", std::string(text));
    INFO(text);
    require_refusal(run_file(file), file.string() + ": " + pointer);
  }
}

TEST_CASE("wrong use of the command line is one line and exit code 2") {
  const ValidFiles files;
  const std::vector<std::string> uses[] = {{},
                                           {"run"},
                                           {"fly"},
                                           {"run", files.run().string(), "--fast"},
                                           {"compare", files.run().string()},
                                           {"check"},
                                           {"run", files.run().string(), "--set"}};
  for (const auto& arguments : uses) {
    const Outcome outcome = run_program(arguments);
    INFO("stderr: " << outcome.err);
    CHECK(outcome.exit_code == 2);
    CHECK(outcome.out.empty());
    CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
  }
}

TEST_CASE("results that cannot be written are refused before the simulation") {
  const ValidFiles files;
  files.write("file", std::string("in the way"));
  const std::string out = (files / "file").string();
  require_refusal(run_program({"run", files.run().string(), "--out", out}), "--out " + out);
}

TEST_CASE("lists in lists in lists are refused, however deep") {
  const ValidFiles files;
  for (const std::size_t levels : {101u, 60'000u}) {
    const std::string nested = std::string(levels, '[') + std::string(levels, ']');
    require_refusal(run_program({"check", files.write("deep.json", nested)}), files / "deep.json");
    require_refusal(run_file(files.run(), {"--set", "seed=" + nested}), "--set seed=" + std::string(75, '[') + "...");
  }
}

TEST_CASE("a memory file beside the memory itself is refused, also by --set") {
  const ValidFiles files;
  const json memory = json_of(files / "memory.json");
  files.change("system.json", "/memory/dram", memory);
  require_refusal(run_program({"check", files / "system.json"}), (files / "system.json: /memory/file").string());
  files.change("system.json", "/memory/file", nullptr);
  REQUIRE(run_program({"check", files / "system.json"}).exit_code == 0);
  require_refusal(run_file(files.run(), {"--set", "system.memory.file=" + (files / "memory.json").string()}),
                  (files / "system.json: /memory/file").string());
}

TEST_CASE("a reference file may begin with the mark of UTF-8 that spreadsheets write") {
  const ValidFiles files;
  files.write("reference.csv", std::string("\xEF\xBB\xBFid,value\none,1\n"));
  const auto experiment = files.write(
      "experiment.json", json{{"name", "marked"},
                              {"base", "run.json"},
                              {"reference", "reference.csv"},
                              {"cases", {{{"name", "one"}, {"set", json::object()}}}},
                              {"methods", {"t3"}},
                              {"quantities", {{{"name", "q"}, {"value", "time_ns.total[t3]"}}}},
                              {"targets", {{{"id", "one"}, {"quantity", "q"}, {"aggregate", "max"}, {"within", 1}}}}});
  const Outcome outcome = run_program({"check", experiment});
  INFO(outcome.err);
  CHECK(outcome.exit_code == 0);
}

}  // namespace t3vp::test::bad_files_test
