// How fast a device decodes, apart from sizes: one size profile then serves several devices.
// Where in the flow: step 5; a CodecProfile is combined with the times of the compute device.
// Surprise: an entry without a level holds for all levels of its codec; one with a level wins.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "codec/profile.h"

namespace sluice {

struct DecodeTimeEntry {
  std::string codec;
  std::optional<std::string> level;
  LinearTime decode;
  std::string note;  // the derivation, in words
};

// Files: codec/profiles/decode/<device>.json, format sluice-decode-times-1.
struct DecodeTimes {
  std::string device;  // of a compute device or a measured machine; the file name without .json
  std::string note;
  std::optional<std::string> model = {};  // they were measured on; absent: derived, for any model
  std::vector<DecodeTimeEntry> entries = {};

  // The entry of this level, else that of its codec.
  [[nodiscard]] const DecodeTimeEntry* find(const std::string& codec,
                                            const std::string& level) const;
};

[[nodiscard]] Result<DecodeTimes> read_decode_times(const std::filesystem::path& file);
// By device, from the shipped files; the error names the nearest known one.
[[nodiscard]] Result<DecodeTimes> find_decode_times(const std::string& device);
// All or nothing; read_decode_times() of the result gives the same. `note` says how they were made.
[[nodiscard]] Status write_decode_times(const DecodeTimes& times,
                                        const std::filesystem::path& file);
// What a measured profile knows about its own device, to serve the sizes of another profile.
[[nodiscard]] DecodeTimes decode_times_of(const CodecProfile& profile);

// `sizes` with decode times on `times.device`. Times that `sizes` has of that same device stay;
// those of another device go, encode times with them. Times measured on another model become
// `scaled`. A level that `times` does not know is an error.
[[nodiscard]] Result<CodecProfile> combine(CodecProfile sizes, const DecodeTimes& times);

}  // namespace sluice
