// Questions to all GPUs of a node, whether this process simulates them or other ranks of the run do. All ranks ask the
// same at the same time and get the same answers, so what they conclude from them is the same as in one process.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "node/node.h"
#include "partition/message.h"
#include "partition/partition.h"

namespace t3vp {

class AllGpus {
 public:
  /// This process simulates all of them.
  AllGpus(const Node& node) : node_(node) {}  // NOLINT(google-explicit-constructor): a node is all its GPUs
  AllGpus(const Node& node, const Partition& partition, Transport& transport)
      : node_(node), partition_(&partition), transport_(&transport) {}

  const Node& node() const { return node_; }
  bool is_here(std::size_t gpu) const { return transport_ == nullptr || partition_->gpus[gpu] == transport_->rank(); }

  /// Returns the answers in the order of the GPUs. `answer` is called for each GPU of this process.
  template <typename Ask>
  auto ask(const Ask& answer) const {
    std::vector<decltype(answer(*node_.gpus()[0]))> answers(node_.gpus().size());
    for (std::size_t gpu = 0; gpu < answers.size(); ++gpu)
      if (is_here(gpu)) answers[gpu] = answer(*node_.gpus()[gpu]);
    if (transport_ == nullptr) return answers;
    MessageWriter mine;
    for (std::size_t gpu = 0; gpu < answers.size(); ++gpu)
      if (is_here(gpu)) put_all_of(mine, answers[gpu]);
    const std::vector<Message> messages = transport_->all_gather(mine.take());
    std::vector<MessageReader> readers(messages.begin(), messages.end());
    for (std::size_t gpu = 0; gpu < answers.size(); ++gpu) {
      answers[gpu] = {};
      take_all_of(readers[partition_->gpus[gpu]], answers[gpu]);
    }
    return answers;
  }

  /// Returns the items of all ranks, in the order of the ranks.
  template <typename Item>
  std::vector<Item> gathered(std::vector<Item> mine) const {
    if (transport_ == nullptr) return mine;
    MessageWriter message;
    put_all_of(message, mine);
    std::vector<Item> all;
    for (const Message& of_rank : transport_->all_gather(message.take())) {
      MessageReader reader(of_rank);
      take_all_of(reader, all);
    }
    return all;
  }

 private:
  const Node& node_;
  const Partition* partition_ = nullptr;  ///< null: one process
  Transport* transport_ = nullptr;
};

}  // namespace t3vp
