// The timeline as a file for ui.perfetto.dev and chrome://tracing (Trace Event Format, JSON).
#pragma once

#include <filesystem>
#include <limits>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "io/output_file.h"
#include "protocol/trace.h"

namespace t3vp {

/// The part of simulated time that a timeline shows.
struct TraceWindow {
  Picoseconds from = 0, to = std::numeric_limits<Picoseconds>::max();  ///< both inside

  bool meets(Picoseconds begin, Picoseconds end) const { return end >= from && begin <= to; }
};

/// Groups become processes and tracks threads. Spans that overlap on a track go to further threads of it, since the
/// format knows only nested ones. Everything is streamed but the arrows, which are written at the end in order of time.
/// Of a window it has the spans that reach into it, whole, and the counters' values where it begins.
class PerfettoTrace : public Trace {
 public:
  /// Throws std::runtime_error when the file cannot be created. Without close() there will be none.
  explicit PerfettoTrace(const std::filesystem::path& file, TraceWindow window = {});
  PerfettoTrace(const PerfettoTrace&) = delete;
  PerfettoTrace& operator=(const PerfettoTrace&) = delete;

  Track track(const std::string& group, const std::string& name) override;
  void span(Track track, const char* name, Picoseconds begin, Picoseconds end) override;
  void span(Track track, const char* name, Picoseconds begin, Picoseconds end, std::uint64_t flow) override;
  void instant(Track track, const char* name, Picoseconds at, std::uint64_t flow) override;
  void counter(Track track, const char* name, Picoseconds at, double value) override;

  /// Completes the file and puts it in place. Throws std::runtime_error when it could not all be written.
  void close();
  /// From now on the file has at once what happens, and comes into place however the process ends: without close() it
  /// has no arrows.
  void keep();

 private:
  struct Lane {
    std::uint32_t thread;
    Picoseconds end;
  };
  struct Row {
    std::size_t number;
    std::uint32_t process;
    std::string name;
    std::vector<Lane> lanes;
  };
  struct FlowPoint {
    Picoseconds time;
    std::uint32_t process, thread;
  };

  std::uint32_t process_of(const std::string& group);
  std::uint32_t lane_for(Row& row, Picoseconds begin, Picoseconds end);
  std::uint32_t add_lane(Row& row);
  void place_event(const Row& row);
  void name_event(const char* kind, std::uint32_t process, std::uint32_t thread, const std::string& name);
  void write_flows();
  void write_value(Track track, const std::string& name, Picoseconds at, double value);
  void event(const std::string& text);
  void flush();

  OutputFile file_;
  TraceWindow window_;
  std::map<std::pair<Track, std::string>, double> before_;  ///< counters' last values before the window
  std::string buffer_;
  bool first_ = true;
  std::map<std::string, std::uint32_t> processes_;
  std::vector<Row> rows_;
  std::uint32_t threads_ = 0;
  std::unordered_map<std::uint64_t, std::vector<FlowPoint>> flows_;
};

}  // namespace t3vp
