/* The outcomes of queued kernels, as the kernel queue shows them now. No function here waits. */
#ifndef T3_DRIVER_COMPLETIONS_H
#define T3_DRIVER_COMPLETIONS_H

#include "t3/registers/kernel_queue.h"
#include "t3/t3.h"

/* The offset of a queue's element in an array of registers. */
#define T3_OF_QUEUE(name, queue) (T3_KERNEL_QUEUE_##name##_OFFSET + (queue)*T3_KERNEL_QUEUE_##name##_STRIDE)
/* Returns the number of packets of a queue that have failed since reset, from the upper part of
 * kernel_queue.interrupt. */
static inline uint32_t t3_failures_in(uint32_t interrupt) {
  return (interrupt & T3_KERNEL_QUEUE_INTERRUPT_FAILURES_MASK) >> T3_KERNEL_QUEUE_INTERRUPT_FAILURES_SHIFT;
}

/* A call of t3_wait_kernels that has not returned, and those that it interrupts. */
struct t3_kernel_wait {
  uint32_t queue;
  uint64_t last;          /* kernel that it waits for */
  enum t3_status failure; /* of the first that has failed */
  struct t3_kernel_wait* outer;
};

/* Returns the number of kernels of a queue that have ended since reset, and records the first failure. Failures that
 * the kernel queue's handler must receive are kept. */
enum t3_status t3_look_at_kernels(struct t3_context* context, uint32_t queue, uint64_t* completed);
/* The code of a kernel that has ended. */
enum t3_status t3_code_of_kernel(const struct t3_context* context, uint32_t queue, uint64_t number);
/* T3_BUSY while one is queued or runs, in whichever queue: it may be about to use a map. */
enum t3_status t3_all_kernels_ended(struct t3_context* context);
/* T3_BUSY while one is queued that has not begun, in whichever queue: which map it is about to use is not known. */
enum t3_status t3_all_kernels_begun(struct t3_context* context);

#endif
