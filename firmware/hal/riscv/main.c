/* The main() of firmware that has none: runs the program that the platform asks for, of the table t3_exports. */
#include <stddef.h>
#include <string.h>

#include "host.h"
#include "t3/exports.h"

int main(void) {
  const struct t3_named_program* found = NULL;
  for (const struct t3_named_program* p = t3_exports.programs; p != NULL && p->name != NULL; ++p)
    if (t3_riscv_start.program == NULL || strcmp(p->name, t3_riscv_start.program) == 0) found = p;
  if (found != NULL) return (int)found->main(t3_riscv_hal(), t3_riscv_start.run);
  (void)t3_host_tell(T3_HOST_CALL_CALL_MISTAKE, "is an image without the program that is asked for", 0);
  return T3_INVALID_ARGUMENT;
}
