/* Packets and arguments on a processor of the other byte order. */
#ifndef T3_TEST_PACKET_ON_OTHER_HOST_H
#define T3_TEST_PACKET_ON_OTHER_HOST_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Writes a packet and a rows kernel's arguments with another number in each byte; `again`: reads and writes them once
 * more. False when the compiler cannot lay out structures in another byte order. */
bool t3_test_packet_of_other_host(unsigned char* packet, unsigned char* arguments, bool again);
/* The same on this host. */
void t3_test_packet_of_this_host(unsigned char* packet, unsigned char* arguments, bool again);

#ifdef __cplusplus
}
#endif

#endif
