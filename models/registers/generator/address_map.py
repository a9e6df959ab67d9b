"""The numbers and places of the blocks, taken from models/protocol/address_map.h, which stays their only source."""

import re

from .description import DescriptionError


class AddressMap:
    def __init__(self, file):
        with open(file, encoding="utf-8") as stream:
            text = stream.read()
        enumeration = re.search(r"enum class Block[^{]*\{([^}]*)\}", text)
        base = re.search(r"registers_base = std::uint64_t\{(\w+)\} << (\d+);", text)
        size = re.search(r"block_bytes = (\w+);", text)
        if not enumeration or not base or not size:
            raise DescriptionError(f"{file}: expected enum class Block, registers_base and block_bytes")
        self.file = file
        self.numbers = {name: int(number) for name, number in re.findall(r"(\w+) = (\d+)", enumeration.group(1))}
        self.numbers.pop("count", None)
        self.registers_base = int(base.group(1), 0) << int(base.group(2))
        self.block_bytes = int(size.group(1), 0)

    def base(self, name):
        return self.registers_base + self.numbers[name] * self.block_bytes

    def in_order(self, blocks):
        """The blocks by number; both sides must name the same ones."""
        described = {block.name: block for block in blocks}
        for block in blocks:
            if block.name not in self.numbers:
                raise DescriptionError(f"{block.file}: block {block.name} is missing from {self.file}")
        for name in self.numbers:
            if name not in described:
                raise DescriptionError(f"{self.file}: block {name} has no {name}.registers.json")
        return [described[name] for name in sorted(self.numbers, key=self.numbers.get)]
