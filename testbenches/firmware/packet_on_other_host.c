#include "firmware/packet_on_other_host.h"

#if defined(__GNUC__) && !defined(__clang__)
#include <stdint.h>
#include <string.h>
/* Structures are laid out as on a processor of the other byte order; the compiler swaps what is read and written by
 * fields, so the generated code runs as it would there. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#pragma scalar_storage_order big - endian
#else
#pragma scalar_storage_order little - endian
#endif
#include "firmware/distinct_packet.inc"

bool t3_test_packet_of_other_host(unsigned char* packet, unsigned char* arguments, bool again) {
  write_distinct(packet, arguments, again);
  return true;
}
#else
bool t3_test_packet_of_other_host(unsigned char* packet, unsigned char* arguments, bool again) {
  (void)packet, (void)arguments, (void)again;
  return false;
}
#endif
