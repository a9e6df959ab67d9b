// What is wrong with something the user wrote: one line, exit code 2.
#pragma once

#include <stdexcept>
#include <string>

namespace t3vp {

class InputError : public std::runtime_error {
 public:
  /// `where` is a file, "FILE: /json/pointer" or a command-line option.
  InputError(const std::string& where, const std::string& found, const std::string& expected);
};

}  // namespace t3vp
