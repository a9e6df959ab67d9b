// Operations that follow a reduction, near memory (T3 section 7.6): between the Tracker and the DMA engine. When the
// Tracker has counted a tile of a chunk that is staged in the registers, the unit adds a bias, drops elements, adds a
// residual, or takes Adam's step. Then it passes the trigger on. Every other trigger passes at once.
//
// Operands come through the DRAM queues as communication. Without dropout the unit sends one update of the tile, which
// the ALUs near the banks add. With dropout it loads the tile and stores the result. Adam's step loads the tile and the
// optimizer's state, and stores the state.
#pragma once

#include <cstdint>
#include <vector>

#include "memory/following_arithmetic.h"
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
  ~FollowingOperations() override;

  /// Forgets all tiles. It is called when the near-memory unit is reset, whose registers it has.
  void reset();
  const char* group() const override { return "following"; }
  std::vector<std::string> diagnosis() const override;

 private:
  /// A tile whose operands are loaded, or whose results are written.
  struct Job {
    bool used = false;
    bool optimizes = false;  ///< Adam's step, whatever the registers hold by the time its operands have come
    std::uint64_t address = 0;
    Shape shape;
    ElementType element = ElementType::fp16;
    Producer producer;
    OrderPoint order = 0;
    std::uint32_t loading = 0, writing = 0;  ///< operands that have not come, and that are not written
    FollowBytes operands;
  };

  void check();
  void triggered(int, tlm::tlm_generic_payload& transaction, Picoseconds delay);
  void passed(int, tlm::tlm_generic_payload& transaction, Picoseconds) { transaction.release(); }
  void accessed(int, tlm::tlm_generic_payload& transaction, Picoseconds delay);
  void step();
  void finish(std::uint32_t token, tlm::tlm_generic_payload& transaction);
  bool follows(const tlm::tlm_generic_payload& message) const;
  void begin(const tlm::tlm_generic_payload& message, Picoseconds delay);
  void load(std::uint32_t number, FollowOperand operand, std::uint64_t address, const Shape& shape, Picoseconds delay);
  void take(Job& job, FollowOperand operand, const tlm::tlm_generic_payload& transaction);
  void compute(Job& job) const;
  void write(std::uint32_t number);
  void write(std::uint32_t number, Operation operation, FollowOperand operand, std::uint64_t address);
  void pass(const Job& job, Picoseconds delay);
  Transaction& access(Operation operation, std::uint64_t address, const Shape& shape, std::uint32_t number,
                      FollowOperand operand);
  /// Returns the register with the start of an operand that is a whole matrix.
  std::uint64_t matrix_of(FollowOperand operand) const;
  bool drops() const { return registers_.follow_operation.dropout() != 0; }
  bool optimizes() const { return registers_.follow_operation.adam() != 0; }

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
