// What a description says of a parameter's values, read from the JSON file.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace t3vp {

class DescribedRange {
 public:
  /// `description` is a path below models/, such as "cache/cache.parameters.json", or "kernels". `member` is that of
  /// the structure, of kernels such as "ring.block_bytes".
  DescribedRange(const std::string& description, const std::string& member);

  /// Whether the member may have this value, in its own unit.
  bool has(double value) const;

 private:
  double scale() const;
  nlohmann::json field_;
  bool is_of_kernel_;
};

}  // namespace t3vp
