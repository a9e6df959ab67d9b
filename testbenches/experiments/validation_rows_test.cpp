// t3vp validate: which files, rows and values it takes, leaves out, refuses or cannot simulate.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>

#include "experiments/measured_times.h"

namespace t3vp::test::validation_rows_test {

namespace fs = std::filesystem;

TEST_CASE("a file of measured times that is not as it should be is refused with its row") {
  struct Case {
    std::string file, text, where, found;
  };
  const std::string gemm = gemm_header, good = "X,1,OP,256,256,64,8,7,9\n", collectives = collectives_header,
                    embeddings = embeddings_header;
  const Case cases[] = {
      {"gemm.csv", "", "gemm.csv", "no column model"},
      {"gemm.csv", gemm, "gemm.csv", "no row"},
      {"gemm.csv", "model,tp,sublayer,M,N,K,us,us_min\nX,1,OP,256,256,64,8,7\n", "gemm.csv", "no column us_max"},
      {"gemm.csv", "model,tp,sublayer,M,N,K,us,us_min,us_max,dtype\nX,1,OP,256,256,64,8,7,9,fp8\n", "gemm.csv",
       "columns model,tp,sublayer,M,N,K,us,us_min,us_max,dtype"},
      {"gemm.csv", "model,tp,sublayer,M,N,K,us,us,us_min,us_max\nX,1,OP,256,256,64,8,8,7,9\n", "gemm.csv",
       "the column us twice"},
      {"gemm.csv", gemm + good + "X,1,OP,256,256,64,8,7\n", "gemm.csv: row 2", "8 values"},
      {"gemm.csv", gemm + good + good + "X,1,QKV,256,256,64,8,7,9\n", "gemm.csv: row 3: sublayer", "QKV"},
      {"gemm.csv", gemm + "X,1,OP,256.5,256,64,8,7,9\n", "gemm.csv: row 1: M", "256.5"},
      {"gemm.csv", gemm + "X,1,OP,256,0,64,8,7,9\n", "gemm.csv: row 1: N", "0"},
      {"gemm.csv", gemm + "X,1,OP,256,256,-64,8,7,9\n", "gemm.csv: row 1: K", "-64"},
      {"gemm.csv", gemm + "X,,OP,256,256,64,8,7,9\n", "gemm.csv: row 1: tp", "nothing"},
      {"gemm.csv", gemm + "X,1,OP,256,256,64,nan,7,9\n", "gemm.csv: row 1: us", "nan"},
      {"gemm.csv", gemm + "X,1,OP,256,256,64,8,7,none\n", "gemm.csv: row 1: us_max", "none"},
      {"collectives.csv", collectives + "4,reduce,6,53,52,54\n", "collectives.csv: row 1: op", "reduce"},
      {"collectives.csv", collectives + "1,all_gather,6,53,52,54\n", "collectives.csv: row 1: gpus", "1"},
      {"collectives.csv", collectives + "4,all_gather,0,53,52,54\n", "collectives.csv: row 1: mbytes", "0"},
      {"collectives.csv", collectives + "4,all_gather,1e9,53,52,54\n", "collectives.csv: row 1: mbytes", "1e9"},
      {"collectives.csv", collectives + "4,all_gather,6,-53,52,54\n", "collectives.csv: row 1: us", "-53"},
      {"embedding_all_to_all.csv", embeddings + "4,64,8,64,5,bf16,0,1,2,3,4,5,6,7\n",
       "embedding_all_to_all.csv: row 1: dtype", "bf16"},
      {"embedding_all_to_all.csv", embeddings + "4,3,8,64,5,fp32,0,1,2,3,4,5,6,7\n",
       "embedding_all_to_all.csv: row 1: global_batch", "3"},
      {"embedding_all_to_all.csv", embeddings + "4,64,8,64,257,fp32,0,1,2,3,4,5,6,7\n",
       "embedding_all_to_all.csv: row 1: pool", "257"},
      {"embedding_all_to_all.csv", embeddings + "4,64,8,64,5,fp32,0,1,2,3,4,5,6,none\n",
       "embedding_all_to_all.csv: row 1: base_graph_us", "none"},
  };
  for (const Case& one : cases) {
    INFO(one.text);
    const MeasuredTimes times;
    times.put(one.file, one.text);
    const Outcome outcome = times.validate();
    CHECK(outcome.exit_code == 2);
    CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
    CHECK_THAT(outcome.err, Catch::Contains(one.where + ": found " + one.found));
    CHECK_FALSE(fs::exists(times.table()));
  }
}

TEST_CASE("files of GEMMs with unusual shapes and kinds have values, and what is wrong in them is told by its place") {
  const std::string beside =
      "model,sublayer,tp,M,N,K,transpose_b,tile_m,tile_n,group_m,sms_taken,kind,gemm_alone_us,gemm_beside_us,"
      "stream_GBps_beside\n";
  const std::string split = "M,N,K,tile_m,tile_n,split,store,us,us_min,us_max\n";
  const std::string order =
      "model,sublayer,tp,M,N,K,transpose_b,tile_m,tile_n,slab_k,stages,group_m,us,us_min,us_max\n";
  const MeasuredTimes times;
  times.put("known_contention.csv", beside + "any,,1,300,520,136,False,64,128,3,5,write,9,10,250\n");
  times.put("known_splitk.csv", split + "33,264,512,64,64,3,update_f32,9,8,10\n");
  times.put("known_order.csv", order + "odd,,1,300,520,136,True,64,128,32,2,5,9,8,10\n");
  const Outcome outcome = times.validate();
  INFO(outcome.err);
  CHECK(outcome.exit_code == 0);
  for (const auto& row : rows_of(times.table())) CHECK_FALSE(row.at("simulated").empty());

  struct Case {
    std::string file, text, where;
  };
  const Case cases[] = {
      {"known_contention.csv", beside + "X,,1,300,520,136,False,64,128,3,5,swap,9,10,250\n", "row 1: kind: found swap"},
      {"known_contention.csv", beside + "X,,1,300,520,136,no,64,128,3,5,read,9,10,250\n",
       "row 1: transpose_b: found no"},
      {"known_contention.csv", beside + "X,,1,300,520,136,True,64,128,0,5,read,9,10,250\n", "row 1: group_m: found 0"},
      {"known_splitk.csv", split + "33,264,512,64,64,0,store,9,8,10\n", "row 1: split: found 0"},
      {"known_splitk.csv", split + "33,264,512,64,64,2,add,9,8,10\n", "row 1: store: found add"},
      {"known_order.csv", order + "odd,,1,300,520,136,True,4,128,32,2,5,9,8,10\n", "row 1: tile_m: found 4"},
  };
  for (const Case& one : cases) {
    const MeasuredTimes wrong;
    wrong.put(one.file, one.text);
    const Outcome refused = wrong.validate();
    CHECK(refused.exit_code == 2);
    CHECK(std::count(refused.err.begin(), refused.err.end(), '\n') == 1);
    CHECK_THAT(refused.err, Catch::Contains(one.file + ": " + one.where + ", expected "));
  }
}

TEST_CASE("a folder without measured times and a machine that is not known are refused") {
  const MeasuredTimes times;
  CHECK_THAT(times.validate().err, Catch::Contains("found none of the known files, expected one of"));
  fs::remove_all(times.data());
  const Outcome gone = times.validate();
  CHECK(gone.exit_code == 2);
  CHECK_THAT(gone.err, Catch::StartsWith("--data " + times.data().string() + ": found "));
  const Outcome other = run_program({"validate", "h300", "--data", times.data()});
  CHECK(other.exit_code == 2);
  CHECK_THAT(other.err, Catch::Contains("h300"));
}

TEST_CASE("a run that fails or is refused leaves its row without a simulated time and the others as they are") {
  const MeasuredTimes times;
  times.put("gemm.csv",
            std::string(gemm_header) +
                "X,1,IP,256,256,64,8,7,9\nX,1,IP,65536,16384,512,9000,8,9\nX,1,OP,1000000,1000000,64,8,7,9\n");
  const Outcome outcome = times.validate({"--timeout", "5"});
  CHECK(outcome.exit_code == 1);
  CHECK_THAT(outcome.err, Catch::StartsWith("gemm.csv: row 2 us, simulated: "));
  CHECK_THAT(outcome.err, Catch::Contains("gemm.csv: row 3: found with h200-4 a run that is refused"));
  CHECK_THAT(outcome.err, Catch::Contains("gemm.csv: 1 of 3 rows simulated, expected 95% or more\n"));
  const auto rows = rows_of(times.table());
  REQUIRE(rows.size() == 3);
  CHECK_FALSE(rows[0].at("simulated").empty());
  for (const std::size_t row : {1UL, 2UL}) CHECK((rows[row].at("simulated").empty() && rows[row].at("error").empty()));
}

TEST_CASE("all values of a row that is refused for one reason have one line") {
  const MeasuredTimes times;
  times.put("known_contention.csv",
            "model,sublayer,tp,M,N,K,transpose_b,tile_m,tile_n,group_m,sms_taken,kind,gemm_alone_us,gemm_beside_us,"
            "stream_GBps_beside\nany,,1,300,520,136,False,64,128,3,300,write,9,10,250\n");
  const Outcome outcome = times.validate();
  CHECK(outcome.exit_code == 1);
  CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 2);
  CHECK_THAT(outcome.err, Catch::Contains("found 300, expected at most 131"));
  CHECK_THAT(outcome.err, Catch::Contains("0 of 1 rows simulated"));
}

TEST_CASE("a value of which nothing is simulated is there, and in no mean") {
  const MeasuredTimes times;
  times.put("gemm_dram_bytes.csv",
            "kernel,model,sublayer,tp,M,N,K,transpose_b,tile_m,tile_n,group_m,dram_read_bytes,dram_write_bytes,"
            "l2_read_sectors,l2_write_sectors,ns\nknown,any,OP,8,512,512,128,True,128,256,1,200000,300000,1,1,50\n");
  const Outcome outcome = times.validate();
  INFO(outcome.err);
  CHECK(outcome.exit_code == 0);
  CHECK_THAT(outcome.out, Catch::Contains("row 1: dram_write_bytes is 0 simulated and 300000 measured"));
  const auto rows = rows_of(times.table());
  REQUIRE(rows.size() == 2);
  CHECK(std::stod(rows[0].at("simulated")) > 0);
  CHECK((rows[1].at("simulated") == "0.000" && rows[1].at("error") == "-1.0000"));
}

TEST_CASE("pictures of an earlier call with other files are gone") {
  const MeasuredTimes times;
  times.put("collectives.csv", std::string(collectives_header) + "2,all_gather,0.01,5,5,5\n");
  fs::create_directory(times / "results");
  times.write("results/gemm.svg", std::string("old"));
  times.write("results/own.svg", std::string("old"));
  REQUIRE(times.validate().exit_code == 0);
  CHECK_FALSE(fs::exists(times / "results/gemm.svg"));
  CHECK(fs::exists(times / "results/own.svg"));
}

TEST_CASE("a folder in place of the table is told by its name") {
  const MeasuredTimes times;
  times.put("collectives.csv", std::string(collectives_header) + "2,all_gather,0.01,5,5,5\n");
  fs::create_directories(times.table());
  const Outcome outcome = times.validate();
  CHECK(outcome.exit_code == 2);
  CHECK_THAT(outcome.err, Catch::Contains("h200.csv: found a folder, expected a file"));
}

TEST_CASE("fp16 updates of many rows lie on the line through those of one and two tiles of each GPU") {
  const MeasuredTimes times;
  std::string rows =
      "model,sublayer,gpus,M,N,K,rel_err_f32,rel_err_f16,gemm_cublas_us,gemm_local_us,rs_us,gemm_then_rs_us,"
      "gemm_peer_store_us,gemm_peer_atomic_f32_us,gemm_peer_atomic_f16_us,gemm_peer_store_us_stag,"
      "gemm_peer_atomic_f32_us_stag,gemm_peer_atomic_f16_us_stag,barrier_us\n";
  for (const char* m : {"256", "512", "4096"})
    rows += std::string("X,OP,2,") + m + ",1280,64,0,0,9,9,9,9,9,9,9,9,9,9,9\n";
  times.put("fused_stores.csv", rows);
  const Outcome outcome = times.validate();
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  std::map<std::string, std::vector<double>> simulated;  // of each quantity, by row
  for (const auto& row : rows_of(times.table()))
    simulated[row.at("quantity")].push_back(std::stod(row.at("simulated")));
  const auto beyond_line = [&](const char* quantity) {
    const std::vector<double>& us = simulated.at(quantity);
    return us.at(2) - (us.at(1) + 14 * (us.at(1) - us.at(0)));
  };
  for (const char* half : {"gemm_peer_atomic_f16_us", "gemm_peer_atomic_f16_us_stag"})
    CHECK(std::abs(beyond_line(half)) < 0.02);
  // Single-precision updates are simulated whole.
  for (const char* single : {"gemm_peer_atomic_f32_us", "gemm_peer_atomic_f32_us_stag"}) CHECK(beyond_line(single) > 1);
}

TEST_CASE("19 of 20 rows are enough") {
  const MeasuredTimes times;
  std::string rows = std::string(gemm_header) + "X,1,OP,1000000,1000000,64,8,7,9\n";
  for (int i = 0; i < 19; ++i) rows += "X,1,IP,256,256,64,8,7,9\n";
  times.put("gemm.csv", rows);
  const Outcome outcome = times.validate();
  INFO(outcome.err);
  CHECK(outcome.exit_code == 0);
  CHECK_THAT(outcome.err, Catch::Contains("gemm.csv: row 1: found with h200-4 a run that is refused"));
}

TEST_CASE("rows that were not measured well are read and left out") {
  const MeasuredTimes times;
  times.put("gemm.csv", std::string(gemm_header) + "X,1,IP,256,256,68,8,7,9\nX,1,IP,256,256,72,8,7,9\n");
  times.put("collectives.csv",
            std::string(collectives_header) + "4,all_gather,0.25,23.1,20,99\n4,all_gather,0.25,23,20,99\n");
  const Outcome outcome = times.validate();
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  CHECK_THAT(outcome.out, Catch::Contains("gemm.csv: row 1 is left out: K 68 is no multiple of 8\n"));
  CHECK_THAT(outcome.out,
             Catch::Contains("collectives.csv: row 1 is left out: us is 1.16 times us_min, more than 1.15\n"));
  const auto rows = rows_of(times.table());
  REQUIRE(rows.size() == 2);
  CHECK((rows[0].at("row") == "2" && rows[1].at("row") == "2"));
}

TEST_CASE("the reference measurements of H200 are read row by row") {
  const MeasuredTimes times;
  for (const auto& file : fs::directory_iterator(fs::path(T3VP_SOURCE_DIR) / "testbenches/experiments/h200"))
    fs::copy_file(file, times.data() / file.path().filename());
  const Outcome outcome = times.validate({"--timeout", "0.001"});  // to read them is enough
  CHECK(outcome.exit_code == 1);
  CHECK_THAT(outcome.err, !Catch::Contains("a run that is refused"));
  std::map<std::string, std::size_t> counts;
  for (const auto& row : rows_of(times.table())) ++counts[row.at("file")];
  const std::map<std::string, std::size_t> expected{{"collective_cus.csv", 8},      {"contention.csv", 6},
                                                    {"contention_library.csv", 69}, {"known_contention.csv", 168},
                                                    {"collectives.csv", 5},         {"decode.csv", 15},
                                                    {"decomposed.csv", 4},          {"embedding_one_gpu.csv", 11},
                                                    {"energy_gemm.csv", 3},         {"embedding_all_to_all.csv", 14},
                                                    {"fused_stores.csv", 20},       {"gemm.csv", 24},
                                                    {"gemm_dram_bytes.csv", 16},    {"known_order.csv", 22},
                                                    {"known_splitk.csv", 17},       {"sequential.csv", 15}};
  CHECK(counts == expected);
}

TEST_CASE("the energy of a GEMM is that of the board, of its products and of its DRAM traffic") {
  const MeasuredTimes times;
  times.put("energy_gemm.csv",
            "model,sublayer,tp,M,N,K,transpose_b,joules,seconds,mhz,watts\nany,,1,512,512,256,True,0.01,1,1980,600\n");
  const Outcome outcome = times.validate();
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  const auto rows = rows_of(times.table());
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].at("unit") == "J");
  // Matrix work runs at 1.65 GHz, and its energy goes with the square of the voltage.
  const double factor = std::pow(1.65 / 1.365, 2);
  const double products = 0.81e-12 * factor * 2 * 512 * 512 * 256, joules = std::stod(rows[0].at("simulated"));
  CHECK(joules > products);
  // The operands are 512 KiB; the board has 122.8 W, here for 5 to 20 us.
  CHECK(joules - products > 67e-12 * (512 << 10) + 122.8 * 5e-6);
  CHECK(joules - products < 67e-12 * (1024 << 10) + 122.8 * 20e-6);
}

}  // namespace t3vp::test::validation_rows_test
