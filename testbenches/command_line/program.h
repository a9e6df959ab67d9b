// The real t3vp program as a test sees it, and a folder of configuration files to run it on.
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace t3vp::test {

struct Outcome {
  int exit_code = -1;
  std::string out, err;
};

/// Runs t3vp with these arguments, neither output being a terminal. `in_child` may change the process before it becomes
/// t3vp: its descriptors, its limits, an alarm for what might hang.
Outcome run_program(const std::vector<std::string>& arguments, const std::function<void()>& in_child = {});

/// A new folder, removed with its content in the end.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  std::filesystem::path write(const std::string& name, const std::string& text) const;
  std::filesystem::path write(const std::string& name, const nlohmann::json& content) const;

 private:
  std::filesystem::path path_;
};

/// run.json, system.json and memory.json, valid as they are: small-4, four GPUs, 256 x 256 x 64.
class ValidFiles : public Folder {
 public:
  ValidFiles();
  std::filesystem::path run() const { return *this / "run.json"; }
  /// Changes one value of one file; a null value removes the key.
  void change(const std::string& file, const std::string& pointer, const nlohmann::json& value) const;
};

std::string text_of(const std::filesystem::path& file);
nlohmann::json json_of(const std::filesystem::path& file);
std::filesystem::path config(const std::string& name);

}  // namespace t3vp::test
