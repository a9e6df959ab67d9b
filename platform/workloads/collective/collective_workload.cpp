#include "workloads/collective/collective_workload.h"

#include <fmt/format.h>

#include <algorithm>

#include "t3/collective_staging.h"
#include "workloads/collective/algorithm_choice.h"
#include "workloads/collective/collective_oracle.h"
#include "workloads/collective_operations.h"
#include "workloads/registry.h"
#include "workloads/shared/room_checks.h"

namespace t3vp {
namespace {

using nlohmann::json;

constexpr std::uint64_t most_elements = 1 << 30;
constexpr const char* algorithm_place = "/workload/collective/algorithm";

}  // namespace

CollectiveWorkload::CollectiveWorkload(const Document& run) : Workload("collective") {
  const json& given = run.content.at("workload").at("collective");
  t3_collective_workload read{};
  CollectiveWorkloadSettings settings;
  read_collective_workload(given, read, settings);
  const std::uint32_t size = t3_element_bytes(read.element);
  if (settings.bytes % size != 0)
    run.reject("/workload/collective/bytes", fmt::format("a multiple of {}, the bytes of an element of {}", size,
                                                         name_of(static_cast<ElementType>(read.element))));
  collective_.op = read.op;
  const std::optional<t3_collective_algorithm> algorithm = algorithm_named(given.value("algorithm", "auto"));
  chooses_ = !algorithm;
  collective_.algorithm = algorithm.value_or(T3_DIRECT);
  collective_.element = read.element;
  collective_.elements = settings.bytes / size;
  if (collective_.elements > most_elements)
    run.reject("/workload/collective/bytes", fmt::format("at most {} elements", most_elements));
}

std::string CollectiveWorkload::shape_text() const {
  return fmt::format("{} {} of {} B {}", name_of(collective_.algorithm), name_of(collective_.op), bytes_of(collective_),
                     name_of(element()));
}

t3_collective_workload CollectiveWorkload::arguments() const {
  const t3_collective& c = collective_;
  return {c.op,
          c.algorithm,
          c.element,
          c.elements,
          c.gpus_per_node,
          c.gpus_per_row,
          {c.dimensions[0], c.dimensions[1], c.dimensions[2]}};
}

json CollectiveWorkload::resolved() const {
  json collective = json_of(arguments(), {bytes_of(collective_)});
  collective["algorithm"] = name_of(collective_.algorithm);
  return {{"label", label()}, {"collective", collective}};
}

std::shared_ptr<Workload> CollectiveWorkload::unnamed() const {
  auto other = std::make_shared<CollectiveWorkload>(*this);
  other->name(shape_text());
  return other;
}

std::uint32_t CollectiveWorkload::gpus(const Document& run, bool) const {
  return required_gpus(run, "the GPUs of the collective");
}

Operands CollectiveWorkload::operands(const Document& run) const {
  require_exact_operands(run, "a collective alone has integers");
  return Operands::exact;
}

void CollectiveWorkload::choose(const Document& run, const RunSettings& settings) {
  if (chooses_) {
    const auto may_be = [&](t3_collective_algorithm one) {
      return !settings.mirror || one == T3_DIRECT || one == T3_TORUS_RINGS;
    };
    collective_.algorithm =
        best_algorithm({collective_.op}, collective_.element, collective_.elements, settings, may_be);
  }
  name(run, shape_text());
  set_places(collective_, settings.system.topology);
}

void CollectiveWorkload::check_links(const Document& system, const RunSettings& settings, bool join_all) const {
  if (!join_all) reject_separate_gpus(system, settings, "collective");
}

LargestStore CollectiveWorkload::largest_store(const RunSettings& settings) const {
  return {settings.system.kernels.ring.block_bytes, "a block of kernels.ring.block_bytes"};
}

/// In a ring through a torus GPUs are not alike: some routes go round a corner.
void CollectiveWorkload::check_mirrored(const Document& run, const RunSettings& settings) const {
  check_mirrored_torus(run, settings, collective_.elements, "elements");
  const CollectiveOperationDescription& operation = collective_operations.at(collective_.op);
  if (operation.has_root)
    run.reject("/simulate", fmt::format("all: of a {} one GPU is not like the others", operation.name));
  if (collective_.algorithm != T3_DIRECT && collective_.algorithm != T3_TORUS_RINGS)
    run.reject("/simulate",
               fmt::format("all, or algorithm direct or torus-rings and not {}: in a mirrored torus all GPUs do "
                           "the same",
                           name_of(collective_.algorithm)));
}

std::vector<CollectiveUse> CollectiveWorkload::collective_uses(const RunSettings&) const {
  std::string name = name_of(collective_.op);
  std::replace(name.begin(), name.end(), '-', '_');
  return {{name, name_of(collective_.algorithm)}};
}

void CollectiveWorkload::check_algorithm(const Document& run, const RunSettings& settings) const {
  if (const std::string why = unfit(collective_.op, collective_.algorithm, settings); !why.empty())
    run.reject(algorithm_place, "another one: " + why);
}

void CollectiveWorkload::check(const Document& run, const Document& system, const RunSettings& settings) const {
  check_collective_registers(system, settings);
  if (settings.method != "sequential") run.reject("/method", "sequential, or nothing, for a collective alone");
  if (settings.mirror) check_mirrored(run, settings);
  check_algorithm(run, settings);
  const std::uint64_t received = t3_received_elements(&collective_, 0, settings.gpus);
  constexpr std::uint64_t most_received = most_elements;
  if (t3_traits_of(collective_.op)->result == T3_RESULT_PARTS &&
      (collective_.elements < settings.gpus || received > most_received))
    run.reject("/workload/collective/bytes", fmt::format("elements from {}, one for each GPU, to {}", settings.gpus,
                                                         most_received / settings.gpus * settings.gpus));
  require_room(run, settings, buffers(settings, 0), "buffers");
}

PackedWorkload CollectiveWorkload::packed_for(const RunSettings&) const { return packed(arguments()); }

/// Operations receive in the buffer that they send from, or in a buffer of its own.
std::vector<Buffer> CollectiveWorkload::buffers(const RunSettings& settings, std::uint32_t gpu) const {
  const CollectiveOracle oracle(collective_, settings.gpus, settings.seed);
  const ElementType type = element();
  const std::uint32_t size = t3_element_bytes(collective_.element);
  const Buffer::Row sent = [oracle, gpu](std::uint32_t) { return widened(oracle.sent(gpu)); };
  Buffer out{"out", t3_received_elements(&collective_, 0, settings.gpus) * size, 1,
             static_cast<std::uint32_t>(t3_received_elements(&collective_, gpu, settings.gpus)), type};
  out.expected = [oracle, gpu, type](std::uint32_t) { return rounded(oracle.received(gpu), type); };
  std::vector<Buffer> all;
  if (t3_receives_apart(&collective_)) {
    Buffer in{"in", bytes_of(collective_), 1, static_cast<std::uint32_t>(collective_.elements), type};
    in.fill = sent;
    all = {out, in};
  } else {
    out.fill = sent;
    all = {out};
  }
  all.push_back({"staging", t3_staging_bytes(&collective_, settings.gpus)});
  return all;
}

double CollectiveWorkload::least_link_ns(const RunSettings& settings) const {
  return t3vp::least_link_ns(collective_, whole_fabric_of(settings));
}

HostNeed CollectiveWorkload::host_need(const RunSettings& settings) const {
  HostNeed need;
  need.checked = static_cast<double>(t3_received_elements(&collective_, 0, settings.gpus));
  return need;
}

double CollectiveWorkload::weight(const RunSettings& settings) const {
  constexpr double accesses_per_byte = 3;  // roughly
  return accesses_per_byte * settings.gpus * static_cast<double>(bytes_of(collective_));
}

extern const WorkloadKind collective_kind;
const WorkloadKind collective_kind{
    "collective",
    {{"collective", "a collective alone", "there is no collective alone"}},
    {"in", "out"},
    {{"collective", "collective", "total", true}},
    {{"collective", {{"bytes", 1}}}},
    [](const Document& run) -> std::shared_ptr<Workload> { return std::make_shared<CollectiveWorkload>(run); }};

}  // namespace t3vp
