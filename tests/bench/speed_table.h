// What `codec bench` found, as a table.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/table.h"

namespace sluice::bench {

inline constexpr const char* kEncode = "encode";
inline constexpr const char* kDecode = "decode";

struct SpeedRow {
  std::string name;       // "int8@token", "zstd-1", "memcpy"
  std::string backend;    // "scalar", "avx2"; empty: a peer or a ceiling
  std::string direction;  // kEncode, kDecode; of ceilings "copy", "write", "read"
  int cores = 1;
  double elements_per_sec = 0;  // two bytes each: of ceilings, half the bytes
  double bits_per_element = 0;
};

struct SpeedReport {
  std::vector<std::string> head;  // lines: machine, load, size, how it was measured
  std::vector<SpeedRow> ceilings, codecs, peers;
};

// Decoding is compared with the streaming write of as many cores, encoding with the streaming read.
[[nodiscard]] Table table_of(const SpeedReport& report);
[[nodiscard]] nlohmann::json json_of(const SpeedReport& report);

}  // namespace sluice::bench
