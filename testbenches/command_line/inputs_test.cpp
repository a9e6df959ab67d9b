// Inputs are regular files of a bounded size: what would hang, never end or fill the memory is refused with one line.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>

#include "command_line/refusals.h"

namespace t3vp::test::inputs_test {

using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// What a file name may lead to that is no file to read.
class Traps : public ValidFiles {
 public:
  Traps() {
    mkfifo((*this / "pipe").c_str(), 0600);
    fs::create_symlink("loop", *this / "loop");
    fs::create_directory(*this / "folder");
    write("huge", std::string());
    fs::resize_file(*this / "huge", std::uintmax_t{65} << 30);
    write("one.trace", std::string(16, '\0'));
    write("good.json", std::string("{}"));
    change("run.json", "/models", config("workloads/models.json").string());
    change("run.json", "/gpus", nullptr);
    change("run.json", "/workload", {{"model", "T-NLG"}, {"sublayer", "OP"}, {"tp", 8}});
    write("reference.csv", std::string("id,value\n"));
    write("experiment.json", json{{"name", "traps"},
                                  {"base", "run.json"},
                                  {"reference", "reference.csv"},
                                  {"cases", {{{"name", "one"}, {"set", json::object()}}}},
                                  {"methods", {"t3"}}});
  }

  std::vector<std::string> paths() const {
    return {*this / "pipe",        *this / "loop",         *this / "folder",  *this / "huge", *this / "gone",
            "/dev/zero",           "/proc/self/maps",      "/proc/self/mem",  "/proc/kmsg",   "/dev/stdin",
            std::string(300, 'n'), std::string(5000, 'p'), *this / "a/b.json"};
  }
};

void require_refusal(const std::vector<std::string>& arguments, const std::string& where) {
  test::require_refusal(run_program(arguments, [] { alarm(120); }), where);
}

}  // namespace

TEST_CASE("an argument that is no regular file is refused by every command") {
  const Traps files;
  const std::string out = files / "results", good = files / "good.json", memory = files / "memory.json";
  for (const std::string& path : files.paths()) {
    INFO(path.substr(0, 80));
    require_refusal({"run", path, "--out", out}, path);
    require_refusal({"check", path}, path);
    require_refusal({"compare", path, good}, path);
    require_refusal({"experiment", path, "--out", out}, path);
    require_refusal({"replay", path, "--memory", memory, "--out", out}, path);
    require_refusal({"replay", files / "one.trace", "--memory", path, "--out", out}, path);
  }
  CHECK_FALSE(fs::exists(out));
}

TEST_CASE("a file that another file names is refused where it is named when it is no regular file") {
  const Traps original;
  for (const std::string& path : original.paths()) {
    const Traps files;
    INFO(path.substr(0, 80));
    const std::string run = files.run(), experiment = files / "experiment.json";
    const auto refused = [&](const char* file, const char* pointer, const char* command) {
      const json before = json_of(files / file);
      files.change(file, pointer, path);
      require_refusal({command, command == std::string("run") ? run : experiment, "--out", files / "results"},
                      (files / file).string() + ": " + pointer);
      files.write(file, before);
    };
    refused("run.json", "/system", "run");
    refused("run.json", "/models", "run");
    refused("system.json", "/memory/file", "run");
    refused("experiment.json", "/base", "experiment");
    refused("experiment.json", "/reference", "experiment");
    refused("experiment.json", "/cases/0/set/system", "experiment");
    require_refusal({"run", run, "--set", "system=" + path}, run + ": /system");
    require_refusal({"run", run, "--set", "system.memory.file=" + path}, files / "system.json: /memory/file");
  }
}

TEST_CASE("links to regular files are followed") {
  const Traps files;
  fs::create_symlink("run.json", files / "link.json");
  CHECK(run_program({"check", files / "link.json"}).exit_code == 0);
}

TEST_CASE("a number that no double and no 64-bit integer holds is refused where it stands") {
  const Traps files;
  const std::string run = text_of(files.run());
  for (const char* number : {"1e999", "-1e999", "1e-999", "0.000000000001e-400", "18446744073709551616",
                             "-9223372036854775809", "123456789012345678901234567890"}) {
    INFO(number);
    const std::string n = number;
    const fs::path file =
        files.write("numbers.json", "{\"seed\": 1, \"workload\": {\"gemm\": [3, {\"k\": " + n + "}]}}");
    for (const char* command : {"run", "check", "experiment"})
      require_refusal({command, file}, file.string() + ": /workload/gemm/1/k");
    require_refusal({"compare", file, file}, file.string() + ": /workload/gemm/1/k");
    require_refusal({"run", files.run(), "--set", "workload.label=" + n}, "--set workload.label=" + n);
    require_refusal({"run", files.run(), "--set", "workload.gemm={\"k\": " + n + "}"},
                    "--set workload.gemm={\"k\": " + n + "}: /k");
    require_refusal({"replay", files / "one.trace", "--memory", files / "memory.json", "--set", "clock_GHz=" + n},
                    "--set clock_GHz=" + n);
  }
  for (const char* number : {"0e999", "0.0e-999", "1e308", "4e-320", "18446744073709551615", "-9223372036854775808"})
    CHECK(
        run_program({"check", files.write("n.json", std::string("{\"x\": ") + number + "}")}).err.find("n.json: /: ") !=
        std::string::npos);
}

TEST_CASE("numbers out of range in expressions and reference files are refused as well") {
  const Traps files;
  files.change("experiment.json", "/quantities", {{{"name", "q"}, {"value", "1e999 * time_ns.total[t3]"}}});
  require_refusal({"check", files / "experiment.json"}, files / "experiment.json: /quantities/0/value");
  files.change("experiment.json", "/quantities/0/value", "time_ns.total[t3]");
  files.change("experiment.json", "/targets",
               {{{"id", "one"}, {"quantity", "q"}, {"aggregate", "max"}, {"at_least", 1}}});
  files.write("reference.csv", std::string("id,value\nother,1\none,1e999\n"));
  require_refusal({"check", files / "experiment.json"}, files / "reference.csv: row 3");
}

}  // namespace t3vp::test::inputs_test
