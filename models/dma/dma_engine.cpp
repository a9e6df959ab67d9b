#include "dma/dma_engine.h"

#include <fmt/format.h>

#include "dma/dma_ranges.h"
#include "protocol/access_description.h"
#include "protocol/checked_parameters.h"

namespace t3vp::dma {

DmaEngine::DmaEngine(const sc_core::sc_module_name& name, const DmaParameters& parameters, bool functional,
                     std::uint16_t gpu, Trace* trace)
    : sc_module(checked(name, parameters)),
      parameters_(parameters),
      status_(registers, [this] { update_interrupt(); }),
      table_(registers, status_, memory, remote, counters, gpu, parameters.commands),
      links_(table_, accesses_, status_, {memory, remote}, parameters, functional, gpu),
      queues_(registers, table_, accesses_, status_, {memory, nic}, parameters, gpu),
      copies_(registers, status_, accesses_, {memory, remote}, parameters, functional, gpu),
      fill_(registers, status_, accesses_, memory, users, parameters, functional, gpu) {
  if (trace != nullptr) {
    const Trace::Track track = trace->track(fmt::format("GPU {}", gpu), "DMA");
    links_.show_on(trace, track);
    queues_.show_on(trace, track);
  }
  trigger.report_to(registers.errors, registers.description().name);
  trigger.expect({false, true});
  registers.command.on_write([this] { command(); });
  registers.interrupt.on_write([this] { update_interrupt(); });
  registers.capacity.set(parameters.commands);
  registers.status.on_refresh([this] { registers.status.busy.set(busy()); });
  registers.used.on_refresh([this] { registers.used.set(table_.used()); });
  registers.pending.on_refresh([this] { registers.pending.set(table_.pending()); });
  registers.blocks.on_refresh(
      [this] { registers.blocks.set(links_.blocks().since_reset() + queues_.blocks().since_reset()); });
  registers.bytes.on_refresh([this] {
    registers.bytes.set(links_.bytes().since_reset() + queues_.bytes().since_reset() + copies_.bytes().since_reset());
  });
  registers.on_reset([this] { reset(); });
  remote.on_taken(&DmaEngine::remote_taken);
}

DmaEngine::~DmaEngine() = default;

/// What has been sent and no memory has taken is lost; answers to anything that was in flight find no requester.
void DmaEngine::reset() {
  accesses_.begin_generation();
  while (!events_.empty()) {
    const Event event = events_.pop();
    if (event.transaction != nullptr && event.what != Event::taken && event.what != Event::copy_taken)
      event.transaction->release();
  }
  table_.clear();
  links_.clear();
  queues_.clear();
  copies_.clear();
  fill_.clear();
  registers.capacity.set(parameters_.commands);
  update_interrupt();
}

void DmaEngine::update_interrupt() {
  interrupt.write(registers.interrupt.complete() != 0 || registers.interrupt.filled() != 0 ||
                  registers.interrupt.copied() != 0);
  if (error_interrupt.size() != 0) error_interrupt->write(registers.interrupt.error() != 0);
}

void DmaEngine::command() {
  using Action = registers::Dma::Command::Action;
  switch (registers.command.action()) {
    case Action::add:
      table_.add();
      break;
    case Action::remove_all:
      remove(true);
      break;
    case Action::remove:
      remove(false);
      break;
    case Action::add_destination:
      table_.add_destination();
      break;
    case Action::look:
      table_.look();
      break;
    case Action::fill:
      fill_.begin();
      break;
    case Action::copy:
      copies_.add();
      copies_.start();
      break;
    case Action::none:
      break;
  }
}

void DmaEngine::remove(bool all) {
  if (!table_.remove(all, registers.command.force() != 0, fill_.runs())) return;
  links_.forget_removed();
  queues_.forget_removed();
}

/// What fits no command is a failed transfer: the Tracker's maps and the commands do not agree.
void DmaEngine::triggered(int, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
  const Producer producer = extension_of(transaction).producer;
  if (extension_of(transaction).operation != Operation::store) {
    registers.report(Status::invalid_argument, transaction.get_address(),
                     describe(transaction) + ": a trigger is a store");
    transaction.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
    return trigger.respond(transaction, delay);
  }
  std::string wrong;
  if (Command* const command = table_.find_triggered(transaction, wrong)) {
    command->begun = true;
    events_.push(
        now() + delay,
        {Event::ready, {command->serial, producer.wg_id, producer.wf_id, extension_of(transaction).order}, nullptr});
    transaction.set_response_status(tlm::TLM_OK_RESPONSE);
  } else {
    status_.fail(Status::mismatch, transaction.get_address(),
                 fmt::format("trigger of workgroup {} wavefront {}: {}", producer.wg_id, producer.wf_id, wrong));
    transaction.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  }
  trigger.respond(transaction, delay);
}

void DmaEngine::push(Event::What what, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
  events_.push(now() + delay, {what, {}, static_cast<Transaction*>(&transaction)});
}

void DmaEngine::memory_response(int, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
  if (accesses_.is_stale(transaction)) return transaction.release();
  const bool is_load = extension_of(transaction).operation == Operation::load;
  if (DmaAccesses::is_of_copy(transaction))
    return push(is_load ? Event::copy_loaded : Event::copied, transaction, delay);
  push(is_load                                 ? Event::loaded
       : DmaAccesses::is_of_queue(transaction) ? Event::written
                                               : Event::filled,
       transaction, delay);
}

void DmaEngine::remote_taken(int, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
  if (accesses_.is_stale(transaction)) return;
  push(DmaAccesses::is_of_copy(transaction) ? Event::copy_taken : Event::taken, transaction, delay);
}

void DmaEngine::remote_response(int, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
  if (accesses_.is_stale(transaction)) return transaction.release();
  push(DmaAccesses::is_of_copy(transaction) ? Event::copied : Event::acknowledged, transaction, delay);
}

void DmaEngine::nic_response(int, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
  if (accesses_.is_stale(transaction)) return transaction.release();
  const bool rings = extension_of(transaction).operation == Operation::store;
  push(rings ? Event::rung : Event::posted, transaction, delay);
}

void DmaEngine::step() {
  while (events_.ready()) handle(events_.pop());
  links_.start();
  queues_.start();
  copies_.start();
  events_.arm();
}

void DmaEngine::handle(const Event& event) {
  switch (event.what) {
    case Event::ready:
      make_ready(event.job);
      break;
    case Event::loaded:
      links_.loaded(*event.transaction);
      break;
    case Event::taken:
      links_.taken(*event.transaction);
      break;
    case Event::acknowledged:
      links_.acknowledged(*event.transaction);
      break;
    case Event::copy_loaded:
      copies_.loaded(*event.transaction);
      break;
    case Event::copy_taken:
      copies_.taken(*event.transaction);
      break;
    case Event::copied:
      copies_.acknowledged(*event.transaction);
      break;
    case Event::written:
      queues_.written(*event.transaction);
      break;
    case Event::rung:
      queues_.rung(*event.transaction);
      break;
    case Event::posted:
      queues_.ended(*event.transaction);
      break;
    case Event::filled:
      fill_.filled(*event.transaction);
      break;
  }
}

/// A tile has had all its accesses; its block goes when all tiles of it have.
void DmaEngine::make_ready(const Job& job) {
  Command* const command = table_.find(job.serial);
  if (command == nullptr) return;
  const TileGrid& grid = command->range.grid;
  const std::uint32_t tile = (job.wg_id - command->range.first) * grid.wavefronts + job.wf_id;
  std::uint8_t& ready = command->ready[tile / command->block_tiles];
  OrderPoint& behind = command->behind[tile / command->block_tiles];
  const auto bit = static_cast<std::uint8_t>(1u << tile % command->block_tiles);
  if ((ready & bit) != 0)
    return status_.fail(Status::excess, command->range.base + grid.offset(command->tile(job)),
                        fmt::format("wavefront {} of workgroup {} is triggered a second time", job.wf_id, job.wg_id));
  ready |= bit;
  if (accesses_.order() != nullptr) behind = accesses_.order()->join(behind, job.behind);
  table_.triggered(*command, job.behind);
  if (command->kind == Command::Kind::notify) return table_.arrived(*command, job.behind);
  const std::uint32_t first_wf = job.wf_id / command->block_tiles * command->block_tiles;
  std::uint32_t expected = 0;
  for (std::uint32_t wf = first_wf; wf < first_wf + command->block_tiles; ++wf)
    if (!grid.wavefront_tile(job.wg_id, wf).empty()) ++expected;
  if (ready != (1u << expected) - 1) return;  // the empty tiles are the last
  for (std::uint32_t wf = first_wf; wf < first_wf + expected; ++wf) {
    const Job next{job.serial, job.wg_id, wf, behind};
    if (command->by_queue)
      queues_.add(command->queue, next);
    else
      links_.add(next);
  }
}

void DmaEngine::visit_statistics(const StatisticVisitor& visit) const {
  visit("blocks", "blocks", "DMA blocks sent", static_cast<double>(links_.blocks().total() + queues_.blocks().total()));
  visit("bytes", "bytes", "payload sent",
        static_cast<double>(links_.bytes().total() + queues_.bytes().total() + copies_.bytes().total()));
}

}  // namespace t3vp::dma
