// Seeded damage to text files, for the fuzz tests of the readers.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "base/random.h"

namespace sluice::testing {

inline std::string splice(RandomStream& random) {
  static const std::vector<std::string> kSplices{"-1",
                                                 "nan",
                                                 "inf",
                                                 "1e999",
                                                 "1e-999",
                                                 "99999999999999999999999",
                                                 "0x7f",
                                                 "\n",
                                                 "\r",
                                                 "\t",
                                                 ",",
                                                 ",,,,",
                                                 "\"",
                                                 "{",
                                                 "}",
                                                 "[",
                                                 "]",
                                                 ":",
                                                 "\\u0000",
                                                 "bw",
                                                 ".",
                                                 "-",
                                                 "e",
                                                 " ",
                                                 "\xEF\xBB\xBF",
                                                 "\xFF\xFE",
                                                 "9223372036854775808"};
  if (random.bernoulli(0.05))
    return std::string(1 + random.below(70'000), "0[{,9 "[random.below(6)]);
  if (random.bernoulli(0.1)) return std::string(1, static_cast<char>(random.below(256)));
  return kSplices[random.below(kSplices.size())];
}

// One to five changes: flips, cuts, copies, and what stands between sound values in trouble.
inline std::string mutate(std::string text, RandomStream& random) {
  for (std::uint64_t i = 0, n = 1 + random.below(5); i < n; ++i) {
    const std::size_t at = random.below(text.size() + 1);
    const std::size_t length = std::min<std::size_t>(1 + random.below(8), text.size() - at);
    switch (random.below(6)) {
      case 0:
        text.insert(at, splice(random));
        break;
      case 1:
        text.replace(at, length, splice(random));
        break;
      case 2:
        text.erase(at, length);
        break;
      case 3:
        text.insert(random.below(text.size() + 1), text.substr(at, length * 4));
        break;
      case 4:
        text.resize(at);
        break;
      default:
        if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << random.below(8)));
    }
  }
  return text;
}

// Other digits in the place of one to three: the form stays, the values do not.
inline std::string change_digits(std::string text, RandomStream& random) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] >= '0' && text[i] <= '9') places.push_back(i);
  }
  for (std::uint64_t i = 0, n = 1 + random.below(3); i < n && !places.empty(); ++i)
    text[places[random.below(places.size())]] = "0123456789"[random.below(10)];
  return text;
}

}  // namespace sluice::testing
