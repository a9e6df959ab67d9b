// Sockets of the data path. They keep the protocol's rules (data_protocol.h) for their blocks:
//
//   DataTargetSocket<Block> in{"in", this, &Block::request};        void request(int id, payload, delay)
//   DataInitiatorSocket<Block> out{"out", this, &Block::response};  void response(int id, payload, delay)
//
// A target calls respond() at any time, also in its request handler; the initiator's handler gets every response. For a
// store or update it may call taken() before; out.on_taken(&Block::taken) gets these notices.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <vector>

#include "protocol/data_protocol.h"
#include "protocol/error_report.h"
#include "protocol/request_check.h"
#include "protocol/units.h"

namespace t3vp {

/// The part of a target socket that does not depend on its block.
class DataTargetBase : public tlm::tlm_target_socket<256, DataProtocol> {
 public:
  explicit DataTargetBase(const char* name);
  ~DataTargetBase() override;

  /// Responds to a request: the response reaches the initiator after `delay`. In the request handler this completes the
  /// request call; later it is a call of its own. A blocking initiator returns.
  void respond(tlm::tlm_generic_payload& transaction, Picoseconds delay);
  /// Notifies the sender of a store or update that the request is taken after `delay`: once, before its response.
  void taken(tlm::tlm_generic_payload& transaction, Picoseconds delay);
  /// Sets the log of refusals, under the name `block`. Without a log they are warnings of the SystemC report handler.
  void report_to(ErrorPort& errors, const char* block);
  /// Sets this target's rules for requests, in addition to the rules for all.
  void expect(RequestRules rules) { rules_ = rules; }

 protected:
  virtual void handle(tlm::tlm_generic_payload& transaction, Picoseconds delay) = 0;
  virtual unsigned handle_debug(tlm::tlm_generic_payload& transaction) = 0;

 private:
  using tlm::tlm_target_socket<256, DataProtocol>::operator->;  // respond() is the only way back

  /// A request whose handler runs, or one of a blocking initiator that waits.
  struct Call {
    tlm::tlm_generic_payload* transaction;
    Call* outer;  ///< the call during which this one was made
    bool answered = false, taken = false;
    Picoseconds at = 0;  ///< time of the response, before it of the notice
    sc_core::sc_event* done = nullptr;
  };
  class Forward : public tlm::tlm_fw_transport_if<DataProtocol> {
   public:
    explicit Forward(DataTargetBase& socket) : socket_(socket) {}
    tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& transaction, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override;
    void b_transport(tlm::tlm_generic_payload& transaction, sc_core::sc_time& delay) override;
    unsigned transport_dbg(tlm::tlm_generic_payload& transaction) override;
    bool get_direct_mem_ptr(tlm::tlm_generic_payload& transaction, tlm::tlm_dmi& dmi) override;

   private:
    DataTargetBase& socket_;
  };

  void run_handler(Call& call, Picoseconds delay);
  void refuse(tlm::tlm_generic_payload& transaction, const Malformed& found);

  Forward forward_{*this};
  RequestRules rules_;
  Call* calls_ = nullptr;       ///< innermost request call that runs
  std::vector<Call*> waiting_;  ///< blocking initiators
  ErrorPort* errors_ = nullptr;
  const char* block_ = "";
};

/// The part of an initiator socket that does not depend on its block.
class DataInitiatorBase : public tlm::tlm_initiator_socket<256, DataProtocol> {
 public:
  explicit DataInitiatorBase(const char* name);
  ~DataInitiatorBase() override;

  /// Sends a request that reaches the target after `delay`. Its response goes to the handler, perhaps before this
  /// returns.
  void send(tlm::tlm_generic_payload& transaction, Picoseconds delay) {
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time time = to_sc_time(delay);
    const tlm::tlm_sync_enum answer = (*this)->nb_transport_fw(transaction, phase, time);
    if (answer == tlm::TLM_COMPLETED)
      handle(transaction, from_sc_time(time));
    else if (answer == tlm::TLM_UPDATED)
      notice(transaction, phase, time);
  }
  /// Asks by a debug access of no bytes whether there is a way to the address: a driver may map what is not there.
  bool reaches(std::uint64_t address) { return probe(address, 0); }
  /// Asks by debug accesses to the first and the last byte whether [address, address + bytes) is memory, all of one
  /// GPU.
  bool holds(std::uint64_t address, std::uint64_t bytes);

 protected:
  virtual void handle(tlm::tlm_generic_payload& transaction, Picoseconds delay) = 0;
  virtual void handle_taken(tlm::tlm_generic_payload& transaction, Picoseconds delay) = 0;

 private:
  bool probe(std::uint64_t address, unsigned bytes);
  void notice(tlm::tlm_generic_payload& transaction, tlm::tlm_phase phase, const sc_core::sc_time& delay);

  class Backward : public tlm::tlm_bw_transport_if<DataProtocol> {
   public:
    explicit Backward(DataInitiatorBase& socket) : socket_(socket) {}
    tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& transaction, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override;
    void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}

   private:
    DataInitiatorBase& socket_;
  };
  Backward backward_{*this};
};

template <typename Module>
class DataTargetSocket : public DataTargetBase {
 public:
  /// The handler of a request that passed the check and reaches the block after `delay`. `id` distinguishes a block's
  /// sockets.
  using Handler = void (Module::*)(int id, tlm::tlm_generic_payload& transaction, Picoseconds delay);
  using DebugHandler = unsigned (Module::*)(int id, tlm::tlm_generic_payload& transaction);

  DataTargetSocket(const char* name, Module* module, Handler handler, int id = 0)
      : DataTargetBase(name), module_(module), handler_(handler), id_(id) {}

  /// Debug accesses reach nothing unless there is a handler.
  void on_debug(DebugHandler handler) { debug_handler_ = handler; }

 private:
  void handle(tlm::tlm_generic_payload& transaction, Picoseconds delay) override {
    (module_->*handler_)(id_, transaction, delay);
  }
  unsigned handle_debug(tlm::tlm_generic_payload& transaction) override {
    if (debug_handler_ != nullptr) return (module_->*debug_handler_)(id_, transaction);
    transaction.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return 0;
  }

  Module* module_;
  Handler handler_;
  DebugHandler debug_handler_ = nullptr;
  int id_;
};

template <typename Module>
class DataInitiatorSocket : public DataInitiatorBase {
 public:
  /// The response arrives after `delay`.
  using Handler = void (Module::*)(int id, tlm::tlm_generic_payload& transaction, Picoseconds delay);

  DataInitiatorSocket(const char* name, Module* module, Handler handler, int id = 0)
      : DataInitiatorBase(name), module_(module), handler_(handler), id_(id) {}

  /// The request is taken after `delay`; its response comes later. Without a handler only responses matter.
  void on_taken(Handler handler) { taken_handler_ = handler; }

 private:
  void handle(tlm::tlm_generic_payload& transaction, Picoseconds delay) override {
    (module_->*handler_)(id_, transaction, delay);
  }
  void handle_taken(tlm::tlm_generic_payload& transaction, Picoseconds delay) override {
    if (taken_handler_ == nullptr) return;
    extension_of(transaction).taken = true;
    (module_->*taken_handler_)(id_, transaction, delay);
  }

  Module* module_;
  Handler handler_, taken_handler_ = nullptr;
  int id_;
};

}  // namespace t3vp
