"""docs/reference/registers.md: every block, register and field for people."""

from .structure import table

INTRODUCTION = """\
# Registers

This page lists every register and field of a GPU, and the layout of packets, work entries and kernel arguments. Use it to
write a driver or a register script. `t3vp registers` prints the same for other tools.

The target `register_reference` writes this page. It reads `models/gpu.json` and the `*.registers.json`, `*.enumeration.json`
and `*.structure.json` files of the blocks. The kernels' arguments come from `*.arguments.json`.

The registers of GPU g are at `g << 44` plus the address of their block. An access has exactly the width of its register.
Access is one of:

| Access | Meaning |
| --- | --- |
| RW | Read and write. |
| RO | Read only. |
| WO | Write only. |
| W1C | Writing 1 clears the bit. |
| W1S | Writing 1 sets the bit. |
| RC | Reading clears the register. |

Reserved bits read as 0 and must be written as 0. A *synchronizing* register acts when simulated time has reached the
initiator's local time. A *locked* register cannot be written while its block is busy. A wrong access changes nothing,
gets an error response and is logged in the `error_log` block.

A 64-bit register also takes two accesses of 32 bits, first the low half (at the register's offset), then the high half
(4 bytes further). A write of the low half is held; the write of the high half commits both as one write. A read of the low
half reads the register and holds the high half for its read. A block holds one half of each kind. Accesses to other
registers may come in between, but not halves of another register. A high half without its low half is a wrong access.
Accesses of other GPUs must be whole.
"""


def values_of(field):
    if field.enumeration:
        return f" One of [{field.enumeration}](#{field.enumeration})."
    if field.values:
        members = (f"`{name}` = {value if value < 4096 else hex(value)}" for name, value in field.values)
        return f" {', '.join(members)}."
    return ""


def bits_of(field):
    return f"{field.msb}" if field.width == 1 else f"{field.msb}:{field.lsb}"


def register_row(register):
    offset = f"`{register.offset:#06x}`"
    name = register.name
    if register.is_array:
        offset += f" + {register.stride} i"
        name += f"[{register.count}]"
    remarks = (" *Synchronizing.*" if register.sync else "") + (" *Locked.*" if register.lock else "")
    reset = f"`{register.reset:#x}`" if register.reset else "0"
    return f"| {offset} | **{name}** | {register.width} | {register.access} | {reset} | {register.text}{remarks} |"


def field_row(field):
    return f"| | {field.name} | {bits_of(field)} | {field.access} | | {field.text}{values_of(field)} |"


def page(blocks, enumerations, device, structures):
    lines = [INTRODUCTION, "| Address | Block | |", "| --- | --- | --- |"]
    lines += [f"| `{device.base(b.name):#x}` | [{b.name}](#{b.name}) | {b.text.split('. ')[0].rstrip('.')}. |"
              for b in blocks]
    lines += ["", "| Line | Name | Block | Raised when |", "| --- | --- | --- | --- |"]
    lines += [f"| {number} | {name} | [{device.sources[name][0]}](#{device.sources[name][0]}) | {text} |"
              for name, number, text in device.lines]
    for block in blocks:
        lines += ["", f"## {block.name}", "",
                  f"{block.text} Block {device.windows[block.name]}, at `{device.base(block.name):#x}`.", "",
                  "| Offset | Register / field | Width / bits | Access | Reset | |",
                  "| --- | --- | --- | --- | --- | --- |"]
        for register in block.registers:
            lines.append(register_row(register))
            lines += [field_row(field) for field in register.fields]
    for enumeration in sorted(enumerations.values(), key=lambda e: e.name):
        lines += ["", f"## {enumeration.name}", "", enumeration.text, "", "| Value | Name | |", "| --- | --- | --- |"]
        lines += [f"| {value} | {name} | {text} |" for name, value, text in enumeration.values]
    for structure in sorted(structures, key=lambda s: (s.is_arguments, s.name)):
        lines += ["", f"## {structure.name}", "", structure.text, "", *table(structure)]
    return "\n".join(lines) + "\n"
