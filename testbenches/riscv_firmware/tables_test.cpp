// What the table of an executable says is checked before a core runs it, as that of a native library is.
#include <catch2/catch.hpp>

#include "riscv_firmware/image.h"

namespace t3vp::test::tables_test {

namespace {

std::string executable(const std::string& name) { return FIRMWARE_DIR "/" + name + ".elf"; }

Outcome outcome_of(const std::string& program) { return CoreRun({{"gpus", 1}, {"program", program}}).run(); }

void require_refused(const std::string& program, const std::string& line) {
  const Outcome outcome = outcome_of(program);
  INFO(program << "\n" << outcome.out);
  CHECK(outcome.exit_code == 2);
  CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
  CHECK_THAT(outcome.err, Catch::Contains("/program: found \"") && Catch::Contains(line));
}

}  // namespace

TEST_CASE("an executable's table is checked before it runs") {
  if (!has_image()) return;
  require_refused(executable("odd_version") + ":a",
                  "its table is of version 7, expected version 4: build it with this platform's headers");
  require_refused(executable("odd_layout") + ":a",
                  "its table is of version 4 with other structures, expected this platform's structures: build it");
  require_refused(executable("odd_twice") + ":b", "it has two programs b, expected programs with a name of their own");
  require_refused(executable("odd_name") + ":b", "its program number 1 has the name \"a b \", expected ");
  require_refused(executable("odd_null") + ":b",
                  "whose program a has no main function, expected a program that can be called");
  require_refused(executable("odd_data") + ":b", "where there is no code, expected a function that can be called");
  require_refused(executable("odd_list") + ":b", "its program number 1 is at 0x8, where nothing can be read");
}

TEST_CASE("which of an executable's programs is meant has to be said") {
  if (!has_image()) return;
  CHECK(outcome_of(executable("odd_none") + ":a").exit_code == 0);
  CHECK(outcome_of(executable("odd_none") + ":b").exit_code == 0);
  for (const char* end : {"", ":"})
    require_refused(executable("odd_none") + end,
                    "an executable of the programs a, b, expected FILE:NAME, to choose one of them");
  require_refused(executable("odd_none") + ":c",
                  "odd_none.elf:c\", an executable of a, b, expected one of its programs behind the colon");
}

}  // namespace t3vp::test::tables_test
