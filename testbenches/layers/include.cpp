// A library whose headers are asked for by -DHEADER='"folder/header.h"'.
#include HEADER
