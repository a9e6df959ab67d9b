// A driver whose calls are refused, and the check that a refusal names call, parameter and what was expected:
// t3_last_error has them, and the platform is told before and after they have been read.
#pragma once

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "firmware/connected.h"
#include "firmware/opened_driver.h"
#include "t3/shmem.h"

namespace t3vp::test {

/// A queue pair that is ready to send, a heap of the host whose queue pairs are others, and what calls fill.
struct Refusing : Driver {
  t3_nic_queue queue{};
  t3_shmem_heap heap{};
  std::uint32_t key = 0, state = 0, count = 0;
  std::uint64_t address = 0;
  t3_nic_completion completion{};
  t3_nic_message message{};

  Refusing() {
    queue.number = 5, queue.completion_queue = 3, queue.entries = 4;
    REQUIRE(t3_malloc(&context, t3_nic_queue_bytes(4), &queue.memory) == T3_OK);
    message.opcode = T3_NIC_WRITE;
  }
  void open() {
    REQUIRE(t3_nic_create_qp(&context, &queue) == T3_OK);
    REQUIRE(connect(&context, &queue, 3, 7) == T3_OK);
  }
  t3_status create(void (*change)(t3_nic_queue& wrong)) {
    t3_nic_queue wrong = queue;
    change(wrong);
    return t3_nic_create_qp(&context, &wrong);
  }
  t3_status post(void (*change)(t3_nic_message& wrong)) {
    if (!queue.is_open) open();
    t3_nic_message wrong = message;
    change(wrong);
    return t3_nic_post_send(&context, &queue, &wrong);
  }
  t3_status init(void (*change)(t3_shmem_options& wrong)) {
    t3_shmem_options options{4096, 1, 16, false, false, false};
    change(options);
    return t3_shmem_init(&context, options, &heap);
  }
};

/// A call, and what its refusal says.
struct RefusedCall {
  t3_status (*call)(Refusing& d);
  t3_status code;
  const char *name, *argument, *expected;
};

inline void require_named(const RefusedCall& row) {
  Refusing d;
  CAPTURE(row.name, row.argument, row.expected);
  const t3_status status = row.call(d);
  CHECK(status == row.code);
  const std::vector<std::string> reported = d.mock.take_reported();
  const std::string name = row.name, argument = row.argument, expected = row.expected;
  std::string line = t3_status_text(row.code) + (": " + name);
  if (!argument.empty()) line += ": " + argument;
  if (!expected.empty()) line += ": " + expected;
  if (!argument.empty()) line += " expected";
  REQUIRE_FALSE(reported.empty());
  CHECK(reported.back() == line);
  const t3_call_error error = t3_last_error(&d.context);
  CHECK(error.code == row.code);
  CHECK(error.call == name);
  CHECK(error.argument == argument);
  if (!expected.empty()) CHECK(error.text == expected);
  CHECK(d.mock.take_reported() == std::vector<std::string>{"ok"});
  CHECK(d.mock.locks() == 0);
}

template <std::size_t N>
void require_all_named(const RefusedCall (&rows)[N]) {
  for (const RefusedCall& row : rows) require_named(row);
}

}  // namespace t3vp::test
