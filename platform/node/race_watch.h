// Shows the race detector the accesses of a GPU's blocks, where `check` races is on.
#pragma once

#include <memory>
#include <vector>

#include "protocol/address_map.h"
#include "protocol/pass_through.h"
#include "races/race_detector.h"

namespace t3vp {

/// Between sockets of the data path, behind all maps: the addresses are those at which data take effect.
class RaceTap : public DataPassThrough {
 public:
  RaceTap(const sc_core::sc_module_name& name, races::RaceDetector& detector)
      : PassThrough(name), detector_(detector) {}

 private:
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& transaction, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& transaction, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;

  races::RaceDetector& detector_;
};

/// Between a GPU's processor and its bus.
class HostRaceTap : public PlainPassThrough {
 public:
  HostRaceTap(const sc_core::sc_module_name& name, std::uint16_t gpu, races::RaceDetector& detector)
      : PlainPassThrough(name), gpu_(gpu), detector_(detector) {}

 private:
  void b_transport(tlm::tlm_generic_payload& transaction, sc_core::sc_time& delay) override;

  std::uint16_t gpu_;
  races::RaceDetector& detector_;
};

class RaceWatch {
 public:
  /// `detector` outlives this; null: nothing is watched.
  RaceWatch(std::uint16_t gpu, races::RaceDetector* detector) : gpu_(gpu), detector_(detector) {}

  /// Calls `join` with the socket from which a data socket's requests come on.
  template <typename Initiator, typename Join>
  void tap(Initiator& initiator, Join join) {
    insert<RaceTap>(data_, initiator, join);
  }
  /// Does the same for the processor's.
  template <typename Initiator, typename Join>
  void tap_host(Initiator& initiator, Join join) {
    insert<HostRaceTap>(hosts_, initiator, join, gpu_);
  }
  /// Memory has got another owner, or none; 0 bytes: all of the GPU's.
  void forget(std::uint64_t address, std::uint64_t bytes) {
    if (detector_ == nullptr) return;
    if (bytes != 0) return detector_->forget(address, bytes);
    detector_->forget(address_map::on_gpu(gpu_, 0), address_map::hbm_limit);
  }
  OrderObserver* observer() const { return detector_; }

 private:
  template <typename Tap, typename Initiator, typename Join, typename... Arguments>
  void insert(std::vector<std::unique_ptr<Tap>>& taps, Initiator& initiator, Join join, Arguments... arguments) {
    if (detector_ == nullptr) return join(initiator);
    taps.push_back(std::make_unique<Tap>(sc_core::sc_gen_unique_name("race_tap"), arguments..., *detector_));
    initiator.bind(taps.back()->in);
    join(taps.back()->out);
  }

  std::uint16_t gpu_;
  races::RaceDetector* detector_;
  std::vector<std::unique_ptr<RaceTap>> data_;
  std::vector<std::unique_ptr<HostRaceTap>> hosts_;
};

}  // namespace t3vp
