"""The descriptions of a device in one JSON text: addresses are whole ones of GPU 0, enumerations are named and listed."""

import json


def field_of(field):
    item = {"name": field.name, "bits": [field.msb, field.lsb], "access": field.access}
    if field.enumeration:
        item["enumeration"] = field.enumeration
    elif field.values:
        item["values"] = dict(field.values)
    return {**item, "text": field.text}


def register_of(register, base):
    item = {"name": register.name, "offset": register.offset, "address": base + register.offset,
            "width": register.width, "access": register.access, "reset": register.reset}
    if register.is_array:
        item |= {"count": register.count, "stride": register.stride}
    if register.sync:
        item["sync"] = True
    if register.lock:
        item["lock"] = "busy"
    if register.own_address:
        item["own_address"] = True
    if register.fields:
        item["fields"] = [field_of(field) for field in register.fields]
    return {**item, "text": register.text}


def block_of(block, device):
    base = device.base(block.name)
    lines = [{"name": name, "number": number, "port": device.sources[name][1], "text": text}
             for name, number, text in device.lines if device.sources[name][0] == block.name]
    return {"name": block.name, "window": device.windows[block.name], "address": base, "text": block.text,
            "lines": lines, "registers": [register_of(register, base) for register in block.registers]}


def text(blocks, enumerations, device, version):
    content = {
        "device": device.name, "version": version, "text": device.text,
        "constants": {name: value for name, value, _ in device.constants},
        "registers_base": device.registers_base, "block_bytes": device.block_bytes,
        "blocks": [block_of(block, device) for block in blocks],
        "enumerations": {e.name: {"text": e.text, "values": [{"name": n, "value": v, "text": t} for n, v, t in e.values]}
                         for e in sorted(enumerations.values(), key=lambda e: e.name)}}
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"
