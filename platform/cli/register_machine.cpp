#include "cli/register_machine.h"

#include "config/configuration.h"
#include "config/memory_need.h"
#include "protocol/units.h"
#include "register_access/names/plugged_names.h"
#include "report/results_folder.h"
#include "run/node_parameters.h"

namespace t3vp {
namespace {

RunConfiguration configuration_of(const RegisterMachineOptions& options) {
  RunConfiguration configuration = load_machine(options.system, options.gpus);
  configuration.software = software_of_kernels("--kernels", options.kernels);
  return configuration;
}

/// A statement is over when the next one begins: nothing runs ahead.
NodeParameters parameters_of(const RunConfiguration& configuration) {
  NodeParameters parameters = node_parameters(configuration);
  parameters.options.functional = true;
  for (GpuParameters& gpu : parameters.gpus) gpu.processor.quantum = 0;
  return parameters;
}

}  // namespace

RegisterMachine::RegisterMachine(const RegisterMachineOptions& options) : trace_("--register-trace", {}) {
  const RunConfiguration configuration = configuration_of(options);
  const NodeParameters parameters = parameters_of(configuration);
  software_ = std::make_unique<OpenedSoftware>(configuration);
  require_apart(
      {options.register_trace.empty() ? std::vector<std::filesystem::path>{} : std::vector{options.register_trace},
       {}});
  trace_ = RegisterTraceFile("--register-trace", options.register_trace);
  sc_core::sc_report_handler::set_actions(sc_core::SC_INFO, sc_core::SC_DO_NOTHING);
  std::vector<const t3_kernel* const*> kernels;
  for (std::size_t gpu = 0; gpu < parameters.gpus.size(); ++gpu) kernels.push_back(software_->kernels(gpu));
  node_ = std::make_unique<Node>("node", parameters, kernels, nullptr);
  name_plugged_blocks(*node_);
  if (trace_.trace() != nullptr) trace_.trace()->observe(*node_);
  session_ = std::make_unique<ScriptSession>(*node_);
  what_there_is_ = machine_of(*node_);
}

RegisterMachine::~RegisterMachine() = default;

double RegisterMachine::time_ns() const { return to_ns(now()); }

}  // namespace t3vp
