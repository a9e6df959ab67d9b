// Two small GPUs with links and NICs for fuzz targets, elaborated once a process, on which statements of register
// scripts act. Inputs begin with GPUs that have been reset; what is in memory stays.
#pragma once

#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "kernels/kernels.h"
#include "register_access/script/session.h"
#include "robust/small_gpus.h"

namespace t3vp::test {

inline void require(bool holds) {
  if (!holds) std::abort();
}

class ScriptedNode {
 public:
  ScriptedNode() : node_("node", small_gpus(2), t3_kernels, nullptr), session_(node_) {
    sc_core::sc_report_handler::set_actions(sc_core::SC_INFO, sc_core::SC_DO_NOTHING);
    execute("gpu0.system.identity");  // the simulation has begun
  }

  /// In no process: sc_main's call stack.
  static ScriptedNode& get() {
    static ScriptedNode* const node = new ScriptedNode;  // SystemC's objects cannot be destroyed at the end
    return *node;
  }

  const ScriptMachine& machine() const { return machine_; }
  ScriptSession::Outcome execute(const Statement& statement) { return session_.execute(statement); }
  ScriptSession::Outcome execute(std::string_view line) { return execute(parse_statement(line, machine_)); }

  /// Looks now and then whether it is so, which is cheaper than to wait by a statement, and gives up after 5 us: more
  /// of a large kernel is only more of the same.
  void await(std::string_view expectation) {
    constexpr int most = 10;
    const Statement pass = parse_statement("delay 500 ns", machine_), look = parse_statement(expectation, machine_);
    for (int i = 0; i < most; ++i) {
      execute(pass);
      if (execute(look).failure.empty()) return;
    }
  }

  void put(std::uint64_t gpu, std::uint64_t address, const std::uint8_t* data, std::size_t bytes) {
    if (bytes == 0) return;
    tlm::tlm_generic_payload access;
    access.set_command(tlm::TLM_WRITE_COMMAND);
    access.set_address(address_map::on_gpu(gpu, address));
    access.set_data_ptr(const_cast<std::uint8_t*>(data));  // targets do not change the data of a write
    access.set_data_length(static_cast<unsigned>(bytes));
    access.set_streaming_width(static_cast<unsigned>(bytes));
    require(node_.gpus()[gpu]->processor.socket->transport_dbg(access) == bytes);
  }

  /// All blocks, after which nothing is broken: registers answer and the blocks have kept the protocol.
  void reset() {
    for (const char* line : {"gpu0.system.reset.key = all", "gpu1.system.reset.key = all", "delay 2 us",
                             "gpu0.system.reset.key = all", "gpu1.system.reset.key = all", "delay 10 ns",
                             "expect gpu0.system.gpus == 2", "expect gpu1.kernel_queue.completed[0] == 0"})
      require(execute(line).failure.empty());
    for (const Violations* found : node_.violations()) require(found->list().empty());
  }

 private:
  Node node_;
  ScriptSession session_;
  ScriptMachine machine_ = machine_of(node_);
};

}  // namespace t3vp::test
