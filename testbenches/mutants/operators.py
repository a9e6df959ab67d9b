"""Finds what can be mutated in the text of a C or C++ file: no build, no parser, only tokens in clang-format's layout.

A mutation belongs to a range of the text. A range of an expression is replaced by a choice between mutated and original
expression, a range of a statement by a choice between statements (schemata.py). What stands where no such choice can
stand (declarations, templates' constants, constexpr, case labels, macros, directives) is skipped and counted.
"""
import dataclasses
import re

import cpp_tokens

COMPARISONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
LOGIC = {"&&": "||", "||": "&&"}
ARITHMETIC = {"+": "-", "-": "+"}
BINARY = {**COMPARISONS, **LOGIC, **ARITHMETIC}
ASSIGNMENTS = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}
SWAPPED = {"+=": "-=", "-=": "+="}
INTEGER = re.compile(r"(0[xX][\da-fA-F']+|\d[\d']*)([uUlLzZ]*)")
MACRO = re.compile(r"[A-Z][A-Z0-9_]{2,}")
UNEVALUATED = {"sizeof", "alignof", "decltype", "noexcept", "alignas", "typeid", "static_assert", "_Static_assert", "assert",
               "__attribute__", "asm", "__asm__", "catch"}
SKIPPED = {"static", "constexpr", "using", "typedef", "struct", "class", "enum", "union", "static_assert", "_Static_assert", "namespace",
           "template", "extern", "goto", "break", "continue", "assert", "asm", "thread_local", "_Thread_local", "public", "private",
           "protected", "friend"}
TYPES = {"const", "auto", "int", "bool", "char", "unsigned", "signed", "long", "short", "float", "double", "void", "volatile"}
BEHIND_PARAMETERS = {"const", "noexcept", "override", "final", "mutable", "try"}


@dataclasses.dataclass
class Mutation:
    kind: str    # "expression" or "statement"
    begin: int   # of the range in the text
    end: int
    edits: list  # (begin, end, text), inside the range; none for a dropped statement
    what: str
    line: int

    def applied(self, text):
        """The range's text with the mutation."""
        if not self.edits:
            return ";"
        out, at = [], self.begin
        for begin, end, new in self.edits:
            out += [text[at:begin], new]
            at = end
        return "".join(out) + text[at:self.end]


def mutations_of(text, lines=None):
    """The mutations in these lines (all of them if there are none given), and how many places were skipped."""
    finder = Finder(text)
    finder.scope(0, len(finder.tokens))
    wanted = [m for m in finder.found if lines is None or m.line in lines]
    return sorted(wanted, key=lambda m: (m.line, m.edits[0][0] if m.edits else m.begin)), finder.skipped(lines)


def neighbours(literal):
    """The integers that a literal may be mistaken for: 0 for 1 and 1 for 0, otherwise one more and one less."""
    match = INTEGER.fullmatch(literal)
    if not match:
        return []
    digits = match[1].replace("'", "")
    octal = len(digits) > 1 and digits[0] == "0" and digits[1] not in "xX"
    if octal:
        return []
    value = int(digits, 0)
    form = hex if digits[:2] in ("0x", "0X") else str
    return [form(other) + match[2] for other in ([1 - value] if value < 2 else [value + 1, value - 1])]


class Finder:
    def __init__(self, text):
        self.text, self.found, self.visited = text, [], set()
        self.tokens, self.directives = cpp_tokens.tokens_of(text)
        starts = [0] + [match.end() for match in re.finditer("\n", text)]
        self.line_at = {}
        line = 0
        for token in self.tokens:
            while line < len(starts) and starts[line] <= token.begin:
                line += 1
            self.line_at[token.begin] = line

    # What was not looked at

    def skipped(self, lines):
        def site(token):
            if token.kind == "punctuation":
                return token.text in BINARY and token.binary and not token.angle
            return token.text in ("true", "false") or token.kind == "number" and INTEGER.fullmatch(token.text)
        places = {i for i, token in enumerate(self.tokens) if site(token)} - self.visited
        return sum(lines is None or self.line_at[self.tokens[i].begin] in lines for i in places)

    # Scopes: what is no code is searched for code

    def scope(self, begin, end):
        index = start = begin
        while index < end:
            token = self.tokens[index]
            if token.text in (";", ":") and not (token.text == ":" and self.tokens[index - 1].text == ")"):
                start = index + 1
            elif token.text == "{" and token.partner is not None:
                head = self.tokens[start:index]
                kind = self.kind_of_scope(head)
                if kind == "scope":
                    self.scope(index + 1, token.partner)
                elif kind == "code" and not any(t.text in ("constexpr", "consteval") for t in head):
                    self.block(index + 1, token.partner, self.returns_bool(head))
                index = token.partner
                if kind != "initializer":
                    start = index + 1
            elif token.text in "([" and token.partner is not None:
                index = token.partner
            index += 1

    def kind_of_scope(self, head):
        """What a brace behind these tokens begins."""
        at = len(head) - 1
        while at >= 0:
            text = head[at].text
            if text == ")" or text == "}":
                return "code"
            if text in ("class", "struct", "union", "namespace") or head[at].kind == "string":
                return "scope"
            if text in ("enum", "=", ","):
                return "initializer"
            at -= 1
        return "initializer"

    @staticmethod
    def returns_bool(head):
        texts = [token.text for token in head]
        parameters = texts.index("(") if "(" in texts else len(texts)
        return "bool" in texts[:parameters] or any(pair == ("->", "bool") for pair in zip(texts, texts[1:]))

    # Code

    def block(self, begin, end, returns_bool):
        index = begin
        while index < end:
            token = self.tokens[index]
            following = self.tokens[index + 1] if index + 1 < end else None
            if token.text == "{" and token.partner is not None:
                self.block(index + 1, token.partner, returns_bool)
                index = token.partner + 1
            elif token.text in ("if", "while", "switch", "for", "catch") and following is not None:
                index = self.header(index, end)
            elif token.text in ("else", "do", "try", ";"):
                index += 1
            elif token.text in ("case", "default") or following is not None and following.text == ":" and token.kind == "name":
                index = self.find(index, end, ":") + 1
            else:
                stop = self.find(index, end, ";")
                self.statement(index, stop, returns_bool)
                index = stop + 1

    def find(self, begin, end, text):
        """The index of the next such token that is in no bracket, the end if there is none."""
        index = begin
        while index < end:
            token = self.tokens[index]
            if token.text == text:
                return index
            index = token.partner + 1 if token.partner is not None and token.partner > index else index + 1
        return end

    def split(self, begin, end, text):
        """The parts of a range between such tokens that are in no bracket."""
        parts = []
        while begin <= end:
            stop = self.find(begin, end, text)
            parts.append((begin, stop))
            begin = stop + 1
        return parts

    def header(self, index, end):
        word = self.tokens[index].text
        constant = self.tokens[index + 1].text == "constexpr"
        begin = index + 1 + constant
        if begin >= end or self.tokens[begin].text != "(" or self.tokens[begin].partner is None:
            return index + 1
        close = self.tokens[begin].partner
        parts = self.split(begin + 1, close, ";")
        if constant or word == "catch":
            pass
        elif word == "for" and len(parts) == 3:
            self.plain(*parts[0])
            self.expression(*parts[1])
            self.plain(*parts[2])
        elif word == "for":
            self.groups(begin + 1, close)
        else:
            for part in parts[:-1]:
                self.plain(*part)
            self.expression(*parts[-1], negate=word != "switch")
        return close + 1

    def statement(self, begin, end, returns_bool):
        if begin >= end:
            return
        first = self.tokens[begin]
        if first.text in ("return", "throw", "co_return"):
            negate = returns_bool or self.is_logical(begin + 1, end)
            self.expression(begin + 1, end, negate=first.text == "return" and negate)
        elif first.text not in SKIPPED and not MACRO.fullmatch(first.text):
            assignment = self.action(begin, end)
            if assignment is not None:
                self.drop(begin, end, assignment)
            self.plain(begin, end)

    def action(self, begin, end):
        """The index of the assignment of an expression statement, its end for a call, None for anything else."""
        index = begin
        if self.tokens[index].text in ("++", "--"):
            return end
        if self.tokens[index].text in TYPES or self.tokens[index].text == "delete":
            return end if self.tokens[index].text == "delete" else None
        while index < end and self.tokens[index].text == "*":
            index += 1
        joined = True  # the next token may go on with what is called or assigned
        while index < end:
            token = self.tokens[index]
            if token.text in ASSIGNMENTS:
                return index
            if token.text in ("++", "--") and index == end - 1:
                return end
            if token.text in (".", "->", "::"):
                joined = True
            elif token.text in "([" or token.angle:
                if token.partner is None:
                    return None
                index, joined = token.partner, False
            elif token.kind == "name" and joined:
                joined = False
            else:
                return end if token.text == "<<" else None
            index += 1
        return end if self.tokens[end - 1].text == ")" else None

    def drop(self, begin, end, assignment):
        first, semicolon = self.tokens[begin], self.tokens[end] if end < len(self.tokens) else None
        if semicolon is None or semicolon.text != ";":
            return
        line = self.line_at[first.begin]
        self.found.append(Mutation("statement", first.begin, semicolon.end, [], "statement dropped", line))
        if assignment < end and self.tokens[assignment].text in SWAPPED:
            token = self.tokens[assignment]
            new = SWAPPED[token.text]
            self.found.append(Mutation("statement", first.begin, semicolon.end, [(token.begin, token.end, new)], f"{token.text} to {new}",
                                       self.line_at[token.begin]))

    def plain(self, begin, end):
        """A statement, declaration or part of a header: what is assigned and what is in brackets."""
        for part_begin, part_end in self.split(begin, end, ","):
            last = part_begin
            for index in self.assignments(part_begin, part_end):
                last = index + 1
            declared = part_begin < part_end and self.action(part_begin, part_end) is None
            self.groups(part_begin, last - 1 if last > part_begin else part_end, declared)
            if last > part_begin:
                self.expression(last, part_end)

    def assignments(self, begin, end):
        index = begin
        while index < end:
            token = self.tokens[index]
            if token.text in ASSIGNMENTS and not token.angle:
                yield index
            index = token.partner + 1 if token.partner is not None and token.partner > index else index + 1

    def is_logical(self, begin, end):
        texts = [self.tokens[i].text for i in self.outside_brackets(begin, end) if self.tokens[i].binary or i == begin]
        return "?" not in texts and any(text in COMPARISONS or text in LOGIC for text in texts) or texts[:1] == ["!"] and len(texts) == 1

    def outside_brackets(self, begin, end):
        index = begin
        while index < end:
            token = self.tokens[index]
            if token.partner is not None and token.partner > index:
                index = token.partner
            elif not token.angle:
                yield index
            index += 1

    # Expressions

    def expression(self, begin, end, negate=False):
        """A range that may be put into a conditional expression as a whole."""
        if begin >= end:
            return
        if any(True for _ in self.assignments(begin, end)):
            self.plain(begin, end)
            return
        first, last = self.tokens[begin].begin, self.tokens[end - 1].end
        sites = list(self.outside_brackets(begin, end))
        question = next((i for i in sites if self.tokens[i].text == "?"), None)
        if question is not None:
            self.negate(begin, question, first, last, "condition negated")
        elif negate:
            self.negate(begin, end, first, last, "negated")
        for index in sites:
            self.site(index, first, last)
        self.groups(begin, end)

    def negate(self, begin, end, first, last, what):
        """Negates these tokens of a range, unless another mutation does so already."""
        inside = list(self.outside_brackets(begin, end))
        operators = [self.tokens[i].text for i in inside if self.tokens[i].binary and self.tokens[i].text in {**COMPARISONS, **LOGIC}]
        equality = len(operators) == 1 and operators[0] in ("==", "!=")
        inverted = self.tokens[begin].text == "!" and not operators
        literal = end - begin == 1 and self.tokens[begin].text in ("true", "false")
        if end > begin and not (equality or inverted or literal):
            start, stop = self.tokens[begin].begin, self.tokens[end - 1].end
            self.add(first, last, [(start, start, "!("), (stop, stop, ")")], what, begin)

    def site(self, index, first, last):
        token = self.tokens[index]
        self.visited.add(index)
        if token.kind == "punctuation" and token.text in BINARY and token.binary:
            new = [BINARY[token.text]]
        elif token.text in ("true", "false"):
            new = ["false" if token.text == "true" else "true"]
        elif token.kind == "number":
            new = neighbours(token.text)
        elif token.text == "!" and not token.space_after:
            self.add(first, last, [(token.begin, token.end, "")], "! dropped", index)
            return
        else:
            return
        for text in new:
            self.add(first, last, [(token.begin, token.end, text)], f"{token.text} to {text}", index)

    def add(self, first, last, edits, what, index):
        self.found.append(Mutation("expression", first, last, edits, what, self.line_at[self.tokens[index].begin]))

    def groups(self, begin, end, declared=False):
        """What is in brackets; of a declaration's own brackets only those that are no array's size."""
        index = begin
        while index < end:
            token = self.tokens[index]
            if token.partner is None or token.partner < index:
                index += 1
                continue
            before = self.tokens[index - 1].text if index > 0 else ""
            close = token.partner
            if token.text == "[" and not self.is_subscript(index):
                index = self.lambda_behind(close + 1, end)
                continue
            if token.angle or before in UNEVALUATED or token.text == "(" and MACRO.fullmatch(before):
                pass
            elif token.text == "[":
                if not declared:
                    self.expression(index + 1, close)
            else:
                for part in self.split(index + 1, close, ","):
                    self.expression(*part)
            index = close + 1

    def is_subscript(self, index):
        before = self.tokens[index - 1] if index > 0 else None
        return before is not None and (before.kind in ("name", "string") and before.text not in ("return", "throw") or
                                       before.text in (")", "]") or before.angle and before.text == ">")

    def lambda_behind(self, index, end):
        """Goes into the body of a lambda behind its captures; returns the index behind it."""
        start = index
        while index < end and self.tokens[index].text != "{":
            if self.tokens[index].text in (";", ",", ")", "="):
                return index
            token = self.tokens[index]
            index = token.partner + 1 if token.partner is not None and token.partner > index else index + 1
        if index >= end or self.tokens[index].partner is None:
            return index
        self.block(index + 1, self.tokens[index].partner, self.returns_bool(self.tokens[start:index]))
        return self.tokens[index].partner + 1
