// The variables of a value change dump: scopes GPU, block and, where a register has fields, register.
#pragma once

#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "register_access/names/register_names.h"

namespace t3vp {

class VcdNames {
 public:
  struct Variable {
    std::string id;
    unsigned width = 0;  ///< 0: an event
    std::uint64_t mask = 0;
    unsigned shift = 0;
  };
  /// A register's value and those of its fields.
  using Variables = std::vector<Variable>;

  const Variables& of_register(const RegisterPlace& place);
  /// Returns the name of an event at a GPU's block or another place: "reads", "writes", "refused", "sent".
  const std::string& event(std::uint64_t gpu, const std::string& block, const std::string& event);

  /// All that have been asked for so far, with the end of the definitions.
  void define(std::ostream& out) const;
  /// Values are unknown before the first access.
  void dump_unknown(std::ostream& out) const;

 private:
  struct Register {
    RegisterPlace place;
    Variables variables;
  };
  struct Block {
    std::map<std::string, std::string> events;    ///< id by name
    std::map<std::uint64_t, Register> registers;  ///< by address
  };
  using Blocks = std::map<std::string, Block>;

  std::string next_id();
  static void define(std::ostream& out, const Block& block);

  std::map<std::uint64_t, Blocks> gpus_;
  std::uint64_t ids_ = 0;
};

}  // namespace t3vp
