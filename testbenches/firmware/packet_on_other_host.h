/* The driver's packets on a processor of the other byte order. */
#ifndef T3_TEST_PACKET_ON_OTHER_HOST_H
#define T3_TEST_PACKET_ON_OTHER_HOST_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* False when the compiler cannot lay out structures in another byte order. */
bool t3_test_packet_of_other_host(bool rows, unsigned char bytes[128]);
/* The same packet on this host. */
void t3_test_packet_of_this_host(bool rows, unsigned char bytes[128]);

#ifdef __cplusplus
}
#endif

#endif
