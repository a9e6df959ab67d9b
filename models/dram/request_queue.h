// The waiting entries of a channel: per bank and class a list in order of entry, over one array. Plain C++, no SystemC.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "dram/bank_mask.h"

namespace t3vp::dram {

enum class Kind : std::uint8_t { read, write, update };  ///< update: near-memory op-and-store (T3 4.3)

/// Column accesses at consecutive addresses of one block of 256 bytes.
struct Access {
  std::uint64_t address = 0;  ///< channel-local, in bytes
  Kind kind = Kind::read;
  std::uint32_t tag = 0;       ///< handed back when done
  std::uint32_t accesses = 1;  ///< in an exact channel one
};

struct Request {
  std::uint64_t address;
  std::uint32_t row, tag, order, next;
  std::uint8_t bank;
  Kind kind;
  std::uint16_t accesses;  ///< of this row of this bank
};

/// Orders wrap around.
inline bool older(std::uint32_t order, std::uint32_t than) { return static_cast<std::int32_t>(order - than) < 0; }

/// Banks in the order of their requests' entry; the youngest enters near the end, the oldest leaves near the front.
template <class Banks>
class BanksByAge {
 public:
  void insert(std::uint32_t bank, std::uint32_t order) {
    std::size_t at = count_++;
    for (; at > 0 && older(order, entries_[at - 1].order); --at) entries_[at] = entries_[at - 1];
    entries_[at] = {bank, order};
  }

  void erase(std::uint32_t bank) {
    std::size_t at = 0;
    while (entries_[at].bank != bank) ++at;
    for (--count_; at < count_; ++at) entries_[at] = entries_[at + 1];
  }

  /// The set must not be empty, and its banks must all be here.
  std::uint32_t oldest(Banks banks) const {
    std::size_t at = 0;
    while ((banks >> entries_[at].bank & 1) == 0) ++at;
    return entries_[at].bank;
  }

 private:
  struct Entry {
    std::uint32_t bank, order;
  };
  std::array<Entry, capacity_of<Banks>> entries_{};
  std::size_t count_ = 0;
};

inline constexpr std::uint32_t most_queue_entries = 0xfffe;  ///< of all classes together

template <class Banks>
class RequestQueue {
 public:
  /// Classes are 1 (all accesses in one order per bank) or 2 (reads; writes and updates), of `depth` entries each.
  /// Requests of one block of 1 << `block_bits` bytes keep their order.
  RequestQueue(std::uint32_t depth, std::uint32_t classes, std::uint32_t block_bits);

  std::uint32_t class_of(Kind kind) const { return kind == Kind::read ? 0 : classes_ - 1; }
  std::uint32_t waiting(std::uint32_t cls) const { return waiting_[cls]; }
  Banks banks_waiting(std::uint32_t cls) const { return banks_[cls]; }

  void push(const Access& access, std::uint32_t bank, std::uint32_t row) {
    const std::uint32_t slot = free_;
    Request& request = pool_[slot];
    free_ = request.next;
    request = {access.address, row,
               access.tag,     order_++,
               none,           static_cast<std::uint8_t>(bank),
               access.kind,    static_cast<std::uint16_t>(access.accesses)};
    const std::uint32_t cls = class_of(access.kind);
    List& list = lists_[cls][bank];
    if (list.head == none)
      list.head = slot;
    else
      pool_[list.tail].next = slot;
    list.tail = slot;
    banks_[cls] |= bit_of<Banks>(bank);
    ++waiting_[cls];
    if (classes_ == 2) ++same_hash_[cls][hash(access.address)];
  }

  /// Takes the request a bank should serve next: the oldest of the open row, else the oldest (first-ready,
  /// first-come-first-served). An older request of the other class to the same address goes first. Its slot, which
  /// holds it until done().
  std::uint32_t take(std::uint32_t cls, std::uint32_t bank, std::uint32_t open_row) {
    const List& list = lists_[cls][bank];
    std::uint32_t previous = none, slot = list.head;
    while (slot != none && pool_[slot].row != open_row) {
      previous = slot;
      slot = pool_[slot].next;
    }
    if (slot == none) {
      previous = none;
      slot = list.head;
    }
    if (classes_ == 2 && same_hash_[1 - cls][hash(pool_[slot].address)] != 0)
      return take_oldest_of_address(cls, slot, previous);
    return remove(cls, bank, slot, previous);
  }

  const Request& operator[](std::uint32_t slot) const { return pool_[slot]; }
  void done(std::uint32_t slot) {
    pool_[slot].next = free_;
    free_ = slot;
  }

 private:
  static constexpr std::uint32_t none = 0xffffffff;
  struct List {
    std::uint32_t head = none, tail = none;
  };

  std::uint32_t hash(std::uint64_t address) const {
    const std::uint64_t block = address >> block_bits_;
    return static_cast<std::uint32_t>((block ^ block >> 10) & 1023);
  }

  std::uint32_t take_oldest_of_address(std::uint32_t cls, std::uint32_t slot, std::uint32_t previous);

  std::uint32_t remove(std::uint32_t cls, std::uint32_t bank, std::uint32_t slot, std::uint32_t previous) {
    List& list = lists_[cls][bank];
    const Request& request = pool_[slot];
    if (previous == none)
      list.head = request.next;
    else
      pool_[previous].next = request.next;
    if (list.tail == slot) list.tail = previous;
    if (list.head == none) banks_[cls] &= ~bit_of<Banks>(bank);
    --waiting_[cls];
    if (classes_ == 2) --same_hash_[cls][hash(request.address)];
    return slot;
  }

  std::uint32_t classes_, block_bits_;
  std::vector<Request> pool_;  ///< those that wait, and those that banks have taken
  std::uint32_t free_ = 0;
  std::uint32_t order_ = 0;
  std::array<std::uint32_t, 2> waiting_{};
  std::array<Banks, 2> banks_{};
  std::array<std::array<List, capacity_of<Banks>>, 2> lists_;
  std::array<std::array<std::uint16_t, 1024>, 2> same_hash_{};
};

}  // namespace t3vp::dram
