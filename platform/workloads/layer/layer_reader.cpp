#include "workloads/layer/layer_reader.h"

#include <fmt/format.h>

#include "workloads/shared/argument_words.h"
#include "workloads/shared/models_file.h"

namespace t3vp {

using nlohmann::json;

const char* name_of(LayerPart part) {
  constexpr const char* names[] = {"gemm", "attention", "element_wise", "optimizer"};
  return names[static_cast<std::size_t>(part)];
}

namespace {

/// The model's shape; a transformer beside it may repeat, but not contradict it.
TransformerShape read_shape(const Document& run) {
  const json& workload = run.content.at("workload");
  json shape = workload.value("transformer", json::object());
  if (workload.contains("model")) {
    const Document models = models_of(run);
    const json& model = chosen(run, "model", models.content.at("models"));
    for (const char* key : {"hidden", "heads", "sequence", "batch"}) {
      if (shape.contains(key) && shape.at(key) != model.at(key))
        run.reject(std::string("/workload/transformer/") + key, fmt::format("the model's {}", model.at(key).dump()));
      shape[key] = model.at(key);
    }
  }
  const auto number = [&](const char* key) {
    if (!shape.contains(key)) run.reject(std::string("/workload/transformer/") + key, "a number, or a model");
    return shape.at(key).get<std::uint32_t>();
  };
  return {number("hidden"), number("heads"), number("sequence"), number("batch"),
          static_cast<ElementType>(value_of(shape.value("element", "fp16"), element_words))};
}

void check_slicing(const Document& run, const LayerShape& layer) {
  const TransformerShape& s = layer.shape;
  const std::string heads =
      run.content.at("workload").contains("model") ? "/workload/model" : "/workload/transformer/heads";
  if (s.hidden % s.heads != 0) run.reject(heads, fmt::format("a divisor of {}, the hidden size", s.hidden));
  const std::uint64_t all_heads = std::uint64_t{s.heads} * s.batch;
  if (s.hidden % layer.tp != 0 || all_heads % layer.tp != 0)
    run.reject("/workload/tp", fmt::format("a divisor of {}, the hidden size, and of {}, the heads of all inputs",
                                           s.hidden, all_heads));
  // Packets and matrices count rows and strides in 32 bits.
  const std::uint64_t bytes = bytes_of(s.element), heads_here = all_heads / layer.tp,
                      tokens = s.batch * std::uint64_t{s.sequence};
  const std::uint64_t qkv_row = 3 * heads_here * (s.hidden / s.heads + 15) * bytes;
  const std::uint64_t scores = std::uint64_t{s.sequence} * (s.sequence + 15) * bytes;
  constexpr std::uint64_t most_heads = 65535, most_score_rows = 1 << 30, most_bytes = 0xFFFFFFFF;
  if (tokens > most_tokens || heads_here > most_heads || heads_here * s.sequence > most_score_rows ||
      scores > most_bytes || qkv_row > most_bytes)
    run.reject(
        "/workload", fmt::format("{} tokens in sequences of {} and {} heads on a GPU", tokens, s.sequence, heads_here),
        fmt::format("at most {} tokens, {} heads, {} rows of scores, 4 GiB of scores of a head and of a row of q, k "
                    "and v",
                    most_tokens, most_heads, most_score_rows));
}

}  // namespace

LayerShape read_layer(const Document& run) {
  const json& workload = run.content.at("workload");
  LayerShape layer;
  layer.training = workload.at("layer") == "training";
  layer.fused_attention = workload.value("attention", "unfused") == "fused";
  layer.tp = workload.at("tp").get<std::uint32_t>();
  layer.shape = read_shape(run);
  for (const LayerPart part : all_layer_parts)
    for (const json& name : workload.value("parts", json::array()))
      if (name == name_of(part)) layer.parts.push_back(part);
  if (layer.parts == std::vector<LayerPart>{LayerPart::optimizer} && !layer.training)
    run.reject("/workload/parts", "a part that the prompt phase has: gemm, attention or element_wise");
  check_slicing(run, layer);
  return layer;
}

}  // namespace t3vp
