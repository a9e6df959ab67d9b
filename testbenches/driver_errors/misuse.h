/* Types and functions that the guests share. */
#ifndef T3_TEST_MISUSE_H
#define T3_TEST_MISUSE_H

#include "driver_errors/driver_guests.h"
#include "t3/kernel_packet.h"
#include "t3/t3.h"

/* What a guest gets wrong. `out` is an output of 8 x 8 tiles in local memory, `peer_out` the same on the peer. */
struct stage {
  const struct t3_hal* hal;
  struct t3_context gpu;
  struct t3_output out;
  uint64_t peer_out;
};

/* Logs "what: text of the status". */
void tell_to(const struct t3_hal* hal, const char* what, enum t3_status status);
void tell(struct stage* stage, const char* what, enum t3_status status);

/* Sets the stage and lets the guest misuse it. Reports the error log's entries, removes all maps and does the job. */
enum t3_status misuse_then_work(const struct t3_hal* hal, const struct t3_run* run, void (*misuse)(struct stage*));

/* Queues a packet that the driver would not write, and waits for its end. */
enum t3_status submit_raw(struct stage* stage, struct t3_kernel_packet packet, const unsigned char* arguments);

/* The operands a and b of a GEMM into the stage's output. Reports that it has their memory. */
struct operands {
  struct t3_matrix a, b;
};
struct operands operands_of(struct stage* stage);

/* Until guest_late_after_reset has reset its GPU: nothing that this GPU sends is lost from then on. */
void wait_for_resets(struct stage* stage);

/* Takes all entries out of the error log and reports them. */
void tell_errors(struct stage* stage);

#endif
