#include "compute/tile_transfers.h"

#include "protocol/traffic_classes.h"
#include "t3/element_bytes.h"

namespace t3vp::compute {

TileTransfers::TileTransfers(KernelHost& host, const t3_kernel& kernel, KernelAccesses& accesses, TileFile& tiles,
                             const RingAgreement& agreement)
    : host_(host),
      accesses_(accesses),
      tiles_(tiles),
      agreement_(agreement),
      reads_(traffic_class_of(kernel.reads).value()),
      writes_(traffic_class_of(kernel.writes).value()) {}

Transaction& TileTransfers::transfer(const Wave& wave, Operation operation) {
  const t3_access& access = wave.waiting->access;
  Transaction& transaction = host_.pool().make(
      operation, access.address, {access.rows, access.columns * t3_element_bytes(access.element), access.stride});
  DataExtension& extension = transaction.extension();
  extension.traffic = operation == Operation::load ? reads_ : writes_;
  extension.element = static_cast<ElementType>(access.element);
  extension.cached = !access.uncached;
  if (host_.functional()) transaction.attach_buffer();
  return transaction;
}

void TileTransfers::load(Wave& wave) {
  Transaction& transaction = transfer(wave, Operation::load);
  tiles_.begin(wave.place, *wave.waiting);
  tiles_.awaits(wave.place, wave.waiting->tile);
  accesses_.issue(wave, transaction, accesses_.behind_stores(wave, transaction.get_address()));
}

void TileTransfers::loaded(const KernelAccesses::Access& access, const Transaction& transaction) {
  const std::size_t wave = access.wave->place;
  if (const unsigned char* data = transaction.get_data_ptr()) {
    TileContents& contents = tiles_.contents(wave, access.tile);
    contents.address = transaction.get_address();
    take_rows(contents, access.tile, access.part, data);
  }
  tiles_.has_come(wave, access.tile);
}

void TileTransfers::store(Wave& wave, Operation operation) {
  Transaction& transaction = transfer(wave, operation);
  DataExtension& extension = transaction.extension();
  const t3_tile& tile = wave.waiting->tile;
  const t3_access& access = wave.waiting->access;
  if (access.of.named)
    extension.producer = {access.of.workgroup,
                          access.of.wavefront == T3_WHOLE_WORKGROUP ? no_wavefront : access.of.wavefront, host_.gpu()};
  if (!accesses_.is_own(access.address)) extension.ring = agreement_.sent;
  if (host_.functional()) give_rows(tiles_.contents(wave.place, tile), tile, access, transaction.get_data_ptr());
  accesses_.issue(wave, transaction, access.at_once ? 0 : accesses_.pass_port(wave, extension.shape.bytes()));
}

}  // namespace t3vp::compute
