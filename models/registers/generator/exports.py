"""What other tools read of a device's registers, as texts in a C++ source (platform/register_access/exports)."""

from . import c_header, ipxact, json_export, reference, svd


def body(header):
    """Without the guard and the includes of other generated headers."""
    lines = header.splitlines()
    guard = next(line.split()[1] for line in lines if line.startswith("#ifndef "))
    dropped = (f"#ifndef {guard}", f"#define {guard}", "#include ")
    last = max(i for i, line in enumerate(lines) if line.startswith("#endif"))
    return [line for line in lines[:last] if not line.startswith(dropped)]


def header(blocks, enumerations, device, project):
    """All of the firmware's headers of registers in one that needs no others, for C and C++."""
    guard = f"{project}_all_registers_h".upper()
    parts = [c_header.width_header(project), c_header.device_header(device, blocks, project)]
    parts += [c_header.enumeration_header(e, project) for _, e in sorted(enumerations.items())]
    parts += [c_header.block_header(block, project) for block in blocks]
    lines = [f"/* {device.text} Addresses of GPU g are those here plus g << {project.upper()}_GPU_SHIFT. */",
             f"#ifndef {guard}", f"#define {guard}", "", "#include <stdint.h>", ""]
    for part in parts:
        lines += body(part)
    prefix = project.upper()
    lines += ["/* Where the blocks begin. */"]
    lines += [f"#define {prefix}_{b.name.upper()}_BASE {c_header.number(device.base(b.name), 64)}" for b in blocks]
    return "\n".join(lines + ["", f"#endif /* {guard} */", ""])


def literal(text):
    """A C++ literal in pieces, since compilers limit the length of one."""
    escapes = {"\\": "\\\\", '"': '\\"', "\n": "\\n"}
    pieces = [[]]
    for byte in text.encode("utf-8"):
        character = chr(byte)
        pieces[-1].append(escapes.get(character) or (character if 32 <= byte < 127 else f"\\{byte:03o}"))
        if character == "\n":
            pieces.append([])
    return "\n".join(f'        "{"".join(piece)}"' for piece in pieces if piece)


def source(blocks, enumerations, device, structures, project, version):
    texts = {"header": header(blocks, enumerations, device, project),
             "ipxact": ipxact.text(blocks, device, version),
             "json": json_export.text(blocks, enumerations, device, version),
             "markdown": reference.page(blocks, enumerations, device, structures),
             "svd": svd.text(blocks, device, version)}
    lines = ['#include "register_access/exports/register_exports.h"', "", "namespace t3vp {", "",
             "std::string_view register_export(RegisterFormat format) {", "  switch (format) {"]
    for name, text in texts.items():
        lines += [f"    case RegisterFormat::{name}:", "      return", literal(text) + ";"]
    return "\n".join(lines + ["  }", "  return {};", "}", "", "}  // namespace t3vp", ""])
