"""C++ header of collective operations: what a run file may say of each, and its oracle."""

import json

from .operation_c import algorithm_constant, flag


def header(operations, project):
    lines = ["// The operations in platform/workloads/collective/operations. Generated.", "#pragma once", "",
             "#include <array>", "#include <string_view>", "#include <vector>", "",
             f'#include "{project}/collective.h"', '#include "workloads/collective/collective_operation.h"', "",
             "namespace t3vp {", ""]
    lines += [f"const CollectiveOperation& {o.c_name}_operation();" for o in operations]
    lines += ["", "struct CollectiveOperationDescription {", f"  {project}_collective_op op;", "  std::string_view name;",
              f"  std::vector<{project}_collective_algorithm> algorithms;  ///< of equal estimates auto takes the first",
              "  bool has_root;  ///< GPU 0 has a role of its own",
              "  const CollectiveOperation& (*operation)();", "};", "", "/// By number.",
              f"inline const std::array<CollectiveOperationDescription, {len(operations)}> collective_operations = {{{{"]
    for o in operations:
        algorithms = ", ".join(algorithm_constant(project, a) for a in o.algorithms)
        lines.append(f"    {{{o.constant(project)}, {json.dumps(o.name)}, {{{algorithms}}}, {flag(o.root)}, {o.c_name}_operation}},")
    return "\n".join([*lines, "}};", "", "}  // namespace t3vp", ""])
