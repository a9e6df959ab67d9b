// Which libraries `program` and `kernels` of a run file take, and what is said of the others.
#include <link.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <fstream>

#include "software/outside_run.h"

namespace t3vp::test::libraries_test {
using nlohmann::json;

namespace {

const json no_more = json::object();

/// Requires that check and run refuse the program with the same message.
void require_refused_program(const std::string& program, const std::string& found, const std::string& expected) {
  const OutsideRun run(program);
  require_refused(run, "/program", found, expected);
  const Outcome check = run_program({"check", run.file().string()});
  CHECK(check.exit_code == 2);
  CHECK(check.err == run.run().err);
}

void require_refused_kernels(const json& kernels, const std::string& place, const std::string& found,
                             const std::string& expected) {
  require_refused(OutsideRun(library("guests") + ":twice", {{"kernels", kernels}}), place, found, expected);
}

}  // namespace

TEST_CASE("a library's only program needs no name, one of several does") {
  CHECK(OutsideRun(library("single")).run().exit_code == 0);
  CHECK(OutsideRun(library("single") + ":idle").run().exit_code == 0);
  require_refused(OutsideRun(library("guests")), "/program", "a library of the programs phases, ", "FILE:NAME");
  require_refused(OutsideRun(library("single") + ":busy"), "/program", "a library of idle", "one of its programs");
}

TEST_CASE("a program launches its library's kernel and what the kernel computes is checked") {
  const OutsideRun run(library("guests") + ":twice", {{"gpus", 3}});
  const Outcome outcome = run.run();
  INFO(outcome.err << outcome.out);
  REQUIRE(outcome.exit_code == 0);
  const auto report = run.report();
  CHECK(report.at("functional").at("checked") == true);
  CHECK(report.at("functional").at("elements") == 3 * 4 * 40);
  CHECK(report.at("functional").at("mismatches") == 0);
  CHECK(report.at("dram_bytes").at("doubling_write") == 4 * 40 * 4);
  CHECK(report.at("dram_bytes").at("gemm_write") == 0);
  CHECK(report.at("workload").empty());
  CHECK(report.at("program") == "guests.so:twice");
  CHECK_THAT(outcome.out, Catch::StartsWith("guests.so:twice on small-4, 3 GPUs\n"));
}

TEST_CASE("data change no time of a program of a library") {
  const OutsideRun functional(library("guests") + ":twice"),
      timing(library("guests") + ":twice", {{"data", "timing-only"}});
  REQUIRE(functional.run().exit_code == 0);
  REQUIRE(timing.run().exit_code == 0);
  CHECK(functional.report().at("time_ns") == timing.report().at("time_ns"));
}

TEST_CASE("every GPU has static variables of its own") {
  CHECK(OutsideRun(library("guests") + ":alone", {{"gpus", 4}}).run().exit_code == 0);
}

TEST_CASE("a program of a library may call those of the platform and is checked like them") {
  const json gemm = {{"gpus", 4},
                     {"collectives", {{"algorithm", "ring"}}},
                     {"workload", {{"gemm", {{"m", 128}, {"n", 128}, {"k", 32}}}}}};
  const OutsideRun outside(library("guests") + ":wrapped", gemm);
  OutsideRun inside("fused", gemm);
  REQUIRE(outside.run().exit_code == 0);
  REQUIRE(inside.run().exit_code == 0);
  CHECK(outside.report().at("functional").at("elements") == 4 * 128 * 128);
  CHECK(outside.report().at("functional") == inside.report().at("functional"));
  const json times = inside.report().at("time_ns");  // which has exposed times, too
  for (const auto& [phase, time] : outside.report().at("time_ns").items()) CHECK(times.at(phase) == json(time));
}

TEST_CASE("the platform's programs have names and the method means one of them") {
  const json gemm = {
      {"gpus", 2}, {"method", "sequential"}, {"workload", {{"gemm", {{"m", 128}, {"n", 128}, {"k", 32}}}}}};
  const OutsideRun named("sequential", gemm), other("isolated", gemm);
  OutsideRun meant("sequential", gemm);
  json without = json_of(meant.file());
  without.erase("program");
  meant.write("run.json", without);
  for (const OutsideRun* run : {&named, &other, static_cast<const OutsideRun*>(&meant)})
    REQUIRE(run->run().exit_code == 0);
  CHECK(named.report().at("time_ns") == meant.report().at("time_ns"));
  CHECK(named.report().at("config_hash") == meant.report().at("config_hash"));
  CHECK(other.report().at("time_ns") != meant.report().at("time_ns"));
  CHECK(other.report().at("config_hash") != meant.report().at("config_hash"));
}

TEST_CASE("what a program takes and does not get is one line") {
  require_refused(OutsideRun("fused", {{"gpus", 2}}), "/workload", "nothing", "a workload, since the program is fused");
  const json gemm = {{"gpus", 2}, {"workload", {{"gemm", {{"m", 128}, {"n", 128}, {"k", 32}}}}}};
  require_refused(OutsideRun("layer", gemm), "/program", "\"layer\"", "another program, since there is no layer");
  json ideal = gemm;
  ideal["method"] = "ideal-overlap";
  require_refused(OutsideRun("fused", ideal), "/program", "\"fused\"",
                  "isolated, or nothing, with method ideal-overlap");
  require_refused(OutsideRun(library("single"), {{"simulate", "mirror"}, {"data", "timing-only"}}), "/simulate",
                  "\"mirror\"", "all, since there is no workload");
  require_refused(OutsideRun(library("single"), {{"gpus", 0}}), "/gpus", "0", "an integer from 1 to 256");
}

TEST_CASE("what is no library of programs is one line") {
  const std::string programs =
      "collective, contention, data_parallel, decomposed, dlrm, dma_collective, embedding, endpoint, experts, fused, "
      "gather_gemm, "
      "gathered, gemv, isolated, layer, moe, pipeline, sequential, tiles, two_queues";
  require_refused_program("no.such.so", "no such file", programs + ", or the path");
  require_refused_program("/dev/null", "", programs + ", or the path");
  require_refused_program(config("systems/small-4.json").string(), "", "a native library with a table t3_exports");
  require_refused_program(library("tableless"), "it has no such table", "a native library with a table t3_exports");
  require_refused_program(library("unresolved"), "undefined symbol: nobody_has_this", "a native library");
  require_refused_program(library("other_version"), "its table is of version 3", "version 4: build it with");
  require_refused_program(library("other_layout"), "with other structures", "this platform's structures: build it");
  require_refused_program(library("nameless"), "its table has no name", "a table with a name");
  require_refused_program(library("wild_name"), "the name of its table is at 0x8, where no text",
                          "a table with a name");
  require_refused_program(library("wild_programs"), "its program number 1 is at 0x8, where nothing can be read",
                          "a list of programs that ends with one without a name");
  require_refused_program(library("wild_kernels"), "its kernel number 1 is at 0x8, where nothing can be read",
                          "a list of kernels that ends with NULL");
  require_refused_program(library("null_main"), "program idle has no main function", "a program that can be called");
  require_refused_program(library("halving"), "a library without programs",
                          "a library that has a program, or an executable for RISC-V");
}

TEST_CASE("a library that is cut off is one line") {
  const OutsideRun run("cut.so");
  const std::string whole = text_of(library("single"));
  for (const std::size_t size : {std::size_t{0}, std::size_t{40}, std::size_t{100}, whole.size() / 2}) {
    INFO(size);
    run.write("cut.so", whole.substr(0, size));
    require_refused(run, "/program", "\"cut.so\", ", "a native library");
  }
}

TEST_CASE("a library whose parts overlap in memory is one line") {
  const OutsideRun run("damaged.so");
  const std::string whole = text_of(library("single"));
  ElfW(Ehdr) header{};
  std::memcpy(&header, whole.data(), sizeof header);
  for (const std::size_t bytes : {std::size_t{1} << 20, std::size_t{0x29000000}, ~std::size_t{0}}) {
    std::string damaged = whole;
    ElfW(Phdr) first{};  // the first part that is loaded, which others follow
    for (std::size_t at = header.e_phoff; first.p_type != PT_LOAD; at += sizeof first) {
      std::memcpy(&first, &damaged[at], sizeof first);
      if (first.p_type != PT_LOAD) continue;
      first.p_memsz = bytes;
      std::memcpy(&damaged[at], &first, sizeof first);
    }
    run.write("damaged.so", damaged);
    require_refused(run, "/program", "\"damaged.so\", it is no shared object, or is cut off or damaged",
                    "a native library");
  }
}

TEST_CASE("libraries of kernels join the platform's, whose names are taken") {
  CHECK(OutsideRun(library("guests") + ":twice", {{"kernels", {library("halving")}}}).run().exit_code == 0);
  require_refused_kernels({library("takes_gemm")}, "/kernels/0", "kernel gemm: its handle", "another name");
  require_refused_kernels({library("halving"), library("takes_doubling")}, "/kernels/1", "is that of doubling as well",
                          "another name");
  require_refused_kernels({library("planless")}, "/kernels/0", "kernel planless: found no plan", "a check, a plan");
  require_refused_kernels({library("single")}, "/kernels/0", "a library without kernels", "a library that has kernels");
  require_refused_kernels({library("halving"), library("halving")}, "/kernels/1", "the file of /kernels/0",
                          "each library");
  require_refused_kernels({library("guests")}, "/kernels/0", "the file of /program", "each library once");
  require_refused_kernels({"no.such.so"}, "/kernels/0", "no such file",
                          "the path of a native library that has kernels");
}

TEST_CASE("a program that fails fails the run with its code") {
  const OutsideRun run(library("guests") + ":failing");
  const Outcome outcome = run.run();
  CHECK(outcome.exit_code == 1);
  CHECK_THAT(outcome.out, Catch::Contains("GPU 0 firmware ended with overlap"));
}

TEST_CASE("another content of a library is another configuration, another place of it is none") {
  const OutsideRun first(library("single")), renamed("copy.so");
  renamed.write("copy.so", text_of(library("single")));
  const OutsideRun longer("copy.so");
  longer.write("copy.so", text_of(library("single")) + "\n");
  for (const OutsideRun* run : {&first, &renamed, &longer}) REQUIRE(run->run().exit_code == 0);
  CHECK(first.report().at("config_hash") == renamed.report().at("config_hash"));
  CHECK(first.report().at("config_hash") != longer.report().at("config_hash"));
}

TEST_CASE("the configuration that is printed runs as the file does, wherever it is") {
  const OutsideRun run("copy.so:idle", {{"kernels", {"halves.so"}}});
  run.write("copy.so", text_of(library("single")));
  run.write("halves.so", text_of(library("halving")));
  const Outcome printed = run.run({"--print-config"});
  REQUIRE(printed.exit_code == 0);
  const Folder elsewhere;
  const auto file = elsewhere.write("run.json", printed.out);
  REQUIRE(run.run().exit_code == 0);
  REQUIRE(run_program({"run", file, "--out", elsewhere / "out"}).exit_code == 0);
  CHECK(json_of(elsewhere / "out/report.json").at("config_hash") == json(run.report().at("config_hash")));
}

TEST_CASE("nothing of a library's copies is left behind") {
  const Folder temporary;
  const OutsideRun run(library("guests") + ":alone", {{"gpus", 2}});
  const std::string folder = temporary / "";
  const Outcome outcome =
      run_program({"run", run.file(), "--out", run / "out"}, [&folder] { setenv("TMPDIR", folder.c_str(), 1); });
  CHECK(outcome.exit_code == 0);
  CHECK(std::filesystem::is_empty(folder));
}

}  // namespace t3vp::test::libraries_test
