/* Buffers for people outside: their contents are computed here, by the program, and handed over as values. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "host.h"
#include "t3/host_buffer.h"

void t3_riscv_publish(void* platform, const struct t3_buffer* buffer);

_Static_assert(sizeof(struct t3_host_buffer) == T3_HOST_BUFFER_BYTES, "a buffer is in memory as the platform reads it");
_Static_assert((int)T3_HOST_BUFFER_INITIAL_KIND_VALUES == (int)T3_CONTENTS_VALUES, "kinds of contents are the same");

/* Contents as the platform takes them. */
struct handed_over {
  uint32_t kind;
  float constant;
  uint64_t values;
};

static bool is_function(const struct t3_contents* contents) {
  return contents->kind == T3_CONTENTS_FUNCTION && contents->function != NULL;
}

/* Passes contents to the host. A function writes its values to `place`, which has room for them. */
static struct handed_over hand_over(const struct t3_contents* contents, float* place) {
  const struct handed_over as_it_is = {contents->kind, contents->constant, (uintptr_t)contents->values};
  if (!is_function(contents)) return as_it_is;
  if (place == NULL) return (struct handed_over){.kind = T3_CONTENTS_UNSAID};
  contents->function(contents->argument, t3_riscv_hal()->gpu, place);
  return (struct handed_over){.kind = T3_CONTENTS_VALUES, .values = (uintptr_t)place};
}

/* Finds room for the buffer's functions to write to, one after the other. Returns false when there is none. */
static bool find_places(const struct t3_buffer* buffer, float* places[2]) {
  const bool first = is_function(&buffer->initial), second = is_function(&buffer->expected);
  const uint64_t elements = (uint64_t)buffer->rows * buffer->columns;
  places[0] = places[1] = NULL;
  if ((!first && !second) || t3_host_tell(T3_HOST_CALL_CALL_WANTS_CONTENTS, NULL, 0) == 0) return true;
  if (elements > UINT64_MAX / 8) return false;
  float* const scratch = t3_riscv_scratch((first && second ? 8 : 4) * elements);
  if (scratch == NULL) return false;
  if (first) places[0] = scratch;
  if (second) places[1] = first ? scratch + elements : scratch;
  return true;
}

static void publish(const struct t3_buffer* buffer, float* const places[2]) {
  const struct handed_over initial = hand_over(&buffer->initial, places[0]),
                           expected = hand_over(&buffer->expected, places[1]);
  struct t3_host_buffer told = {.name = (uintptr_t)buffer->name,
                                .address = buffer->address,
                                .row_stride = buffer->row_stride,
                                .rows = buffer->rows,
                                .columns = buffer->columns,
                                .element = buffer->element,
                                .initial_kind = initial.kind,
                                .initial_constant = initial.constant,
                                .expected_kind = expected.kind,
                                .expected_constant = expected.constant,
                                .initial_values = initial.values,
                                .expected_values = expected.values};
  memcpy(&told.tolerance, &buffer->tolerance, sizeof told.tolerance);
  struct t3_host_call call = {.data = (uintptr_t)&told};
  t3_host_ring(&call, T3_HOST_CALL_CALL_PUBLISH);
}

void t3_riscv_publish(void* platform, const struct t3_buffer* buffer) {
  (void)platform;
  float* places[2];
  if (buffer == NULL) {
    struct t3_host_call none = {.data = 0};
    t3_host_ring(&none, T3_HOST_CALL_CALL_PUBLISH);
  } else if (find_places(buffer, places)) {
    publish(buffer, places);
  } else {
    (void)t3_host_tell(T3_HOST_CALL_CALL_MISTAKE, "publishes a buffer whose contents are larger than the core's memory",
                       0);
  }
}
