/* A matrix times a vector, whose results stay on the GPU. */
#include "t3/arguments/gemv.h"
#include "slices.h"

static struct t3_product_by_slices product_of(const struct t3_gemv_arguments* p) {
  return (struct t3_product_by_slices){
      .gemv = {.rows = p->rows, .columns = p->columns, .slice = p->slice, .element = (enum t3_element)p->element},
      .matrix = p->matrix,
      .vector = p->vector};
}

static void run(struct t3_wave* wave) {
  const struct t3_gemv_arguments* p = wave->arguments;
  const struct t3_product_by_slices product = product_of(p);
  const struct t3_gemv* g = &product.gemv;
  for (uint64_t slice = wave->workgroup; slice < t3_gemv_slices(g); slice += wave->workgroups) {
    t3_multiply_slice(wave, &product, slice);
    t3_store(wave, t3_slice_tile(g, slice, T3_SLICE_SUMS),
             t3_slice_access(g, slice, p->out + slice * g->slice * t3_element_bytes(g->element)));
  }
  t3_fence(wave);
}

static struct t3_matrices out_of(const struct t3_gemv_arguments* p) {
  const struct t3_product_by_slices product = product_of(p);
  return t3_piece("out", p->out, t3_gemv_out_bytes(&product.gemv));
}

static bool check(struct t3_check* check, const struct t3_launch* launch) {
  const struct t3_gemv_arguments* p = launch->arguments;
  const struct t3_product_by_slices product = product_of(p);
  if (!t3_check_slices(check, &product)) return false;
  if (launch->workgroups == 0)
    return t3_refuse(check, T3_BAD_PACKET, "0 workgroups: 1 or more, which share the slices, expected");
  const struct t3_matrices out = out_of(p);
  if (t3_unaligned(out.address))
    return t3_refuse(check, T3_BAD_PACKET, "out " T3_HEX ": a multiple of 32 expected", out.address);
  return t3_check_held(check, check->gpu, out.name, out.address, out.row_bytes) &&
         t3_check_slices_beside(check, &product, &out);
}

static struct t3_plan plan(const struct t3_device* device, const struct t3_launch* launch) {
  const struct t3_gemv_arguments* p = launch->arguments;
  const struct t3_product_by_slices product = product_of(p);
  const struct t3_matrices out = out_of(p);
  struct t3_plan plan = {.name = "gemv",
                         .workgroups = launch->workgroups,
                         .written = {t3_range_of(&out)},
                         .written_count = 1,
                         .stores_here = true};
  t3_plan_slices(&plan, device, &product);
  return plan;
}

const struct t3_kernel t3_gemv_kernel = {.name = "gemv",
                                         .arguments = T3_GEMV_ARGUMENTS,
                                         .reads = "gemv_read",
                                         .writes = "gemv_write",
                                         .check = check,
                                         .plan = plan,
                                         .run = run};
