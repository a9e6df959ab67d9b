// Operations that follow a reduction, near memory (T3 section 7.6): between the Tracker and the DMA engine. When the
// Tracker has counted a tile of a chunk that is staged in the registers, the unit adds a bias, drops elements, adds a
// residual, and then passes the trigger on. Every other trigger passes at once.
//
// Operands come through the DRAM queues as communication. Without dropout the unit sends one update of the tile, which
// the ALUs near the banks add. With dropout it loads the tile and stores the result.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "protocol/component.h"
#include "protocol/data_sockets.h"
#include "protocol/event_queue.h"
#include "protocol/transaction_pool.h"
#include "registers/near_memory.h"

namespace t3vp::memory {

class FollowingOperations : public sc_core::sc_module, public Component {
 public:
  DataTargetSocket<FollowingOperations> trigger{"trigger", this, &FollowingOperations::triggered};
  /// It leads to the DMA engine, as the Tracker's trigger.
  DataInitiatorSocket<FollowingOperations> complete{"complete", this, &FollowingOperations::passed};
  /// It leads to the controller's port.
  DataInitiatorSocket<FollowingOperations> memory{"memory", this, &FollowingOperations::accessed};

  FollowingOperations(const sc_core::sc_module_name& name, registers::NearMemory& registers, bool functional,
                      std::uint16_t gpu);

  /// Forgets all tiles. It is called when the near-memory unit is reset, whose registers it has.
  void reset();
  const char* group() const override { return "following"; }
  std::vector<std::string> diagnosis() const override;

 private:
  enum Operand : std::uint8_t { sum, bias, residual, operand_count };
  /// A tile whose operands are loaded, or whose result is written.
  struct Job {
    bool used = false;
    std::uint64_t address = 0;
    Shape shape;
    ElementType element = ElementType::fp16;
    Producer producer;
    OrderPoint order = 0;
    std::uint32_t loading = 0;                                       ///< operands that have not come
    std::array<std::vector<unsigned char>, operand_count> operands;  ///< empty: not used, or a run without data
  };

  void check();
  void triggered(int, tlm::tlm_generic_payload& transaction, Picoseconds delay);
  void passed(int, tlm::tlm_generic_payload& transaction, Picoseconds) { transaction.release(); }
  void accessed(int, tlm::tlm_generic_payload& transaction, Picoseconds delay);
  void step();
  bool follows(const tlm::tlm_generic_payload& message) const;
  void begin(const tlm::tlm_generic_payload& message, Picoseconds delay);
  void load(std::uint32_t number, Operand operand, std::uint64_t address, const Shape& shape, Picoseconds delay);
  void take(Job& job, Operand operand, const tlm::tlm_generic_payload& transaction);
  void write(std::uint32_t number);
  std::vector<float> result_of(const Job& job) const;
  void pass(const Job& job, Picoseconds delay);
  Transaction& access(Operation operation, std::uint64_t address, const Shape& shape, std::uint32_t number,
                      Operand operand);
  bool drops() const { return registers_.follow_operation.dropout() != 0; }

  registers::NearMemory& registers_;
  bool functional_;
  std::uint16_t gpu_;
  TransactionPool pool_;
  std::vector<Job> jobs_;
  std::uint32_t generation_ = 0;  ///< resets so far: what comes for an earlier one is dropped
  std::uint64_t tiles_ = 0;       ///< since the reset
  TrafficClass reads_ = TrafficClass::control, writes_ = TrafficClass::control;
  EventQueue<tlm::tlm_generic_payload*> events_{[this] { step(); }};
};

}  // namespace t3vp::memory
