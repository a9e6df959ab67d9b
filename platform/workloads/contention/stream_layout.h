/* Sizes of the streaming kernel, which kernel, program and platform share. */
#ifndef T3_WORKLOADS_STREAM_LAYOUT_H
#define T3_WORKLOADS_STREAM_LAYOUT_H

enum {
  T3_STREAM_PIECE_BYTES = 65536, /* that a workgroup takes at a time */
  T3_STREAM_BLOCK_BYTES = 2048,  /* of an access */
  T3_STREAM_FLAG_BYTES = 32,
  T3_STREAM_START_SHARE = 8 /* the untimed kernel has the timed one's bytes over this */
};

#endif
