// The GPUs of a node and the links between them. In mirror mode one GPU stands for the whole ring.
#pragma once

#include <memory>
#include <vector>

#include "interconnect/chunk_mirror.h"
#include "interconnect/link.h"
#include "hardware/gpu.h"

namespace t3vp {

class Node : public sc_core::sc_module {
 public:
  Node(const sc_core::sc_module_name& name, const RunConfiguration& configuration, Trace* trace);

  const std::vector<std::unique_ptr<Gpu>>& gpus() const { return gpus_; }
  const std::vector<std::unique_ptr<Link>>& links() const { return links_; }
  /// What the protocol checkers have found: of every GPU, then of the links.
  std::vector<const Violations*> violations() const;

 private:
  void make_ring(const RunConfiguration& configuration, Trace* trace);
  void make_mirror(const RunConfiguration& configuration, Trace* trace);
  void join(Gpu& sender, std::size_t port, Link& link);

  SocketJoints joints_;
  std::vector<std::unique_ptr<Gpu>> gpus_;
  std::vector<std::unique_ptr<Link>> links_;
  std::unique_ptr<ChunkMirror> mirror_;
};

}  // namespace t3vp
