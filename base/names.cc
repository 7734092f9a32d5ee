#include "base/names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace sluice {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above + 1, row[j - 1] + 1, replaced});
      diagonal = above;
    }
  }
  return row.back();
}

}  // namespace

std::optional<std::string> nearest_name(std::string_view wrong,
                                        std::span<const std::string> known) {
  std::optional<std::string> best;
  std::size_t best_distance = 0;
  for (const std::string& name : known) {
    const std::size_t distance = edit_distance(wrong, name);
    if (distance > std::max<std::size_t>(2, name.size() / 3)) continue;
    if (!best || distance < best_distance) {
      best = name;
      best_distance = distance;
    }
  }
  return best;
}

std::string suggest_name(std::string_view wrong, std::span<const std::string> known) {
  if (const auto near = nearest_name(wrong, known)) return fmt::format("did you mean `{}`?", *near);
  return fmt::format("known: {}", fmt::join(known, ", "));
}

}  // namespace sluice
