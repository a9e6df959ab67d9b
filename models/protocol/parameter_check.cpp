#include "protocol/parameter_check.h"

namespace t3vp {

ParameterError::ParameterError(const std::string& block, const std::string& name, const std::string& value,
                               const std::string& expected)
    : invalid_argument(block + ": " + name + " is " + value + ", expected " + expected), parameter(name) {}

ParameterCheck ParameterCheck::below(const std::string& member) const {
  ParameterCheck check(block_);
  check.prefix_ = prefix_ + member + ".";
  return check;
}

void ParameterCheck::fail(const std::string& parameter, const std::string& value, const std::string& expected) const {
  throw ParameterError(block_, prefix_ + parameter, value, expected);
}

}  // namespace t3vp
