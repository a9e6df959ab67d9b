#include "protocol/description.h"

#include <sstream>

namespace t3vp {

std::string described(const tlm::tlm_generic_payload& transaction, Picoseconds time) {
  constexpr const char* operations[] = {"a load", "a store", "an update", "a wait"};
  const DataExtension& extension = *transaction.get_extension<DataExtension>();
  std::ostringstream text;
  text << operations[static_cast<std::size_t>(extension.operation)] << " of " << extension.shape.bytes() << " B at 0x"
       << std::hex << transaction.get_address() << std::dec;
  const Producer& producer = extension.producer;
  if (producer.wg_id != no_workgroup) text << " of GPU " << producer.gpu << "'s workgroup " << producer.wg_id;
  if (producer.wg_id != no_workgroup && producer.wf_id != no_wavefront)
    text << " wavefront " << static_cast<unsigned>(producer.wf_id);
  text.precision(12);
  text << " at " << to_ns(time) << " ns";
  return text.str();
}

}  // namespace t3vp
