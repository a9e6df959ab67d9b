// Files that the user names: regular ones of a bounded size, so that no pipe, device or file of /proc makes the program
// wait, read without end or fill the memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>

namespace t3vp {

/// JSON and CSV files beyond it are refused.
inline constexpr std::uint64_t most_input_bytes = std::uint64_t{64} << 20;

/// Returns the reason why the file cannot be read ("a pipe", "no such file or directory"); empty when it can.
std::string input_fault(const std::filesystem::path& file, std::uint64_t most_bytes = most_input_bytes);

/// Every file that this process has opened with these functions, as it was named.
const std::set<std::filesystem::path>& files_read();

/// The content. Throws InputError when something stands in the way; `kind` says what the file should be ("run file").
std::string read_input(const std::filesystem::path& file, const std::string& kind);

}  // namespace t3vp
