"""CMSIS-SVD 1.3 of a device: a peripheral for each block of GPU 0, whose interrupts are its lines."""

from xml.etree import ElementTree

from .register_xml import ACCESS, Format, text_of

SVD = Format("", "modifiedWriteValues", "writeConstraint")
add = SVD.add


def add_field(fields, field):
    item = SVD.add_described(fields, "field", field)
    add(item, "bitRange", f"[{field.msb}:{field.lsb}]")
    add(item, "access", ACCESS[field.access])
    SVD.add_effects(item, field.access, field.values)
    SVD.add_values(item, field.values)


def add_register(registers, register):
    item = add(registers, "register")
    if register.is_array:
        add(item, "dim", register.count)
        add(item, "dimIncrement", f"{register.stride:#x}")
    add(item, "name", register.name + ("[%s]" if register.is_array else ""))
    add(item, "description", register.text)
    add(item, "addressOffset", f"{register.offset:#x}")
    add(item, "size", register.width)
    add(item, "access", ACCESS[register.access])
    add(item, "resetValue", f"{register.reset:#x}")
    add(item, "resetMask", f"{(1 << register.width) - 1:#x}")
    if not register.fields:
        return SVD.add_effects(item, register.access, False)
    fields = add(item, "fields")
    for field in register.fields:
        add_field(fields, field)
    return None


def add_peripheral(peripherals, block, device):
    item = SVD.add_described(peripherals, "peripheral", block)
    add(item, "baseAddress", f"{device.base(block.name):#x}")
    space = add(item, "addressBlock")
    add(space, "offset", "0x0")
    add(space, "size", f"{device.block_bytes:#x}")
    add(space, "usage", "registers")
    for name, number, text in device.lines:
        if device.sources[name][0] == block.name:
            line = add(item, "interrupt")
            add(line, "name", name)
            add(line, "description", text)
            add(line, "value", number)
    registers = add(item, "registers")
    for register in block.registers:
        add_register(registers, register)


def text(blocks, device, version):
    root = ElementTree.Element("device", {"schemaVersion": "1.3"})
    add(root, "name", f"t3vp_{device.name}")
    add(root, "version", version)
    add(root, "description", device.text)
    add(root, "addressUnitBits", 8)
    add(root, "width", 64)
    peripherals = add(root, "peripherals")
    for block in blocks:
        add_peripheral(peripherals, block, device)
    return text_of(root)
