// The GPUs of a node, the links and switches between them, and the wire between their NICs.
#pragma once

#include <memory>
#include <vector>

#include "interconnect/chunk_mirror.h"
#include "interconnect/link.h"
#include "interconnect/switch.h"
#include "interconnect/torus_mirror.h"
#include "nic/wire.h"
#include "node/gpu.h"
#include "processor/host_network.h"

namespace t3vp {

class Node : public sc_core::sc_module {
 public:
  /// Builds the node. Throws ParameterError about parameters that a block cannot have, and about lists and a fabric
  /// that contradict each other. `kernels` are those that packets may name: a list up to a null pointer, which outlives
  /// the node, for all GPUs.
  Node(const sc_core::sc_module_name& name, const NodeParameters& parameters, const t3_kernel* const* kernels,
       Trace* trace);
  /// A list for each GPU.
  Node(const sc_core::sc_module_name& name, const NodeParameters& parameters,
       const std::vector<const t3_kernel* const*>& kernels, Trace* trace);
  ~Node() override;

  const std::vector<std::unique_ptr<Gpu>>& gpus() const { return gpus_; }
  /// They are sorted by the GPUs that send, port after port, then by the switches.
  const std::vector<std::unique_ptr<interconnect::Link>>& links() const { return links_; }
  const std::vector<std::unique_ptr<interconnect::Switch>>& switches() const { return switches_; }
  /// Returns the mirror when one GPU represents a torus; else null.
  interconnect::TorusMirror* torus() const { return torus_.get(); }
  /// Between the NICs; null when no GPU has one.
  nic::Wire* wire() const { return wire_.get(); }
  processor::HostNetwork& hosts() const { return *hosts_; }
  /// Returns the accesses that nothing orders with earlier ones; null where nobody looks for them.
  const Violations* races() const { return races_ == nullptr ? nullptr : &races_->found(); }
  /// Returns the violations that the protocol checkers have found: of every GPU, then of the links.
  std::vector<const Violations*> violations() const;
  /// Lets protocol checkers that sleep check what is sent from now on.
  void wake_checkers();

 private:
  void connect(const NodeParameters& parameters, Trace* trace);
  void mirror_ring(const NodeParameters& parameters, Trace* trace);
  void mirror_torus(const NodeParameters& parameters, Trace* trace);
  void join_nics(const NodeParameters& parameters);
  interconnect::Link& add_link(const std::string& name, const LinkPlacement& link, Trace* trace);

  SocketProbes probes_;
  std::unique_ptr<races::RaceDetector> races_;
  std::vector<std::unique_ptr<Gpu>> gpus_;
  std::vector<std::unique_ptr<interconnect::Switch>> switches_;
  std::vector<std::unique_ptr<interconnect::Link>> links_;
  std::unique_ptr<interconnect::ChunkMirror> mirror_;
  std::unique_ptr<interconnect::TorusMirror> torus_;
  std::unique_ptr<nic::Wire> wire_;
  std::unique_ptr<processor::HostNetwork> hosts_;
};

}  // namespace t3vp
