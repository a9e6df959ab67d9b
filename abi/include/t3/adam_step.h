/* Adam's step on one weight (Kingma and Ba, ICLR 2015): kernels and the near-memory unit take the same one. */
#ifndef T3_ADAM_STEP_H
#define T3_ADAM_STEP_H

#include <math.h>

/* The optimizer's state of a weight: decaying averages of the gradient and of its square, and the weight. */
struct t3_adam_state {
  float mean, square, weight;
};

/* In fp32, without correction of the averages' bias. The complements are numbers of their own: 1 - 0.999f has lost 11
 * of its digits. */
static inline struct t3_adam_state t3_adam_step(struct t3_adam_state state, float gradient, float rate) {
  const float decay_1 = 0.9f, rest_1 = 0.1f, decay_2 = 0.999f, rest_2 = 0.001f, epsilon = 1e-8f;
  state.mean = decay_1 * state.mean + rest_1 * gradient;
  state.square = decay_2 * state.square + rest_2 * (gradient * gradient);
  state.weight -= rate * state.mean / (sqrtf(state.square) + epsilon);
  return state;
}

#endif
