/* Firmware with a main() of its own, whose result is the program's status, and static variables that begin as C says.
 */
#include <stdio.h>

#include "t3/t3.h"

static int counted;
static int first = 41;

__attribute__((constructor)) static void count(void) { counted = first + 1; }

int main(void) {
  printf("counted %d\n", counted);
  return counted == 42 ? T3_BUSY : T3_OK;
}
