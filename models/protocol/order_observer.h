// What blocks tell whoever checks for races: what begins behind what, and what shows that something has ended. Accesses
// carry the point at which they were made (DataExtension::order).
//
// A block has a null pointer where nobody checks. It tells nothing that changes a simulated time.
#pragma once

#include <cstdint>
#include <string>

namespace t3vp {

/// A place in the program of a wave, a host or an engine, with all that is ordered before it: a number of the
/// observer's. 0: nothing is known.
using OrderPoint = std::uint32_t;

class OrderObserver {
 public:
  virtual ~OrderObserver() = default;

  /// Returns the first point, behind all that is before either.
  virtual OrderPoint join(OrderPoint one, OrderPoint other) = 0;

  /// Waves of a kernel, which begin behind the point. Returns the number of the first one; the others follow.
  virtual std::uint32_t begin_waves(std::uint16_t gpu, const std::string& kernel, std::uint32_t waves_per_workgroup,
                                    std::uint32_t waves, OrderPoint behind) = 0;
  /// Returns where the wave's program is.
  virtual OrderPoint point_of_wave(std::uint32_t wave) = 0;
  /// So many waves go on behind the point.
  virtual void let_waves_follow(std::uint32_t first_wave, std::uint32_t waves, OrderPoint point) = 0;
  /// So many waves have met in a barrier: each goes on behind all.
  virtual void meet(std::uint32_t first_wave, std::uint32_t waves) = 0;
  /// Returns the point behind all of them.
  virtual OrderPoint end_waves(std::uint32_t first_wave, std::uint32_t waves) = 0;

  /// Agents of a GPU that are not waves are known by their names, constant texts: its host program, its NIC.
  static constexpr const char* program = "program";
  static constexpr const char* nic = "NIC";
  static constexpr const char* dma = "DMA engine";
  /// Returns where the agent is.
  virtual OrderPoint point_of(std::uint16_t gpu, const char* agent) = 0;
  /// Returns the same for somebody else to see. What the agent does from now on is behind it.
  virtual OrderPoint release(std::uint16_t gpu, const char* agent) = 0;
  /// The agent goes on behind the point.
  virtual void follow(std::uint16_t gpu, const char* agent, OrderPoint point) = 0;
  /// A transfer of the agent begins behind the point, and not behind others of its transfers.
  virtual OrderPoint begin_transfer(std::uint16_t gpu, const char* agent, OrderPoint behind) = 0;

  /// Whoever reads the register at this address is behind the point; at a block's base: any register of the block.
  virtual void show(std::uint64_t address, OrderPoint point) = 0;
  /// A host program gives, or has got, what the hosts exchange.
  virtual void exchange(std::uint16_t gpu) = 0;
};

/// A block that tells it.
class OrderTeller {
 public:
  virtual ~OrderTeller() = default;
  /// The observer outlives the block.
  virtual void tell_order_to(OrderObserver* observer) { order_ = observer; }

 protected:
  OrderObserver* order_ = nullptr;
};

}  // namespace t3vp
