#include "protocol/sent_fields.h"

#include <algorithm>

#include "protocol/transaction_pool.h"

namespace t3vp {
namespace {

bool operator==(const Producer& a, const Producer& b) {
  return a.wg_id == b.wg_id && a.wf_id == b.wf_id && a.gpu == b.gpu;
}

}  // namespace

SentFields::SentFields(const tlm::tlm_generic_payload& transaction) : address(transaction.get_address()) {
  const DataExtension* extension = transaction.get_extension<DataExtension>();
  if (extension == nullptr) return;
  is_extended = true;
  operation = extension->operation;
  stream = extension->stream;
  traffic = extension->traffic;
  cached = extension->cached;
  producer = extension->producer;
}

const char* change_since(const std::vector<SentFields>& sent, const SentFields& response) {
  const auto differs = [&](auto field) {
    return std::none_of(sent.begin(), sent.end(), [&](const SentFields& s) { return s.*field == response.*field; });
  };
  if (differs(&SentFields::address)) return "address changed after the request was sent";
  if (!response.is_extended) return nullptr;
  if (differs(&SentFields::operation)) return "operation changed after the request was sent";
  if (differs(&SentFields::stream)) return "stream changed after the request was sent";
  if (differs(&SentFields::traffic)) return "traffic class changed after the request was sent";
  if (differs(&SentFields::cached)) return "cached changed after the request was sent";
  if (differs(&SentFields::producer)) return "producer changed after the request was sent";
  return nullptr;
}

SentRequests& SentRequests::of_process() {
  static SentRequests requests;
  return requests;
}

void SentRequests::sent(const tlm::tlm_generic_payload& transaction) {
  const SentFields fields(transaction);
  Sent& sent = sent_[&transaction];
  sent.fields.push_back(fields);
  ++sent.sockets;
  // The payloads that it stands for change with it.
  const auto* relay = dynamic_cast<const Transaction*>(&transaction);
  while (relay != nullptr && relay->is_relay()) {
    const tlm::tlm_generic_payload& original = relay->original();
    if (const auto found = sent_.find(&original); found != sent_.end()) found->second.fields.push_back(fields);
    relay = dynamic_cast<const Transaction*>(&original);
  }
}

void SentRequests::ended(const tlm::tlm_generic_payload& transaction) {
  const auto found = sent_.find(&transaction);
  if (found != sent_.end() && --found->second.sockets == 0) sent_.erase(found);
}

std::vector<SentFields> SentRequests::fields_of(const tlm::tlm_generic_payload& transaction) const {
  const auto found = sent_.find(&transaction);
  return found == sent_.end() ? std::vector<SentFields>() : found->second.fields;
}

}  // namespace t3vp
