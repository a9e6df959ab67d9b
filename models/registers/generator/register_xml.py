"""What CMSIS-SVD and IP-XACT say in the same way: accesses, their effects, values with names."""

from xml.etree import ElementTree

ACCESS = {"RW": "read-write", "RO": "read-only", "WO": "write-only", "W1C": "read-write", "W1S": "read-write",
          "RC": "read-only"}
WRITTEN = {"W1C": "oneToClear", "W1S": "oneToSet"}


class Format:
    """Elements of one of them: what stands before every name, and the names that differ."""

    def __init__(self, prefix, written_values, constraint):
        self.prefix, self.written_values, self.constraint = prefix, written_values, constraint

    def add(self, parent, name, text=None):
        child = ElementTree.SubElement(parent, self.prefix + name)
        if text is not None:
            child.text = str(text)
        return child

    def add_described(self, parent, name, item):
        """An element for what has a name and a text."""
        child = self.add(parent, name)
        self.add(child, "name", item.name)
        self.add(child, "description", item.text)
        return child

    def add_effects(self, parent, access, has_values):
        """What reading and writing do beside the plain thing."""
        if access in WRITTEN:
            self.add(parent, self.written_values, WRITTEN[access])
        if has_values and access in ("RW", "WO"):
            self.add(self.add(parent, self.constraint), "useEnumeratedValues", "true")
        if access == "RC":
            self.add(parent, "readAction", "clear")

    def add_values(self, field, values):
        if not values:
            return
        entries = self.add(field, "enumeratedValues")
        for name, number in values:
            value = self.add(entries, "enumeratedValue")
            self.add(value, "name", name)
            self.add(value, "value", number)


def text_of(root):
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"
