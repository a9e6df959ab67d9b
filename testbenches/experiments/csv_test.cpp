#include <catch2/catch.hpp>

#include "command_line/program.h"
#include "experiment/csv.h"
#include "io/input_error.h"

namespace t3vp::test::csv_test {

TEST_CASE("whatever is written is read again") {
  const std::vector<std::vector<std::string>> rows{
      {"plain", "", "with, comma"}, {"with \"quotes\"", "two\nlines", " spaces "}, {"\"", ",", "\r\n"}};
  std::string text = csv_line({"a", "b", "c"});
  for (const auto& row : rows) text += csv_line(row);
  const Folder folder;
  CHECK(read_csv(folder.write("t.csv", text), {"b"}).rows == rows);
}

TEST_CASE("plain values stay plain") { CHECK(csv_line({"T-NLG FC-2", "1.5", ""}) == "T-NLG FC-2,1.5,\n"); }

TEST_CASE("a number is found by its row's key") {
  const Folder folder;
  const CsvTable table =
      read_csv(folder.write("t.csv", std::string("id,value\r\nx,1.25\r\ny,many\r\ntwice,1\r\ntwice,1\r\n")), {});
  CHECK(table.number("id", "x", "value") == 1.25);
  CHECK_THROWS_AS(table.number("id", "y", "value"), InputError);
  CHECK_THROWS_AS(table.number("id", "twice", "value"), InputError);
  CHECK_FALSE(table.number("id", "z", "value"));
  CHECK(table.text("id", "y", "value") == "many");
  CHECK(table.text("id", "z", "value").empty());
  CHECK(table.text("id", "y", "name").empty());
}

TEST_CASE("blank lines hold no row") {
  const Folder folder;
  CHECK(read_csv(folder.write("t.csv", std::string("a,b\n1,2\n\n3,4\n\n")), {}).rows.size() == 2);
  CHECK(read_csv(folder.write("t.csv", std::string("a\n\n1\n")), {}).rows.size() == 2);
}

TEST_CASE("ragged rows and missing columns are refused") {
  const Folder folder;
  CHECK_THROWS_AS(read_csv(folder.write("t.csv", std::string("a,b\n1\n")), {}), InputError);
  CHECK_THROWS_AS(read_csv(folder.write("t.csv", std::string("a,b\n1,2\n")), {"c"}), InputError);
  CHECK_THROWS_AS(read_csv(folder.write("t.csv", std::string("a,b,a\n1,2,3\n")), {}), InputError);
  CHECK_THROWS_AS(read_csv(folder.write("t.csv", std::string()), {"c"}), InputError);
}

}  // namespace t3vp::test::csv_test
