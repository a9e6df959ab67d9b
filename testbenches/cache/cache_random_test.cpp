// Random accesses of all sizes and shapes against a byte-exact reference, and with data against without.
#include <algorithm>
#include <catch2/catch.hpp>
#include <deque>
#include <random>

#include "cache_bench.h"

namespace t3vp::test::cache_random_test {

using namespace cache;

namespace {

constexpr std::uint32_t line = 128, sector = 32;

class RandomAccesses {
 public:
  RandomAccesses(unsigned seed, std::uint64_t bytes) : random_(seed), bytes_(bytes) {}

  std::uint32_t below(std::uint64_t n) { return static_cast<std::uint32_t>(random_() % n); }
  /// One row or a few; whole sectors as often as not. The rows do not overlap.
  Shape shape() {
    const std::uint32_t unit = below(2) == 0 ? sector : 1;
    const std::uint32_t row_bytes = unit * (1 + below(unit == 1 ? 3 * line : 8));
    if (below(2) == 0) return {1, row_bytes, 0};
    return {2 + below(5), row_bytes, row_bytes + std::uint64_t{unit} * below(unit == 1 ? 300 : 12)};
  }
  std::uint64_t address(const Shape& shape) {
    const std::uint64_t end = (shape.rows - 1) * shape.stride + shape.row_bytes;
    const std::uint64_t at = below(bytes_ - end);
    return shape.row_bytes % sector == 0 ? at / sector * sector : at;
  }

 private:
  std::mt19937 random_;
  std::uint64_t bytes_;
};

/// Calls visit(address, place in the packed data) for every byte of an access.
template <typename Visit>
void for_each_byte(std::uint64_t address, const Shape& shape, Visit visit) {
  for (std::uint64_t i = 0; i < shape.bytes(); ++i)
    visit(address + i / shape.row_bytes * shape.stride + i % shape.row_bytes, i);
}

/// Loads see every earlier store and peer's write, and may see those that come before their answer.
class Memory {
 public:
  explicit Memory(std::uint64_t bytes) : bytes_(bytes) {}

  void write(std::uint64_t address, const Shape& shape, const unsigned char* data) {
    for_each_byte(address, shape, [&](std::uint64_t at, std::uint64_t i) { bytes_[at].push_back({writes_, data[i]}); });
    ++writes_;
  }
  /// Now, for wrong().
  std::uint64_t time() const { return writes_; }
  unsigned char latest(std::uint64_t at) const { return bytes_[at].empty() ? 0 : bytes_[at].back().second; }
  /// Bytes that had no such value between the two times.
  std::uint64_t wrong(std::uint64_t address, const Shape& shape, const std::vector<unsigned char>& data,
                      std::uint64_t begin, std::uint64_t end) const {
    std::uint64_t count = 0;
    for_each_byte(address, shape, [&](std::uint64_t at, std::uint64_t i) {
      unsigned char before = 0;
      bool right = false;
      for (const auto& [time, value] : bytes_[at]) {
        if (time < begin) before = value;
        if (time >= begin && time < end) right = right || value == data[i];
      }
      if (!right && data[i] != before) ++count;
    });
    return count;
  }

 private:
  std::vector<std::vector<std::pair<std::uint64_t, unsigned char>>> bytes_;  ///< values with the time of their writing
  std::uint64_t writes_ = 0;
};

struct Outstanding {
  std::size_t number;
  std::uint64_t address;
  Shape shape;
  std::uint64_t begin;
};

void check_against_memory(const CacheParameters& parameters, unsigned seed) {
  CacheBench bench(parameters);
  const std::uint64_t bytes = std::max<std::uint64_t>(4 * parameters.capacity_bytes, 8'192);
  RandomAccesses random(seed, bytes);
  Memory memory(bytes);
  std::deque<Outstanding> loads;
  const auto check_answered = [&] {
    for (std::size_t i = loads.size(); i-- > 0;) {
      const Outstanding load = loads[i];
      const Requester::Answer& answer = bench.compute.answers[load.number];
      if (!answer.done) continue;
      CAPTURE(seed, load.number, load.address, load.shape.rows, load.shape.row_bytes, load.shape.stride);
      REQUIRE(answer.status == tlm::TLM_OK_RESPONSE);
      REQUIRE(memory.wrong(load.address, load.shape, answer.data, load.begin, memory.time()) == 0);
      loads.erase(loads.begin() + static_cast<std::ptrdiff_t>(i));
    }
  };
  for (int step = 0; step < 4'000; ++step) {
    const std::uint32_t what = random.below(100);
    const Shape shape = random.shape();
    const std::uint64_t address = random.address(shape);
    const Picoseconds delay = random.below(2) * random.below(600'000);
    Requester& requester = what < 85 ? bench.compute : bench.peer;
    Transaction& transaction = requester.make(what < 45 ? Operation::load : Operation::store, address, shape);
    transaction.attach_buffer();
    if (what < 45) {
      loads.push_back({transaction.extension().token, address, shape, memory.time()});
    } else {
      for (std::uint64_t i = 0; i < shape.bytes(); ++i)
        transaction.get_data_ptr()[i] = static_cast<unsigned char>(random.below(256));
      memory.write(address, shape, transaction.get_data_ptr());
    }
    requester.send(transaction, delay);
    if (random.below(3) == 0) bench.wait(random.below(4) * 100'000);
    check_answered();
    if (random.below(400) == 0) bench.flush();
    if (random.below(400) != 0) continue;
    bench.settle();
    check_answered();
    REQUIRE(loads.empty());
    bench.flush();
    bench.settle();
    REQUIRE(!bench.busy());
    std::uint64_t wrong = 0;
    for (std::uint64_t at = 0; at < bytes; ++at) wrong += *bench.memory.at(at) != memory.latest(at) ? 1u : 0u;
    REQUIRE(wrong == 0);
  }
}

}  // namespace

TEST_CASE("random accesses of any shape: no byte is lost, none is stale") {
  check_against_memory(CacheBench::of_sets(4, 4), 1);
}

TEST_CASE("random accesses to a cache whose lines are all under way most of the time") {
  check_against_memory(CacheBench::fully_associative(3), 2);
}

TEST_CASE("random accesses to a cache of large lines and sectors") {
  CacheParameters parameters = CacheBench::of_sets(2, 4);
  parameters.line_bytes = 512;
  parameters.sector_bytes = 64;
  parameters.capacity_bytes = 2 * 4 * 512;
  check_against_memory(parameters, 3);
}

TEST_CASE("random accesses to a cache that answers before its fills arrive") {
  CacheParameters parameters = CacheBench::of_sets(4, 2);
  parameters.latency = 5'000;
  check_against_memory(parameters, 4);
}

namespace {

struct Access {
  Shape shape;
  std::uint64_t address;
  std::uint32_t what;  ///< below 45 a load, from 85 on of the peer, 99 also a flush
};

/// Accesses without data may find their block in the cache as a whole; those with data ask the tags for each line.
template <typename Next>
void require_same_with_data_and_without(const CacheParameters& parameters, RandomAccesses& random, Next&& next) {
  sc_core::sc_report_handler::set_actions(sc_core::SC_ID_INSTANCE_EXISTS_, sc_core::SC_DO_NOTHING);
  CacheBench with_data(parameters, false), without(parameters);
  for (int step = 0; step < 10'000; ++step) {
    const Access access = next();
    const Picoseconds delay = random.below(2) * random.below(600'000);
    for (CacheBench* bench : {&with_data, &without}) {
      Requester& requester = access.what < 85 ? bench->compute : bench->peer;
      Transaction& transaction =
          requester.make(access.what < 45 ? Operation::load : Operation::store, access.address, access.shape);
      if (bench == &with_data) transaction.attach_buffer();
      requester.send(transaction, delay);
      if (access.what == 99) bench->flush();
    }
    if (random.below(3) == 0) with_data.wait(random.below(4) * 100'000);
  }
  with_data.settle();
  for (const auto requester : {&CacheBench::compute, &CacheBench::peer})
    for (std::size_t i = 0; i < (with_data.*requester).answers.size(); ++i)
      REQUIRE((with_data.*requester).answers[i].time == (without.*requester).answers[i].time);
  REQUIRE(with_data.memory.log.size() == without.memory.log.size());
  for (std::size_t i = 0; i < with_data.memory.log.size(); ++i) {
    const LoggedAccess &a = with_data.memory.log[i], &b = without.memory.log[i];
    REQUIRE((a.has_data && !b.has_data));
    REQUIRE((a.arrival == b.arrival && a.address == b.address && a.operation == b.operation));
    REQUIRE((a.shape.rows == b.shape.rows && a.shape.row_bytes == b.shape.row_bytes && a.traffic == b.traffic));
  }
  for (const char* name : {"hits", "misses", "stores", "write_backs", "dropped"})
    REQUIRE(with_data.statistic(name) == without.statistic(name));
}

}  // namespace

TEST_CASE("the same accesses take the same time and traffic with data and without") {
  const CacheParameters parameters = CacheBench::of_sets(4, 4);
  RandomAccesses random(7, 4 * parameters.capacity_bytes);
  require_same_with_data_and_without(parameters, random, [&random]() -> Access {
    const std::uint32_t what = random.below(100);
    const Shape shape = random.shape();
    return {shape, random.address(shape), what};
  });
}

TEST_CASE("blocks that are loaded again and again take the same time with data and without") {
  const CacheParameters parameters = CacheBench::of_sets(8, 8);
  RandomAccesses random(8, 2 * parameters.capacity_bytes);
  std::vector<Access> blocks;
  while (blocks.size() < 12) {
    const Shape shape = random.shape();
    if (shape.rows > 1) blocks.push_back({shape, random.address(shape), 0});
  }
  require_same_with_data_and_without(parameters, random, [&]() -> Access {
    Access access = blocks[random.below(blocks.size())];
    const std::uint32_t what = random.below(1000);
    access.what = what < 940 ? 0 : what < 960 ? 50 : what < 999 ? 90 : 99;
    if (access.what == 0) return access;
    access.shape = {1, 1 + random.below(2 * sector), 0};  // a part of it is stored
    return access;
  });
}

}  // namespace t3vp::test::cache_random_test
