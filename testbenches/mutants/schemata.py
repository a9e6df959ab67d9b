"""Writes all mutations of a file into its text, each behind a switch that an environment variable turns on at run time.

Each mutant begins and ends a line of its own, so that a compiler's error in a line tells which one it is.
"""
import operators

HEADER = """#ifndef T3VP_MUTANT
#ifdef __riscv
#define T3VP_MUTANT(n) 0
#else
#ifdef __cplusplus
extern "C" {
#endif
char* t3vp_mutant_getenv(const char*) __asm__("getenv");
int t3vp_mutant_open(const char*, int, ...) __asm__("open");
long t3vp_mutant_write(int, const void*, unsigned long) __asm__("write");
int t3vp_mutant_close(int) __asm__("close");
#ifdef __cplusplus
}
#endif
static int t3vp_mutant_chosen = -1;
static const char* t3vp_mutant_reached;
static unsigned char t3vp_mutant_seen[%(count)d];
/* Whether mutant n is the chosen one. Without a chosen one the file T3VP_MUTANTS_REACHED gets the number of each that is asked for. */
static int t3vp_mutant(int n) {
  if (t3vp_mutant_chosen < 0) {
    const char* text = t3vp_mutant_getenv("T3VP_MUTANT");
    int number = 0;
    for (; text && *text >= '0' && *text <= '9'; ++text) number = number * 10 + (*text - '0');
    t3vp_mutant_reached = t3vp_mutant_getenv("T3VP_MUTANTS_REACHED");
    t3vp_mutant_chosen = number;
  }
  if (t3vp_mutant_reached && !t3vp_mutant_seen[n]) {
    char line[12];
    int at = 11, rest = n, file = t3vp_mutant_open(t3vp_mutant_reached, %(append)d, 0644);
    t3vp_mutant_seen[n] = 1;
    line[at] = '\\n';
    for (; rest; rest /= 10) line[--at] = (char)('0' + rest %% 10);
    if (file >= 0) {
      (void)!t3vp_mutant_write(file, line + at, (unsigned long)(12 - at));
      t3vp_mutant_close(file);
    }
  }
  return n == t3vp_mutant_chosen;
}
#define T3VP_MUTANT(n) t3vp_mutant(n)
#endif
#endif
"""


def header(count, append):
    """The switch for mutants 1 to count; `append` are the flags to open the file of those that were reached."""
    return HEADER % {"count": count + 1, "append": append}


class Writer:
    def __init__(self, text, numbered):
        self.text, self.parts, self.line, self.owners = text, [], 1, {}
        ranges = {}
        for number, mutation in numbered:
            ranges.setdefault((mutation.begin, -mutation.end, mutation.kind != "statement"), []).append((number, mutation))
        self.ranges = [(key[0], -key[1], ranges[key]) for key in sorted(ranges)]
        self.next = 0

    def put(self, text, number=None):
        lines = text.count("\n")
        if number is not None:
            for line in range(self.line, self.line + lines + 1):
                self.owners[line] = number
        self.parts.append(text)
        self.line += lines

    def write(self, begin, end):
        """The text of a range with all mutations inside it."""
        at = begin
        while self.next < len(self.ranges) and self.ranges[self.next][0] < end:
            first, last, mutations = self.ranges[self.next]
            self.next += 1
            self.put(self.text[at:first])
            self.choice(first, last, mutations)
            at = last
        self.put(self.text[at:end])

    def choice(self, first, last, mutations):
        statement = mutations[0][1].kind == "statement"
        self.put("{" if statement else "(")
        for number, mutation in mutations:
            mutated = mutation.applied(self.text)
            self.put("\n")
            self.put(f"if (T3VP_MUTANT({number})) {{ {mutated}\n}} else" if statement else f"T3VP_MUTANT({number}) ? ({mutated}\n) :", number)
            self.put("\n")
        self.put(" " if statement else "(")
        self.write(first, last)
        self.put("}" if statement else "))")


def write(text, numbered, include):
    """The file with all these (number, mutation) behind their switches, and a dict from its lines to their numbers."""
    writer = Writer(text, numbered)
    writer.put(f'#include "{include}"\n')
    writer.write(0, len(text))
    return "".join(writer.parts), writer.owners


def shown(text, mutation):
    """The mutated lines before and after, each as one line."""
    edits = mutation.edits or [(mutation.begin, mutation.end, "")]
    begin = text.rfind("\n", 0, edits[0][0]) + 1
    end = text.find("\n", edits[-1][1])
    end = len(text) if end < 0 else end
    out, at = [], begin
    for first, last, new in edits:
        out += [text[at:first], new]
        at = last
    return " ".join(text[begin:end].split()), " ".join(("".join(out) + text[at:end]).split())
