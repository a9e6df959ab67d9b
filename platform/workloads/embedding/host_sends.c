#include "workloads/embedding/host_sends.h"

#include "t3/address.h"
#include "t3/nic_completion.h"
#include "t3_hal.h"

enum { PIECE_BYTES = 1 << 30 }; /* of a chunk that is longer than a message may be */

static void spend(struct t3_context* gpu, uint64_t ns) {
  if (ns != 0) t3_hal_of(gpu)->wait_ns(t3_hal_of(gpu)->platform, ns);
}

/* Returns the queue pair to a peer. The only context has one to each other GPU, without its own. */
static struct t3_nic_queue* queue_to(const struct t3_context* gpu, struct t3_host_sends* sends, uint32_t peer) {
  return &sends->heap->queues[peer < t3_gpu(gpu) ? peer : peer - 1];
}

enum t3_status t3_prepare_host_sends(struct t3_context* gpu, struct t3_host_sends* sends) {
  T3_TRY(t3_host_all_gather(gpu, "keys", &sends->heap->key, sizeof sends->heap->key, sends->keys));
  for (uint32_t peer = 0; peer < t3_gpus(gpu); ++peer)
    if (peer != t3_gpu(gpu)) T3_TRY(t3_nic_post_recv(gpu, queue_to(gpu, sends, peer), 1));
  return T3_OK;
}

static uint64_t bytes_for(const struct t3_context* gpu, const struct t3_host_sends* sends, uint32_t peer) {
  return t3_embedding_samples(sends->embedding, peer, t3_gpus(gpu)) * t3_embedding_sample_bytes(sends->embedding);
}

/* The last piece notifies the peer that all pieces have arrived. */
static enum t3_status post(struct t3_context* gpu, struct t3_host_sends* sends, uint32_t peer) {
  const uint64_t bytes = bytes_for(gpu, sends, peer), row = t3_embedding_sample_bytes(sends->embedding);
  const uint64_t from = sends->pooled + t3_flat_chunk_begin(sends->embedding->global_batch, peer, t3_gpus(gpu)) * row;
  const uint64_t to = t3_on_gpu(peer, sends->received) + t3_gpu(gpu) * bytes;
  for (uint64_t at = 0; at < bytes; at += PIECE_BYTES) {
    const struct t3_nic_message message = {.opcode = bytes - at > PIECE_BYTES ? T3_NIC_WRITE : T3_NIC_WRITE_IMMEDIATE,
                                           .remote_address = to + at,
                                           .rkey = sends->keys[peer],
                                           .immediate = t3_gpu(gpu),
                                           .local_address = from + at,
                                           .lkey = sends->heap->key,
                                           .bytes = (uint32_t)t3_at_most(bytes - at, PIECE_BYTES)};
    spend(gpu, sends->times.post_ns);
    T3_TRY(t3_nic_post_send(gpu, queue_to(gpu, sends, peer), &message));
  }
  return T3_OK;
}

static enum t3_status await(struct t3_context* gpu, struct t3_host_sends* sends, uint32_t peer) {
  struct t3_nic_queue* queue = queue_to(gpu, sends, peer);
  bool has_come = false;
  while (!has_come || queue->ended != queue->posted) {
    struct t3_nic_completion completion;
    T3_TRY(t3_nic_wait(gpu, queue, &completion));
    if (completion.syndrome != T3_NIC_OK) return t3_nic_status(&completion);
    if (completion.opcode == T3_NIC_RECEIVED) has_come = true;
  }
  return T3_OK;
}

enum t3_status t3_send_by_host(struct t3_context* gpu, struct t3_host_sends* sends) {
  spend(gpu, sends->times.kernel_end_ns);
  T3_TRY(t3_flush_cache(gpu)); /* the NIC reads memory */
  for (uint32_t i = 1; i < t3_gpus(gpu); ++i) T3_TRY(post(gpu, sends, (t3_gpu(gpu) + i) % t3_gpus(gpu)));
  for (uint32_t i = 1; i < t3_gpus(gpu); ++i) T3_TRY(await(gpu, sends, (t3_gpu(gpu) + i) % t3_gpus(gpu)));
  spend(gpu, sends->times.launch_ns);
  return T3_OK;
}
