"""Tokens of C and C++ text, with the partner of each bracket. It is no parser: it relies on the layout that clang-format
gives (a binary operator has space on both sides, a template's bracket has none in front)."""
import re

TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)
      | (?P<directive>^[ \t]*\#(?:[^\n\\]|\\.)*)
      | (?P<string>(?:u8|[uUL])?R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"|(?:u8|[uUL])?"(?:[^"\\\n]|\\.)*"|[uUL]?'(?:[^'\\\n]|\\.)+')
      | (?P<number>\.?\d(?:'?[\w.]|(?<=[eEpP])[+-])*)
      | (?P<name>[A-Za-z_]\w*)
      | (?P<punctuation><<=|>>=|\.\.\.|->\*|::|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|\S)""",
    re.VERBOSE | re.DOTALL | re.MULTILINE)
CLOSING = {"(": ")", "[": "]", "{": "}"}


class Token:
    """One token and whether space stands around it. `partner` is the index of a bracket's other end, None for what is no bracket."""

    def __init__(self, match, text):
        self.kind, self.text, self.begin, self.end = match.lastgroup, match.group(), match.start(), match.end()
        if self.kind == "mark":
            self.kind = "string"
        self.space_before = self.begin == 0 or text[self.begin - 1].isspace()
        self.space_after = self.end == len(text) or text[self.end].isspace()
        self.partner = None
        self.angle = False  # a template's bracket

    @property
    def binary(self):
        return self.space_before and self.space_after


def tokens_of(text):
    """All tokens but comments and directives, and the ranges of directives."""
    tokens, directives = [], []
    for match in TOKEN.finditer(text):
        if match.lastgroup == "directive":
            directives.append((match.start(), match.end()))
        elif match.lastgroup != "comment":
            tokens.append(Token(match, text))
    join_brackets(tokens)
    join_angles(tokens)
    return tokens, directives


def join_brackets(tokens):
    still_open = []
    for index, token in enumerate(tokens):
        if token.kind != "punctuation":
            continue
        if token.text in CLOSING:
            still_open.append(index)
        elif token.text in CLOSING.values() and still_open:
            if CLOSING[tokens[still_open[-1]].text] != token.text:
                continue  # text that is cut apart by directives
            token.partner = still_open.pop()
            tokens[token.partner].partner = index


def join_angles(tokens):
    for index, token in enumerate(tokens):
        if token.text != "<" or index == 0 or token.angle:
            continue
        before = tokens[index - 1]
        if before.text == "template" or before.kind == "name" and not token.space_before:
            end = end_of_angle(tokens, index)
            if end is not None:
                token.partner, token.angle = end, True
                tokens[end].angle = True


def end_of_angle(tokens, begin):
    depth, index = 0, begin
    while index < len(tokens):
        token = tokens[index]
        if token.text == "<":
            depth += 1
        elif token.text in (">", ">>") and not (token.binary and token.text == ">>"):
            depth -= len(token.text)
            if depth <= 0:
                return index
        elif token.text in CLOSING and token.partner is not None:
            index = token.partner
        elif token.text in (";", "{", "}", ")", "]", "&&", "||"):
            if token.text not in ("&&",):
                return None
        index += 1
    return None
