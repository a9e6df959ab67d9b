/* A kernel packet as the hardware reads it. */
#ifndef T3_DRIVER_PACKET_BYTES_H
#define T3_DRIVER_PACKET_BYTES_H

#include "t3/kernel_packet.h"

#define T3_PACKET_BYTES 128u

/* Little endian, each field at its offset in the structure, on a processor of any byte order. */
void t3_packet_bytes(const struct t3_kernel_packet* packet, unsigned char bytes[T3_PACKET_BYTES]);

#endif
