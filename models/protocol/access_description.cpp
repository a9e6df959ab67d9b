#include "protocol/access_description.h"

#include <fmt/format.h>

namespace t3vp {
namespace {

const char* operation_of(const tlm::tlm_generic_payload& transaction, const DataExtension* extension) {
  if (extension != nullptr) return name_of(extension->operation);
  return transaction.is_read() ? "read" : transaction.is_write() ? "write" : "access";
}

std::string text_of(const Producer& producer) {
  if (producer.wg_id == no_workgroup) return "";
  const std::string workgroup = fmt::format(" of GPU {}'s workgroup {}", producer.gpu, producer.wg_id);
  return producer.wf_id == no_wavefront ? workgroup : fmt::format("{} wavefront {}", workgroup, producer.wf_id);
}

}  // namespace

std::string describe(const tlm::tlm_generic_payload& transaction) {
  const DataExtension* extension = transaction.get_extension<DataExtension>();
  if (extension != nullptr && extension->fabric.asked != nullptr)
    return fmt::format("{} {} the {}", name_of(extension->operation),
                       extension->operation == Operation::request ? "for" : "to", describe(*extension->fabric.asked));
  return fmt::format("{} of {} bytes at {:#x}{}", operation_of(transaction, extension), transaction.get_data_length(),
                     transaction.get_address(), extension == nullptr ? "" : text_of(extension->producer));
}

std::string describe(const tlm::tlm_generic_payload& transaction, Picoseconds time) {
  return fmt::format("{} at {:.3f} ns", describe(transaction), to_ns(time));
}

}  // namespace t3vp
