"""C11 headers of the firmware: offsets, masks, shifts and values of every register, and the shared enumerations."""

import json

from .description import DescriptionError


def number(value, width=32):
    return f"UINT{width}_C({value if value < 10 else hex(value)})"


def enumeration_header(enumeration):
    """typedef enum t3_status and t3_status_text()."""
    name = f"t3_{enumeration.name}"
    # The driver writes T3_OK, not T3_STATUS_OK.
    constants = [(f"T3_{value_name.upper()}", value, text) for value_name, value, text in enumeration.values]
    guard = f"{name.upper()}_H"
    lines = [f"/* {enumeration.text} Generated from {enumeration.name}.json. */",
             f"#ifndef {guard}", f"#define {guard}", "",
             f"typedef enum {name} {{"]
    lines += [f"  {constant} = {value}, /* {text} */" for constant, value, text in constants]
    lines[-1] = lines[-1].replace(", /*", " /*")
    lines += [f"}} {name};", "", f"static inline const char* {name}_text({name} value) {{", "  switch (value) {"]
    lines += [f"    case {constant}: return {json.dumps(text)};" for constant, _, text in constants]
    lines += ["  }", f'  return "unknown {enumeration.name}";', "}", "", f"#endif /* {guard} */", ""]
    return "\n".join(lines)


def register_constants(block, register):
    prefix = f"T3_{block.name}_{register.name}".upper()
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


def block_header(block):
    guard = f"T3_REGISTERS_{block.name.upper()}_H"
    lines = [f"/* {block.text} Generated from {block.name}.registers.json.",
             " * Masks are in place; values of fields are not shifted. */",
             f"#ifndef {guard}", f"#define {guard}", "", "#include <stdint.h>", ""]
    seen = set()
    for register in block.registers:
        for name, value, text in register_constants(block, register):
            if name in seen:
                raise DescriptionError(
                    f"{block.file}: register {register.name}: firmware constant {name} is defined twice")
            seen.add(name)
            lines.append(f"#define {name} {value}" + (f" /* {text} */" if text else ""))
    return "\n".join(lines + ["", f"#endif /* {guard} */", ""])
