// Places the names of a picture's points.
#pragma once

#include <string>
#include <vector>

namespace t3vp {

struct NamedPoint {
  double x = 0, y = 0;  ///< pixels from the drawing's lower left corner
  std::string name;
};

/// A command for each name that fits into a drawing of this size without covering a point or another name; earlier
/// names have precedence. Places are relative to the graph.
std::string point_names(const std::vector<NamedPoint>& points, double width, double height);

}  // namespace t3vp
