#include "io/rank_ends.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <string_view>

#include "io/console.h"
#include "io/exit_code.h"
#include "io/output_file.h"

namespace t3vp {
namespace {

static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

std::atomic<RankPage*> shared_page{nullptr};
std::uint32_t own_rank = 0;

/// A line in a handler of signals, which may not use the heap.
class HandlerLine {
 public:
  template <typename... Values>
  void add(fmt::format_string<const Values&...> text, const Values&... values) {
    const std::size_t room = text_.size() - length_;
    length_ += std::min(room, fmt::format_to_n(text_.data() + length_, room, text, values...).size);
  }
  bool empty() const { return length_ == 0; }
  std::string_view view() const { return {text_.data(), length_}; }

 private:
  std::array<char, 4096> text_{};
  std::size_t length_ = 0;
};

bool has_died(const RankPage::Rank& rank) {
  const int process = rank.process;
  return process != 0 && !rank.is_over && kill(process, 0) != 0 && errno == ESRCH;
}

void name_dead_ranks(const RankPage& page, HandlerLine& line) {
  for (std::uint32_t rank = 0; rank < RankPage::most; ++rank)
    if (has_died(page.ranks[rank]))
      line.add("{}rank {} (process {})", line.empty() ? "t3vp: " : ", ", rank, page.ranks[rank].process.load());
  if (!line.empty())
    line.add(
        " has been killed or has ended by itself: see the kernel's log for a lack of memory, and start the run "
        "again\n");
}

void name_signal(int signal_number, int sender, HandlerLine& line) {
  const char* const name = sigabbrev_np(signal_number);
  line.add("t3vp: rank {} has been ended by signal {}", own_rank, signal_number);
  if (name != nullptr) line.add(" (SIG{})", name);
  if (sender != 0) line.add(" from process {}", sender);
  line.add("\n");
}

void end_rank(int signal_number, int sender) {
  if (RankPage* const page = shared_page) {
    page->ranks[own_rank].is_over = true;
    if (!reports_end()) _exit(failed);
    static HandlerLine line;
    name_dead_ranks(*page, line);
    if (line.empty() && sender != getppid()) name_signal(signal_number, sender, line);
    write_all(STDERR_FILENO, line.view());
  }
  _exit(failed);
}

}  // namespace

EndOfRank::EndOfRank(RankPage& page, std::uint32_t rank) {
  if (rank >= RankPage::most) return;  // in more processes than a run can have
  own_rank = rank;
  page.ranks[rank].process = getpid();
  shared_page = &page;
  end_on_signals(&end_rank);
}

EndOfRank::~EndOfRank() {
  if (RankPage* const page = shared_page.exchange(nullptr)) page->ranks[own_rank].is_over = true;
}

bool reports_end() {
  RankPage* const page = shared_page;
  return page == nullptr || !page->is_reported.exchange(true);
}

}  // namespace t3vp
