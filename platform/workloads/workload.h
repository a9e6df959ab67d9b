// The workload of a run. Each workload is a room of this folder and a class behind this interface. No code outside of
// the rooms depends on a particular one.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "io/json_document.h"
#include "protocol/tile_grid.h"
#include "workloads/buffer.h"
#include "workloads/operations.h"
#include "workloads/run_settings.h"
#include "workloads/shared/packed_workload.h"

namespace t3vp {

/// Times below which no run comes, in ns: what a GPU has to compute and to read.
struct LowerBounds {
  double compute_ns = 0;
  double compute_quantized_ns = 0;  ///< with whole tiles in whole rounds of workgroups
  double dram_ns = 0;

  void raise(const LowerBounds& other);
};

/// The largest store that a program sends over a link.
struct LargestStore {
  std::uint64_t bytes;
  std::string text;  ///< "a row of a table"
};

/// The memory of the simulating machine that a run needs.
struct HostNeed {
  double checked = 0;                      ///< elements that the check holds at a time
  std::optional<TileShape> tile;           ///< of its GEMM workgroups; nothing: the system's
  std::optional<double> most_workgroups;   ///< of them; nothing: as many as the compute units hold
  double gather_wavefronts_per_group = 0;  ///< of workgroups that gather rows of tables
};

/// Something about the work itself that the report has beside the hardware's statistics.
struct WorkStatistic {
  std::string name, unit, text;
  double value = 0;
};

/// A collective that is part of a method, and how it runs: "reduce_scatter", "fused ring".
struct CollectiveUse {
  std::string collective, how;
};

/// Parts of a run that other runs may have simulated already: settings for each.
struct IsolatedRuns {
  std::vector<std::string> gemm_of_other_method, gemm, reduce_scatter, all_gather;
};

/// This class itself is no work: a program of the user's own without a workload.
class Workload {
 public:
  Workload() = default;
  /// The room's name, of whose description methods and programs are.
  explicit Workload(const char* room) : room_(room) {}
  Workload(const Workload&) = default;
  Workload& operator=(const Workload&) = delete;
  virtual ~Workload() = default;

  /// False of this class alone.
  bool is_there() const { return !room_.empty(); }
  /// For people; the run file's, or made from the shape.
  const std::string& label() const { return label_; }
  /// `workload` of a run file that says the same, everything written out.
  virtual nlohmann::json resolved() const { return nlohmann::json::object(); }
  /// Returns the same work without the names of label, model and sub-layer. Equal work then has equal configurations.
  virtual std::shared_ptr<Workload> unnamed() const { return std::make_shared<Workload>(*this); }

  std::string usual_method() const;
  /// The platform's program that runs the method.
  virtual std::string usual_program(const std::string& method) const;
  /// The method runs its phases apart, and the longest of some count.
  virtual bool runs_apart(const std::string& method) const;
  /// Whether phases separate compute and communication: no kernel of the method has both without a phase that ends
  /// with its compute.
  virtual bool separates_communication(const std::string& method) const;
  /// The runs that simulate its phases one by one, where experiments may share phases between methods.
  virtual std::optional<IsolatedRuns> isolated_runs(const RunSettings&) const { return {}; }

  // While a run file is read, in this order. Each throws InputError.

  /// The number of GPUs. `may_be_alone`: the run has nothing to exchange.
  virtual std::uint32_t gpus(const Document& run, bool may_be_alone) const;
  virtual Operands operands(const Document& run) const;
  /// One GPU is all there is, so that it stands for no other.
  virtual bool is_of_one_gpu() const { return false; }
  /// Fills in what depends on the system.
  virtual void complete(const Document&, const Document&, const RunSettings&) {}
  /// Chooses what the run file leaves open and depends on links, which are known to be right by now.
  virtual void choose(const Document&, const RunSettings&) {}
  /// The algorithm of the method's collectives; empty: it has none.
  virtual std::string collectives_algorithm() const { return {}; }
  /// All collectives of the run, in their order.
  virtual std::vector<CollectiveUse> collective_uses(const RunSettings&) const { return {}; }
  /// Whether links carry it: those of the whole fabric join all GPUs, or do not.
  virtual void check_links(const Document&, const RunSettings&, bool) const {}
  virtual LargestStore largest_store(const RunSettings& settings) const;
  virtual void check(const Document& run, const Document& system, const RunSettings& settings) const;

  /// The element type of its tensors, and the largest of them: fp16 and fp32 unless a workload says otherwise.
  virtual ElementType element() const { return ElementType::fp16; }
  virtual ElementType largest_element() const { return ElementType::fp32; }
  /// Sums of random operands are rounded, in an order that is known.
  virtual bool rounds_sums() const { return false; }
  /// The updates of a chunk that the program gives dma_map; empty when it gives none.
  virtual std::optional<std::uint32_t> updates(const RunSettings&) const { return {}; }

  // The arguments of the program, and its buffers.

  virtual PackedWorkload packed_for(const RunSettings&) const { return {}; }
  /// The buffers of one GPU, in the order in which its program allocates them.
  virtual std::vector<Buffer> buffers(const RunSettings&, std::uint32_t) const { return {}; }
  /// The operations that run one after the other and are checked one by one; empty when there are none.
  virtual std::vector<OperationName> operations() const { return {}; }
  virtual std::unique_ptr<OperationChecker> operation_checker(GpuMemory&, std::uint64_t) const { return nullptr; }

  // Properties of a run that are known before it.

  virtual LowerBounds lower_bounds(const RunSettings&, std::uint32_t, const GpuParameters&) const { return {}; }
  /// The time in ns that links or NICs take at least.
  virtual double least_link_ns(const RunSettings&) const { return 0; }
  /// The workgroups of GPU 0 in the whole run; empty when they are not known.
  virtual std::optional<double> expected_workgroups(const RunSettings&) const { return {}; }
  /// Known from the run file alone: how tokens are routed, say.
  virtual std::vector<WorkStatistic> statistics(const RunSettings&) const { return {}; }
  /// GPUs end at different times, which the report has.
  virtual bool reports_ends() const { return false; }
  /// The output whose chunks one GPU sends to itself where it stands for a ring.
  virtual TileGrid mirrored_chunks(const RunSettings&) const { return {}; }
  virtual HostNeed host_need(const RunSettings&) const { return {}; }
  /// Returns the effort of the simulation, without a unit.
  virtual double weight(const RunSettings& settings) const { return settings.gpus; }

 protected:
  /// The method is one of those of a GEMM and a collective, and a program of the platform's runs its phases apart.
  void check_gemm_method(const Document& run, const RunSettings& settings) const;
  void name(const Document& run, const std::string& otherwise);
  void name(const std::string& text) { label_ = text; }

 private:
  std::string room_;
  std::string label_;
};

}  // namespace t3vp
