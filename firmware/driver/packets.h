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

/* What t3_is_valid and t3_is_batch expect. */
#define T3_VALID_OUTPUT                                                                                        \
  "a matrix of known kinds, rows less than 2^32 bytes apart, in tiles of 1 to 65535 rows and columns, 1 to 8 " \
  "wavefronts"
#define T3_VALID_BATCH "at most 65535 matrices, 2^32 workgroups and, for one matrix, strides of 0"

/* Whether a packet can speak of the matrix. */
bool t3_is_operand(const struct t3_matrix* matrix);
bool t3_is_valid(const struct t3_output* output);
/* Whether a packet can speak of the matrix, and it is such a one. */
bool t3_fits(const struct t3_matrix* matrix, uint32_t rows, uint32_t columns, enum t3_element element);
/* Whether a packet can speak of the batch; how many workgroups it has, with so many for each matrix. */
bool t3_is_batch(const struct t3_batch* batch, uint32_t workgroups, uint32_t* all);
/* Waits until `count` packets of the queue since reset have ended, with any result. */
enum t3_status t3_wait_completed(struct t3_context* context, uint32_t queue, uint64_t count);
enum t3_status t3_wait_completed_until(struct t3_context* context, uint32_t queue, uint64_t count, uint64_t deadline);
/* t3_wait_kernel of this queue, which is open. */
enum t3_status t3_wait_for_kernel(struct t3_context* context, uint32_t queue, uint64_t number);
/* t3_wait_kernels of the queue in use, with a deadline. */
enum t3_status t3_wait_kernels_until(struct t3_context* context, uint64_t deadline_ns);
/* Waits until the queue in use has room for one more packet. A handler may take the room while this waits. */
enum t3_status t3_wait_for_room(struct t3_context* context);
/* Queues the packet at once, which has room. The arguments lie behind it, unless it says where else. */
enum t3_status t3_announce(struct t3_context* context, const struct t3_submission* submission);
/* Waits for room in this queue, which is open, and queues the packet there. The queue in use stays. */
enum t3_status t3_submit_to(struct t3_context* context, uint32_t queue, const struct t3_submission* submission);
/* Waits for room and queues the packet. */
enum t3_status t3_submit(struct t3_context* context, const struct t3_submission* submission);

#endif
