/* A program that hands each call of the HAL a pointer to where there is nothing: which one, its arguments say. */
#include "t3/exports.h"
#include "t3/registers/interrupt_controller.h"

static const char* const nowhere = (const char*)5;
static void* const nowhere_to_write = (void*)8;

static void log_text(const struct t3_hal* hal) { hal->log(hal->platform, nowhere); }
static void error(const struct t3_hal* hal) { hal->error(hal->platform, T3_BUSY, nowhere); }
static void begin(const struct t3_hal* hal) { hal->mark(hal->platform, nowhere, true); }
static void end(const struct t3_hal* hal) { hal->mark(hal->platform, nowhere, false); }
static void reason(const struct t3_hal* hal) { (void)hal->wait_for_interrupt(hal->platform, 100, nowhere); }
static void buffer(const struct t3_hal* hal) { hal->publish(hal->platform, (const struct t3_buffer*)nowhere_to_write); }
static void buffer_name(const struct t3_hal* hal) {
  hal->publish(hal->platform, &(struct t3_buffer){.name = nowhere, .rows = 1, .columns = 1, .row_stride = 4});
}
static void contents(const struct t3_hal* hal, struct t3_contents initial) {
  hal->publish(hal->platform, &(struct t3_buffer){.name = "x",
                                                  .address = t3_on_gpu(hal->gpu, 4096),
                                                  .rows = 1,
                                                  .columns = 1,
                                                  .row_stride = 4,
                                                  .element = T3_FP32,
                                                  .initial = initial});
}
static void values(const struct t3_hal* hal) {
  contents(hal, (struct t3_contents){.kind = T3_CONTENTS_VALUES, .values = nowhere_to_write});
}
static void function(const struct t3_hal* hal) {
  contents(hal, (struct t3_contents){.kind = T3_CONTENTS_FUNCTION,
                                     .function = (void (*)(const void*, uint32_t, float*))nowhere_to_write});
}
static void entry(const struct t3_hal* hal) {
  const uint64_t lines = t3_block_base(hal->gpu, T3_BLOCK_INTERRUPT_CONTROLLER);
  uint32_t value = 0;
  hal->take_interrupts(hal->platform, (void (*)(void*))nowhere_to_write, NULL);
  (void)hal->write32(hal->platform, lines + T3_INTERRUPT_CONTROLLER_ENABLE_OFFSET,
                     T3_INTERRUPT_CONTROLLER_ENABLE_LINES_MASK);
  (void)hal->read32(hal->platform, lines - 4, &value); /* there is no such register, as the error log says */
  hal->wait_ns(hal->platform, 1000);
}
static void has_argument(const struct t3_hal* hal) { (void)hal->has_argument(hal->platform, nowhere); }
static void u64_name(const struct t3_hal* hal) {
  uint64_t value = 0;
  (void)hal->argument_u64(hal->platform, nowhere, &value);
}
static void double_name(const struct t3_hal* hal) {
  double value = 0;
  (void)hal->argument_double(hal->platform, nowhere, &value);
}
static void bool_name(const struct t3_hal* hal) {
  bool value = false;
  (void)hal->argument_bool(hal->platform, nowhere, &value);
}
static void text_name(const struct t3_hal* hal) {
  const char* value = NULL;
  (void)hal->argument_text(hal->platform, nowhere, &value);
}
static void u64_value(const struct t3_hal* hal) { (void)hal->argument_u64(hal->platform, "u64", nowhere_to_write); }
static void double_value(const struct t3_hal* hal) {
  (void)hal->argument_double(hal->platform, "double", nowhere_to_write);
}
static void bool_value(const struct t3_hal* hal) { (void)hal->argument_bool(hal->platform, "bool", nowhere_to_write); }
static void text_value(const struct t3_hal* hal) { (void)hal->argument_text(hal->platform, "text", nowhere_to_write); }
static void read32_value(const struct t3_hal* hal) {
  (void)hal->read32(hal->platform, t3_block_base(hal->gpu, 0), nowhere_to_write);
}
static void read64_value(const struct t3_hal* hal) {
  (void)hal->read64(hal->platform, t3_block_base(hal->gpu, 0), nowhere_to_write);
}
static void read_memory(const struct t3_hal* hal) {
  (void)hal->read_memory(hal->platform, t3_on_gpu(hal->gpu, 4096), nowhere_to_write, 4);
}
static void write_memory(const struct t3_hal* hal) {
  (void)hal->write_memory(hal->platform, t3_on_gpu(hal->gpu, 4096), nowhere_to_write, 4);
}
static void exchange_name(const struct t3_hal* hal) {
  uint64_t mine = 0, all = 0;
  (void)hal->exchange(hal->platform, nowhere, &mine, sizeof mine, &all, 100);
}
static void exchange_mine(const struct t3_hal* hal) {
  uint64_t all = 0;
  (void)hal->exchange(hal->platform, "x", nowhere, 8, &all, 100);
}
static void exchange_all(const struct t3_hal* hal) {
  uint64_t mine = 0;
  (void)hal->exchange(hal->platform, "x", &mine, sizeof mine, nowhere_to_write, 100);
}
static void platform(const struct t3_hal* hal) { hal->wait_ns(nowhere_to_write, 100 + hal->gpu); }

/* A call more has a row here for each pointer that it takes. */
_Static_assert(sizeof(struct t3_hal) == 26 * sizeof(void*), "as many calls as there are rows for");
static const struct {
  const char* name;
  void (*act)(const struct t3_hal* hal);
} acts[] = {{"log", log_text},
            {"error", error},
            {"begin", begin},
            {"end", end},
            {"reason", reason},
            {"buffer", buffer},
            {"buffer_name", buffer_name},
            {"values", values},
            {"function", function},
            {"entry", entry},
            {"has_argument", has_argument},
            {"u64_name", u64_name},
            {"double_name", double_name},
            {"bool_name", bool_name},
            {"text_name", text_name},
            {"u64_value", u64_value},
            {"double_value", double_value},
            {"bool_value", bool_value},
            {"text_value", text_value},
            {"read32_value", read32_value},
            {"read64_value", read64_value},
            {"read_memory", read_memory},
            {"write_memory", write_memory},
            {"exchange_name", exchange_name},
            {"exchange_mine", exchange_mine},
            {"exchange_all", exchange_all},
            {"platform", platform}};

/* Says how many there are, or does the one of that number. */
static enum t3_status wild(const struct t3_hal* hal, const struct t3_run* run) {
  (void)run;
  uint64_t number = 0;
  T3_TRY(hal->argument_u64(hal->platform, "number", &number));
  if (number >= sizeof acts / sizeof acts[0]) return T3_OK;
  hal->log(hal->platform, acts[number].name);
  acts[number].act(hal);
  return T3_OK;
}

static const struct t3_named_program programs[] = {{"wild", wild}, {NULL, NULL}};

const struct t3_export_table t3_exports = {
    .version = T3_EXPORTS_VERSION, .layout = T3_EXPORTS_LAYOUT, .name = "pointers", .programs = programs};
