#include "guest_kernels.h"

#include <string.h>

#include "guest_rows.h"
#include "t3/address.h"
#include "t3/arguments/gemm.h"
#include "t3/registers/nic.h"
#include "t3/registers/signals.h"

static void leaves_loads(struct t3_wave* wave) {
  const struct t3_gemm_arguments* p = wave->arguments;
  t3_load(wave, first, row_of(p->a, 0));
}

static void leaves_stores(struct t3_wave* wave) {
  const struct t3_gemm_arguments* p = wave->arguments;
  t3_work(wave, &(struct t3_vector_work){.operations = 1, .operands = 1, .tiles = {first}});
  t3_store(wave, first, row_of(p->out, 0));
}

static void store_row(struct t3_wave* wave, uint64_t address) {
  compute_first(wave);
  t3_store(wave, first, row_of(address, 0));
}

static void loads_what_it_does_not_read(struct t3_wave* wave) { load_row(wave, operands_of(wave)->a + 4 * 32 - 4); }

static void loads_from_all(struct t3_wave* wave) { load_row(wave, t3_on_gpu(T3_ALL_GPUS, operands_of(wave)->a)); }

static void loads_from_a_peer(struct t3_wave* wave) { load_row(wave, t3_on_gpu(1, operands_of(wave)->a)); }

static void counts_in_a_half(struct t3_wave* wave) {
  uint64_t old;
  (void)t3_fetch_add_64(wave, t3_on_gpu(1, COUNTERS + 4), 1, &old);
}

static void counts_in_three_bytes(struct t3_wave* wave) {
  uint64_t old;
  bool done;
  struct t3_call call;
  call.kind = T3_CALL_FETCH_ADD;
  call.integer = (struct t3_integer){.address = t3_on_gpu(1, COUNTERS), .bytes = 3, .old = &old, .done = &done};
  wave->call(wave, &call);
}

static void counts_for_nobody(struct t3_wave* wave) { (void)t3_fetch_add_32(wave, t3_on_gpu(1, COUNTERS), 1, NULL); }

static void counts_behind_its_counters(struct t3_wave* wave) {
  uint32_t old;
  (void)t3_fetch_add_32(wave, t3_on_gpu(1, COUNTERS + 64), 1, &old);
}

static void counts_in_signals(struct t3_wave* wave) {
  uint64_t old;
  (void)t3_fetch_add_64(wave, t3_block_base(1, T3_BLOCK_SIGNALS) + T3_SIGNALS_ADD_OFFSET + T3_SIGNALS_ADD_STRIDE, 1,
                        &old);
}

static void reads_to_nowhere(struct t3_wave* wave) { (void)t3_read(wave, t3_on_gpu(1, COUNTERS), 8, NULL); }

static void reads_over_a_block(struct t3_wave* wave) {
  unsigned char bytes[16];
  (void)t3_read(wave, t3_on_gpu(1, COUNTERS + 56), 16, bytes);
}

static void reads_nothing(struct t3_wave* wave) {
  unsigned char byte;
  (void)t3_read(wave, t3_on_gpu(1, COUNTERS), 0, &byte);
}

static void reads_what_is_not_shared(struct t3_wave* wave) {
  unsigned char byte;
  (void)t3_read(wave, operands_of(wave)->a, 1, &byte);
}

static void reads_through_a_cache_of_any_byte(struct t3_wave* wave) {
  bool done;
  unsigned char byte;
  struct t3_call call;
  call.kind = T3_CALL_READ;
  call.bytes = (struct t3_bytes){.address = t3_on_gpu(1, COUNTERS), .bytes = 1, .read = &byte, .done = &done};
  memset(&call.bytes.cached, 0xA5, 1);
  wave->call(wave, &call);
}

static void writes_from_nowhere(struct t3_wave* wave) { t3_write(wave, t3_on_gpu(1, COUNTERS), NULL, 4); }

static void writes_65_bytes(struct t3_wave* wave) {
  const unsigned char bytes[65] = {0};
  t3_write(wave, t3_on_gpu(1, COUNTERS), bytes, 65);
}

static void writes_behind_what_is_shared(struct t3_wave* wave) {
  t3_write(wave, t3_on_gpu(1, COUNTERS + 64), &(uint32_t){1}, 4);
}

static void writes_to_all(struct t3_wave* wave) { t3_write(wave, t3_on_gpu(T3_ALL_GPUS, COUNTERS), &(uint32_t){1}, 4); }

static uint64_t doorbell_of(uint32_t gpu) { return t3_block_base(gpu, T3_BLOCK_NIC) + T3_NIC_DOORBELL_OFFSET; }

static void rings_a_doorbell(struct t3_wave* wave) { t3_write(wave, doorbell_of(0), &(uint32_t){1}, 4); }

static void rings_at_a_peer(struct t3_wave* wave) { t3_write(wave, doorbell_of(1), &(uint32_t){1}, 4); }

static void reads_a_doorbell(struct t3_wave* wave) {
  uint32_t posted;
  (void)t3_read(wave, doorbell_of(0), 4, &posted);
}

static void reads_what_it_writes(struct t3_wave* wave) {
  unsigned char bytes[8] = {0};
  t3_write(wave, t3_on_gpu(1, COUNTERS + 7), bytes, 1);
  (void)t3_read(wave, t3_on_gpu(1, COUNTERS), 8, bytes);
}

static void polls(struct t3_wave* wave, struct t3_condition condition) { (void)t3_wait_value(wave, condition); }

static void polls_a_doorbell(struct t3_wave* wave) {
  polls(wave, (struct t3_condition){.address = doorbell_of(0), .bytes = 4, .mask = 1});
}

static void polls_three_bytes(struct t3_wave* wave) {
  polls(wave, (struct t3_condition){.address = t3_on_gpu(0, COUNTERS), .bytes = 3, .mask = 1});
}

static void polls_between_integers(struct t3_wave* wave) {
  polls(wave, (struct t3_condition){.address = t3_on_gpu(0, COUNTERS + 2), .bytes = 4, .mask = 1});
}

static void polls_without_a_mask(struct t3_wave* wave) {
  polls(wave, (struct t3_condition){.address = t3_on_gpu(0, COUNTERS), .bytes = 4});
}

static void polls_for_what_cannot_be(struct t3_wave* wave) {
  polls(wave, (struct t3_condition){.address = t3_on_gpu(0, COUNTERS), .bytes = 1, .mask = 0xF0, .value = 0x81});
}

static void polls_by_no_comparison(struct t3_wave* wave) {
  polls(wave, (struct t3_condition){
                  .address = t3_on_gpu(0, COUNTERS), .bytes = 4, .mask = 1, .comparison = (enum t3_comparison)3});
}

static void polls_what_is_not_shared(struct t3_wave* wave) {
  polls(wave, (struct t3_condition){.address = operands_of(wave)->out, .bytes = 4, .mask = 1});
}

static void polls_for_nobody(struct t3_wave* wave) {
  struct t3_call call;
  call.kind = T3_CALL_WAIT_VALUE;
  call.poll.condition = (struct t3_condition){.address = t3_on_gpu(0, COUNTERS), .bytes = 4, .mask = 1};
  call.poll.done = NULL;
  wave->call(wave, &call);
}

static void loads_a_peers_registers(struct t3_wave* wave) {
  load_row(wave, t3_block_base(1, T3_BLOCK_SIGNALS) + T3_SIGNALS_VALUE_OFFSET);
}

static void loads_beyond_all_addresses(struct t3_wave* wave) {
  struct t3_access access = row_of(operands_of(wave)->a, 0);
  access.rows = 2, access.stride = UINT64_MAX - 64;
  t3_load(wave, (struct t3_tile){0, 2, 8, T3_FP32}, access);
}

static void loads_between_elements(struct t3_wave* wave) { load_row(wave, operands_of(wave)->a + 2); }

static void loads_rows_between_elements(struct t3_wave* wave) {
  struct t3_access access = row_of(operands_of(wave)->a, 0);
  access.rows = 2, access.stride = 34;
  t3_load(wave, (struct t3_tile){0, 2, 8, T3_FP32}, access);
}

static void stores_between_elements(struct t3_wave* wave) { store_row(wave, operands_of(wave)->out + 1); }

static struct t3_access overlapping(uint64_t matrix) {
  struct t3_access access = row_of(matrix, 0);
  access.rows = 2, access.stride = 28;
  return access;
}

static const struct t3_tile two_rows = {0, 2, 8, T3_FP32};

/* Which may be loaded from one place. */
static void stores_rows_over_each_other(struct t3_wave* wave) {
  t3_load(wave, two_rows, overlapping(operands_of(wave)->a));
  t3_store(wave, two_rows, overlapping(operands_of(wave)->out));
}

static void updates_rows_over_each_other(struct t3_wave* wave) {
  t3_load(wave, two_rows, overlapping(operands_of(wave)->a));
  t3_update(wave, two_rows, overlapping(operands_of(wave)->out));
}

static void loads_unset(struct t3_wave* wave) {
  struct t3_access access = row_of(operands_of(wave)->a, 0);
  unset(&access.uncached);
  t3_load(wave, first, access);
}

static void stores_unset_at_once(struct t3_wave* wave) {
  struct t3_access access = row_of(operands_of(wave)->out, 0);
  unset(&access.at_once);
  compute_first(wave);
  t3_store(wave, first, access);
}

static void updates_unset_named(struct t3_wave* wave) {
  struct t3_access access = row_of(operands_of(wave)->out, 0);
  unset(&access.of.named);
  compute_first(wave);
  t3_update(wave, first, access);
}

static void stores_what_it_does_not_write(struct t3_wave* wave) { store_row(wave, operands_of(wave)->out - 32); }

static void updates_what_it_reads(struct t3_wave* wave) {
  compute_first(wave);
  t3_update(wave, first, row_of(operands_of(wave)->a, 0));
}

static void stores_where_it_does_not_send(struct t3_wave* wave) { store_row(wave, t3_on_gpu(1, PEER_ROW + 4)); }

static void signals_memory(struct t3_wave* wave) {
  t3_signal(wave, (struct t3_counter){.address = operands_of(wave)->out});
}

static void signals_what_is_waited_for(struct t3_wave* wave) {
  t3_signal(wave, (struct t3_counter){.address = t3_block_base(0, T3_BLOCK_SIGNALS) + T3_SIGNALS_VALUE_OFFSET});
}

static void signals_the_barrier(struct t3_wave* wave) {
  t3_signal(wave, (struct t3_counter){.address = t3_block_base(1, T3_BLOCK_SIGNALS) + T3_SIGNALS_ADD_OFFSET});
}

static void signals_stores_backwards(struct t3_wave* wave) {
  t3_signal(wave, (struct t3_counter){
                      .address = t3_block_base(0, T3_BLOCK_SIGNALS) + T3_SIGNALS_ADD_OFFSET + T3_SIGNALS_ADD_STRIDE,
                      .stored = {64, 32}});
}

static void signals_stores_elsewhere(struct t3_wave* wave) {
  t3_signal(wave, (struct t3_counter){
                      .address = t3_block_base(1, T3_BLOCK_SIGNALS) + T3_SIGNALS_ADD_OFFSET + T3_SIGNALS_ADD_STRIDE,
                      .stored = {t3_on_gpu(1, PEER_ROW), t3_on_gpu(1, PEER_ROW + 33)}});
}

static void signals_stores_on_another_gpu(struct t3_wave* wave) {
  t3_signal(wave, (struct t3_counter){
                      .address = t3_block_base(1, T3_BLOCK_SIGNALS) + T3_SIGNALS_ADD_OFFSET + T3_SIGNALS_ADD_STRIDE,
                      .stored = {t3_on_gpu(2, PEER_ROW), t3_on_gpu(2, PEER_ROW + 32)}});
}

static void signals_stores_here(struct t3_wave* wave) {
  const uint64_t out = operands_of(wave)->out;
  const uint64_t counter = t3_block_base(0, T3_BLOCK_SIGNALS) + T3_SIGNALS_ADD_OFFSET + T3_SIGNALS_ADD_STRIDE;
  t3_signal(wave, (struct t3_counter){.address = counter, .stored = {out, out + 128}});
  t3_signal(wave, (struct t3_counter){.address = counter, .stored = {out, out + 129}});
}

static void awaits_a_peers_counter(struct t3_wave* wave) {
  t3_wait_counter(wave, (struct t3_counter){.address = t3_block_base(1, T3_BLOCK_SIGNALS) + T3_SIGNALS_VALUE_OFFSET});
}

static void loads_what_it_has_updated(struct t3_wave* wave) {
  struct t3_access access = row_of(operands_of(wave)->out, 0);
  compute_first(wave);
  t3_update(wave, first, access);
  access.address += 32;
  t3_load(wave, second, access);
  access.address -= 4;
  access.columns = 1;
  t3_load(wave, (struct t3_tile){2, 1, 1, T3_FP32}, access);
}

/* Columns of a matrix that lie between each other may be on their way; what has been taken may be loaded. */
static void loads_what_it_has_stored(struct t3_wave* wave) {
  struct t3_access access = row_of(operands_of(wave)->out, 0);
  const struct t3_tile half = {0, 4, 4, T3_FP32}, part = {1, 4, 2, T3_FP32};
  t3_work(wave, &(struct t3_vector_work){.operations = 1, .operands = 1, .tiles = {half}});
  access.rows = 4, access.columns = 4;
  t3_store(wave, half, access);
  t3_fence(wave);
  t3_load(wave, half, access);
  t3_store(wave, half, access);
  access.columns = 2;
  access.address += 16;
  t3_load(wave, part, access);
  t3_wait_tile(wave, part);
  access.address -= 4;
  t3_load(wave, part, access);
}

const struct guest_mistake guest_memory_mistakes[] = {
    {loads_what_it_does_not_read,
     "a load from 0x1007c to 0x1009b: its plan reads 0x10000 to 0x1007f and writes 0x90000 to 0x9007f, memory of"},
    {loads_from_a_peer,
     "a load from 0x100000010000 to 0x10000001001f of GPU 1: its plan fetches from 0x5000 to 0x507f of other GPUs, "
     "memory of this expected"},
    {loads_from_all,
     "a load from 0xffffe00000010000 to 0xffffe0000001001f of all GPUs: its plan fetches from 0x5000 to 0x507f of"},
    {loads_a_peers_registers,
     "of GPU 1: its plan fetches from 0x5000 to 0x507f of other GPUs, memory of this expected"},
    {counts_in_a_half, "a fetch-and-add of 8 bytes at 0x100000006004: a multiple of 8 expected"},
    {counts_in_three_bytes, "a fetch-and-add of 3 bytes at 0x100000006000: an integer of 4 or 8 bytes expected"},
    {counts_for_nobody, "a fetch-and-add at 0x100000006000 without a place for the old value: one expected"},
    {counts_behind_its_counters,
     "a fetch-and-add of 4 bytes at 0x100000006040 of GPU 1: its plan shares 0x6000 to 0x603f of any GPU, memory of "
     "this expected"},
    {reads_to_nowhere, "a read of 8 bytes at 0x100000006000 without a place to put them: one expected"},
    {reads_over_a_block, "a read of 16 bytes at 0x100000006038: 1 to 64 within one block of 64 expected"},
    {reads_nothing, "a read of 0 bytes at 0x100000006000: 1 to 64 within one block of 64 expected"},
    {reads_what_is_not_shared, " of GPU 0: its plan shares 0x6000 to 0x603f of any GPU, memory of this expected"},
    {reads_through_a_cache_of_any_byte, "a read at 0x100000006000 whose cached is 165: false (0) or true (1)"},
    {writes_from_nowhere, "a write of 4 bytes at 0x100000006000 without a place to take them from: one expected"},
    {writes_65_bytes, "a write of 65 bytes at 0x100000006000: 1 to 64 within one block of 64 expected"},
    {writes_behind_what_is_shared,
     "a write of 4 bytes at 0x100000006040 of GPU 1: its plan shares 0x6000 to 0x603f of any GPU, memory of this"},
    {writes_to_all, "a write to 0xffffe00000006000 of all GPUs: an address of one expected"},
    {rings_a_doorbell, ", in the doorbell page of GPU 0's NIC: a plan whose doorbells is true expected"},
    {rings_at_a_peer, ", in the doorbell page of GPU 1's NIC: that of GPU 0, the kernel's own, expected"},
    {reads_a_doorbell, ", in the doorbell page of GPU 0's NIC: t3_write expected, nothing else of a kernel reaches it"},
    {polls_a_doorbell, ", in the doorbell page of GPU 0's NIC: t3_write expected, nothing else of a kernel reaches it"},
    {reads_what_it_writes,
     "a read of 8 bytes at 0x100000006000: its own write of 1 bytes at 0x100000006007 is under way, t3_fence before"},
    {polls_three_bytes, "a poll of 3 bytes at 0x6000: an integer of 1, 2, 4 or 8 bytes expected"},
    {polls_between_integers, "a poll of 4 bytes at 0x6002: a multiple of 4 expected"},
    {polls_without_a_mask, "a poll of 4 bytes at 0x6000 for 0x0 under mask 0x0: a mask of some of 0xffffffff and a"},
    {polls_for_what_cannot_be, "a poll of 1 bytes at 0x6000 for 0x81 under mask 0xf0: a mask of some of 0xff and a"},
    {polls_by_no_comparison, "a poll of 0x6000 with comparison 3: T3_EQUAL (0), T3_NOT_EQUAL (1) or T3_AT_LEAST (2)"},
    {polls_what_is_not_shared, " of GPU 0: its plan shares 0x6000 to 0x603f of any GPU, memory of this expected"},
    {polls_for_nobody, "a poll of 0x6000 without a place to tell its end: one expected"},
    {counts_in_signals, " of GPU 1: its plan shares 0x6000 to 0x603f of any GPU, memory of this expected"},
    {loads_beyond_all_addresses, "an access of 2 rows 18446744073709551551 bytes apart"},
    {loads_between_elements, "an access of 1 rows 32 bytes apart at 0x10002 of fp32 elements: multiples of 4 expected"},
    {loads_rows_between_elements,
     "an access of 2 rows 34 bytes apart at 0x10000 of fp32 elements: multiples of 4 expected"},
    {stores_between_elements,
     "an access of 1 rows 32 bytes apart at 0x90001 of fp32 elements: multiples of 4 expected"},
    {stores_rows_over_each_other,
     "an access of 2 rows 28 bytes apart at 0x90000 that stores 32 bytes each: rows that do not overlap expected"},
    {updates_rows_over_each_other,
     "an access of 2 rows 28 bytes apart at 0x90000 that stores 32 bytes each: rows that do not overlap expected"},
    {loads_unset, "an access whose uncached is 165: false (0) or true (1) expected"},
    {stores_unset_at_once, "an access whose at_once is 165: false (0) or true (1) expected"},
    {updates_unset_named, "an access whose of.named is 165: false (0) or true (1) expected"},
    {stores_what_it_does_not_write, ": its plan writes "},
    {updates_what_it_reads, ": its plan writes "},
    {stores_where_it_does_not_send, "of GPU 1: its plan sends to 0x4000 to 0x401f of other GPUs, memory of this"},
    {signals_memory, "a signal to 0x"},
    {signals_what_is_waited_for, "a signal to 0x"},
    {signals_the_barrier, "a signal to 0x1f0000031000: counter 0 is the barrier's, another one expected"},
    {signals_stores_backwards, "a signal that says that stores went to 0x40 up to 0x20: a range expected"},
    {signals_stores_elsewhere,
     "a signal to GPU 1 that says that stores went to 0x100000004000 to 0x100000004020: its plan sends to 0x4000 to "
     "0x401f of other GPUs, memory of this expected there"},
    {signals_stores_on_another_gpu, "a signal to GPU 1 that says that stores went to 0x200000004000 to "},
    {signals_stores_here,
     "a signal to GPU 0 that says that stores went to 0x90000 to 0x90080: its plan writes 0x90000 to 0x9007f"},
    {awaits_a_peers_counter, "a wait for 0x"},
    {loads_what_it_has_updated,
     "a load of 1 rows 32 bytes apart at 0x9001c: its own update of 1 rows 32 bytes apart at 0x90000 is under way, "
     "t3_fence before it expected"},
    {loads_what_it_has_stored,
     "a load of 4 rows 32 bytes apart at 0x9000c: its own store of 4 rows 32 bytes apart at 0x90000 is under way, "
     "t3_fence before it expected"},
    {leaves_loads, "it ends with 1 loads and 0 stores under way"},
    {leaves_stores, "it ends with 0 loads and 1 stores under way"},
    {0}};
