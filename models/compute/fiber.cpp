#include "compute/fiber.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <boost/context/detail/fcontext.hpp>
#include <cstdint>
#include <cstring>
#include <new>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace t3vp::compute {
namespace {

namespace context = boost::context::detail;

#if defined(__SANITIZE_ADDRESS__)
constexpr bool with_sanitizer = true;
constexpr std::size_t sanitizer_factor = 4;  // frames with red zones
void leave(void** frames, const void* bottom, std::size_t bytes) {
  __sanitizer_start_switch_fiber(frames, bottom, bytes);
}
void arrive(void* frames, const void** bottom, std::size_t* bytes) {
  __sanitizer_finish_switch_fiber(frames, bottom, bytes);
}
/// A program that was forgotten has left its red zones behind.
void forget_frames(const void* bottom, std::size_t bytes) { __asan_unpoison_memory_region(bottom, bytes); }
#else
constexpr bool with_sanitizer = false;
constexpr std::size_t sanitizer_factor = 1;
void leave(void**, const void*, std::size_t) {}
void arrive(void*, const void**, std::size_t*) {}
void forget_frames(const void*, std::size_t) {}
#endif

constexpr std::size_t stacks_of_mapping = 64;
constexpr std::size_t canaries = 8;
constexpr std::uint64_t canary = 0x7433767063616e79;

std::size_t page() {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

std::size_t guard_of_each() { return with_sanitizer ? page() : 0; }

}  // namespace

FiberStacks::FiberStacks(std::size_t bytes) : bytes_((bytes * sanitizer_factor + page() - 1) / page() * page()) {}

FiberStacks::~FiberStacks() {
  for (void* mapping : mappings_) {
    forget_frames(mapping, mapped());
    munmap(mapping, mapped());
  }
}

std::size_t FiberStacks::mapped() const { return page() + stacks_of_mapping * (bytes_ + guard_of_each()); }

bool FiberStacks::have(const void* frame) const {
  return std::any_of(mappings_.begin(), mappings_.end(), [this, frame](const void* mapping) {
    return frame >= mapping && frame < static_cast<const void*>(static_cast<const unsigned char*>(mapping) + mapped());
  });
}

/// A guard page below all of them, and below each where there is one for each.
void FiberStacks::map() {
  const std::size_t each = bytes_ + guard_of_each();
  void* const mapping =
      mmap(nullptr, mapped(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) throw std::bad_alloc();
  mappings_.push_back(mapping);
  auto* bottom = static_cast<unsigned char*>(mapping);
  mprotect(bottom, page(), PROT_NONE);
  bottom += page();
  for (std::size_t i = 0; i < stacks_of_mapping; ++i, bottom += each) {
    if (guard_of_each() != 0) mprotect(bottom + bytes_, guard_of_each(), PROT_NONE);
    free_.push_back({bottom, bytes_});
  }
}

FiberStack FiberStacks::take() {
  if (free_.empty()) map();
  const FiberStack stack = free_.back();
  free_.pop_back();
  return stack;
}

struct Fiber::Entry {
  [[noreturn]] static void run(context::transfer_t from) {
    auto& fiber = *static_cast<Fiber*>(from.data);
    fiber.switched_in(from.fctx);
    fiber.program_(fiber.argument_);
    for (;;) fiber.yield(nullptr);
  }
};

void Fiber::start(const FiberStack& stack, Program program, void* argument) {
  forget_frames(stack.bottom, stack.bytes);
  stack_ = stack;
  program_ = program;
  argument_ = argument;
  own_frames_ = nullptr;
  std::fill_n(reinterpret_cast<std::uint64_t*>(stack.bottom), canaries, canary);
  context_ = context::make_fcontext(stack.bottom + stack.bytes, stack.bytes, &Entry::run);
}

const void* Fiber::resume() {
  void* frames = nullptr;
  leave(&frames, stack_.bottom, stack_.bytes);
  const context::transfer_t back = context::jump_fcontext(context_, this);
  arrive(frames, nullptr, nullptr);
  context_ = back.fctx;
  return back.data;
}

void Fiber::switched_in(void* caller) {
  arrive(own_frames_, &caller_bottom_, &caller_bytes_);
  caller_ = caller;
}

void Fiber::yield(const void* what) {
  leave(&own_frames_, caller_bottom_, caller_bytes_);
  const context::transfer_t back = context::jump_fcontext(caller_, const_cast<void*>(what));
  switched_in(back.fctx);
}

bool Fiber::intact() const {
  const auto* words = reinterpret_cast<const std::uint64_t*>(stack_.bottom);
  return std::all_of(words, words + canaries, [](std::uint64_t word) { return word == canary; });
}

}  // namespace t3vp::compute
