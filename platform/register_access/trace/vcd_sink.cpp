#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <stdexcept>

#include "protocol/address_map.h"
#include "register_access/trace/register_trace.h"
#include "register_access/trace/vcd_names.h"

namespace t3vp {
namespace {

std::string text_of(const VcdNames::Variable& variable, std::uint64_t register_value) {
  const std::uint64_t value = (register_value & variable.mask) >> variable.shift;
  return variable.width == 1 ? fmt::format("{}{}\n", value, variable.id)
                             : fmt::format("b{:b} {}\n", value, variable.id);
}

/// Returns the place of the event: a block, or what is in its place.
std::string block_of(std::uint64_t address) {
  const std::string name = name_of_address(address);  // "gpu0.dma.rows", "gpu0.dma+0x200", "gpu0+0x..."
  const std::size_t begin = name.find_first_of(".+"), end = name.find_first_of(".+", begin + 1);
  return name[begin] == '.' ? name.substr(begin + 1, end - begin - 1) : "nowhere";
}

/// The definitions come first in the file, and are known last: only what is accessed is defined. So the changes go to a
/// file without a name, which comes behind them in the end.
class VcdSink : public RegisterSink {
 public:
  explicit VcdSink(std::ostream& out) : out_(out), changes_(std::tmpfile()) {
    if (changes_ == nullptr) throw_error();
  }
  ~VcdSink() override { std::fclose(changes_); }
  VcdSink(const VcdSink&) = delete;
  VcdSink& operator=(const VcdSink&) = delete;

  void write(const TracedAccess& traced) override {
    const RegisterAccess& access = traced.access;
    tell_time(access.time);
    const char* const event = access.is_refused ? "refused"
                              : access.is_sent  ? "sent"
                              : access.writes   ? "writes"
                                                : "reads";
    put(fmt::format("1{}\n", names_.event(address_map::gpu_of(access.address), block_of(access.address), event)));
    const std::optional<RegisterPlace> place = register_at(access.address);
    if (!place || access.is_refused || access.is_sent) return;
    for (const VcdNames::Variable& variable : names_.of_register(*place)) put(text_of(variable, access.after));
  }

  void finish() override {
    names_.define(out_);
    names_.dump_unknown(out_);
    if (std::fflush(changes_) != 0 || std::fseek(changes_, 0, SEEK_SET) != 0) throw_error();
    char part[1 << 16];
    while (const std::size_t bytes = std::fread(part, 1, sizeof part, changes_))
      out_.write(part, static_cast<std::streamsize>(bytes));
    if (std::ferror(changes_) != 0) throw_error();
  }

 private:
  [[noreturn]] static void throw_error() {
    throw std::runtime_error(fmt::format("the register trace's temporary file: {}", std::strerror(errno)));
  }

  void put(const std::string& text) {
    if (std::fwrite(text.data(), 1, text.size(), changes_) != text.size()) throw_error();
  }

  void tell_time(Picoseconds time) {
    if (time == time_) return;
    put(fmt::format("#{}\n", time));
    time_ = time;
  }

  std::ostream& out_;
  std::FILE* changes_;
  VcdNames names_;
  Picoseconds time_ = 0;
};

}  // namespace

std::unique_ptr<RegisterSink> vcd_sink(std::ostream& out) { return std::make_unique<VcdSink>(out); }

}  // namespace t3vp
