/* Flags by which workgroups of the same number on several GPUs notify each other. Each GPU has a byte, and one poll
 * reads eight of them. */
#ifndef T3_PEER_FLAGS_H
#define T3_PEER_FLAGS_H

#include <stdint.h>

enum { T3_PEER_FLAG_WORD = 8 };

/* Returns the bytes of one workgroup's flags, and of all flags: by kind, workgroup and GPU. */
static inline uint64_t t3_peer_flag_bytes(uint32_t gpus) {
  return (gpus + UINT64_C(1) * T3_PEER_FLAG_WORD - 1) / T3_PEER_FLAG_WORD * T3_PEER_FLAG_WORD;
}
static inline uint64_t t3_all_peer_flag_bytes(uint32_t gpus, uint32_t workgroups, uint32_t kinds) {
  return kinds * t3_peer_flag_bytes(gpus) * workgroups;
}

#endif
