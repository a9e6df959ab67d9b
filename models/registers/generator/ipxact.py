"""IP-XACT (IEEE 1685-2014) of a device: a component with a memory map, an address block for each register block of GPU 0.

Elements of an array follow each other there without gaps (`dim`); those of other arrays are registers of their own,
`base_0`, `base_1`.
"""

from dataclasses import replace
from xml.etree import ElementTree

from .description import Field
from .register_xml import ACCESS, Format, text_of

NAMESPACE = "http://www.accellera.org/XMLSchema/IPXACT/1685-2014"
IPXACT = Format("ipxact:", "modifiedWriteValue", "writeValueConstraint")
add = IPXACT.add


def add_field(register, field, reset):
    item = IPXACT.add_described(register, "field", field)
    add(item, "bitOffset", field.lsb)
    add(add(add(item, "resets"), "reset"), "value", f"'h{(reset & field.mask) >> field.lsb:x}")
    add(item, "bitWidth", field.width)
    if field.access in ("RO", "RC"):
        add(item, "volatile", "true")
    add(item, "access", ACCESS[field.access])
    IPXACT.add_values(item, field.values)
    IPXACT.add_effects(item, field.access, field.values)


def add_register(block, register):
    item = IPXACT.add_described(block, "register", register)
    if register.count > 1:
        add(item, "dim", register.count)
    add(item, "addressOffset", f"'h{register.offset:x}")
    add(item, "size", register.width)
    add(item, "access", ACCESS[register.access])
    for field in register.fields or [Field("value", register.width - 1, 0, register.access, "All of it.")]:
        add_field(item, field, register.reset)


def elements_of(register):
    """Itself, or where they have gaps a register for each element."""
    if register.count == 1 or register.stride == register.bytes:
        return [register]
    return [replace(register, name=f"{register.name}_{element}", count=1,
                    offset=register.offset + element * register.stride,
                    text=register.text if element == 0 else f"As {register.name}_0.")
            for element in range(register.count)]


def add_block(space, block, device):
    item = IPXACT.add_described(space, "addressBlock", block)
    add(item, "baseAddress", f"'h{device.base(block.name):x}")
    add(item, "range", f"'h{device.block_bytes:x}")
    add(item, "width", 64)
    add(item, "usage", "register")
    for register in block.registers:
        for element in elements_of(register):
            add_register(item, element)


def text(blocks, device, version):
    root = ElementTree.Element("ipxact:component", {"xmlns:ipxact": NAMESPACE})
    for name, value in (("vendor", "t3vp"), ("library", "t3vp"), ("name", device.name), ("version", version)):
        add(root, name, value)
    space = add(add(root, "memoryMaps"), "memoryMap")
    add(space, "name", "registers")
    add(space, "description", "Of GPU 0.")
    for block in blocks:
        add_block(space, block, device)
    add(space, "addressUnitBits", 8)
    add(root, "description", device.text)
    return text_of(root)
