/* The algorithms of collective operations, and the buffers of their results. */
#ifndef T3_COLLECTIVE_ALGORITHM_H
#define T3_COLLECTIVE_ALGORITHM_H

#include "t3/enumeration.h"

/* A ring's GPU sends to the previous one alone, which hands on what is not its own; direct, each sends to those that
 * want it. Hierarchical, GPUs of a node collect what is for other nodes, and those of the same place in all nodes
 * exchange it. In-network, the switch adds and copies (t3/address.h's T3_ALL_GPUS). By a torus's rings, one dimension
 * after the other: a reduce-scatter from the last to the first, an all-gather back. */
enum t3_collective_algorithm T3_OF_32_BITS { T3_RING, T3_DIRECT, T3_HIERARCHICAL, T3_IN_NETWORK, T3_TORUS_RINGS };

/* The buffer in which a GPU finds the result. */
enum t3_operation_result T3_OF_32_BITS {
  T3_RESULT_IN_PLACE, /* in the buffer that it sends from */
  T3_RESULT_APART,    /* in another buffer of the same size */
  T3_RESULT_PARTS     /* in another buffer, which has this GPU's chunk of every buffer, one behind the other */
};

#endif
