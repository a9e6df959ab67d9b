#include <catch2/catch.hpp>

#include "debugger/debuggee_bench.h"

namespace t3vp::test::gdb_server_test {

using namespace debug;
using State = GdbServer::State;
using Kind = Action::Kind;
using Reason = Stop::Reason;

namespace {

const std::string base = number_text(FakeDebuggee::base);

void allow_breakpoint_reasons(GdbBench& bench) { bench.ask("qSupported:multiprocess+;swbreak+;hwbreak+"); }

}  // namespace

TEST_CASE("A client learns what there is") {
  GdbBench bench;
  CHECK(bench.ask("qSupported:multiprocess+;swbreak+") ==
        "PacketSize=4000;QStartNoAckMode+;vContSupported+;swbreak+;hwbreak+;qXfer:features:read+;qXfer:threads:read+");
  CHECK(bench.ask("?") == "T05thread:1;");
  CHECK(bench.ask("qfThreadInfo") == "m1,2,3");
  CHECK(bench.ask("qsThreadInfo") == "l");
  CHECK(bench.ask("qC") == "QC1");
  CHECK(bench.ask("qCRC:0,10").empty());
  CHECK(bench.ask("qAttached") == "1");
  CHECK(bench.ask("qThreadExtraInfo,2") == to_hexadecimal("core <1>"));
  CHECK(bench.ask("qThreadExtraInfo,4") == "E01");
  CHECK(bench.ask("T3") == "OK");
  CHECK(bench.ask("T4") == "E01");
  CHECK(bench.ask("vCont?") == "vCont;c;C;s;S;t;r");
  CHECK(bench.ask("qSymbol::") == "OK");
  CHECK(bench.ask("vMustReplyEmpty").empty());
  CHECK(bench.ask("").empty());
}

TEST_CASE("A packet with something behind its end is malformed or another one and does nothing") {
  GdbBench bench;
  for (const char* const wrong : {"?x",
                                  "gx",
                                  "vCont?x",
                                  "vKill;",
                                  "vKill;zz",
                                  "vKill;1z",
                                  "vKill;-1",
                                  "vKill;1;",
                                  "D;1",
                                  "Dx",
                                  "kx",
                                  "k;1",
                                  "qsThreadInfo1",
                                  "qfThreadInfo1",
                                  "qAttached:zz",
                                  "qSymbol:",
                                  "qSymbol:zz",
                                  "qSymbol::zz",
                                  "QStartNoAckMode1",
                                  "qSupportedx",
                                  "C05;",
                                  "S05;",
                                  "C05;zz",
                                  "vCont;c;",
                                  "vCont;s:1;",
                                  "vCont;;c",
                                  "vCont;c1",
                                  "vCont;C05x"}) {
    CAPTURE(wrong);
    CHECK(bench.ask(wrong) == (wrong[0] == 'q' || wrong[0] == 'Q' ? "" : "E01"));
    CHECK(bench.server.state() == State::stopped);
  }
  CHECK(bench.ask("?") == "T05thread:1;");  // acknowledged, as before
  CHECK(bench.ask("vKill;a410") == "OK");
  CHECK(bench.server.state() == State::killed);
}

TEST_CASE("Documents come in parts that fit together") {
  GdbBench bench;
  std::string document, part;
  do {
    bench.server.receive(framed("qXfer:features:read:target.xml:" + number_text(document.size()) + ",3000"));
    PacketReader reader;
    reader.add(bench.server.take_output().substr(1));
    part = reader.next()->content;
    document += part.substr(1);
  } while (part.front() == 'm');
  CHECK(part.front() == 'l');
  CHECK(document == bench.debuggee.description());
  CHECK(bench.ask("qXfer:features:read:target.xml:ffffff,10") == "E01");
  CHECK(bench.ask("qXfer:features:read:target.xml:0") == "E01");
  CHECK(bench.ask("qXfer:features:read:other.xml:0,10").empty());
  CHECK(bench.ask("qXfer:threads:read::0,1000").find("name=\"core &lt;2>\"") != std::string::npos);
}

TEST_CASE("Registers are read and written one by one or together") {
  GdbBench bench;
  CHECK(bench.ask("P1=efcdab8967452301") == "OK");
  CHECK(bench.debuggee.values[0][1] == 0x0123456789abcdef);
  CHECK(bench.ask("p1") == "efcdab8967452301");
  CHECK(bench.ask("P64=0100000000000000") == "OK");
  CHECK(bench.ask("p64") == "0100000000000000");
  const std::string all = std::string(16, '1') + std::string(16, '2') + std::string(16, '3') + std::string(16, '4');
  CHECK(bench.ask("G" + all) == "OK");
  CHECK(bench.ask("g") == all);
  for (const char* const wrong : {"p", "p9", "px", "p1x", "p100000001", "P1", "P1=", "P1=00", "P9=0000000000000000",
                                  "P1=00000000000000000", "P1=000000000000000g", "G", "G00", "Gxx"})
    CHECK(bench.ask(wrong) == "E01");
  CHECK(bench.ask("G" + all + "00") == "E01");
  CHECK(bench.ask("P3=0100000000000000") == "E01");  // a value that it cannot hold
  CHECK(bench.ask("G" + all.substr(0, 48) + "0100000000000000") == "E01");
  CHECK(bench.ask("g") == all);
}

TEST_CASE("Memory is read and written in hexadecimal or binary") {
  GdbBench bench;
  CHECK(bench.ask("M" + base + ",4:01020304") == "OK");
  CHECK(bench.ask("m" + base + ",4") == "01020304");
  CHECK(bench.ask("X" + base + ",0:") == "OK");
  CHECK(bench.ask("X" + base + ",3:" + escaped("#$}")) == "OK");
  CHECK(bench.debuggee.memory.substr(0, 4) == "#$}\x04");
  CHECK(bench.ask("m10f0,20") == std::string(32, '0'));  // 16 of the 32 bytes
  CHECK(bench.ask("m1100,1") == "E0e");
  CHECK(bench.ask("M10ff,2:0000") == "E0e");
  CHECK(bench.ask("m" + base + ",ffffffffffffffff").size() == 2 * 256);
  for (const char* const wrong :
       {"m", "m1000", "m1000,", "m1000,4x", "mx,4", "M1000,4", "M1000,4:", "M1000,4:01", "M1000,1:0g", "M1000,2:010203",
        "X1000,4:abc", "X1000,2:abc", "X", "X1000", "m10000000000000000,1"})
    CHECK(bench.ask(wrong) == "E01");
}

TEST_CASE("Each thread has its own registers and all share what the client chooses") {
  GdbBench bench;
  bench.debuggee.values[1][2] = 7;
  CHECK(bench.ask("Hg2") == "OK");
  CHECK(bench.ask("p2") == "0700000000000000");
  CHECK(bench.server.chosen_thread() == 1);
  CHECK(bench.ask("Hg0") == "OK");
  CHECK(bench.ask("p2") == "0000000000000000");
  CHECK(bench.ask("Hc-1") == "OK");
  for (const char* const wrong : {"H", "Hg", "Hg4", "Hx1", "Hgp1.1", "Hg1x"}) CHECK(bench.ask(wrong) == "E01");
}

TEST_CASE("Breakpoints and watches are kept for who runs the program") {
  GdbBench bench;
  CHECK(bench.ask("Z0,100,2") == "OK");
  CHECK(bench.ask("Z1,200,4") == "OK");
  CHECK(bench.ask("Z2,300,8") == "OK");
  CHECK(bench.server.stop_points().breakpoint(0x100)->kind == StopPointKind::software_breakpoint);
  CHECK(bench.server.stop_points().breakpoint(0x200)->kind == StopPointKind::hardware_breakpoint);
  CHECK(bench.server.stop_points().watches());
  CHECK(bench.ask("z2,300,8") == "OK");
  CHECK_FALSE(bench.server.stop_points().watches());
  CHECK(bench.ask("z0,999,4") == "OK");  // none there: it is gone
  for (const char* const wrong :
       {"Z", "Z0", "Z0,100", "Z0,100,", "Z0,100,0", "Z5,100,4", "Z0,x,4", "Z0,100,4x", "z5,0,1"})
    CHECK(bench.ask(wrong) == "E01");
  CHECK(bench.ask("z3,300,8;X1,0") == "OK");
}

TEST_CASE("vCont gives each thread the first action that fits it") {
  GdbBench bench;
  const auto kinds = [&] {
    return std::vector<Kind>{bench.server.action(0).kind, bench.server.action(1).kind, bench.server.action(2).kind};
  };
  SECTION("one for all") {
    CHECK(bench.ask("vCont;c") == "(none)");
    CHECK(kinds() == std::vector<Kind>{Kind::go, Kind::go, Kind::go});
  }
  SECTION("one steps and the others go on") {
    bench.ask("vCont;s:2;c");
    CHECK(kinds() == std::vector<Kind>{Kind::go, Kind::step, Kind::go});
  }
  SECTION("one alone") {
    bench.ask("vCont;s:3");
    CHECK(kinds() == std::vector<Kind>{Kind::hold, Kind::hold, Kind::step});
  }
  SECTION("signals are nobody's") {
    bench.ask("vCont;S05:1;t:2;C02:-1");
    CHECK(kinds() == std::vector<Kind>{Kind::step, Kind::hold, Kind::go});
  }
  SECTION("a range") {
    bench.ask("vCont;r100,108:1;c");
    CHECK(kinds() == std::vector<Kind>{Kind::step, Kind::go, Kind::go});
    CHECK(bench.server.action(0).stays_in_range(0x100));
    CHECK_FALSE(bench.server.action(0).stays_in_range(0x108));
  }
  CHECK(bench.server.state() == State::running);
}

TEST_CASE("Actions that make no sense leave the program stopped") {
  GdbBench bench;
  for (const char* const wrong :
       {"vCont;", "vCont;x", "vCont;t", "vCont;s:4", "vCont;s:", "vCont;cc", "vCont;r1", "vCont;r1,", "vCont;C",
        "vCont;Cx", "vCont;c:1x", "vCont;c;;", "cx", "s1,2", "c2001", "C", "Sx", "C05x"})
    CHECK(bench.ask(wrong) == "E01");
  CHECK(bench.server.state() == State::stopped);
}

TEST_CASE("The older packets make one thread step or go on from elsewhere") {
  GdbBench bench;
  CHECK(bench.ask("Hc2") == "OK");
  SECTION("step") {
    CHECK(bench.ask("s2000") == "(none)");
    CHECK(bench.server.action(0).kind == Kind::go);
    CHECK(bench.server.action(1).kind == Kind::step);
    CHECK(bench.debuggee.values[1][3] == 0x2000);
  }
  SECTION("step with a signal") {
    CHECK(bench.ask("S05;2000") == "(none)");
    CHECK(bench.debuggee.values[1][3] == 0x2000);
  }
  SECTION("go on") {
    CHECK(bench.ask("c") == "(none)");
    CHECK(bench.server.action(1).kind == Kind::go);
    CHECK(bench.debuggee.values[1][3] == 0);
  }
}

TEST_CASE("A stop says which thread and why") {
  GdbBench bench;
  const auto told = [&](const Stop& stop) {
    bench.ask("vCont;c");
    bench.server.stop(stop);
    const std::string answer = bench.answer();
    CHECK(bench.ask("?") == answer);
    return answer;
  };
  CHECK(told({Reason::stepped, 1}) == "T05thread:2;");
  CHECK(bench.ask("qC") == "QC2");
  CHECK(bench.server.chosen_thread() == 1);
  CHECK(told({Reason::interrupted, 0}) == "T02thread:1;");
  CHECK(told({Reason::cannot_go_on, 0}) == "T06thread:1;");
  CHECK(told({Reason::fault, 2, {}, 11}) == "T0bthread:3;");
  CHECK(told({Reason::watch, 2, {StopPointKind::write_watch, 0x1234, 8}}) == "T05thread:3;watch:1234;");
  CHECK(told({Reason::watch, 2, {StopPointKind::read_watch, 0x1234, 8}}) == "T05thread:3;rwatch:1234;");
  CHECK(told({Reason::watch, 2, {StopPointKind::access_watch, 0x1234, 8}}) == "T05thread:3;awatch:1234;");
  CHECK(told({Reason::software_breakpoint, 0}) == "T05thread:1;");
  allow_breakpoint_reasons(bench);
  CHECK(told({Reason::software_breakpoint, 0}) == "T05thread:1;swbreak:;");
  CHECK(told({Reason::hardware_breakpoint, 0}) == "T05thread:1;hwbreak:;");
}

TEST_CASE("What comes while the program runs waits, but for the wish to stop it") {
  GdbBench bench;
  bench.server.receive("\x03");
  bench.ask("vCont;c");
  CHECK_FALSE(bench.server.wants_a_stop());  // it came before
  bench.server.receive(framed("g") + "\x03");
  CHECK(bench.server.take_output().empty());
  CHECK(bench.server.wants_a_stop());
  bench.server.stop({Reason::interrupted, 0});
  CHECK_FALSE(bench.server.wants_a_stop());
  CHECK(bench.server.take_output() == framed("T02thread:1;") + "+" + framed(std::string(64, '0')));
}

TEST_CASE("A client that floods a running program is not gathered without end") {
  GdbBench bench;
  bench.ask("vCont;c");
  for (int i = 0; i < 10000; ++i) bench.server.receive(framed("qC"));
  bench.server.stop({Reason::interrupted, 0});
  CHECK(bench.server.take_output().size() < 1000);
  CHECK(bench.ask("qC") == "QC1");
}

TEST_CASE("Broken packets are asked for again and answers are sent again until nobody acknowledges") {
  GdbBench bench;
  bench.server.receive("$qC#00");
  CHECK(bench.server.take_output() == "-");
  bench.server.receive(framed("qC"));
  CHECK(bench.server.take_output() == "+" + framed("QC1"));
  bench.server.receive("-");
  CHECK(bench.server.take_output() == framed("QC1"));
  bench.server.receive(framed("QStartNoAckMode"));
  CHECK(bench.server.take_output() == "+" + framed("OK"));
  bench.server.receive("+$qC#00-" + framed("qC"));
  CHECK(bench.server.take_output() == framed("QC1"));
}

TEST_CASE("monitor prints on the client's console") {
  GdbBench bench;
  bench.ask("Hg3");
  bench.server.receive(framed("qRcmd," + to_hexadecimal("dma 1")));
  CHECK(bench.server.take_output() == "+" + framed("O" + to_hexadecimal("2 dma 1\n")) + framed("OK"));
  CHECK(bench.ask("qRcmd,abc") == "E01");
}

TEST_CASE("A client leaves or kills and a program ends") {
  GdbBench bench;
  SECTION("detach") {
    CHECK(bench.ask("D") == "OK");
    CHECK(bench.server.state() == State::detached);
  }
  SECTION("kill") {
    CHECK(bench.ask("k") == "(none)");
    CHECK(bench.server.state() == State::killed);
  }
  SECTION("kill of the process") {
    CHECK(bench.ask("vKill;1") == "OK");
    CHECK(bench.server.state() == State::killed);
  }
  SECTION("exit") {
    bench.ask("vCont;c");
    bench.server.exit(1);
    CHECK(bench.answer() == "W01");
    CHECK(bench.server.state() == State::detached);
  }
  CHECK(bench.ask("g") == "(none)");  // the client has left
}

}  // namespace t3vp::test::gdb_server_test
