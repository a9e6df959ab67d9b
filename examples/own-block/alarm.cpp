// A clock with an alarm, whose interrupt is the line of its window.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "node/plugin_block.h"
#include "protocol/units.h"
#include "registers/alarm.h"

namespace {

class Alarm : public t3vp::PluginBlock {
 public:
  Alarm(const sc_core::sc_module_name& name, const t3vp::PluginSettings& settings)
      : PluginBlock(name), step_ns_(nlohmann::json::parse(settings.json).value("step_ns", std::uint64_t{1})) {
    if (step_ns_ == 0) throw std::invalid_argument("step_ns is 0, expected 1 or more");
    registers_.time_ns.on_refresh([this] { registers_.time_ns.set(time_ns() / step_ns_ * step_ns_); });
    registers_.due_ns.on_write([this] { set_alarm(); });
    registers_.interrupt.on_write([this] { drive(); });
    registers_.on_reset([this] {
      due_.cancel();
      drive();
    });
    SC_HAS_PROCESS(Alarm);
    SC_METHOD(expire);
    dont_initialize();
    sensitive << due_;
  }

  t3vp::RegisterBlock& registers() override { return registers_; }

 private:
  static std::uint64_t time_ns() { return t3vp::now() / 1000; }

  void set_alarm() {
    const std::uint64_t due = registers_.due_ns.value(), now = time_ns();
    if (due < now) return registers_.refuse(t3vp::Status::invalid_argument, "a time that is not past expected");
    due_.cancel();
    due_.notify(static_cast<double>(due - now), sc_core::SC_NS);
  }
  void expire() {
    registers_.interrupt.expired.set(1);
    drive();
  }
  void drive() { interrupt.write(registers_.interrupt.expired() != 0); }

  std::uint64_t step_ns_;
  t3vp::registers::Alarm registers_{"registers"};
  sc_core::sc_event due_;
};

}  // namespace

T3VP_BLOCKS({"alarm", &t3vp::make_plugin_block<Alarm>});
