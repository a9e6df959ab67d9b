// Element types by the names that run files give them.
#pragma once

#include <string>

#include "protocol/access.h"

namespace t3vp {

/// The schema has checked that it is one.
inline ElementType element_named(const std::string& name) {
  return name == "fp32" ? ElementType::fp32 : name == "bf16" ? ElementType::bf16 : ElementType::fp16;
}

}  // namespace t3vp
