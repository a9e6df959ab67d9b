// Which memory is not what it would be with data, in a run without: stores of tensors carry none there, so that what is
// real in every run, integers of fetch-and-adds, flags and queues, must not meet them. A bit for each 32 bytes of
// either kind.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

namespace t3vp::memory {

class DatalessSectors {
 public:
  static constexpr std::uint64_t sector_bytes = 32;

  explicit DatalessSectors(std::uint64_t memory_bytes) : stored_{memory_bytes}, real_{memory_bytes} {}

  void note_store(std::uint64_t address, std::uint64_t bytes) { stored_.set(address, bytes); }
  void forget_store(std::uint64_t address, std::uint64_t bytes) { stored_.clear(address, bytes); }
  bool is_stored(std::uint64_t address, std::uint64_t bytes) const { return stored_.any(address, bytes); }
  void note_real(std::uint64_t address, std::uint64_t bytes) { real_.set(address, bytes); }
  bool is_real(std::uint64_t address, std::uint64_t bytes) const { return real_.any(address, bytes); }

 private:
  /// Zeroed memory of the host from the first bit on, which gives pages to what is used.
  class Bits {
   public:
    explicit Bits(std::uint64_t memory_bytes)
        : count_(static_cast<std::size_t>(memory_bytes / sector_bytes / 64 + 1)) {}
    void set(std::uint64_t address, std::uint64_t bytes) {
      if (!words_) words_.reset(static_cast<std::uint64_t*>(std::calloc(count_, sizeof(std::uint64_t))));
      if (!words_) throw std::bad_alloc();
      visit(address, bytes, [](std::uint64_t& word, std::uint64_t mask) {
        word |= mask;
        return false;
      });
    }
    void clear(std::uint64_t address, std::uint64_t bytes) {
      if (!words_) return;
      visit(address, bytes, [](std::uint64_t& word, std::uint64_t mask) {
        word &= ~mask;
        return false;
      });
    }
    bool any(std::uint64_t address, std::uint64_t bytes) const {
      return words_ != nullptr &&
             visit(address, bytes, [](std::uint64_t& word, std::uint64_t mask) { return (word & mask) != 0; });
    }

   private:
    struct Free {
      void operator()(std::uint64_t* words) const { std::free(words); }
    };
    /// Calls `does` for each until it returns true.
    template <typename Does>
    bool visit(std::uint64_t address, std::uint64_t bytes, Does does) const {
      const std::uint64_t first = address / sector_bytes, last = (address + bytes - 1) / sector_bytes;
      for (std::uint64_t word = first / 64; word <= last / 64; ++word) {
        const std::uint64_t low = word == first / 64 ? first % 64 : 0, high = word == last / 64 ? last % 64 : 63;
        const std::uint64_t mask = (~std::uint64_t{0} >> (63 - high)) & (~std::uint64_t{0} << low);
        if (does(words_.get()[word], mask)) return true;
      }
      return false;
    }
    std::size_t count_;
    std::unique_ptr<std::uint64_t[], Free> words_;
  };

  Bits stored_, real_;
};

}  // namespace t3vp::memory
