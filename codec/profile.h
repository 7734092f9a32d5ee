// Codec profiles: measured facts of (codec, level, model, chunk length, device), as a JSON file.
// Where in the flow: step 5; `codec profile` writes them, the session reads them and never a
// constant.
// Surprises: every number carries its source; a profile of one geometry serves another only through
// scale_profile(), which changes `source` to `scaled` and says by which rule; times on another
// device come through combine() (codec/decode_times.h).
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "codec/judged.h"

namespace sluice {

enum class FactSource { kMeasured, kPublished, kScaled, kEstimated };

// Time as a function of size: fixed + per_element * elements.
struct LinearTime {
  Duration fixed{};
  double ns_per_element = 0;
  FactSource source = FactSource::kMeasured;
  // Throws std::overflow_error past 292 years.
  [[nodiscard]] Duration of(std::int64_t num_elements) const;
};

struct LevelFacts {
  std::string codec, level;        // "cachegen-released", "2"
  double bits_per_element = 0;     // every byte on the wire counted
  double bits_per_element_sd = 0;  // spread over chunks; 0 when there is one
  FactSource size_source = FactSource::kMeasured;
  std::optional<LinearTime> encode, decode;  // absent: not known for this device
  double damage = 0;                         // by CodecProfile::damage_measure; 0 is lossless
  FactSource damage_source = FactSource::kMeasured;
  // Name of the level of the same codec whose bytes this one begins with, for layered codecs; only
  // the difference travels where that one has arrived.
  std::optional<std::string> refines = {};
  std::optional<Judged> judged = {};  // by `codec judge`; `damage` is then the same document's KL
  [[nodiscard]] std::string id() const { return codec + "@" + level; }
  [[nodiscard]] DataSize size_of(std::int64_t num_elements) const;  // rounded up
};

struct CodecProfile {
  std::string id;      // file name without .json
  std::string model;   // geometry id the facts were taken on ("smollm2-135m")
  std::string device;  // where times were taken; empty when no level has any
  std::int64_t chunk_tokens = 0;
  std::string damage_measure;  // "attention-output-error", "kl-mean": what `damage` is, in
                               // the profile's words
  std::string command, commit, data_sha256;  // how it was made; empty where published
  std::string note;                          // source in words: paper, table, rule of scaling
  std::string sha256;                        // of the file's bytes, set by the reader
  std::vector<LevelFacts> levels;            // least damage first
};

// The text of a profile; `file` names it, for its id and in errors.
[[nodiscard]] Result<CodecProfile> parse_profile(std::string_view text,
                                                 const std::filesystem::path& file);
[[nodiscard]] Result<CodecProfile> read_profile(const std::filesystem::path& file);
// By id, from the shipped profiles (codec/profiles); the error names the nearest known one.
[[nodiscard]] Result<CodecProfile> find_profile(const std::string& id);
// Refuses what read_profile() would not read back; the file appears whole or not at all.
[[nodiscard]] Status write_profile(const CodecProfile& profile, const std::filesystem::path& file);

// Erases all other levels. What refines an erased level then refines the nearest kept one below it.
void keep_levels(CodecProfile& profile, const std::function<bool(const LevelFacts&)>& wanted);

// The same bits, nanoseconds and damage per element on another geometry. Measured and published
// facts become `scaled` (estimates stay estimates) and the note names the model they come from. The
// own model: unchanged.
[[nodiscard]] CodecProfile scale_profile(CodecProfile profile, const std::string& to_model);

[[nodiscard]] std::string to_text(FactSource source);

}  // namespace sluice
