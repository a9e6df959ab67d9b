#include "register_access/script/statement.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "register_access/script/comparison_fault.h"
#include "register_access/script/line_reader.h"

namespace t3vp {
namespace {

constexpr std::pair<const char*, Relation> relations[] = {{"==", Relation::equal},      {"!=", Relation::not_equal},
                                                          {"<=", Relation::less_equal}, {">=", Relation::greater_equal},
                                                          {"<", Relation::less},        {">", Relation::greater}};
constexpr std::pair<std::string_view, Picoseconds> time_units[] = {
    {"ps", 1}, {"ns", 1'000}, {"us", 1'000'000}, {"ms", 1'000'000'000}};
constexpr std::pair<std::string_view, unsigned> elements[] = {{"u8", 1}, {"u16", 2}, {"u32", 4}, {"u64", 8}};
constexpr std::uint64_t most_shown = 0x10000;
constexpr Picoseconds longest = 1'000'000'000'000'000;  // 1000 s

bool is_verb(std::string_view word) {
  return std::any_of(std::begin(script_verbs), std::end(script_verbs), [&](const char* verb) { return word == verb; });
}

std::string one_of_the_verbs() { return fmt::format("one of {}", fmt::join(script_verbs, ", ")); }

class Parser {
 public:
  Parser(std::string_view line, const ScriptMachine& machine) : line_(line), machine_(machine) {}

  Statement statement() {
    Statement s;
    if (line_.at_end()) return s;
    s.column = line_.column();
    const std::string_view verb = line_.next_word();
    if (is_verb(verb)) {
      line_.word();
      or_a_verb_.clear();
    }
    if (verb == "delay") return delay(s);
    if (verb == "refused") s.is_refused = true;
    const bool is_read = verb == "read" || (s.is_refused && line_.take_word("read"));
    s.column = line_.column();
    if ((verb == "read" || !is_verb(verb)) && takes_block(s)) return s;
    place(s);
    if (verb == "fill") return fill(s);
    if (verb == "expect") return expect(s);
    if (verb == "wait") return wait(s);
    const bool has_element = s.kind == Statement::Kind::read_memory && !line_.next_word().empty();
    if (is_read || line_.at_end() || has_element) return read(s);
    return write(s);
  }

 private:
  Statement delay(Statement& s) {
    s.kind = Statement::Kind::delay;
    s.time = time();
    line_.require_end("the end of the line");
    return s;
  }

  /// The name of a block, with nothing behind it.
  bool takes_block(Statement& s) {
    LineReader ahead = line_;
    if (ahead.next_word().empty()) return false;
    const std::string_view name = ahead.name();
    s.block = registers_of_block(name);
    if (s.block.empty() || !ahead.at_end()) return false;
    line_ = ahead;
    require_gpu(s.block.front().gpu, name.substr(0, name.find('.')));
    s.kind = Statement::Kind::read_block;
    return true;
  }

  /// A register or field, or memory.
  void place(Statement& s) {
    if (line_.next_word().empty())
      line_.reject_next("a register or memory, such as gpu0.dma.rows or gpu0.memory[0x1000, 64]" + or_a_verb_);
    const std::string_view name = line_.name();
    constexpr std::string_view memory = ".memory";
    if (name.size() > memory.size() && name.substr(name.size() - memory.size()) == memory) {
      s.kind = Statement::Kind::read_memory;
      s.memory = span(name.substr(0, name.size() - memory.size()));
      return;
    }
    s.kind = Statement::Kind::read;
    try {
      s.place = find_register(name);
    } catch (const NameError& error) {
      if (error.position == name.size()) line_.reject_next(error.expected);
      throw ScriptError(line_.last_column() + error.position, error.found,
                        error.expected + (error.position == 0 ? or_a_verb_ : ""));
    }
    require_gpu(s.place.gpu, name.substr(0, name.find('.')));
  }

  void require_gpu(std::uint64_t gpu, std::string_view found) const {
    if (gpu >= machine_.gpus)
      throw ScriptError(line_.last_column(), std::string(found), fmt::format("gpu0 to gpu{}", machine_.gpus - 1));
  }

  /// Parses the span that follows the name of a GPU's memory.
  MemorySpan span(std::string_view gpu) {
    MemorySpan span;
    const std::optional<std::uint64_t> number =
        gpu.substr(0, 3) == "gpu" ? number_of(gpu.substr(3)) : std::optional<std::uint64_t>();
    if (!number)
      throw ScriptError(line_.last_column(), std::string(gpu), "gpu and its number, such as gpu0" + or_a_verb_);
    span.gpu = *number;
    require_gpu(span.gpu, gpu);
    line_.require("[");
    span.address =
        line_.number(fmt::format("an address below {:#x}", machine_.memory_bytes), machine_.memory_bytes - 1);
    address_ = line_.last();
    line_.require(",");
    const std::uint64_t most = std::min(machine_.memory_bytes - span.address, MemorySpan::most_bytes);
    const std::string expected = fmt::format("1 to {:#x} bytes", most);
    span.bytes = line_.number(expected, most);
    if (span.bytes == 0) line_.reject(expected);
    bytes_ = line_.last();
    line_.require("]");
    return span;
  }

  void require_register(const Statement& s, const char* verb) const {
    if (s.kind == Statement::Kind::read_memory)
      throw ScriptError(s.column, "memory", fmt::format("a register to {}", verb));
  }

  void element(Statement& s) {
    for (const auto& [name, bytes] : elements)
      if (line_.take_word(name)) s.pattern.bytes = bytes;
  }

  /// Whole elements, each at a multiple of its bytes.
  void require_whole_elements(const Statement& s) const {
    const unsigned bytes = s.pattern.bytes;
    if (bytes == 1) return;
    const std::string expected =
        fmt::format("a multiple of the {} bytes of u{}; u8 takes any number", bytes, 8 * bytes);
    if (s.memory.address % bytes != 0) throw ScriptError(address_.column, address_.text, expected);
    if (s.memory.bytes % bytes != 0) throw ScriptError(bytes_.column, bytes_.text, expected);
  }

  void pattern(Statement& s) {
    const std::uint64_t most = ~std::uint64_t{0} >> (64 - 8 * s.pattern.bytes);
    const std::string expected = fmt::format("a number up to {:#x}", most);
    s.pattern.first = line_.number(expected, most);
    if (line_.take_word("step")) s.pattern.step = line_.number(expected, most);
  }

  Statement fill(Statement& s) {
    if (s.kind != Statement::Kind::read_memory)
      throw ScriptError(s.column, name_of(s.place), "memory to fill, such as gpu0.memory[0x1000, 64]");
    s.kind = Statement::Kind::fill;
    element(s);
    line_.require("=");
    require_whole_elements(s);
    pattern(s);
    line_.require_end("step, or the end of the line");
    return s;
  }

  Statement read(Statement& s) {
    const bool of_memory = s.kind == Statement::Kind::read_memory;
    if (s.is_refused) require_register(s, "access");
    if (of_memory) element(s);
    if (of_memory && s.memory.bytes > most_shown)
      throw ScriptError(s.column, fmt::format("{:#x} bytes", s.memory.bytes),
                        fmt::format("at most {:#x} to show", most_shown));
    if (of_memory) require_whole_elements(s);
    line_.require_end(of_memory ? "u8, u16, u32 or u64, or the end of the line" : "the end of the line");
    return s;
  }

  Statement expect(Statement& s) {
    if (s.kind != Statement::Kind::read_memory) {
      s.kind = Statement::Kind::expect;
      condition(s);
      line_.require_end(s.mask || s.place.field != nullptr ? "the end of the line" : "mask, or the end of the line");
      return s;
    }
    const std::size_t before = line_.column();
    element(s);
    const bool is_typed = line_.column() != before;
    line_.require("==");
    if (!is_typed && line_.next_word().substr(0, 3) == "gpu") return compare(s);
    s.kind = Statement::Kind::expect_memory;
    require_whole_elements(s);
    pattern(s);
    line_.require_end("step, or the end of the line");
    return s;
  }

  Statement compare(Statement& s) {
    Statement other;
    other.column = line_.column();
    place(other);
    if (other.kind != Statement::Kind::read_memory) line_.reject("memory to compare with");
    if (other.memory.bytes != s.memory.bytes)
      throw ScriptError(other.column, fmt::format("{} bytes", other.memory.bytes), fmt::format("{}", s.memory.bytes));
    if (other.memory.gpu == s.memory.gpu && other.memory.address == s.memory.address)
      throw ScriptError(other.column, "the same memory", "other memory to compare with");
    s.kind = Statement::Kind::compare_memory;
    s.other = other.memory;
    line_.require_end("the end of the line");
    return s;
  }

  Statement wait(Statement& s) {
    require_register(s, "wait for");
    s.kind = Statement::Kind::wait;
    condition(s);
    if (line_.take_word("timeout")) s.time = time();
    line_.require_end("timeout, or the end of the line");
    return s;
  }

  void condition(Statement& s) {
    s.relation = relation();
    std::vector<ScriptToken> parts{line_.last()};
    s.value = value(s.place);
    parts.push_back(line_.last());
    if (s.place.field == nullptr && line_.take_word("mask")) {
      const std::uint64_t most = s.place.mask();
      s.mask = line_.number(fmt::format("a mask up to {:#x}", most), most);
    }
    parts.push_back(line_.last());
    if (const auto fault = fault_of_comparison(s)) {
      const ScriptToken& wrong = parts[static_cast<std::size_t>(fault->part)];
      throw ScriptError(wrong.column, wrong.text, fault->expected);
    }
  }

  Relation relation() {
    for (const auto& [symbol, relation] : relations)
      if (line_.take(symbol)) return relation;
    line_.reject_next("==, !=, <, <=, > or >=");
  }

  /// Parses a value as it is in the register or in the field.
  std::uint64_t value(const RegisterPlace& place) {
    const std::string_view text = line_.word();
    try {
      return value_of(place, text);
    } catch (const NameError& error) {
      if (text.empty()) line_.reject_next(error.expected);
      line_.reject(error.expected);
    }
  }

  Statement write(Statement& s) {
    require_register(s, "write");
    if (s.place.field != nullptr) require_effect(*s.place.description, *s.place.field, {s.column, name_of(s.place)});
    s.kind = Statement::Kind::write;
    if (!line_.take("=")) line_.reject_next("=, or the end of the line");
    if (s.place.field == nullptr && line_.take("{"))
      s.value = fields(s.place);
    else
      s.value = value(s.place);
    line_.require_end("the end of the line");
    return s;
  }

  /// A register that can be written drops what is written to a field that cannot, without a refusal.
  static void require_effect(const RegisterDescription& d, const FieldDescription& field, const ScriptToken& named) {
    if (is_read_only(field.access) && !is_read_only(d.access))
      throw ScriptError(named.column, named.text, fmt::format("a field to write: {} is only read", field.name));
  }
  static bool is_read_only(Access access) { return access == Access::ro || access == Access::rc; }

  /// Parses the fields that follow their opening brace.
  std::uint64_t fields(RegisterPlace place) {
    std::uint64_t all = 0, known = 0;
    do {
      place.field = field(*place.description);
      if ((known & place.field->mask()) != 0) line_.reject("each field once");
      require_effect(*place.description, *place.field, line_.last());
      known |= place.field->mask();
      line_.require("=");
      all |= value(place) << place.field->shift;
    } while (line_.take(","));
    if (!line_.take("}")) line_.reject_next(", or }");
    return all;
  }

  const FieldDescription* field(const RegisterDescription& description) {
    std::string names;
    const std::string_view name = line_.word();
    for (const FieldDescription& field : description.fields) {
      if (field.name == name) return &field;
      names += fmt::format("{}{}", names.empty() ? "one of " : ", ", field.name);
    }
    if (names.empty()) line_.reject(fmt::format("a number: {} has no fields", description.name));
    if (name.empty()) line_.reject_next(names);
    line_.reject(names);
  }

  Picoseconds time() {
    const std::uint64_t count = line_.number("a time, such as 500 ns");
    for (const auto& [unit, picoseconds] : time_units)
      if (line_.take_word(unit)) {
        if (count > longest / picoseconds) line_.reject("at most 1000000 ms");
        return count * picoseconds;
      }
    line_.reject_next("ps, ns, us or ms");
  }

  LineReader line_;
  const ScriptMachine& machine_;
  std::string or_a_verb_ = ", or " + one_of_the_verbs();  ///< where one may stand
  ScriptToken address_, bytes_;                           ///< of the memory that has been read last
};

}  // namespace

ScriptError::ScriptError(std::size_t place, std::string what_is_found, std::string what_is_expected)
    : runtime_error(fmt::format("{}: found {}, expected {}", place, what_is_found, what_is_expected)),
      column(place),
      found(std::move(what_is_found)),
      expected(std::move(what_is_expected)) {
  if (found.empty()) found = "nothing";
}

Statement parse_statement(std::string_view line, const ScriptMachine& machine) {
  return Parser(line, machine).statement();
}

std::string_view without_byte_order_mark(std::string_view first_line) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  return first_line.substr(first_line.substr(0, mark.size()) == mark ? mark.size() : 0);
}

const char* name_of(Relation relation) {
  for (const auto& [symbol, its] : relations)
    if (its == relation) return symbol;
  return "?";
}

}  // namespace t3vp
