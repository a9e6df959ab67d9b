
#include <algorithm>
#include <catch2/catch.hpp>

#include "topologies.h"

namespace t3vp::test::topology_test {

namespace {

using Dimensions = std::vector<std::uint32_t>;

std::uint32_t product(const Dimensions& dimensions) {
  std::uint32_t result = 1;
  for (const std::uint32_t size : dimensions) result *= size;
  return result;
}

std::vector<Placement> placements_of(const Topology& topology, std::uint32_t gpus) {
  return lay_out({{}, topology}, gpus).gpus;
}

/// The GPUs on a packet's way, without the first one.
std::vector<std::uint32_t> way(const std::vector<Placement>& placements, std::uint32_t from, std::uint32_t to) {
  std::vector<std::uint32_t> gpus;
  while (from != to && gpus.size() <= placements.size()) {
    from = placements[from].neighbours.at(placements[from].route[to].port);
    gpus.push_back(from);
  }
  return gpus;
}

/// How far two GPUs are apart in a torus.
std::uint32_t distance(const Dimensions& dimensions, std::uint32_t from, std::uint32_t to) {
  std::uint32_t hops = 0;
  for (const std::uint32_t size : dimensions) {
    const std::uint32_t backward = (from % size + size - to % size) % size;
    hops += std::min(backward, size - backward);
    from /= size;
    to /= size;
  }
  return hops;
}

const std::vector<Dimensions> tori = {{2}, {3}, {4}, {9}, {2, 2}, {4, 2}, {3, 5}, {2, 3, 4}};

}  // namespace

TEST_CASE("every route of a torus leads to its GPU on the shortest way") {
  for (const Dimensions& dimensions : tori) {
    const std::vector<Placement> placements = placements_of(torus_of(dimensions), product(dimensions));
    REQUIRE(placements.size() == product(dimensions));
    for (std::uint32_t from = 0; from < placements.size(); ++from)
      for (std::uint32_t to = 0; to < placements.size(); ++to) {
        if (from == to) continue;
        INFO(Catch::StringMaker<Dimensions>::convert(dimensions) << ", " << from << " to " << to);
        CHECK(way(placements, from, to).size() == distance(dimensions, from, to));
        CHECK(way(placements, from, to).back() == to);
      }
  }
}

TEST_CASE("a ring is a torus of one dimension and its way leads backwards when both are as long") {
  for (std::uint32_t gpus = 1; gpus <= 9; ++gpus) {
    const std::vector<Placement> ring = placements_of({}, gpus), same = placements_of(torus_of({gpus}), gpus);
    for (std::uint32_t gpu = 0; gpu < gpus; ++gpu) {
      CHECK(ring[gpu].neighbours == same[gpu].neighbours);
      if (gpus > 1) CHECK(ring[gpu].neighbours[0] == (gpu + gpus - 1) % gpus);
      if (gpus % 2 == 0) CHECK(ring[gpu].route[(gpu + gpus / 2) % gpus].port == 0);
    }
  }
}

TEST_CASE("fully connected GPUs have a link to each other one") {
  for (const std::uint32_t gpus : {1u, 2u, 3u, 8u, most_ports + 1}) {
    const std::vector<Placement> placements = placements_of(of_kind(Topology::Kind::fully_connected), gpus);
    for (std::uint32_t from = 0; from < gpus; ++from) {
      CHECK(placements[from].neighbours.size() == gpus - 1);
      for (std::uint32_t to = 0; to < gpus; ++to)
        if (to != from) CHECK(way(placements, from, to).size() == 1);
    }
  }
}

TEST_CASE("as many links lead to a GPU as its placement says") {
  for (const Dimensions& dimensions : tori) {
    const std::vector<Placement> placements = placements_of(torus_of(dimensions), product(dimensions));
    for (const Placement& placement : placements) {
      std::size_t links = 0;
      for (const Placement& other : placements)
        links += static_cast<std::size_t>(std::count(other.neighbours.begin(), other.neighbours.end(), placement.gpu));
      CHECK(links == placement.receivers);
    }
  }
}

namespace {

/// A GPU or a switch, as links have their ends: switches are numbered behind the GPUs.
std::uint32_t number_of(const interconnect::LinkEnd& end, const Fabric& fabric) {
  return end.number + (end.is_switch ? static_cast<std::uint32_t>(fabric.gpus.size()) : 0);
}

/// The buffers (a link's channel each) that a packet fills one after the other.
std::vector<std::size_t> buffers_on_the_way(const Fabric& fabric, std::uint32_t from, std::uint32_t to) {
  const std::size_t gpus = fabric.gpus.size();
  std::vector<std::size_t> buffers;
  while (from != to && buffers.size() <= fabric.links.size()) {
    const interconnect::Route& route = from < gpus ? fabric.gpus[from].route : fabric.switches[from - gpus].route;
    std::size_t link = route[to].port;
    for (std::size_t i = 0; number_of(fabric.links[i].from, fabric) < from; ++i) ++link;
    REQUIRE(number_of(fabric.links.at(link).from, fabric) == from);
    buffers.push_back(link * channels_of(fabric) + route[to].channel);
    from = number_of(fabric.links[link].to, fabric);
  }
  REQUIRE(from == to);
  return buffers;
}

/// Which buffer waits for which: a graph, and whether it has a circle.
class Waits {
 public:
  explicit Waits(std::size_t buffers) : of_(buffers), state_(buffers, 0) {}
  void add(std::size_t buffer, std::size_t other) { of_[buffer].push_back(other); }
  bool have_a_circle() {
    for (std::size_t buffer = 0; buffer < of_.size(); ++buffer)
      if (leads_to_a_circle(buffer)) return true;
    return false;
  }

 private:
  bool leads_to_a_circle(std::size_t buffer) {
    if (state_[buffer] != 0) return state_[buffer] == 1;  // met again on the way to it
    state_[buffer] = 1;
    for (const std::size_t other : of_[buffer])
      if (leads_to_a_circle(other)) return true;
    state_[buffer] = 2;
    return false;
  }
  std::vector<std::vector<std::size_t>> of_;
  std::vector<char> state_;
};

/// Stores wait for the buffers of their way, and so do requests, which then wait for those of their answers' way.
enum class Answers { none, of_own_channels, of_the_same_channels };

/// Whether a buffer waits for itself, over any routes (Dally's and Seitz's condition) by brute force.
bool has_circle(const Fabric& fabric, Answers answers = Answers::of_own_channels) {
  const std::size_t buffers = fabric.links.size() * channels_of(fabric);
  const std::size_t of_answers = answers == Answers::of_own_channels ? buffers : 0;
  Waits waits(2 * buffers);
  for (std::uint32_t from = 0; from < fabric.gpus.size(); ++from)
    for (std::uint32_t to = 0; to < fabric.gpus.size(); ++to) {
      std::vector<std::size_t> way = buffers_on_the_way(fabric, from, to);
      if (answers != Answers::none)
        for (const std::size_t buffer : buffers_on_the_way(fabric, to, from)) way.push_back(buffer + of_answers);
      for (std::size_t i = 1; i < way.size(); ++i)
        if (way[i - 1] != way[i]) waits.add(way[i - 1], way[i]);
    }
  return waits.have_a_circle();
}

const std::vector<Topology>& insides() {
  static const std::vector<Topology> list{
      {}, of_kind(Topology::Kind::fully_connected), of_kind(Topology::Kind::switched), torus_of({5})};
  return list;
}

}  // namespace

TEST_CASE("no buffer of a torus waits for itself over any routes") {
  for (const Dimensions& dimensions : tori)
    CHECK_FALSE(has_circle(lay_out({{}, torus_of(dimensions)}, product(dimensions))));
}

namespace {

/// The number of a GPU of a torus as another one counts it that takes itself for 0.
std::uint32_t seen_from(const Dimensions& dimensions, std::uint32_t origin, std::uint32_t gpu) {
  std::uint32_t seen = 0, step = 1;
  for (const std::uint32_t size : dimensions) {
    seen += (gpu % size + size - origin % size) % size * step;
    gpu /= size;
    origin /= size;
    step *= size;
  }
  return seen;
}

}  // namespace

TEST_CASE("a torus with channels by distance is the same from every GPU and no buffer waits for itself") {
  for (const Dimensions& dimensions : std::vector<Dimensions>{{2, 2}, {3, 5}, {4, 4}, {8, 3}, {2, 3, 4}}) {
    INFO(Catch::StringMaker<Dimensions>::convert(dimensions));
    const std::uint32_t gpus = product(dimensions);
    const Fabric fabric = lay_out({{}, alike_torus_of(dimensions)}, gpus);
    const Placement& first = fabric.gpus[0];
    std::size_t link = 0;
    for (std::uint32_t at = 0; at < gpus; ++at) {
      const Placement& placement = fabric.gpus[at];
      REQUIRE(placement.neighbours.size() == first.neighbours.size());
      for (std::uint32_t to = 0; to < gpus; ++to) {
        const interconnect::Hop& hop = placement.route[to];
        const interconnect::Hop& same = first.route[seen_from(dimensions, at, to)];
        REQUIRE((hop.port == same.port && hop.channel == same.channel));
        CHECK(way(fabric.gpus, at, to).size() == distance(dimensions, at, to));
      }
      for (std::size_t port = 0; port < placement.neighbours.size(); ++port, ++link) {
        CHECK(seen_from(dimensions, at, placement.neighbours[port]) == first.neighbours[port]);
        CHECK(fabric.links[link].receiver == fabric.links[port].receiver);
        CHECK(fabric.gpus[placement.neighbours[port]].neighbours[fabric.links[link].receiver] == at);
      }
    }
    CHECK_FALSE(has_circle(fabric));
  }
}

TEST_CASE("one GPU of a torus that stands for all has its links and routes") {
  const Fabric all = lay_out({{}, alike_torus_of({4, 3})}, 12), one = mirrored_torus(all);
  REQUIRE(one.gpus.size() == 1);
  CHECK(one.gpus[0].gpus == 12);
  CHECK(one.gpus[0].receivers == 4);
  REQUIRE(one.links.size() == 4);
  const std::uint32_t inputs[] = {1, 0, 3, 2};
  for (std::size_t port = 0; port < 4; ++port) {
    CHECK(one.links[port].to.number == one.gpus[0].neighbours[port]);
    CHECK(one.links[port].receiver == inputs[port]);
  }
}

TEST_CASE("no buffer of nodes waits for itself whatever they are inside and between") {
  for (const bool one_port : {false, true})
    for (const Topology& inside : insides())
      for (const Topology& between : insides()) {
        CAPTURE(one_port, static_cast<int>(inside.kind), static_cast<int>(between.kind));
        CHECK_FALSE(has_circle(lay_out({{}, nodes_of(5, {{}, inside}, {{}, between}, one_port)}, 25)));
      }
}

TEST_CASE("nodes can be nodes themselves") {
  const LinkTier ring{{}, {}};
  const Topology four = nodes_of(2, ring, ring, true);
  for (const bool one_port : {false, true})
    CHECK_FALSE(has_circle(lay_out({{}, nodes_of(4, {{}, four}, ring, one_port)}, 20)));
}

TEST_CASE("a node's ports lead inside first and then to the same place of other nodes") {
  const Fabric fabric = lay_out({{}, nodes_of(3, {{}, of_kind(Topology::Kind::fully_connected)}, {{}, {}}, false)}, 12);
  CHECK(fabric.gpus[4].neighbours == std::vector<std::uint32_t>{3, 5, 1, 7});
  CHECK(fabric.gpus[4].route[11].port == 2);  // by its own place to node 3, the shorter way back
  CHECK(fabric.gpus[10].route[11].port == 1);
  CHECK(fabric.switches.empty());
}

TEST_CASE("only the first GPU of a node is joined with others when a node has one port") {
  const Fabric fabric = lay_out({{}, nodes_of(3, {{}, {}}, {{}, of_kind(Topology::Kind::switched)}, true)}, 9);
  REQUIRE(fabric.switches.size() == 1);
  CHECK(fabric.switches[0].neighbours == std::vector<std::uint32_t>{0, 3, 6});
  CHECK(fabric.gpus[3].neighbours == std::vector<std::uint32_t>{5, 4, 9});
  CHECK(fabric.gpus[4].neighbours == std::vector<std::uint32_t>{3, 5});
  CHECK(fabric.gpus[4].route[8].port == 0);
  CHECK(fabric.gpus[4].route[8].channel != fabric.gpus[4].route[3].channel);
}

TEST_CASE("nothing leads from one node to another where no link joins them") {
  Topology topology = of_kind(Topology::Kind::nodes);
  topology.gpus_per_node = 2;
  topology.tiers = {{{}, of_kind(Topology::Kind::switched)}};
  const Fabric fabric = lay_out({{}, topology}, 6);
  CHECK(fabric.links.size() == 12);
  CHECK(fabric.switches.size() == 3);
  CHECK_FALSE(joins_all(fabric));
  for (std::uint32_t from = 0; from < 6; ++from)
    for (std::uint32_t to = 0; to < 6; ++to)
      CHECK((fabric.gpus[from].route[to].port != interconnect::no_port) == (from != to && from / 2 == to / 2));
  CHECK(joins_all(lay_out({{}, topology}, 2)));
  topology.gpus_per_node = 1;
  topology.tiers = {{}};
  CHECK(lay_out({{}, topology}, 3).links.empty());
  CHECK(joins_all(lay_out({{}, {}}, 3)));
}

TEST_CASE("links have the parameters of their tier") {
  interconnect::LinkParameters fast, slow;
  fast.bandwidth_GBps = 300;
  slow.bandwidth_GBps = 25;
  const Topology switched = of_kind(Topology::Kind::switched);
  const Fabric fabric = lay_out({{}, nodes_of(2, {fast, switched}, {slow, {}}, false)}, 4);
  for (const LinkPlacement& link : fabric.links) {
    const bool is_inside = link.from.is_switch || link.to.is_switch;
    CHECK(link.parameters.bandwidth_GBps == (is_inside ? 300 : 25));
  }
}

TEST_CASE("no buffer waits for itself though requests wait until their answers have left") {
  const Topology full = of_kind(Topology::Kind::fully_connected), switched = of_kind(Topology::Kind::switched);
  for (const Dimensions& dimensions : tori) {
    const Fabric fabric = lay_out({{}, torus_of(dimensions)}, product(dimensions));
    INFO(Catch::StringMaker<Dimensions>::convert(dimensions));
    CHECK_FALSE(has_circle(fabric));
    CHECK(has_circle(fabric, Answers::of_the_same_channels));
  }
  for (const Topology& topology : {full, switched}) {
    const Fabric fabric = lay_out({{}, topology}, 5);
    CHECK_FALSE(has_circle(fabric, Answers::none));
    CHECK_FALSE(has_circle(fabric));
    CHECK(has_circle(fabric, Answers::of_the_same_channels));
  }
}

}  // namespace t3vp::test::topology_test
