#include "dram/timing_state.h"

namespace t3vp::dram {

template <class Banks>
TimingState<Banks>::TimingState(const MemorySpec& spec)
    : timing_(spec.timing),
      group_mask_(spec.geometry.pseudo_channels * spec.geometry.bank_groups - 1),
      pseudo_mask_(spec.geometry.pseudo_channels - 1) {
  const std::uint32_t banks = (group_mask_ + 1) * spec.geometry.banks_per_group;
  for (std::uint32_t bank = 0; bank < banks; ++bank) {
    group_banks_[bank & group_mask_] |= bit_of<Banks>(bank);
    pseudo_banks_[bank & pseudo_mask_] |= bit_of<Banks>(bank);
  }
  const Cycle write_data_end = Cycle{timing_.CWL} + timing_.BURST;
  timing_.CCDS = std::max({timing_.CCDS, timing_.BURST, 1u});
  timing_.CCDL = std::max(timing_.CCDL, timing_.CCDS);
  timing_.CCDWL = std::max(timing_.CCDWL, timing_.CCDL);
  timing_.RRDS = std::max(timing_.RRDS, 1u);
  timing_.RRDL = std::max(timing_.RRDL, timing_.RRDS);
  read_to_write_ = std::max(timing_.RTW, timing_.CCDS);
  write_to_read_ = std::max(write_data_end + timing_.WTRS, Cycle{timing_.CCDS});
  write_to_read_in_group_ = std::max(write_data_end + timing_.WTRL, write_to_read_);
  write_to_precharge_ = write_data_end + timing_.WR;
}

template class TimingState<FewBanks>;
template class TimingState<ManyBanks>;

}  // namespace t3vp::dram
