#include "experiment/point_names.h"

#include <fmt/format.h>

#include <algorithm>

#include "experiment/gnuplot.h"

namespace t3vp {
namespace {

struct Box {
  double left, right, bottom, top;

  bool overlaps(const Box& other) const {
    return left < other.right && other.left < right && bottom < other.top && other.bottom < top;
  }
};

struct Direction {
  double x, y;  ///< -1, 0 or 1
};

/// The box of a name so many pixels away from its point.
Box box_at(const NamedPoint& point, Direction to, double away, double width) {
  constexpr double height = 12;
  const double x = point.x + to.x * (away + width / 2), y = point.y + to.y * (away + height / 2);
  return {x - width / 2, x + width / 2, y - height / 2, y + height / 2};
}

}  // namespace

std::string point_names(const std::vector<NamedPoint>& points, double width, double height) {
  constexpr double mark = 5, font_share = 10.0 / 12;
  constexpr Direction directions[] = {{1, 1}, {1, -1}, {-1, 1}, {-1, -1}, {0, 1}, {0, -1}, {1, 0}, {-1, 0}};
  std::vector<Box> taken;
  for (const NamedPoint& point : points)
    taken.push_back({point.x - mark, point.x + mark, point.y - mark, point.y + mark});
  const auto fits = [&](const Box& box) {
    return box.left >= 0 && box.right <= width && box.bottom >= 0 && box.top <= height &&
           std::none_of(taken.begin(), taken.end(), [&](const Box& other) { return box.overlaps(other); });
  };
  std::string commands;
  for (const NamedPoint& point : points)
    for (const Direction to : directions) {
      const double text_width = font_share * static_cast<double>(gnuplot::width_of({point.name}));
      const Box box = box_at(point, to, to.x == 0 || to.y == 0 ? mark + 3 : mark, text_width);
      if (!fits(box)) continue;
      taken.push_back(box);
      commands +=
          fmt::format("set label {} at graph {:.4f},{:.4f} center font ',10'\n", gnuplot::text_constant(point.name),
                      (box.left + box.right) / 2 / width, (box.bottom + box.top) / 2 / height);
      break;
    }
  return commands;
}

}  // namespace t3vp
