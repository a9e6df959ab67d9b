"""C11 headers of the firmware: offsets, masks, shifts and values of every register, and the shared enumerations."""

import json

from .description import DescriptionError


def number(value, width=32):
    return f"UINT{width}_C({value if value < 10 else hex(value)})"


def width_header(project):
    """<PROJECT>_OF_32_BITS, which stands behind the name of every enumeration of the firmware."""
    macro, guard = f"{project}_of_32_bits".upper(), f"{project}_enumeration_h".upper()
    return "\n".join([
        "/* Programs in C may pass any number for an enumeration. In C++, where one beyond the enumerators' bits would be",
        " * undefined, an enumeration of 32 bits has them all, and they are checked as other numbers are. Generated. */",
        f"#ifndef {guard}", f"#define {guard}", "",
        "#include <stdint.h>", "",
        "#ifdef __cplusplus", f"#define {macro} : uint32_t",
        "#else", f"#define {macro}",
        f"enum {project}_enumeration {{ {project.upper()}_ENUMERATOR }};",
        f'_Static_assert(sizeof(enum {project}_enumeration) == 4, "enumerations have 32 bits: no -fshort-enums");',
        "#endif", "", f"#endif /* {guard} */", ""])


def enumeration_lines(enumeration, project, counted=False):
    """typedef enum <project>_<name>; `counted` adds the number of values."""
    prefix = "_".join(part for part in (project, enumeration.prefix) if part).upper()
    constants = [(f"{prefix}_{name.upper()}", value, text) for name, value, text in enumeration.values]
    lines = [f"/* {enumeration.text} */", f"typedef enum {project}_{enumeration.name} {project.upper()}_OF_32_BITS {{"]
    lines += [f"  {constant} = {value}, /* {text} */" for constant, value, text in constants]
    if counted:
        lines.append(f"  {prefix}_COUNT = {len(constants)}")
    else:
        lines[-1] = lines[-1].replace(", /*", " /*", 1)
    return lines + [f"}} {project}_{enumeration.name};"], constants


def enumeration_header(enumeration, project):
    """The enumeration and <project>_<name>_text()."""
    name = f"{project}_{enumeration.name}"
    declaration, constants = enumeration_lines(enumeration, project)
    guard = f"{name.upper()}_H"
    lines = [f"/* Generated from {enumeration.name}.enumeration.json. */", f"#ifndef {guard}", f"#define {guard}", "",
             f'#include "{project}/enumeration.h"', ""]
    lines += declaration
    lines += ["", f"static inline const char* {name}_text({name} value) {{", "  switch (value) {"]
    lines += [f"    case {constant}: return {json.dumps(text)};" for constant, _, text in constants]
    lines += ["  }", f'  return "unknown {enumeration.name}";', "}", "", f"#endif /* {guard} */", ""]
    return "\n".join(lines)


def device_header(device, blocks, project):
    """Constants of the address map, blocks and lines."""
    guard = f"{project}_{device.name}_h".upper()
    constants = [*device.constants, ("registers_base", device.registers_base, "the register blocks begin there"),
                 ("block_bytes", device.block_bytes, "from one block to the next")]
    lines = [f"/* {device.text} Generated from {device.name}.json. */",
             f"#ifndef {guard}", f"#define {guard}", "", "#include <stdint.h>", "",
             f'#include "{project}/enumeration.h"', ""]
    lines += [f"#define {project.upper()}_{name.upper()} {number(value, 64)} /* {text} */"
              for name, value, text in constants]
    for enumeration in device.enumerations(blocks):
        lines += ["", *enumeration_lines(enumeration, project, counted=True)[0]]
    return "\n".join(lines + ["", f"#endif /* {guard} */", ""])


def register_constants(block, register, project):
    prefix = f"{project}_{block.name}_{register.name}".upper()
    yield f"{prefix}_OFFSET", number(register.offset), register.text
    if register.is_array:
        yield f"{prefix}_COUNT", f"{register.count}u", ""
        yield f"{prefix}_STRIDE", f"{register.stride}u", ""
    for field in register.fields:
        name = f"{prefix}_{field.name}".upper()
        yield f"{name}_SHIFT", f"{field.lsb}u", field.text
        yield f"{name}_MASK", number(field.mask, register.width), ""
        if not field.enumeration:
            for value_name, value in field.values:
                yield f"{name}_{value_name.upper()}", number(value, register.width), ""


def block_header(block, project):
    guard = f"{project}_registers_{block.name}_h".upper()
    lines = [f"/* {block.text} Generated from {block.name}.registers.json.",
             " * Masks are in place; values of fields are not shifted. */",
             f"#ifndef {guard}", f"#define {guard}", "", "#include <stdint.h>", ""]
    seen = set()
    for register in block.registers:
        for name, value, text in register_constants(block, register, project):
            if name in seen:
                raise DescriptionError(
                    f"{block.file}: register {register.name}: firmware constant {name} is defined twice")
            seen.add(name)
            lines.append(f"#define {name} {value}" + (f" /* {text} */" if text else ""))
    return "\n".join(lines + ["", f"#endif /* {guard} */", ""])
