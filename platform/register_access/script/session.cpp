#include "register_access/script/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "node/main_stack.h"
#include "protocol/units.h"
#include "register_access/script/memory_words.h"

namespace t3vp {
namespace {

bool holds(std::uint64_t found, Relation relation, std::uint64_t expected) {
  switch (relation) {
    case Relation::equal:
      return found == expected;
    case Relation::not_equal:
      return found != expected;
    case Relation::less:
      return found < expected;
    case Relation::less_equal:
      return found <= expected;
    case Relation::greater:
      return found > expected;
    case Relation::greater_equal:
      return found >= expected;
  }
  return false;
}

/// Fields that a write of another one has to repeat: they are replaced by what is written.
std::uint64_t kept_bits(const RegisterPlace& place) {
  std::uint64_t bits = 0;
  if (place.description->access == Access::wo) return bits;
  for (const FieldDescription& field : place.description->fields)
    if (field.access == Access::rw && &field != place.field) bits |= field.mask();
  return bits;
}

}  // namespace

/// A process that does one statement after the other, between which the simulation pauses.
class ScriptSession::Executor : public sc_core::sc_module {
 public:
  Executor(const sc_core::sc_module_name& name, Node& node) : sc_module(name), node_(node) {
    SC_HAS_PROCESS(Executor);
    SC_THREAD(serve);
  }

  Outcome execute(const Statement& statement) {
    const std::vector<std::uint64_t> before = reported();
    if (statement.kind == Statement::Kind::write) known_ = before;
    next_ = &statement;
    outcome_ = {};
    is_refused_ = false;
    given_.notify(sc_core::SC_ZERO_TIME);
    sc_core::sc_start();
    return_to_main_stack();
    if (next_ != nullptr) outcome_.failure = "never ends";
    show_new_errors(statement, before);
    const bool looks = statement.kind == Statement::Kind::expect || statement.kind == Statement::Kind::wait;
    if (looks || statement.is_refused) known_ = reported();
    return std::move(outcome_);
  }

 private:
  void serve() {
    while (true) {
      if (next_ == nullptr) wait(given_);
      if (next_ == nullptr) continue;
      perform(*next_);
      next_ = nullptr;
      sc_core::sc_pause();
    }
  }

  void perform(const Statement& s) {
    using Kind = Statement::Kind;
    switch (s.kind) {
      case Kind::nothing:
        break;
      case Kind::write:
        judge(s, write(s));
        break;
      case Kind::read:
        read_and_show(s);
        break;
      case Kind::expect:
        expect(s);
        break;
      case Kind::wait:
        poll(s);
        break;
      case Kind::delay:
        pass(s.time);
        break;
      case Kind::fill:
        fill(gpu(s.memory.gpu), s.memory, s.pattern);
        break;
      case Kind::read_block:
        show_block(s);
        break;
      case Kind::read_memory:
        outcome_.shown = text_of(gpu(s.memory.gpu), s.memory, s.pattern);
        break;
      case Kind::expect_memory:
        outcome_.failure = difference(gpu(s.memory.gpu), s.memory, s.pattern);
        break;
      case Kind::compare_memory:
        outcome_.failure = difference(gpu(s.memory.gpu), s.memory, gpu(s.other.gpu), s.other);
        break;
    }
  }

  Gpu& gpu(std::uint64_t number) { return *node_.gpus().at(number); }

  /// The status, and in reason_ what the error log says of it.
  Status read(const RegisterPlace& place, std::uint64_t& value) {
    processor::CommandProcessor& processor = gpu(place.gpu).native();
    const std::uint64_t reported = gpu(place.gpu).error_log.reported();
    std::uint32_t narrow = 0;
    const bool is_wide = place.description->bytes == sizeof value;
    const Status status = is_wide ? processor.read64(place.address, value) : processor.read32(place.address, narrow);
    if (!is_wide) value = narrow;
    note_reason(place, status, reported);
    return status;
  }

  Status write(const Statement& s) {
    const RegisterPlace& place = s.place;
    std::uint64_t value = s.value;
    if (place.field != nullptr) {
      std::uint64_t others = 0;
      const std::uint64_t kept = kept_bits(place);
      if (kept != 0)
        if (const Status status = read(place, others); status != Status::ok) return status;
      value = (others & kept) | s.value << place.field->shift;
    }
    processor::CommandProcessor& processor = gpu(place.gpu).native();
    const std::uint64_t reported = gpu(place.gpu).error_log.reported();
    const Status status = place.description->bytes == sizeof value
                              ? processor.write64(place.address, value)
                              : processor.write32(place.address, static_cast<std::uint32_t>(value));
    note_reason(place, status, reported);
    return status;
  }

  /// The log keeps the texts of its first entries only.
  void note_reason(const RegisterPlace& place, Status status, std::uint64_t reported_before) {
    reason_.clear();
    if (status == Status::ok) return;
    const processor::ErrorLog& log = gpu(place.gpu).error_log;
    const bool is_kept = log.reported() != reported_before && log.reported() <= processor::ErrorLog::kept_records;
    reason_ = fmt::format("{}: {}", name_of(status), is_kept ? log.records().back().record.text : text_of(status));
  }

  /// Whether the access was served or refused, as it should be.
  bool judge(const Statement& s, Status status) {
    if ((status != Status::ok) == s.is_refused) return status == Status::ok;
    is_refused_ = true;
    outcome_.failure = s.is_refused
                           ? fmt::format("{}: found an access that is served, expected a refusal", name_of(s.place))
                           : fmt::format("{}: refused, {}", name_of(s.place), reason_);
    return false;
  }

  static std::string line_of(const RegisterPlace& place, std::uint64_t value) {
    const bool has_fields = place.field == nullptr && !place.description->fields.empty();
    const std::string text = text_of_value(place, value);
    return fmt::format("{} = {}", name_of(place), has_fields ? fmt::format("{:#x} ({})", value, text) : text);
  }

  void read_and_show(const Statement& s) {
    std::uint64_t value = 0;
    if (judge(s, read(s.place, value))) outcome_.shown = line_of(s.place, value);
  }

  /// A line for each register. Of an array only elements are shown that are not 0, and what reading would change or
  /// refuses is named.
  void show_block(const Statement& s) {
    std::vector<std::string> lines;
    for (const RegisterPlace& place : s.block) {
      const RegisterDescription& description = *place.description;
      const char* const kind = description.access == Access::wo ? "write-only" : "not read: reading clears it";
      if (description.access == Access::wo || description.access == Access::rc) {
        if (place.element == 0) lines.push_back(fmt::format("{}: {}", name_of(place), kind));
        continue;
      }
      std::uint64_t value = 0;
      if (read(place, value) != Status::ok)
        lines.push_back(fmt::format("{}: refused, {}", name_of(place), reason_));
      else if (description.count == 1 || value != 0)
        lines.push_back(line_of(place, value));
      if (description.count > 1 && place.element + 1 == description.count)
        lines.push_back(fmt::format("gpu{}.{}.{}[0..{}]: all others are 0", place.gpu, place.block->name,
                                    description.name, description.count - 1));
    }
    outcome_.shown = fmt::format("{}", fmt::join(lines, "\n"));
  }

  /// Entries of the error logs since the statement began, but for the reason of a refusal that it has asked for or
  /// reports itself.
  void show_new_errors(const Statement& s, const std::vector<std::uint64_t>& before) {
    if (s.is_refused || is_refused_) return;
    for (std::size_t g = 0; g < before.size(); ++g) {
      const auto& records = gpu(g).error_log.records();
      for (std::size_t i = before[g]; i < records.size(); ++i) {
        if (!outcome_.shown.empty()) outcome_.shown += "\n";
        outcome_.shown += text_of_entry(g, records[i]);
      }
    }
  }

  static std::string text_of_entry(std::size_t gpu, const processor::ErrorLog::Entry& entry) {
    return fmt::format("GPU {} error log: {}: {} at {}: {}", gpu, entry.block,
                       name_of(static_cast<Status>(entry.record.code)), name_of_address(entry.record.address),
                       entry.record.text);
  }

  /// Returns the first entry of an error log since the latest write, in words. It is empty when there is none, or when
  /// an expectation has been met since: then the script knows it.
  std::string refusal_of_command() {
    for (std::size_t g = 0; g < known_.size(); ++g) {
      const auto& records = gpu(g).error_log.records();
      if (known_[g] < records.size()) return text_of_entry(g, records[known_[g]]);
    }
    return {};
  }

  std::vector<std::uint64_t> reported() {
    std::vector<std::uint64_t> counts;
    for (const auto& one : node_.gpus()) counts.push_back(one->error_log.records().size());
    return counts;
  }

  /// Whether what is read now is what is expected. An access that is refused is a failure and ends everything.
  bool is_so(const Statement& s, std::uint64_t& value) {
    if (!judge(s, read(s.place, value))) return false;
    const std::uint64_t all = s.mask.value_or(s.place.mask());
    const std::uint64_t found = (value & all) >> (s.place.field == nullptr ? 0 : s.place.field->shift);
    return holds(found, s.relation, s.value);
  }

  void tell_found(const Statement& s, std::uint64_t value, const std::string& within) {
    const std::uint64_t shift = s.place.field == nullptr ? 0 : s.place.field->shift;
    const std::uint64_t masked = value & s.mask.value_or(s.place.mask());
    outcome_.failure = fmt::format("{}: found {}, expected {} {}{}", name_of(s.place), text_of_found(s, masked),
                                   name_of(s.relation), text_of_found(s, s.value << shift), within);
  }

  /// A number unless the field has names.
  static std::string text_of_found(const Statement& s, std::uint64_t register_value) {
    if (s.place.field != nullptr) return text_of_value(s.place, register_value);
    return fmt::format("{:#x}", register_value);
  }

  void expect(const Statement& s) {
    std::uint64_t value = 0;
    if (!is_so(s, value) && outcome_.failure.empty()) tell_found(s, value, "");
  }

  void poll(const Statement& s) {
    constexpr Picoseconds least = 100'000;
    constexpr std::uint64_t most_polls = 100'000;
    const Picoseconds begin = now(), interval = std::max(least, s.time / most_polls);
    std::uint64_t value = 0;
    while (!is_so(s, value)) {
      if (!outcome_.failure.empty()) return;
      const Picoseconds passed = now() - begin;
      if (const std::string refusal = refusal_of_command(); !refusal.empty()) {
        is_refused_ = true;
        return tell_found(s, value, "; the wait ends, since a command was refused: " + refusal);
      }
      if (passed >= s.time) return tell_found(s, value, fmt::format(" within {:.3f} ns", to_ns(s.time)));
      if (!pass(std::min(interval, s.time - passed))) return;
    }
  }

  /// False when simulated time ends before.
  bool pass(Picoseconds time) {
    constexpr Picoseconds reserve = Picoseconds{1} << 60;  // what accesses may still take
    if (time > never - reserve - now()) {
      outcome_.failure = "simulated time ends before";
      return false;
    }
    wait(to_sc_time(time));
    return true;
  }

  Node& node_;
  const Statement* next_ = nullptr;
  Outcome outcome_;
  std::string reason_;
  bool is_refused_ = false;           ///< the failure has the error log's text already
  std::vector<std::uint64_t> known_;  ///< entries of each error log that a wait does not end at
  sc_core::sc_event given_;
};

ScriptSession::ScriptSession(Node& node) : executor_(std::make_unique<Executor>("script", node)) {}
ScriptSession::~ScriptSession() = default;

ScriptSession::Outcome ScriptSession::execute(const Statement& statement) { return executor_->execute(statement); }

ScriptMachine machine_of(const Node& node) {
  ScriptMachine machine{node.gpus().size(), ~std::uint64_t{0}};
  for (const auto& gpu : node.gpus())
    machine.memory_bytes = std::min(machine.memory_bytes, gpu->system.memory_bytes.value());
  return machine;
}

}  // namespace t3vp
