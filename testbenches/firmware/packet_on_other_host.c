#include "firmware/packet_on_other_host.h"

#if defined(__GNUC__) && !defined(__clang__)
/* The structure is laid out as on a processor of the other byte order; the compiler swaps what is read and written by
 * fields, so the driver's code runs as it would there. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#pragma scalar_storage_order big - endian
#else
#pragma scalar_storage_order little - endian
#endif
#define t3_packet_bytes packet_bytes_on_other_host
#include "driver/packet_bytes.c"
#include "firmware/distinct_packet.inc"

bool t3_test_packet_of_other_host(bool rows, unsigned char bytes[128]) {
  const struct t3_kernel_packet packet = distinct_packet(rows);
  packet_bytes_on_other_host(&packet, bytes);
  return true;
}
#else
bool t3_test_packet_of_other_host(bool rows, unsigned char bytes[128]) {
  (void)rows, (void)bytes;
  return false;
}
#endif
