/* Values that firmware computes from the generated headers. */
#ifndef FIRMWARE_HEADERS_H
#define FIRMWARE_HEADERS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

const char* text_of_code(uint32_t code);
uint32_t staged_update(void);
uint32_t address_of_counter(uint32_t i);

#ifdef __cplusplus
}
#endif

#endif /* FIRMWARE_HEADERS_H */
