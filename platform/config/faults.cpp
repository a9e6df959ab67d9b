#include "config/faults.h"

#include <fmt/format.h>

namespace t3vp {
namespace {

using nlohmann::json;

void check_gpu(const Document& run, const RunConfiguration& c, const std::string& fault, std::uint32_t gpu) {
  if (gpu >= c.gpus) run.reject("/inject/" + fault + "/gpu", fmt::format("a GPU from 0 to {}", c.gpus - 1));
  if (!c.functional) run.reject("/inject/" + fault, "this fault only with data functional: nothing else could see it");
}

}  // namespace

Faults read_faults(const json& inject) {
  Faults faults;
  const auto with = [&inject](const char* name, const auto& read) {
    if (const auto found = inject.find(name); found != inject.end()) read(*found);
  };
  with("dma_map_updates", [&](const json& j) { faults.dma_map_updates = j.get<std::uint32_t>(); });
  with("lose_updates", [&](const json& j) {
    const std::string from = j.value("from", "anyone");
    faults.lose_updates = {j.at("gpu"), {j.at("count"), from != "peers", from != "local"}};
  });
  with("flip_bit", [&](const json& j) { faults.flip_bit = {j.at("gpu"), {j.at("access"), j.at("bit")}}; });
  with("wrong_element", [&](const json& j) { faults.wrong_element = {j.at("gpu"), j.at("index")}; });
  with("wrong_rounding", [&](const json& j) { faults.wrong_rounding = j.at("gpu").get<std::uint32_t>(); });
  with("drop_packet", [&](const json& j) { faults.drop_packet = {j.at("link"), j.at("packet")}; });
  with("drop_packets", [&](const json& j) { faults.drop_packets = {j.at("gpu"), j.at("count")}; });
  return faults;
}

namespace {

void check_wrong_element(const Document& run, const RunConfiguration& c, const Faults::WrongElement& fault) {
  const std::vector<Buffer> buffers = c.workload->buffers(c, fault.gpu);
  const Buffer* const out = find(buffers, "out");
  if (out == nullptr)
    run.reject("/inject/wrong_element", "this fault only with a workload that has an out: a layer has none");
  check_gpu(run, c, "wrong_element", fault.gpu);
  const std::uint64_t elements = std::uint64_t{out->rows} * out->columns;
  if (fault.index >= elements)
    run.reject("/inject/wrong_element/index", fmt::format("an element from 0 to {}", elements - 1));
  const auto row = static_cast<std::uint32_t>(fault.index / out->columns),
             column = static_cast<std::uint32_t>(fault.index % out->columns);
  if (out->is_owned && !out->is_owned(row, column))
    run.reject("/inject/wrong_element/index", fmt::format("an element of a tile that GPU {} owns", fault.gpu));
}

}  // namespace

void check_faults(const Document& run, const RunConfiguration& c) {
  const Faults& f = c.faults;
  if (f.dma_map_updates && !c.workload->updates(c))
    run.reject("/inject/dma_map_updates", fmt::format("this fault only with method t3 or t3-mca, not {}", c.method));
  if (f.lose_updates) check_gpu(run, c, "lose_updates", f.lose_updates->gpu);
  if (f.flip_bit) {
    check_gpu(run, c, "flip_bit", f.flip_bit->gpu);
    const std::uint32_t bits = 8 * bytes_of(c.workload->largest_element());
    if (f.flip_bit->what.bit >= bits) run.reject("/inject/flip_bit/bit", fmt::format("a bit from 0 to {}", bits - 1));
  }
  if (f.wrong_element) check_wrong_element(run, c, *f.wrong_element);
  if (f.wrong_rounding) {
    if (!c.workload->rounds_sums() || c.operands != Operands::random)
      run.reject("/inject/wrong_rounding",
                 "this fault only with a GEMM and operands random: exact ones have no sum that is rounded");
    check_gpu(run, c, "wrong_rounding", *f.wrong_rounding);
  }
  if (f.drop_packets) {
    if (!c.system.nic) run.reject("/inject/drop_packets", "no such fault: the system has no NICs");
    if (f.drop_packets->gpu >= c.gpus)
      run.reject("/inject/drop_packets/gpu", fmt::format("a GPU from 0 to {}", c.gpus - 1));
  }
  if (f.drop_packet) {
    const std::uint32_t links = link_count(c);
    if (f.drop_packet->link >= links)
      run.reject("/inject/drop_packet/link",
                 links == 0 ? "no such fault: there are no links" : fmt::format("a link from 0 to {}", links - 1));
  }
}

}  // namespace t3vp
