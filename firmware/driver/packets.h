/* Kernel packets on their way into the queue. */
#ifndef T3_DRIVER_PACKETS_H
#define T3_DRIVER_PACKETS_H

#include "t3/kernel_handle.h"
#include "t3/kernel_packet.h"
#include "t3/registers/kernel_queue.h"
#include "t3/t3.h"

/* A packet with its arguments as they lie behind it in memory. */
struct t3_submission {
  struct t3_kernel_packet packet;
  unsigned char arguments[T3_ARGUMENT_ROOM];
};

static inline struct t3_submission t3_submission_of(const char* kernel, uint32_t argument_bytes) {
  struct t3_submission submission = {.packet = {.kernel = t3_kernel_handle(kernel),
                                                .flags = T3_KERNEL_PACKET_FLAGS_BARRIER,
                                                .argument_bytes = argument_bytes,
                                                .completion_signal = T3_KERNEL_PACKET_COMPLETION_SIGNAL_NONE}};
  return submission;
}

/* Whether a packet can speak of the matrix. */
bool t3_is_operand(const struct t3_matrix* matrix);
bool t3_is_valid(const struct t3_output* output);
/* Whether a packet can speak of the matrix, and it is such a one. */
bool t3_fits(const struct t3_matrix* matrix, uint32_t rows, uint32_t columns, enum t3_element element);
/* Whether a packet can speak of the batch; how many workgroups it has, with so many for each matrix. */
bool t3_is_batch(const struct t3_batch* batch, uint32_t workgroups, uint32_t* all);
/* How many packets of a queue have failed since reset, as kernel_queue.interrupt says beside its bits. */
static inline uint32_t t3_failures_in(uint32_t interrupt) {
  return (interrupt & T3_KERNEL_QUEUE_INTERRUPT_FAILURES_MASK) >> T3_KERNEL_QUEUE_INTERRUPT_FAILURES_SHIFT;
}

/* How many of a queue have ended since reset, noticing the first failure; what the kernel queue's handler has to hear
 * of is kept. */
enum t3_status t3_look_at_kernels(struct t3_context* context, uint32_t queue, uint64_t* completed);
/* Until `count` packets of the queue since reset have ended, however they did. */
enum t3_status t3_wait_completed(struct t3_context* context, uint32_t queue, uint64_t count);
/* T3_BUSY while one is queued or runs, in whichever queue: it may be about to use a map. */
enum t3_status t3_all_kernels_ended(struct t3_context* context);
/* T3_BUSY while one is queued that has not begun, in whichever queue: which map it is about to use is not known. */
enum t3_status t3_all_kernels_begun(struct t3_context* context);
/* The code of a kernel that has ended. */
enum t3_status t3_code_of_kernel(const struct t3_context* context, uint32_t queue, uint64_t number);
/* Opens the queue on the ring at `base`. */
enum t3_status t3_start_queue(struct t3_context* context, uint32_t queue, uint64_t base);
/* Leaves priorities and masks as the next context expects them. */
enum t3_status t3_close_queues(struct t3_context* context);

/* Where a queue's element of an array of registers lies. */
#define T3_OF_QUEUE(name, queue) (T3_KERNEL_QUEUE_##name##_OFFSET + (queue)*T3_KERNEL_QUEUE_##name##_STRIDE)
/* Until the queue in use has room for a packet more. A handler may take it while this waits. */
enum t3_status t3_wait_for_room(struct t3_context* context);
/* Queues the packet at once, which has room. The arguments lie behind it, unless it says where else. */
enum t3_status t3_announce(struct t3_context* context, const struct t3_submission* submission);
/* A call: waits for room and queues the packet. */
enum t3_status t3_submit(struct t3_context* context, const struct t3_submission* submission);

#endif
