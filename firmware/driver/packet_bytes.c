#include "packet_bytes.h"

#include <stddef.h>
#include <string.h>

static void put(unsigned char* bytes, uint64_t value, size_t size) {
  for (size_t i = 0; i < size; ++i) bytes[i] = (unsigned char)(value >> 8 * i);
}

#define PUT(field) put(bytes + offsetof(struct t3_kernel_packet, field), packet->field, sizeof packet->field)

static uint32_t bits_of(float value) {
  uint32_t bits = 0;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

void t3_packet_bytes(const struct t3_kernel_packet* packet, unsigned char bytes[T3_PACKET_BYTES]) {
  memset(bytes, 0, T3_PACKET_BYTES);
  PUT(kernel);
  PUT(flags);
  PUT(completion_signal);
  PUT(arguments);
  PUT(m);
  PUT(n);
  PUT(out);
  PUT(a);
  PUT(b);
  PUT(c);
  PUT(ldo);
  PUT(lda);
  PUT(ldb);
  PUT(ldc);
  PUT(k);
  PUT(first_workgroup);
  PUT(workgroups);
  PUT(max_compute_units);
  PUT(gpu);
  PUT(gpus);
  PUT(a_batch);
  PUT(b_batch);
  PUT(out_batch);
  PUT(tile_rows);
  PUT(tile_columns);
  PUT(batches);
  PUT(element);
  PUT(wavefronts);
  PUT(operation);
  PUT(reserved);
  if (packet->kernel == t3_kernel_handle("rows") || packet->kernel == t3_kernel_handle("attention"))
    put(bytes + offsetof(struct t3_kernel_packet, factor), bits_of(packet->factor), sizeof packet->factor);
  else
    PUT(signal_epoch);
}
