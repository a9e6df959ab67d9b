#include "arithmetic.h"

#include <math.h>

#include "t3/adam_step.h"
#include "t3/dropout_mask.h"

#define EPSILON 1e-5f
/* gelu(x) = x/2 (1 + tanh(inner(x))), the tanh form of BERT and GPT-2. */
#define GELU_SCALE 0.7978845608f
#define GELU_CUBE 0.044715f

bool t3_keeps(uint32_t seed, uint64_t row, uint64_t column, float probability) {
  return t3_dropout_keeps(seed, row, column, probability);
}

static float tanh_of_gelu(float x) { return tanhf(GELU_SCALE * (x + GELU_CUBE * (x * x * x))); }

static float gelu(float x) { return 0.5f * x * (1 + tanh_of_gelu(x)); }

static float gelu_slope(float x) {
  const float t = tanh_of_gelu(x);
  return 0.5f * (1 + t) + 0.5f * x * (1 - t * t) * GELU_SCALE * (1 + 3 * GELU_CUBE * (x * x));
}

static float dropout(const struct t3_row_work* work, uint32_t row, uint32_t column, float x) {
  return t3_keeps(work->seed, work->first_row + row, column, work->factor) ? x / work->factor : 0;
}

/* Operations on elements: `row` is the row's number, the operands are a row of each. */

static void elements(const struct t3_row_work* work, uint32_t row, const float* a, const float* b, const float* c,
                     float* out) {
  const uint32_t n = work->columns;
  switch ((enum t3_row_operation)work->operation) {
    case T3_ROWS_SCALE:
      for (uint32_t i = 0; i < n; ++i) out[i] = work->factor * a[i];
      break;
    case T3_ROWS_ADD:
      for (uint32_t i = 0; i < n; ++i) out[i] = a[i] + b[i];
      break;
    case T3_ROWS_BIAS_GELU:
      for (uint32_t i = 0; i < n; ++i) out[i] = gelu(a[i] + b[i]);
      break;
    case T3_ROWS_BIAS_GELU_BACKWARD:
      for (uint32_t i = 0; i < n; ++i) out[i] = a[i] * gelu_slope(b[i] + c[i]);
      break;
    case T3_ROWS_DROPOUT:
      for (uint32_t i = 0; i < n; ++i) out[i] = dropout(work, row, i, a[i]);
      break;
    case T3_ROWS_BIAS_DROPOUT_ADD:
      for (uint32_t i = 0; i < n; ++i) out[i] = dropout(work, row, i, a[i] + b[i]) + c[i];
      break;
    default:
      break;
  }
}

/* Operations that need the whole row. */

static void softmax(uint32_t n, const float* x, float* out) {
  float largest = x[0], sum = 0;
  for (uint32_t i = 1; i < n; ++i) largest = fmaxf(largest, x[i]);
  for (uint32_t i = 0; i < n; ++i) sum += out[i] = expf(x[i] - largest);
  for (uint32_t i = 0; i < n; ++i) out[i] /= sum;
}

static void softmax_backward(uint32_t n, const float* gradient, const float* y, float* out) {
  float along = 0;
  for (uint32_t i = 0; i < n; ++i) along += gradient[i] * y[i];
  for (uint32_t i = 0; i < n; ++i) out[i] = y[i] * (gradient[i] - along);
}

static float mean(uint32_t n, const float* x) {
  float sum = 0;
  for (uint32_t i = 0; i < n; ++i) sum += x[i];
  return sum / (float)n;
}

static float inverse_deviation(uint32_t n, const float* x, float centre) {
  float sum = 0;
  for (uint32_t i = 0; i < n; ++i) sum += (x[i] - centre) * (x[i] - centre);
  return 1 / sqrtf(sum / (float)n + EPSILON);
}

static void layer_norm(uint32_t n, const float* x, const float* scale, const float* shift, float* out) {
  const float centre = mean(n, x), inverse = inverse_deviation(n, x, centre);
  for (uint32_t i = 0; i < n; ++i) out[i] = (x[i] - centre) * inverse * scale[i] + shift[i];
}

static void layer_norm_backward(uint32_t n, const float* gradient, const float* x, const float* scale, float* out) {
  const float centre = mean(n, x), inverse = inverse_deviation(n, x, centre);
  float sum = 0, along = 0;
  for (uint32_t i = 0; i < n; ++i) {
    const float g = gradient[i] * scale[i];
    sum += g;
    along += g * ((x[i] - centre) * inverse);
  }
  sum /= (float)n, along /= (float)n;
  for (uint32_t i = 0; i < n; ++i)
    out[i] = inverse * (gradient[i] * scale[i] - sum - (x[i] - centre) * inverse * along);
}

static void adam(uint32_t n, float rate, const float* gradient, float* means, float* squares, float* weights) {
  for (uint32_t i = 0; i < n; ++i) {
    const struct t3_adam_state state = {means[i], squares[i], weights[i]};
    const struct t3_adam_state next = t3_adam_step(state, gradient[i], rate);
    means[i] = next.mean, squares[i] = next.square, weights[i] = next.weight;
  }
}

void t3_compute_rows(const void* argument, float* const* operands) {
  const struct t3_row_work* work = argument;
  const uint32_t n = work->columns;
  for (uint32_t row = 0; row < work->rows; ++row) {
    float* at[T3_ROWS_OPERANDS];
    for (uint32_t o = 0; o < T3_ROWS_OPERANDS; ++o)
      at[o] = operands[o] == NULL ? NULL : operands[o] + (work->vectors >> o & 1 ? 0 : (size_t)row * n);
    float *a = at[T3_ROWS_A], *b = at[T3_ROWS_B], *c = at[T3_ROWS_C], *out = at[T3_ROWS_OUT];
    switch ((enum t3_row_operation)work->operation) {
      case T3_ROWS_SOFTMAX:
        softmax(n, a, out);
        break;
      case T3_ROWS_SOFTMAX_BACKWARD:
        softmax_backward(n, a, b, out);
        break;
      case T3_ROWS_LAYER_NORM:
        layer_norm(n, a, b, c, out);
        break;
      case T3_ROWS_LAYER_NORM_BACKWARD:
        layer_norm_backward(n, a, b, c, out);
        break;
      case T3_ROWS_ADAM:
        adam(n, work->factor, a, b, c, out);
        break;
      default:
        elements(work, row, a, b, c, out);
    }
  }
}
