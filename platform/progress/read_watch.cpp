#include "progress/read_watch.h"

#include <fmt/format.h>

#include "compute/repeated_reads.h"
#include "progress/poll_watch.h"

namespace t3vp {

namespace {

constexpr std::uint64_t looked_at = 32;  ///< each such read of a place: the others cost nothing

}  // namespace

ReadWatch::ReadWatch(const Node& node, std::uint64_t limit)
    : node_(node), limit_(limit), repetitions_(node.gpus().size()) {
  begin_anew();
}

void ReadWatch::note(std::size_t gpu, const compute::KernelCode& code) {
  if (code.read == nullptr || code.read->times == 0 || code.read->times % looked_at != 0) return;
  const compute::RepeatedRead& read = *code.read;
  std::uint64_t& first = first_.try_emplace(code.read, read.times).first->second;
  if (read.times < first) first = read.times;  // of another place or value
  if (read.times - first < limit_) return;
  found_ = Found{gpu, code.kernel, code.workgroup, code.wave, read.bytes, read.address, read.value(), read.times};
}

std::uint64_t ReadWatch::writes() const {
  std::uint64_t sum = 0;
  for (const auto& gpu : node_.gpus()) sum += gpu->memory.writes();
  return sum;
}

void ReadWatch::begin_anew() {
  writes_ = writes();
  first_.clear();
  found_.reset();
  for (std::size_t g = 0; g < repetitions_.size(); ++g) repetitions_[g] = repetitions(node_.gpus()[g]->processor);
}

bool ReadWatch::programs_rest() {
  for (std::size_t g = 0; g < repetitions_.size(); ++g) {
    const processor::Processor& processor = node_.gpus()[g]->processor;
    if (processor.finished() || processor.awaits_interrupt()) continue;
    const std::uint64_t times = repetitions(processor);
    if (times < repetitions_[g]) repetitions_[g] = 0;  // of something else, or of another value
    if (times - repetitions_[g] < limit_) return false;
  }
  return true;
}

bool ReadWatch::in_vain() {
  if (writes() != writes_) begin_anew();
  return found_ && programs_rest();
}

std::string ReadWatch::text() const {
  const Found& f = *found_;
  return fmt::format(
      "limits.polls: GPU {} kernel {}: workgroup {}, wave {} reads in a loop: it has read {} bytes at {:#x} {} times, "
      "always {:#x}, and nothing has been written to any memory meanwhile",
      f.gpu, f.kernel, f.workgroup, f.wave, f.bytes, f.address, f.times, f.value);
}

}  // namespace t3vp
