// Names and units of a report's metrics, for people.
#pragma once

#include <string>

namespace t3vp {

/// "reduce-scatter reads" of `dram_bytes.rs_read`, "GEMM" of `time_ns.gemm`, "utilization of the busiest link". A
/// metric without a name of its own is called by the words of its key.
std::string name_of_metric(const std::string& key);

/// The name with the unit: "total time (ns)", "reduce-scatter reads (bytes)", "tracker spills".
std::string title_of_metric(const std::string& key);

/// The words of a dotted key, without the unit in its last word: "bandwidth" of "bandwidth_GBps".
std::string words_of_key(const std::string& key);
/// The unit in the last word of a key, for people: "GB/s" of "bandwidth_GBps"; empty: it has none.
std::string unit_of_key(const std::string& key);

}  // namespace t3vp
