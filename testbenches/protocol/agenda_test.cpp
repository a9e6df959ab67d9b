#include "protocol/agenda.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

namespace t3vp::test::agenda_test {
namespace {

void advance_to(Picoseconds time) { sc_core::sc_start(to_sc_time(time - now())); }

/// Activities that note their names.
struct Log {
  std::vector<std::string> told;
  std::unique_ptr<Activity> make(const std::string& name) {
    return std::make_unique<Activity>([this, name] { told.push_back(name + " at " + std::to_string(now())); });
  }
};

/// Waits to a time in steps, then writes a signal, whose reader follows two delta cycles later.
struct Processes : sc_core::sc_module {
  Log& log;
  sc_core::sc_signal<bool> line{"line"}, copy{"copy"};
  explicit Processes(const sc_core::sc_module_name& name, Log& to) : sc_module(name), log(to) {
    SC_HAS_PROCESS(Processes);
    SC_THREAD(main);
    SC_METHOD(follow);
    sensitive << line;
    dont_initialize();
    SC_METHOD(tell);
    sensitive << copy;
    dont_initialize();
  }
  void main() {
    wait(to_sc_time(100));
    wait(sc_core::SC_ZERO_TIME);
    line = true;
  }
  void follow() { copy = line.read(); }
  void tell() { log.told.push_back("process"); }
};

}  // namespace

TEST_CASE("activities of one time run in the order of construction, whoever has asked first") {
  Log log;
  const auto a = log.make("a"), b = log.make("b"), c = log.make("c");
  c->run_at(100);
  a->run_at(100);
  b->run_at(90);
  REQUIRE(a->due() == 100);
  advance_to(200);
  REQUIRE(log.told == std::vector<std::string>{"b at 90", "a at 100", "c at 100"});
  REQUIRE(a->due() == never);
}

TEST_CASE("the latest time asked for counts") {
  Log log;
  const auto a = log.make("a"), b = log.make("b");
  a->run_at(50);
  a->run_at(80);
  b->run_at(80);
  b->run_at(60);
  advance_to(70);
  REQUIRE(log.told == std::vector<std::string>{"b at 60"});
  a->run_at(never);
  advance_to(200);
  REQUIRE(log.told.size() == 1);
}

TEST_CASE("what is asked for at the same time comes a round later, behind all of this round") {
  Log log;
  std::unique_ptr<Activity> first;
  const auto early = log.make("early");
  first = std::make_unique<Activity>([&] {
    log.told.push_back("first");
    early->run_at(now());
  });
  const auto late = log.make("late");
  first->run_at(10);
  late->run_at(10);
  advance_to(20);
  REQUIRE(log.told == std::vector<std::string>{"first", "late at 10", "early at 10"});
}

TEST_CASE("processes of a time come to rest before activities run") {
  Log log;
  const auto a = log.make("a");
  Processes processes("processes", log);
  a->run_at(100);
  advance_to(200);
  REQUIRE(log.told == std::vector<std::string>{"process", "a at 100"});
}

TEST_CASE("an activity that is gone does not run, not even in the round at hand") {
  Log log;
  std::unique_ptr<Activity> doomed;
  Activity killer([&] { doomed.reset(); });
  doomed = log.make("doomed");
  doomed->run_at(10);
  killer.run_at(10);
  advance_to(20);
  REQUIRE(log.told.empty());
}

}  // namespace t3vp::test::agenda_test
