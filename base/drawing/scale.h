// From values to positions along an axis, and where the axis gets its ticks.
// Where in the flow: under the charts. Positions are SVG user units, that is CSS pixels at full
// width.
#pragma once

#include <string>
#include <vector>

namespace sluice {

struct Range {
  double low = 0, high = 1;
};

class Scale {
 public:
  // Both ends of a domain must be finite and low < high; for a logarithmic scale also 0 < low.
  [[nodiscard]] static Scale linear(Range domain, Range positions) {
    return {domain, positions, false};
  }
  [[nodiscard]] static Scale logarithmic(Range domain, Range positions) {
    return {domain, positions, true};
  }
  // Position of a value; outside the domain the nearer end.
  [[nodiscard]] double at(double value) const;
  [[nodiscard]] const Range& domain() const { return domain_; }
  [[nodiscard]] const Range& positions() const { return positions_; }
  // Round values within the domain: about `about` of them at 1, 2 or 5 times a power of ten apart;
  // on a logarithmic scale powers of ten, with 2 and 5 between them where there is room.
  [[nodiscard]] std::vector<double> ticks(int about) const;

 private:
  Scale(Range domain, Range positions, bool is_logarithmic)
      : domain_(domain), positions_(positions), logarithmic_(is_logarithmic) {}
  Range domain_, positions_;
  bool logarithmic_;
};

// The smallest 1, 2 or 5 times a power of ten that is at least `value` (> 0).
[[nodiscard]] double round_up_to_nice(double value);
// The domain [0, x] or [-x, y] that ends on ticks and holds both values; never empty.
[[nodiscard]] Range nice_domain(double low, double high, int about_ticks);
// The shortest text of a tick: "0", "0.05", "2.5", "100".
[[nodiscard]] std::string tick_text(double value);

}  // namespace sluice
