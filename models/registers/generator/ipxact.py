"""IP-XACT (IEEE 1685-2014) of a device: a component with a memory map, an address block for each register block of GPU 0.

Elements of an array follow each other there without gaps (`dim`); those of other arrays are registers of their own,
`base_0`, `base_1`.
"""

from xml.etree import ElementTree

from .svd import ACCESS, WRITTEN

NAMESPACE = "http://www.accellera.org/XMLSchema/IPXACT/1685-2014"


def add(parent, name, text=None):
    child = ElementTree.SubElement(parent, f"ipxact:{name}")
    if text is not None:
        child.text = str(text)
    return child


def add_values(field, values):
    entries = add(field, "enumeratedValues")
    for name, number in values:
        value = add(entries, "enumeratedValue")
        add(value, "name", name)
        add(value, "value", number)


def add_field(register, name, text, lsb, width, access, values, reset):
    field = add(register, "field")
    add(field, "name", name)
    add(field, "description", text)
    add(field, "bitOffset", lsb)
    add(add(add(field, "resets"), "reset"), "value", f"'h{reset >> lsb & (1 << width) - 1:x}")
    add(field, "bitWidth", width)
    if access in ("RO", "RC"):
        add(field, "volatile", "true")
    add(field, "access", ACCESS[access])
    if values:
        add_values(field, values)
    if access in WRITTEN:
        add(field, "modifiedWriteValue", WRITTEN[access])
    if values and access in ("RW", "WO"):
        add(add(field, "writeValueConstraint"), "useEnumeratedValues", "true")
    if access == "RC":
        add(field, "readAction", "clear")


def add_register(block, register, name, text, offset, count):
    item = add(block, "register")
    add(item, "name", name)
    add(item, "description", text)
    if count > 1:
        add(item, "dim", count)
    add(item, "addressOffset", f"'h{offset:x}")
    add(item, "size", register.width)
    add(item, "access", ACCESS[register.access])
    for f in register.fields:
        add_field(item, f.name, f.text, f.lsb, f.width, f.access, f.values, register.reset)
    if not register.fields:
        add_field(item, "value", "All of it.", 0, register.width, register.access, [], register.reset)


def add_registers(block, register):
    if register.count == 1 or register.stride == register.bytes:
        return add_register(block, register, register.name, register.text, register.offset, register.count)
    for element in range(register.count):
        text = register.text if element == 0 else f"As {register.name}_0."
        add_register(block, register, f"{register.name}_{element}", text, register.offset + element * register.stride,
                     1)
    return None


def add_block(space, block, device):
    item = add(space, "addressBlock")
    add(item, "name", block.name)
    add(item, "description", block.text)
    add(item, "baseAddress", f"'h{device.base(block.name):x}")
    add(item, "range", f"'h{device.block_bytes:x}")
    add(item, "width", 64)
    add(item, "usage", "register")
    for register in block.registers:
        add_registers(item, register)


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
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"
