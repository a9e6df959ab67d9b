#include "firmware/packet_on_other_host.h"

#include "firmware/distinct_packet.inc"

void t3_test_packet_of_this_host(unsigned char* packet, unsigned char* arguments, bool again) {
  write_distinct(packet, arguments, again);
}
