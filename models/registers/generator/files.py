"""What is generated goes into files."""


def write(path, text):
    """Only when the content changes, so that nothing is compiled anew that need not be."""
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
