#include "parameter_checks/described_range.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace t3vp {
namespace {

using nlohmann::json;

std::string suffix_of(const std::string& name) { return name.substr(name.rfind('_') + 1); }

/// The description of a kernel's parameters is in the kernel's folder, wherever that is.
std::string path_of_kernel(const std::string& kernel) {
  const std::string root = T3VP_SOURCE_DIR, name = kernel + ".parameters.json";
  for (const std::string& path :
       {root + "/firmware/kernels/" + kernel + "/" + name, root + "/platform/workloads/" + kernel + "/kernel/" + name})
    if (std::filesystem::exists(path)) return path;
  throw std::logic_error("no kernel " + kernel);
}

std::string usual_member(const json& field, bool is_of_kernel) {
  const std::string name = field.at("name"), type = field.at("type"), base = name.substr(0, name.rfind('_'));
  if (type == "bytes" && suffix_of(name) != "bytes") return base + "_bytes";
  return type == "time" && !is_of_kernel ? base : name;
}

double limit_of(const json& limit) { return limit.is_string() ? 0 : limit.get<double>(); }

}  // namespace

DescribedRange::DescribedRange(const std::string& description, const std::string& member)
    : is_of_kernel_(description == "kernels") {
  std::ifstream file(is_of_kernel_ ? path_of_kernel(member.substr(0, member.find('.')))
                                   : T3VP_SOURCE_DIR "/models/" + description);
  const std::string own = member.substr(member.find('.') + 1);
  const json content = json::parse(file);
  for (const json& field : content.at("fields"))
    if ((field.contains("member") ? field.at("member") : json(usual_member(field, is_of_kernel_))) == own)
      field_ = field;
  if (field_.is_null()) throw std::logic_error(description + " has no " + member);
}

double DescribedRange::scale() const {
  const std::string type = field_.at("type"), suffix = suffix_of(field_.at("name"));
  if (type == "time") return is_of_kernel_ ? 1 : 1000;  // all keys are in ns
  if (type != "bytes") return 1;
  return suffix == "KiB" ? 1024 : suffix == "MiB" ? 1 << 20 : suffix == "GiB" ? 1 << 30 : 1;
}

bool DescribedRange::has(double value) const {
  const std::string type = field_.at("type");
  if (type == "enumeration") return value < static_cast<double>(field_.at("values").size());
  if (field_.contains("values")) {
    for (const json& one : field_.at("values"))
      if (value == one.get<double>() * scale()) return true;
    return false;
  }
  if (field_.contains("default_text") && field_.value("default", json()).is_number() &&
      value == field_.at("default").get<double>() * scale())
    return true;
  const json& range = field_.at("range");
  double least = limit_of(range.at(0)) * scale(), most = range.at(1).get<double>() * scale();
  if (type == "period") {
    least = 1000 / range.at(1).get<double>();
    most = 1000 / range.at(0).get<double>();
  }
  if (type == "bytes" && least > 0 && !field_.value("fractions", false)) least -= scale() - 1;  // between two units
  if (!(value >= least && value <= most) || (range.at(0).is_string() && value == least)) return false;
  if (field_.value("power_of_two", false) && std::exp2(std::round(std::log2(value))) != value) return false;
  return !field_.contains("multiple_of") || std::fmod(value, field_.at("multiple_of").get<double>()) == 0;
}

}  // namespace t3vp
