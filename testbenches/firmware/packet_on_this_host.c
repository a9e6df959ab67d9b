#include "driver/packet_bytes.h"
#include "firmware/distinct_packet.inc"
#include "firmware/packet_on_other_host.h"

void t3_test_packet_of_this_host(bool rows, unsigned char bytes[128]) {
  const struct t3_kernel_packet packet = distinct_packet(rows);
  t3_packet_bytes(&packet, bytes);
}
