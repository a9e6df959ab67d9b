#include "progress/read_watch.h"

#include <fmt/format.h>

#include <algorithm>

#include "compute/repeated_reads.h"

namespace t3vp {

namespace {

constexpr std::uint64_t looked_at = 32;  ///< each such read of a place: the others cost nothing

std::uint64_t writes_of(const Pulse& pulse) {
  std::uint64_t sum = 0;
  for (const GpuPulse& gpu : pulse) sum += gpu.writes;
  return sum;
}

}  // namespace

void ReadWatch::note(std::size_t gpu, const compute::KernelCode& code) {
  if (code.read == nullptr || code.read->times == 0 || code.read->times % looked_at != 0) return;
  const compute::RepeatedRead& read = *code.read;
  std::uint64_t& first = first_.try_emplace(code.read, read.times).first->second;
  if (read.times < first) first = read.times;  // of another place or value
  if (read.times - first < limit_) return;
  found_[gpu] = Found{code.kernel, code.workgroup, code.wave, read.bytes, read.address, read.value(), read.times};
}

void ReadWatch::begin_anew(const Pulse& pulse) {
  writes_ = writes_of(pulse);
  first_.clear();
  std::fill(found_.begin(), found_.end(), std::nullopt);
  repetitions_.begin_anew(pulse);
}

std::string ReadWatch::in_vain(const AllGpus& all, const Pulse& pulse) {
  if (writes_of(pulse) != writes_) {
    begin_anew(pulse);
    return {};
  }
  if (repetitions_.are_fewer(pulse, limit_)) return {};
  for (std::string& of_gpu : all.ask([this](const Gpu& gpu) { return text(gpu.processor.gpu()); }))
    if (!of_gpu.empty()) return std::move(of_gpu);
  return {};
}

std::string ReadWatch::text(std::size_t gpu) const {
  if (!found_[gpu]) return {};
  const Found& f = *found_[gpu];
  return fmt::format(
      "limits.polls: GPU {} kernel {}: workgroup {}, wave {} reads in a loop: it has read {} bytes at {:#x} {} times, "
      "always {:#x}, and nothing has been written to any memory meanwhile",
      gpu, f.kernel, f.workgroup, f.wave, f.bytes, f.address, f.times, f.value);
}

}  // namespace t3vp
