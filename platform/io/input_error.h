// An error in a user's input: one line, exit code 2.
#pragma once

#include <stdexcept>
#include <string>

namespace t3vp {

class InputError : public std::runtime_error {
 public:
  /// `where` is a file, "FILE: /json/pointer" or a command-line option.
  InputError(const std::string& where, const std::string& found, const std::string& expected);
};

/// A place in what the user wrote, for what is found wrong there later.
struct InputPlace {
  std::string where;  ///< "FILE: /json/pointer"
  std::string given;  ///< what stands there, as messages quote it; with what has set it

  /// Throws InputError: found what is given, with `why` it cannot be.
  [[noreturn]] void reject(const std::string& why, const std::string& expected) const;
};

}  // namespace t3vp
