/* Flags by which workgroups of the same number on several GPUs notify each other of data that has arrived
 * (t3/peer_flags.h). */
#ifndef T3_KERNELS_WORKGROUP_FLAGS_H
#define T3_KERNELS_WORKGROUP_FLAGS_H

#include "t3/device.h"
#include "t3/peer_flags.h"

struct t3_peer_flags {
  uint64_t ready; /* address of all kinds, on all GPUs the same local one */
  uint32_t gpu, gpus;
};

/* Sets this workgroup's flag on another GPU, behind all that the wave has stored there. */
void t3_tell_peer(struct t3_wave* wave, const struct t3_peer_flags* flags, uint32_t kind, uint32_t gpu);

/* Waits until all others have set theirs here. False: a flag cannot be read, which is the kernel's failure. */
bool t3_await_peers(struct t3_wave* wave, const struct t3_peer_flags* flags, uint32_t kind);

#endif
