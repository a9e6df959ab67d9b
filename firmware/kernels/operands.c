#include "operands.h"

#include "t3/address.h"

bool t3_check_held(struct t3_check* check, uint64_t gpu, const char* name, uint64_t address, uint64_t bytes) {
  if (t3_gpu_of(address) == gpu && bytes <= check->memory_bytes &&
      (address & T3_LOCAL_MASK) <= check->memory_bytes - bytes)
    return true;
  const uint64_t begin = t3_on_gpu(gpu, 0);
  return t3_refuse(check, T3_BAD_PACKET,
                   "%s " T3_HEX " of %" PRIu64 " bytes does not end in memory, that of GPU %" PRIu64 " from " T3_HEX
                   " to " T3_HEX,
                   name, address, bytes, gpu, begin, begin + check->memory_bytes - 1);
}

bool t3_check_output(struct t3_check* check, const struct t3_output_operand* out) {
  if (out->element > T3_FP32)
    return t3_refuse(check, T3_BAD_PACKET, "element %u: 0 (fp16), 1 (bf16) or 2 (fp32) expected", out->element);
  if (out->rows - 1 >= T3_ROWS_MAX || out->columns - 1 >= T3_ROWS_MAX)
    return t3_refuse(check, T3_BAD_PACKET, "output %u x %u: 1 to %d expected", out->rows, out->columns, T3_ROWS_MAX);
  const uint64_t row = t3_row_bytes_of(out->columns, out->element);
  if (t3_unaligned(out->address) || t3_unaligned(out->stride) || out->stride < row)
    return t3_refuse(check, T3_BAD_PACKET,
                     "out " T3_HEX " with row stride %u: multiples of 32, at least a row of %" PRIu64
                     " bytes, expected",
                     out->address, out->stride, row);
  return t3_check_held(check, check->gpu, "out", out->address, t3_extent(out->rows, out->stride, row));
}

static uint64_t divide_up(uint64_t length, uint64_t part) { return (length + part - 1) / part; }

bool t3_check_tiles(struct t3_check* check, const struct t3_output_operand* out, uint32_t rows, uint32_t columns) {
  if (rows - 1 < T3_TILE_ROWS_MAX && columns - 1 < T3_TILE_ROWS_MAX &&
      divide_up(out->rows, rows) * divide_up(out->columns, columns) < UINT32_MAX)
    return true;
  return t3_refuse(check, T3_BAD_PACKET, "output %u x %u in tiles of %u x %u: 1 to %d, fewer than 2^32 tiles, expected",
                   out->rows, out->columns, rows, columns, T3_TILE_ROWS_MAX);
}

bool t3_check_matrix(struct t3_check* check, const struct t3_matrices* m) {
  if (t3_unaligned(m->address) || t3_unaligned(m->stride) || (m->rows != 1 && m->stride < m->row_bytes))
    return t3_refuse(check, T3_BAD_PACKET,
                     "%s " T3_HEX " with row stride %" PRIu64 ": multiples of 32, at least a row of %" PRIu64
                     " bytes, expected",
                     m->name, m->address, m->stride, m->row_bytes);
  return t3_check_held(check, check->gpu, m->name, m->address, t3_bytes_of(m));
}

bool t3_check_piece(struct t3_check* check, const struct t3_matrices* piece) {
  if (t3_unaligned(piece->address))
    return t3_refuse(check, T3_BAD_PACKET, "%s " T3_HEX ": a multiple of 32 expected", piece->name, piece->address);
  return t3_check_held(check, check->gpu, piece->name, piece->address, piece->row_bytes);
}

bool t3_check_place(struct t3_check* check, uint32_t gpu, uint32_t gpus) {
  if (gpus < 2 || gpus > T3_PEERS_MAX)
    return t3_refuse(check, T3_BAD_PACKET, "gpus %u: 2 to %d expected", gpus, T3_PEERS_MAX);
  if (gpu == check->gpu && gpu < gpus) return true;
  return t3_refuse(check, T3_BAD_PACKET, "gpu %u of %u: %u, this one, expected", gpu, gpus, check->gpu);
}

bool t3_check_unused(struct t3_check* check, const struct t3_named_value* fields, uint32_t count) {
  for (const struct t3_named_value* field = fields; field < fields + count; ++field)
    if (field->value != 0)
      return t3_refuse(check, T3_BAD_PACKET, "%s " T3_HEX ": 0 expected, it means nothing to this kind of kernel",
                       field->name, field->value);
  return true;
}

bool t3_check_switches(struct t3_check* check, const struct t3_named_value* fields, uint32_t count) {
  for (const struct t3_named_value* field = fields; field < fields + count; ++field)
    if (field->value > 1)
      return t3_refuse(check, T3_BAD_PACKET, "%s %" PRIu64 ": 0 or 1 expected", field->name, field->value);
  return true;
}

bool t3_check_counters(struct t3_check* check, uint32_t first, uint64_t count) {
  if (first == T3_SIGNAL_BARRIER)
    return t3_refuse(check, T3_BAD_PACKET, "signal_base %u, the barrier's: another counter expected", first);
  const uint64_t end = first + count;
  if (end > check->counters)
    return t3_refuse(check, T3_BAD_PACKET, "signals %u to %" PRIu64 ": there are %u", first, end - 1, check->counters);
  return true;
}

bool t3_check_workgroups(struct t3_check* check, uint64_t workgroups) {
  if (workgroups <= UINT32_MAX) return true;
  return t3_refuse(check, T3_BAD_PACKET, "%" PRIu64 " workgroups: fewer than 2^32 expected", workgroups);
}

bool t3_check_batch(struct t3_check* check, const struct t3_output_operand* out, const struct t3_batch_operand* batch) {
  if (batch->batches == 0 && (batch->first | batch->second | batch->out) != 0)
    return t3_refuse(check, T3_BAD_PACKET, "batch strides %u, %u, %u of no batch: 0 expected", batch->first,
                     batch->second, batch->out);
  if (t3_unaligned(batch->first) || t3_unaligned(batch->second) || t3_unaligned(batch->out))
    return t3_refuse(check, T3_BAD_PACKET, "batch strides %u, %u, %u: multiples of 32 expected", batch->first,
                     batch->second, batch->out);
  const uint64_t last = (t3_batches_of(batch->batches) - 1) * batch->out;
  return t3_check_held(check, check->gpu, "out", out->address,
                       last + t3_extent(out->rows, out->stride, t3_row_bytes_of(out->columns, out->element)));
}

static uint64_t end_of_first(const struct t3_matrices* m) {
  return m->address + t3_extent(m->rows, m->stride, m->row_bytes);
}

static uint64_t end_of(const struct t3_matrices* m) { return end_of_first(m) + (m->count - 1) * m->batch; }

/* Whether a byte is in both of two single matrices. Those whose rows are equally far apart may lie beside each other in
 * the same rows; of others all that is between the first and the last byte is taken as theirs. */
static bool share_a_byte(const struct t3_matrices* one, uint64_t one_address, const struct t3_matrices* other,
                         uint64_t other_address) {
  if (one_address > other_address) return share_a_byte(other, other_address, one, one_address);
  if (other_address >= one_address + t3_extent(one->rows, one->stride, one->row_bytes)) return false;
  const uint64_t stride = one->rows == 1 ? other->stride : one->stride;
  const bool same_rows =
      (other->rows == 1 || other->stride == stride) && one->row_bytes <= stride && other->row_bytes <= stride;
  if (!same_rows || stride == 0) return true;
  /* The other's first row begins in this row of the first one, so far behind its start, and may reach into the next. */
  const uint64_t row = (other_address - one_address) / stride, column = (other_address - one_address) % stride;
  return (row < one->rows && column < one->row_bytes) || (row + 1 < one->rows && column + other->row_bytes > stride);
}

/* Matrices that are equally far apart are compared one by one, since those of several heads lie beside each other in
 * the same rows; of others all that is between the first and the last byte is taken as theirs. */
static bool overlap(const struct t3_matrices* one, const struct t3_matrices* other) {
  if (one->address >= end_of(other) || other->address >= end_of(one)) return false;
  if (one->count != other->count || (one->count > 1 && one->batch != other->batch)) return true;
  for (uint64_t i = 0; i < one->count; ++i)
    if (share_a_byte(one, one->address + i * one->batch, other, other->address) ||
        share_a_byte(one, one->address, other, other->address + i * other->batch))
      return true;
  return false;
}

bool t3_check_overlap(struct t3_check* check, const struct t3_matrices* written, const struct t3_matrices* other) {
  if (!overlap(written, other)) return true;
  return t3_refuse(check, T3_BAD_PACKET, "%s at " T3_HEX " to " T3_HEX " overlaps %s at " T3_HEX " to " T3_HEX,
                   written->name, written->address, end_of(written) - 1, other->name, other->address,
                   end_of(other) - 1);
}

bool t3_check_pieces_beside(struct t3_check* check, const struct t3_matrices* pieces, uint32_t count,
                            const struct t3_matrices* written) {
  for (const struct t3_matrices* piece = pieces; piece < pieces + count; ++piece)
    if (!t3_check_piece(check, piece) || !t3_check_overlap(check, written, piece)) return false;
  return true;
}

bool t3_check_batch_overlap(struct t3_check* check, const struct t3_matrices* out) {
  uint64_t later = out->address;
  for (uint64_t i = 1; i < out->count; ++i) {
    later += out->batch;
    if (later >= end_of_first(out)) break;
    if (share_a_byte(out, out->address, out, later))
      return t3_refuse(check, T3_BAD_PACKET,
                       "matrix %" PRIu64 " of out at " T3_HEX " overlaps the first at " T3_HEX " to " T3_HEX, i, later,
                       out->address, end_of_first(out) - 1);
  }
  return true;
}

bool t3_check_reach(struct t3_check* check, uint32_t gpu, uint32_t gpus, const char* name, uint64_t sent) {
  for (uint32_t i = 1; i < gpus; ++i) {
    const uint64_t peer = t3_on_gpu((gpu + i) % gpus, sent);
    if (!check->reaches(check->cluster, peer))
      return t3_refuse(check, T3_NO_PEER, "GPU %" PRIu64 " of %s " T3_HEX " cannot be reached", t3_gpu_of(peer), name,
                       peer);
  }
  return true;
}
