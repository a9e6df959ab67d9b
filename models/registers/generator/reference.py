"""docs/reference/registers.md: every block, register and field for people."""

from .structure import table

INTRODUCTION = """\
# Registers

Generated from `models/gpu.json`, `models/*/*.registers.json`, `models/*/*.enumeration.json`, and, at the end, of packets and kernels'
arguments from `models/*/*.structure.json`, `firmware/*/*.structure.json` and `firmware/kernels/*/*.arguments.json`; do not edit. The target
`register_reference` writes this page anew.

The registers of GPU g lie at `g << 44` plus the address given with each block. An access has exactly the width of the
register, or is one half of a 64-bit register, by 32 bits, the low half (at the register's offset) first. A write of the
low half is held, and that of the high half (4 bytes further) commits both as one write, which is when the register acts.
A read of the low half reads the register and holds the high half for the read of it. A block holds one half of each
kind: an access to other registers may come in between, halves of another one may not. A high half without its low half
is a wrong access. Peers' accesses are whole. RW read and write, RO read only, WO write only, W1C writing 1 clears, W1S writing 1 sets, RC reading clears.
Reserved bits read as 0 and must be written as 0. A *synchronizing* register waits until the initiator's local time has
come before it acts. A *locked* register cannot be written while its block is busy.
An *own address* register takes an address of its GPU's memory with the GPU's number in bits 63..44. An address without it is
GPU 0's: other GPUs refuse it, at the latest with the command that uses it, and the error log says the address that was expected. A wrong access changes nothing, is
answered with an error and is logged in the `error_log` block.
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
    remarks = "".join(remark for is_so, remark in ((register.own_address, " *Own address.*"), (register.sync, " *Synchronizing.*"),
                                                  (register.lock, " *Locked.*")) if is_so)
    reset = f"`{register.reset:#x}`" if register.reset else "0"
    return f"| {offset} | **{name}** | {register.width} | {register.access} | {reset} | {register.text}{remarks} |"


def field_row(field):
    return f"| | {field.name} | {bits_of(field)} | {field.access} | | {field.text}{values_of(field)} |"


def page(blocks, enumerations, device, structures):
    lines = [INTRODUCTION, "| Address | Block | |", "| --- | --- | --- |"]
    lines += [f"| `{device.base(b.name):#x}` | [{b.name}](#{b.name}) | {b.text.split('. ')[0].rstrip('.')}. |"
              for b in blocks]
    lines += [f"| `{device.base(name):#x}` | {name} | {text}. |" for name, text in device.spares.items()]
    lines += ["", "| Line | Name | Block | Raised when |", "| --- | --- | --- | --- |"]
    owner = {name: block if port is None else f"[{block}](#{block})" for name, (block, port) in device.sources.items()}
    lines += [f"| {number} | {name} | {owner[name]} | {text} |" for name, number, text in device.lines]
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
