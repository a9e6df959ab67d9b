// Embedding tables pooled and exchanged: every element of every GPU, what links and DRAM move, and how long it takes.
#include <algorithm>
#include <catch2/catch.hpp>

#include "system/kernel_runs.h"
#include "workloads/embedding/embedding_oracle.h"
#include "workloads/embedding/pooling_turns.h"

namespace t3vp::test::embedding_runs_test {

namespace {

using nlohmann::json;

const char* const methods[] = {"bulk", "zero-copy", "fused"};

json tables(std::uint32_t batch, std::uint32_t count, std::uint32_t dimension, const json& pooling,
            std::uint32_t rows) {
  return {{"global_batch", batch},
          {"tables_per_gpu", count},
          {"dimension", dimension},
          {"pooling", pooling},
          {"rows", rows}};
}

json as(json shape, const char* element, const char* result) {
  shape["element"] = element;
  shape["result"] = result;
  return shape;
}

Settings embedding(const char* method, std::uint32_t gpus, const json& shape) {
  return kernel_run(method, gpus, {{"embedding", shape}});
}

Run right_run(const char* method, std::uint32_t gpus, const json& shape, const Settings& settings) {
  return test::right_run(embedding(method, gpus, shape) + settings);
}

}  // namespace

TEST_CASE("every GPU has the pooled rows of all tables for its samples at odd sizes") {
  const auto [gpus, topology, shape] = GENERATE(table<std::uint32_t, const char*, json>({
      {2, "ring", as(tables(17, 3, 23, 5, 101), "fp16", "sum")},
      {3, joined, as(tables(32, 1, 64, 8, 40), "fp32", "mean")},
      {4, joined, as(tables(37, 5, 92, {{"drawn", 9}}, 30), "fp32", "sum")},
      {4, "switch", as(tables(4, 2, 256, 70, 1000), "fp16", "mean")},
      {6, "ring", as(tables(11, 7, 1, {{"drawn", 3}}, 1), "fp16", "mean")},
      {6, joined, as(tables(50, 2, 300, 1, 7), "fp32", "sum")},
      {5, joined, as(tables(1100, 1, 16, 2, 64), "fp16", "sum")},
  }));
  const std::string links = topology == joined ? joined : std::string("system.links.topology=") + topology;
  for (const char* method : methods) {
    const Run run = right_run(method, gpus, shape, {"data=functional", "check=all", links});
    const std::uint64_t elements = shape["global_batch"].get<std::uint64_t>() * gpus *
                                   shape["tables_per_gpu"].get<std::uint64_t>() *
                                   shape["dimension"].get<std::uint64_t>();
    CHECK(run.report()["functional"]["elements"] == elements);
    CHECK(run.report()["functional"]["checked"] == true);
  }
}

TEST_CASE("embedding tables take as long without data and at any quantum") {
  const json shape = as(tables(29, 3, 40, {{"drawn", 12}}, 200), "fp16", "mean");
  for (const char* method : methods) {
    const auto times = [&](const char* setting) {
      const Run run = right_run(method, 3, shape, {joined, setting});
      return run.report()["time_ns"].dump() + run.report()["ends"].dump();
    };
    const std::string usual = times("data=timing-only");
    CHECK(times("data=functional") == usual);
    CHECK(times("quantum_ns=1") == usual);
    CHECK(times("quantum_ns=1000000") == usual);
  }
}

TEST_CASE("links carry each result that another GPU wants once") {
  const json shape = tables(30, 4, 32, 6, 100);
  for (const char* method : {"bulk", "zero-copy"}) {
    const Run run = right_run(method, 3, shape, {joined});
    CHECK(carried(run) == 30 * 4 * 32 * 4 * (3 - 1));
  }
}

// Every table is read in other places: with few rows each row once, from then on they are in the cache.
TEST_CASE("DRAM reads each row of a small table once and those of a large one as often as they are pooled") {
  const auto read = [](std::uint32_t rows) {
    return right_run("bulk", 2, tables(64, 2, 64, 16, rows), {"data=timing-only"}).dram_bytes("pooling_read");
  };
  const double numbers = 2 * 64 * (16 + 1) * 8, all = 2 * 64 * 16 * 256;
  CHECK(read(100) == Approx(2 * 100 * 256 + numbers).epsilon(0.05));
  CHECK(read(500'000) == Approx(all + numbers).epsilon(0.05));
}

TEST_CASE("zero-copy stores each result once where bulk writes and reads it on its way") {
  const json shape = tables(256, 4, 64, 4, 10'000);
  const Run bulk = right_run("bulk", 4, shape, {joined}), direct = right_run("zero-copy", 4, shape, {joined});
  const double results = 256.0 / 4 * 4 * 4 * 64 * 4;
  CHECK(direct.dram_bytes("pooling_write") <= results);
  CHECK(bulk.report()["time_ns"]["all_to_all"].is_number());
  CHECK_FALSE(direct.report()["time_ns"].contains("all_to_all"));
  CHECK(direct.time("total") < bulk.time("total"));
  CHECK(direct.time("total") >= bulk.time("pooling"));  // no more is hidden than the exchange
}

// Of two GPUs each sends the other one half of what it pools.
TEST_CASE("bounds are what additions and rows and results take at full rate") {
  const Run run =
      right_run("bulk", 2, tables(64, 2, 64, 16, 1'000'000), {"data=timing-only", "system.cache.capacity_MiB=0.0625"});
  const json bounds = run.report()["bounds"];
  const double GBps = 4 * 32, lanes = 4 * 128, rows = 64 * 2 * 16;
  CHECK(bounds["compute_ns"].get<double>() == Approx(rows / 16 * 15 * 64 / lanes));
  CHECK(bounds["link_ns"].get<double>() == Approx(64 / 2 * 2 * 64 * 4 / 4.0).epsilon(0.1));
  CHECK(bounds["dram_ns"].get<double>() >= rows * (64 * 4 + 8) / GBps * 0.99);
}

TEST_CASE("more rows in flight pool faster") {
  const auto time = [](const char* rows) {
    const Settings alone{"data=timing-only", "system.kernels.embedding.workgroups_per_cu=1", rows};
    return right_run("bulk", 2, tables(64, 2, 256, 32, 10'000), alone).time("pooling");
  };
  const double one = time("system.kernels.embedding.rows_in_flight=1"),
               eight = time("system.kernels.embedding.rows_in_flight=8");
  CHECK(eight < 0.4 * one);
  CHECK(eight >= one / 8);
}

TEST_CASE("slices of any size in any order with any occupancy give the right elements") {
  json shape = as(tables(19, 5, 70, {{"drawn", 6}}, 60), "fp16", "sum");
  for (const char* order : {"aware", "oblivious"})
    for (const int slice : {1, 2, 5}) {
      shape["slice"] = slice;
      shape["order"] = order;
      shape["occupancy"] = slice / 8.0;
      right_run("fused", 3, shape, {"data=functional", "check=all", joined});
    }
}

TEST_CASE("by NICs what hosts send gives GPUs of other nodes the right elements") {
  const auto [gpus, node, shape] = GENERATE(table<std::uint32_t, std::uint32_t, json>({
      {2, 1, as(tables(9, 5, 70, 6, 60), "fp32", "sum")},
      {3, 1, as(tables(10, 3, 24, {{"drawn", 5}}, 40), "fp16", "mean")},
      {4, 2, as(tables(13, 4, 33, 4, 50), "fp32", "sum")},
      {6, 3, as(tables(12, 2, 64, 3, 30), "fp16", "sum")},
  }));
  const Run run = right_run("bulk", gpus, shape, Settings{"data=functional", "check=all"} + apart(node));
  CHECK(run.report()["functional"]["checked"] == true);
  const Run timed = right_run("bulk", gpus, shape, Settings{"data=timing-only"} + apart(node));
  CHECK(timed.report()["time_ns"] == run.report()["time_ns"]);
}

TEST_CASE("by NICs what hosts send is awaited from a peer that is late") {
  const Settings late{"data=functional", R"(system.gpus=[{"gpu": 1, "set": {"compute.clock_GHz": 0.01}}])"};
  const Run run = right_run("bulk", 2, as(tables(9, 5, 70, 6, 60), "fp32", "sum"), late + apart(1));
  CHECK(run.report()["functional"]["checked"] == true);
}

TEST_CASE("hosts take their time behind the pooling kernels and for each message and launch") {
  const json shape = tables(16, 4, 64, 4, 50);
  const auto all_to_all = [&](const std::string& host) {
    return right_run("bulk", 3, shape, Settings{"data=timing-only", "system.host=" + host} + apart(1))
        .time("all_to_all");
  };
  const double none = all_to_all("{}");
  CHECK(all_to_all(R"({"kernel_end_ns": 5000})") == Approx(none + 5000).margin(1));
  CHECK(all_to_all(R"({"launch_ns": 7000})") == Approx(none + 7000).margin(1));
  const double posts = all_to_all(R"({"post_ns": 9000})") - none;  // the second one has to leave, come and end
  CHECK(posts > 9000);
  CHECK(posts <= 18001);
}

TEST_CASE("by NICs a fused kernel gives GPUs of other nodes the right elements") {
  const auto [gpus, node, shape] = GENERATE(table<std::uint32_t, std::uint32_t, json>({
      {2, 1, as(tables(9, 5, 70, 6, 60), "fp32", "sum")},
      {3, 1, as(tables(10, 3, 24, {{"drawn", 5}}, 40), "fp16", "mean")},
      {4, 2, as(tables(13, 4, 33, 4, 50), "fp32", "sum")},
      {6, 3, as(tables(12, 2, 64, 3, 30), "fp16", "sum")},
  }));
  for (const int slice : {1, 2}) {
    json sliced = shape;
    sliced["slice"] = slice;
    const Run run = right_run("fused", gpus, sliced, Settings{"data=functional", "check=all"} + apart(node));
    CHECK(run.report()["functional"]["checked"] == true);
  }
}

TEST_CASE("by NICs a fused kernel takes as long without data") {
  const json shape = as(tables(14, 4, 64, 5, 60), "fp32", "sum");
  const auto times = [&](const char* data) {
    const Run run = right_run("fused", 4, shape, Settings{data} + apart(2));
    return run.report()["time_ns"].dump() + run.report()["ends"].dump();
  };
  CHECK(times("data=functional") == times("data=timing-only"));
}

TEST_CASE("without links between nodes other methods, and systems without NICs, are one line") {
  using Catch::Contains;
  const json shape = tables(16, 4, 64, 4, 50);
  CHECK_THAT(refusal_of(embedding("zero-copy", 2, shape) + apart(1)), Contains("/links/topology/between"));
  for (const char* method : {"bulk", "fused"})
    CHECK_THAT(refusal_of(embedding(method, 2, shape) + Settings{apart(1)[0]}), Contains("/nic"));
  CHECK_THAT(refusal_of(embedding("fused", 20, tables(40, 4, 64, 4, 50)) + apart(1)), Contains("/gpus"));
}

TEST_CASE("a fused kernel has seven of a pooling kernel's eight workgroups at most and pools faster with more") {
  constexpr std::uint32_t register_bytes = 512 << 10;
  CHECK(register_bytes / t3_pooling_registers(register_bytes, 8) == 8);
  CHECK(register_bytes / t3_fused_pooling_registers(register_bytes, 8) == 7);
  const auto time = [](double occupancy) {
    json shape = tables(256, 2, 256, 16, 10'000);
    shape["occupancy"] = occupancy;
    return right_run("fused", 2, shape, {"data=timing-only"}).time("total");
  };
  const double most = time(0.875);
  CHECK(time(0) == Approx(most).epsilon(0.01));
  CHECK(time(0.125) > 1.3 * most);
  CHECK(time(0.125) <= 7 * most);
}

TEST_CASE("posting of small slices takes its turns in few contexts") {
  const auto time = [](std::uint32_t contexts) {
    json shape = tables(128, 8, 64, 2, 1000);
    shape["slice"] = 1;
    shape["contexts"] = contexts;
    return right_run("fused", 2, shape, apart(1)).time("total");
  };
  const double one = time(1), four = time(4);
  CHECK(one > 2 * four);
  CHECK(one <= 4 * four);
  CHECK(time(0) <= 1.01 * time(32));  // a context for each workgroup that runs at once
  CHECK(time(0) < four / 3);
}

// With a context for each workgroup of a slice, chance would say which queue pairs are busy: the times are 9% apart
// then.
TEST_CASE("a cache that is faster by picoseconds makes a fused kernel that posts neither faster nor slower") {
  const auto time = [](const char* latency_ns) {
    return right_run("fused", 4, tables(128, 8, 256, 20, 100'000),
                     {"data=timing-only", "system=" + config("systems/mi210-2nodes.json").string(),
                      std::string("system.cache.latency_ns=") + latency_ns})
        .time("total");
  };
  const auto [least, most] = std::minmax({time("150"), time("150.02"), time("150.05"), time("150.08")});
  CHECK(most <= 1.03 * least);
}

// 16 units of the first shape pool all bags at once, which gives the links their first results later: 9.26 us, and 9.14
// us with 4 units.
TEST_CASE("embedding tables are not slower with more compute units") {
  const json shape = GENERATE(tables(128, 2, 64, 10, 1000), tables(512, 2, 64, 4, 1000), tables(32, 2, 64, 4, 100));
  for (const char* method : methods)
    check_more_units_not_slower(embedding(method, 4, shape) + Settings{joined, "system.compute.poll_ns=50"}, "total",
                                0.015);
}

// The numbers are ns. With two turns the links carry half of the results while the other half is pooled.
TEST_CASE("bags are taken in as many turns as hide the way to other GPUs") {
  CHECK(t3vp::pooling_turns(1, {2200, 3900, 4100}) == 2);
  CHECK(t3vp::pooling_turns(1, {2200, 3900, 0}) == 1);
  CHECK(t3vp::pooling_turns(3, {2200, 3900, 4100}) == 3);
  CHECK(t3vp::pooling_turns(1, {0, 1000, 1000}) == 25);  // (1 + 1 / 25) 1000 is within 2% of (1 + 1 / 51) 1000
}

Settings posting_run(const json& shape) {
  return embedding("fused", 2, shape) +
         Settings{"system=" + config("systems/mi210-2nodes.json").string(), "system.compute.poll_ns=50"};
}

// A workgroup without a bag would only read the heap's table and poll. Polls of 500 ns would be a share of such runs.
TEST_CASE("a fused kernel that posts is not slower with more compute units") {
  json shape = GENERATE(tables(32, 8, 64, 2, 1000), tables(32, 8, 256, 4, 1000));
  shape["slice"] = GENERATE(1, 8);
  check_more_units_not_slower(posting_run(shape), "total", 0.01, {4, 13, 52, 208});
}

// 16 of 32 slices go by the NIC: 16, 8 or 2 of each context, one after the other.
TEST_CASE("few slices have all contexts") {
  const auto time = [](int contexts) {
    json shape = tables(32, 8, 64, 2, 1000);
    shape["contexts"] = contexts;
    return test::right_run(posting_run(shape)).time("total");
  };
  const double one = time(1), two = time(2), slice = (one - two) / 8;
  CHECK(slice >= one / 32);
  CHECK(time(8) <= two - 5 * slice);
}

// By their numbers GPU 0 ends with what GPU 1 wants, which is on its way when nothing is left to compute.
TEST_CASE("to begin with samples of other GPUs hides the way to them") {
  const auto time = [](const char* order) {
    json shape = tables(256, 4, 256, 16, 10'000);
    shape["order"] = order;
    return right_run("fused", 2, shape, Settings{"data=timing-only"} + apart(1)).time("total");
  };
  const double aware = time("aware"), oblivious = time("oblivious"), way = 256.0 / 2 * 4 * 256 * 4 / 4;
  CHECK(aware < 0.95 * oblivious);
  CHECK(aware >= oblivious - way);
}

TEST_CASE("the report says when each GPU has ended") {
  const Run run = right_run("bulk", 3, tables(10, 2, 64, 4, 50), {});
  const auto ends = run.report()["ends"]["gpu_ns"].get<std::vector<double>>();
  REQUIRE(ends.size() == 3);
  const double last = *std::max_element(ends.begin(), ends.end()), first = *std::min_element(ends.begin(), ends.end());
  CHECK(last == Approx(run.time("total")));
  CHECK(run.report()["ends"]["skew"].get<double>() == Approx((last - first) / last));
}

// 64 samples are GPU 1's, of which GPU 0 has pooled 2 tables.
TEST_CASE("a GPU ends when the last result of the others has come") {
  const Settings slow{joined, R"(system.links.overrides=[{"from": 0, "to": 1, "bandwidth_GBps": 0.5}])"};
  for (const char* method : methods) {
    const Run run = right_run(method, 3, tables(192, 2, 64, 4, 50), slow);
    check_end_behind_slow_link(run, right_run(method, 3, tables(192, 2, 64, 4, 50), {joined}), 1, 64 * 2 * 64 * 4, 0.5);
  }
}

TEST_CASE("a wrong element of embedding tables is found") {
  const Run run = Run::of_platform(embedding("zero-copy", 2, tables(8, 2, 16, 4, 50)) +
                                   Settings{"data=functional", R"(inject.wrong_element={"gpu": 1, "index": 255})"});
  CHECK(run.exit_code() == 1);
  CHECK(run.report()["functional"]["mismatches"] == 1);
  CHECK(run.report()["functional"]["first_mismatch"]["row"] == 3);
}

TEST_CASE("drawn bags are as DLRM draws them") {
  t3_embedding e{};
  e.global_batch = 4096;
  e.tables_per_gpu = 1;
  e.rows = 1'000'000;
  e.pooling = 100;
  e.drawn = true;
  e.seed = 7;
  double sum = 0, places = 0;
  t3_bag bag;
  for (std::uint32_t sample = 0; sample < e.global_batch; ++sample) {
    t3_embedding_bag(&e, 3, sample, &bag);
    REQUIRE(bag.count >= 1);
    REQUIRE(bag.count <= 100);
    CHECK(std::is_sorted(bag.rows, bag.rows + bag.count));
    CHECK(std::adjacent_find(bag.rows, bag.rows + bag.count) == bag.rows + bag.count);
    REQUIRE(bag.rows[bag.count - 1] < e.rows);
    sum += bag.count;
    for (std::uint32_t i = 0; i < bag.count; ++i) places += bag.rows[i];
  }
  CHECK(sum / e.global_batch == Approx(50).epsilon(0.03));
  CHECK(places / sum == Approx(500'000).epsilon(0.01));
}

TEST_CASE("fixed bags have so many rows that differ by table and sample") {
  t3_embedding e{};
  e.global_batch = 2;
  e.rows = 1 << 30;
  e.pooling = 70;
  t3_bag first, other;
  t3_embedding_bag(&e, 0, 0, &first);
  CHECK(first.count == 70);
  t3_embedding_bag(&e, 0, 1, &other);
  CHECK_FALSE(std::equal(first.rows, first.rows + 70, other.rows));
  t3_embedding_bag(&e, 1, 0, &other);
  CHECK_FALSE(std::equal(first.rows, first.rows + 70, other.rows));
  e.seed = 1;
  t3_embedding_bag(&e, 0, 0, &other);
  CHECK_FALSE(std::equal(first.rows, first.rows + 70, other.rows));
}

TEST_CASE("what has to be read is each row that is in any bag once and the numbers of all bags") {
  t3_embedding e{};
  e.global_batch = 10;
  e.tables_per_gpu = 3;
  e.dimension = 64;
  e.element = T3_FP32;
  e.pooling = 8;
  e.rows = 1;
  const PoolingNeed need = pooling_need(e, 1);
  CHECK(need.rows == 10 * 3 * 8);
  CHECK(need.additions == 10 * 3 * 7 * 64);
  CHECK(need.read_bytes == 3 * 64 * 4 + need.rows * 8);
  e.rows = 1 << 30;
  CHECK(pooling_need(e, 1).read_bytes == need.rows * (64 * 4 + 8));
}

TEST_CASE("every wrong value of embedding tables is one line that names it") {
  const json right = tables(64, 4, 64, 8, 100);
  const auto message = [&](const json& change, const Settings& settings) {
    json shape = right;
    shape.merge_patch(change);
    return refusal_of(embedding("bulk", 4, shape) + settings);
  };
  using Catch::Contains;
  for (const char* key : {"global_batch", "tables_per_gpu", "dimension", "pooling", "rows"}) {
    CHECK_THAT(message({{key, 0}}, {}), Contains("/workload/embedding/" + std::string(key)));
    CHECK_THAT(message({{key, nullptr}}, {}), Contains(key));
  }
  CHECK_THAT(message({{"pooling", 257}}, {}), Contains("/workload/embedding/pooling"));
  CHECK_THAT(message({{"pooling", {{"drawn", 0}}}}, {}), Contains("/workload/embedding/pooling"));
  CHECK_THAT(message({{"element", "bf16"}}, {}), Contains("/workload/embedding/element"));
  CHECK_THAT(message({{"result", "max"}}, {}), Contains("/workload/embedding/result"));
  CHECK_THAT(message({{"global_batch", 3}}, {}), Contains("at least 4, a sample for each GPU"));
  CHECK_THAT(message({{"rows", 10'000'000}}, {}), Contains("/workload") && Contains("of a GPU's memory"));
  CHECK_THAT(message({{"tables_per_gpu", 65536}, {"dimension", 4096}, {"rows", 1}}, {"gpus=5"}),
             Contains("/workload/embedding/tables_per_gpu"));
  CHECK_THAT(message({{"dimension", 4096}}, {"system.links.receive_buffer_KiB=8"}), Contains("a row of a table"));
  CHECK_THAT(message({{"slice", 5}}, {}), Contains("/workload/embedding/slice") && Contains("at most 4"));
  CHECK_THAT(message({{"slice", 0}}, {}), Contains("/workload/embedding/slice"));
  CHECK_THAT(message({{"occupancy", 1}}, {}), Contains("/workload/embedding/occupancy") && Contains("0.875"));
  CHECK_THAT(message({{"occupancy", 0.01}}, {}),
             Contains("/workload/embedding/occupancy") && Contains("one workgroup"));
  CHECK_THAT(message({{"order", "any"}}, {}), Contains("/workload/embedding/order"));
  CHECK_THAT(message({{"contexts", 11}}, {}), Contains("/workload/embedding/contexts") && Contains("up to 10"));
  CHECK_THAT(message(json::object(), {"gpus=null"}), Contains("/gpus"));
  CHECK_THAT(message(json::object(), {"gpus=1"}), Contains("/gpus"));
  CHECK_THAT(message(json::object(), {"method=t3"}), Contains("/method") && Contains("bulk, zero-copy or fused"));
  CHECK_THAT(message(json::object(), {"simulate=mirror"}), Contains("/simulate"));
  CHECK_THAT(message(json::object(), {"operands=random"}), Contains("/operands"));
  CHECK_THAT(message(json::object(), {"program=collective"}), Contains("/program"));
  CHECK_THAT(message(json::object(), {R"(workload.gemm={"m": 64, "n": 64, "k": 64})"}), Contains("/workload/gemm"));
  CHECK_THAT(message(json::object(), {"system.kernels.embedding.rows_in_flight=0"}),
             Contains("/kernels/embedding/rows_in_flight"));
  for (const char* method : methods)
    CHECK_THAT(refusal_of(gemm(64, 64, 64) + Settings{std::string("method=") + method}),
               Contains("/method") && Contains("embedding"));
  CHECK_THAT(refusal_of(gemm(64, 64, 64) + Settings{"program=embedding"}), Contains("/program"));
}

}  // namespace t3vp::test::embedding_runs_test
