#include "experiment/case_product.h"

#include <algorithm>

namespace t3vp {

std::size_t case_of(const Experiment& experiment, const Choice& choice) {
  std::size_t index = 0;
  for (std::size_t axis = 0; axis < choice.size(); ++axis)
    index = index * experiment.axes[axis].names.size() + choice[axis];
  return index;
}

std::vector<Choice> choices(const Experiment& experiment, const std::vector<std::size_t>& fixed) {
  std::vector<Choice> list{Choice(experiment.axes.size(), 0)};
  for (std::size_t axis = 0; axis < experiment.axes.size(); ++axis) {
    if (std::count(fixed.begin(), fixed.end(), axis) != 0) continue;
    std::vector<Choice> longer;
    for (const Choice& choice : list)
      for (std::size_t entry = 0; entry < experiment.axes[axis].names.size(); ++entry) {
        longer.push_back(choice);
        longer.back()[axis] = entry;
      }
    list = std::move(longer);
  }
  return list;
}

std::string name_of(const Experiment& experiment, const Choice& choice, const std::vector<std::size_t>& fixed) {
  std::string name;
  for (std::size_t axis = 0; axis < choice.size(); ++axis)
    if (std::count(fixed.begin(), fixed.end(), axis) == 0)
      name += (name.empty() ? "" : ", ") + experiment.axes[axis].names[choice[axis]];
  return name;
}

std::string joined_names(const std::string& first, const std::string& second) {
  return first.empty() ? second : second.empty() ? first : first + ": " + second;
}

}  // namespace t3vp
