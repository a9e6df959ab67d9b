#include "config/workloads.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "config/embedded_texts.h"
#include "config/enumerator.h"
#include "config/schema_check.h"
#include "config/system_reader.h"
#include "workload/collective.h"

namespace t3vp {
namespace {

using nlohmann::json;

ElementType element_named(const std::string& name) {
  return name == "fp32" ? ElementType::fp32 : name == "bf16" ? ElementType::bf16 : ElementType::fp16;
}

const json& chosen(const Document& run, const std::string& key, const json& choices) {
  const std::string name = run.content.at("workload").at(key).get<std::string>();
  if (choices.contains(name)) return choices.at(name);
  std::vector<std::string> names;
  for (const auto& choice : choices.items()) names.push_back(choice.key());
  run.reject("/workload/" + key, fmt::format("one of {}", fmt::join(names, ", ")));
}

constexpr std::uint64_t most_tokens = 1 << 20;

std::uint32_t tokens_of(const Document& run, const json& model) {
  const std::uint64_t tokens = model.at("sequence").get<std::uint64_t>() * model.at("batch").get<std::uint64_t>();
  if (tokens > most_tokens) run.reject("/workload/model", fmt::format("a model of at most {} tokens", most_tokens));
  return static_cast<std::uint32_t>(tokens);
}

/// A GEMM beside a model may repeat the model's shape, as --print-config does, but not contradict it.
void require_same(const Document& run, const json& gemm, const char* dimension, std::uint32_t value) {
  if (gemm.contains(dimension) && gemm.at(dimension) != json(value))
    run.reject(std::string("/workload/gemm/") + dimension, fmt::format("the model's {}", value));
}

void read_sublayer(const Document& run, Workload& w) {
  const json& workload = run.content.at("workload");
  const Document models = models_of(run);
  const json& model = chosen(run, "model", models.content.at("models"));
  const json& sublayer = chosen(run, "sublayer", models.content.at("sublayers"));
  w.model = workload.at("model").get<std::string>();
  w.sublayer = workload.at("sublayer").get<std::string>();
  w.tp = workload.at("tp").get<std::uint32_t>();
  w.tokens = workload.value("tokens", tokens_of(run, model));

  const auto hidden = model.at("hidden").get<std::uint32_t>();
  const std::uint64_t depth = std::uint64_t{sublayer.at("k_per_hidden").get<std::uint32_t>()} * hidden;
  if (depth % w.tp != 0)
    run.reject("/workload/tp", fmt::format("a divisor of {}, the sub-layer's K of all GPUs", depth));
  w.gemm.m = w.tokens;
  w.gemm.n = hidden;
  w.gemm.k = static_cast<std::uint32_t>(depth / w.tp);

  const json gemm = workload.value("gemm", json::object());
  require_same(run, gemm, "m", w.gemm.m);
  require_same(run, gemm, "n", w.gemm.n);
  require_same(run, gemm, "k", w.gemm.k);
  w.label = fmt::format("{} {} TP={}", w.model, w.sublayer, w.tp);
}

void read_gemm(const Document& run, Workload& w) {
  const json& workload = run.content.at("workload");
  const json& gemm = workload.at("gemm");
  w.gemm.m = gemm.at("m").get<std::uint32_t>();
  w.gemm.n = gemm.at("n").get<std::uint32_t>();
  w.gemm.k = gemm.at("k").get<std::uint32_t>();
  w.label = fmt::format("GEMM {} x {} x {} {}", w.gemm.m, w.gemm.n, w.gemm.k, name_of(w.gemm.element));
}

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
          element_named(shape.value("element", "fp16"))};
}

void check_slicing(const Document& run, const LayerWorkload& layer) {
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

void read_layer(const Document& run, Workload& w) {
  const json& workload = run.content.at("workload");
  LayerWorkload layer;
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
  w.layer = layer;
  w.model = workload.value("model", "");
  w.tp = layer.tp;
  w.gemm.element = layer.shape.element;
  w.label = fmt::format("{} {} layer TP={} with {} attention", w.model.empty() ? "Transformer" : w.model,
                        layer.training ? "training" : "prompt", w.tp, layer.fused_attention ? "fused" : "unfused");
}

void read_collective(const Document& run, Workload& w) {
  constexpr std::uint64_t most_elements = 1 << 30;
  const json& workload = run.content.at("workload");
  const json& given = workload.at("collective");
  const ElementType element = element_named(given.value("element", "fp16"));
  const auto bytes = given.at("bytes").get<std::uint64_t>();
  if (bytes % bytes_of(element) != 0)
    run.reject("/workload/collective/bytes",
               fmt::format("a multiple of {}, the bytes of an element of {}", bytes_of(element), name_of(element)));
  const t3_collective collective{enumerator(given.at("op"), all_collective_ops),
                                 enumerator(given.at("algorithm"), all_collective_algorithms),
                                 static_cast<t3_element>(element),
                                 bytes / bytes_of(element),
                                 0,
                                 0,
                                 {},
                                 {}};
  if (collective.elements > most_elements)
    run.reject("/workload/collective/bytes", fmt::format("at most {} elements", most_elements));
  w.collective = collective;
  w.gemm.element = element;
  w.label =
      fmt::format("{} {} of {} B {}", name_of(collective.algorithm), name_of(collective.op), bytes, name_of(element));
}

void read_embedding(const Document& run, Workload& w) {
  constexpr std::uint32_t usual_slice = 32;  // GPU-initiated overlap, Figure 10
  const json& given = run.content.at("workload").at("embedding");
  const auto number = [&](const char* key) { return given.at(key).get<std::uint32_t>(); };
  const json& pooling = given.at("pooling");
  const ElementType element = element_named(given.value("element", "fp32"));
  t3_embedding e{};
  e.global_batch = number("global_batch");
  e.tables_per_gpu = number("tables_per_gpu");
  e.dimension = number("dimension");
  e.rows = number("rows");
  e.drawn = pooling.is_object();
  e.pooling = (e.drawn ? pooling.at("drawn") : pooling).get<std::uint32_t>();
  e.mean = given.value("result", "sum") == "mean";
  e.element = static_cast<t3_element>(element);
  e.slice = given.value("slice", std::min(usual_slice, e.tables_per_gpu));
  if (e.slice > e.tables_per_gpu)
    run.reject("/workload/embedding/slice", fmt::format("at most {}, the tables of a GPU", e.tables_per_gpu));
  e.oblivious = given.value("order", "aware") == "oblivious";
  e.contexts = given.value("contexts", std::uint32_t{0});
  w.occupancy = given.value("occupancy", 0.0);
  w.embedding = e;
  w.gemm.element = element;
  w.label = fmt::format("Embedding {}|{} of {} {}, pooling {}{}", e.global_batch, e.tables_per_gpu, e.dimension,
                        name_of(element), e.drawn ? "up to " : "", e.pooling);
}

/// The perceptrons of a recommendation model, beside its tables.
void read_mlp(const Document& run, Workload& w) {
  constexpr double usual_bucket_MiB = 25;  // bucket_cap_mb of PyTorch's DistributedDataParallel
  const json& given = run.content.at("workload").at("mlp");
  t3_dlrm d{};
  d.bottom_layers = given.at("bottom_layers").get<std::uint32_t>();
  d.top_layers = given.at("top_layers").get<std::uint32_t>();
  d.width = given.at("width").get<std::uint32_t>();
  d.bucket_bytes = static_cast<std::uint64_t>(given.value("bucket_MiB", usual_bucket_MiB) * (1 << 20));
  if (w.gemm.element != ElementType::fp32)
    run.reject("/workload/embedding/element", "fp32, or nothing, beside mlp: gradients are exact in no other type");
  const std::uint64_t row = t3_embedding_sample_bytes(&*w.embedding);
  if (row % 32 != 0)
    run.reject("/workload/embedding/dimension", fmt::format("{} bytes of a sample's results on a GPU", row),
               "a multiple of 32 beside mlp, whose kernels take rows of them");
  w.dlrm = d;
  w.label = fmt::format("DLRM {}|{} of {}, {} + {} layers of {}", w.embedding->global_batch,
                        w.embedding->tables_per_gpu, w.embedding->dimension, d.bottom_layers, d.top_layers, d.width);
}

/// A slice's results fill a DRAM access, if the run file does not say otherwise.
void read_gemv(const Document& run, Workload& w) {
  constexpr std::uint32_t access_bytes = 32;
  const json& given = run.content.at("workload").at("gemv");
  const ElementType element = element_named(given.value("element", "fp16"));
  t3_gemv g{};
  g.rows = given.at("rows").get<std::uint32_t>();
  g.columns = given.at("columns").get<std::uint32_t>();
  g.slice = given.value("slice", std::min(access_bytes / bytes_of(element), g.rows));
  if (g.slice > g.rows) run.reject("/workload/gemv/slice", fmt::format("at most {}, the matrix's rows", g.rows));
  g.element = static_cast<t3_element>(element);
  w.gemv = g;
  w.gemm.element = element;
  w.label = fmt::format("GEMV {} x {} {}", g.rows, g.columns, name_of(element));
}

void read_experts(const Document& run, Workload& w) {
  const json& given = run.content.at("workload").at("experts");
  const ElementType element = element_named(given.value("element", "fp16"));
  w.gemm.m = given.at("tokens").get<std::uint32_t>();
  w.gemm.n = given.at("hidden").get<std::uint32_t>();
  w.gemm.k = given.at("inner").get<std::uint32_t>();
  w.gemm.element = element;
  if (given.contains("tile")) w.gemm.tile = read_tile(given.at("tile"));
  w.occupancy = given.value("occupancy", 0.0);
  t3_experts experts{};
  experts.tokens = w.gemm.m;
  experts.hidden = w.gemm.n;
  experts.inner = w.gemm.k;
  experts.element = static_cast<t3_element>(element);
  w.experts = experts;
  w.label = fmt::format("Experts {} x {} x {} {}", w.gemm.m, w.gemm.n, w.gemm.k, name_of(element));
}

}  // namespace

Document models_of(const Document& run) {
  Document models{"models.json", "", {}, {}};
  if (run.content.contains("models")) {
    models = read_document(run, "/models", "models file");
  } else {
    models.content = parse_json(embedded_text("models.json"), models.file);
  }
  check_schema(models, "models");
  return models;
}

void check_kind_of_workload(const Document& run) {
  const auto workload = run.content.find("workload");
  if (workload == run.content.end() || !workload->is_object()) return;
  const auto reject = [&](std::initializer_list<const char*> keys, const char* expected) {
    for (const char* key : keys)
      if (workload->contains(key)) run.reject(std::string("/workload/") + key, expected);
  };
  if (!workload->contains("embedding")) reject({"mlp"}, "this key only beside embedding");
  if (workload->contains("experts"))
    reject({"model", "sublayer", "layer", "attention", "parts", "transformer", "tp", "tokens", "gemm", "fused",
            "collective", "embedding", "gemv"},
           "not this key beside experts");
  else if (workload->contains("gemv"))
    reject({"model", "sublayer", "layer", "attention", "parts", "transformer", "tp", "tokens", "gemm", "fused",
            "collective", "embedding"},
           "not this key beside gemv");
  else if (workload->contains("embedding"))
    reject({"model", "sublayer", "layer", "attention", "parts", "transformer", "tp", "tokens", "gemm", "fused",
            "collective"},
           "not this key beside embedding");
  else if (workload->contains("collective"))
    reject({"model", "sublayer", "layer", "attention", "parts", "transformer", "tp", "tokens", "gemm", "fused"},
           "not this key beside collective");
  else if (workload->contains("layer"))
    reject({"sublayer", "tokens", "gemm", "fused"}, "not this key beside layer");
  else if (workload->contains("model"))
    reject({"attention", "transformer", "parts"}, "this key only beside layer");
  else
    reject({"sublayer", "tp", "tokens", "attention", "transformer", "parts"}, "this key only beside model or layer");
}

Workload read_workload(const Document& run) {
  const json& workload = run.content.at("workload");
  const json gemm = workload.value("gemm", json::object());
  Workload w;
  w.gemm.element = element_named(gemm.value("element", "fp16"));
  w.gemm.transpose_b = gemm.value("transpose_b", false);
  w.fused = enumerator(workload.value("fused", name_of(T3_FUSED_RING_REDUCE_SCATTER)), all_fused_kinds);
  if (gemm.contains("tile")) w.gemm.tile = read_tile(gemm.at("tile"));
  if (workload.contains("experts"))
    read_experts(run, w);
  else if (workload.contains("gemv"))
    read_gemv(run, w);
  else if (workload.contains("embedding"))
    read_embedding(run, w);
  else if (workload.contains("collective"))
    read_collective(run, w);
  else if (workload.contains("layer"))
    read_layer(run, w);
  else if (workload.contains("model"))
    read_sublayer(run, w);
  else
    read_gemm(run, w);
  if (w.embedding && workload.contains("mlp")) read_mlp(run, w);
  w.label = workload.value("label", w.label);
  return w;
}

}  // namespace t3vp
