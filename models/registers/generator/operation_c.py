"""C headers of collective operations: their numbers, what is known of each, and the staging memory that they need."""

TRAITS = """/* What programs, the kernel and the platform know of an operation. Sets of algorithms have bit 1 << algorithm. */
struct {0}_operation_traits {{
  const char* name;
  bool adds; /* results are sums */
  enum {0}_operation_result result;
  uint32_t algorithms;
  uint32_t part_count; /* 2: it is two operations, one after the other; 0: it is one kernel */
  enum {0}_collective_op parts[2];
  uint32_t whole_by;        /* algorithms by which it is one kernel nevertheless */
  uint32_t second_counters; /* algorithms whose steps wait for the second counters, too */
}};"""


def algorithm_constant(project, algorithm):
    return f"{project}_{algorithm}".upper().replace("-", "_")


def mask(project, algorithms):
    return " | ".join(f"1u << {algorithm_constant(project, a)}" for a in algorithms) or "0"


def flag(value):
    return "true" if value else "false"


def op_header(operations, project):
    macro, guard = project.upper(), f"{project}_collective_op_h".upper()
    by_name = {o.name: o for o in operations}
    lines = ["/* The operations in platform/workloads/collective/operations. Generated. */", f"#ifndef {guard}",
             f"#define {guard}", "", "#include <stdbool.h>",
             "#include <stdint.h>", "", f'#include "{project}/collective_algorithm.h"', "",
             f"enum {project}_collective_op {macro}_OF_32_BITS {{"]
    for o in operations:
        lines.append(f"  {o.constant(project)} = {o.number}{'' if o is operations[-1] else ','} /* {o.text} */")
    lines += ["};", "", f"#define {macro}_COLLECTIVE_OPS {len(operations)}u", "", *TRAITS.format(project).splitlines(), "",
              "/* Of a number that is no operation, the first one's. */",
              f"static inline const struct {project}_operation_traits* {project}_traits_of(enum {project}_collective_op op) {{",
              f"  static const struct {project}_operation_traits traits[] = {{"]
    for o in operations:
        parts = ", ".join(by_name[p].constant(project) for p in (o.parts or [o.name, o.name]))
        result = f"{macro}_RESULT_{o.result}".upper().replace("-", "_")
        lines.append(f'      {{"{o.name}", {flag(o.adds)}, {result}, {mask(project, o.algorithms)}, {len(o.parts)}, {{{parts}}}, '
                     f"{mask(project, o.whole_by)}, {mask(project, ['hierarchical', *o.second_counters])}}},")
    return "\n".join([*lines, "  };", f"  return &traits[op < {macro}_COLLECTIVE_OPS ? op : {operations[0].constant(project)}];", "}", "",
                      "#endif", ""])


def staging_header(operations, project):
    guard = f"{project}_collective_staging_h".upper()
    own = [o for o in operations if o.staging == "own"]
    lines = ["/* Memory that operations need beside their buffers. Generated. */", f"#ifndef {guard}", f"#define {guard}", "",
             *[f'#include "{project}/{include}"' for include in
               ["collective.h", *[f"operations/{o.c_name}.h" for o in own]]], "",
             "/* What a GPU needs to receive what is not its own or not yet added. */",
             f"static inline uint64_t {project}_staging_bytes(const struct {project}_collective* c, uint32_t gpus) {{",
             f"  if (c->algorithm == {project.upper()}_IN_NETWORK) return 0;", "  switch (c->op) {"]
    for o in operations:
        if o.staging != "none":
            function = "sums" if o.staging == "sums" else o.c_name
            lines += [f"    case {o.constant(project)}:", f"      return {project}_{function}_staging_bytes(c, gpus);"]
    return "\n".join([*lines, "    default:", "      return 0;", "  }", "}", "", "#endif", ""])


def table_source(operations, project):
    """The kernel's table: the steps of each operation."""
    names = [f"{project}_{o.c_name}_operation" for o in operations]
    lines = ["/* Steps of the operations in platform/workloads/collective/operations. Generated. */",
             '#include "kernels/collective/steps.h"', ""]
    lines += [f"extern const struct {project}_operation {name};" for name in names]
    lines += ["", f"const struct {project}_operation* const {project}_operations[] = {{"]
    return "\n".join([*lines, *[f"    &{name}," for name in names], "};", ""])
