#include "codec/decode_times.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/json_reader.h"
#include "codec/profile_json.h"

namespace sluice {
namespace {

constexpr const char* kFormat = "sluice-decode-times-1";
constexpr DataSize kMaxFileSize = DataSize::bytes(1 << 20);

DecodeTimeEntry read_entry(JsonReader& in) {
  DecodeTimeEntry entry;
  entry.codec = in.text("codec");
  if (in.has("level")) entry.level = in.text("level");
  entry.decode = read_linear_time(in.object("decode"));
  entry.note = in.text("note");
  return entry;
}

}  // namespace

const DecodeTimeEntry* DecodeTimes::find(const std::string& codec, const std::string& level) const {
  const DecodeTimeEntry* of_codec = nullptr;
  for (const DecodeTimeEntry& entry : entries) {
    if (entry.codec != codec) continue;
    if (entry.level == level) return &entry;
    if (!entry.level) of_codec = &entry;
  }
  return of_codec;
}

Result<DecodeTimes> read_decode_times(const std::filesystem::path& file) {
  const auto text = read_file(file, kMaxFileSize);
  if (!text) return text.error();
  auto parsed = JsonReader::parse(*text, file.string());
  if (!parsed) return parsed.error();
  JsonReader& in = *parsed;
  in.expect_format(kFormat);
  DecodeTimes times;
  times.device = file.stem().string();
  times.note = in.text("note");
  for (JsonReader& entry_in : in.objects("times")) {
    DecodeTimeEntry entry = read_entry(entry_in);
    for (const DecodeTimeEntry& earlier : times.entries) {
      if (earlier.codec == entry.codec && earlier.level == entry.level) {
        entry_in.fail("codec", fmt::format("repeats an entry of `{}`", entry.codec), "keep one");
      }
    }
    times.entries.push_back(std::move(entry));
  }
  if (const Status status = in.finish(); !status) return status.error();
  return times;
}

Status write_decode_times(const DecodeTimes& times, const std::filesystem::path& file) {
  nlohmann::ordered_json json{
      {"format", kFormat}, {"note", times.note}, {"times", nlohmann::ordered_json::array()}};
  for (const DecodeTimeEntry& entry : times.entries) {
    nlohmann::ordered_json item{{"codec", entry.codec}};
    if (entry.level) item["level"] = *entry.level;
    item["decode"] = {{"fixed_ns", to_ns(entry.decode.fixed)},
                      {"ns_per_element", entry.decode.ns_per_element},
                      {"source", to_text(entry.decode.source)}};
    item["note"] = entry.note;
    json["times"].push_back(std::move(item));
  }
  return write_file_atomically(file, json.dump(2) + "\n");
}

Result<DecodeTimes> find_decode_times(const std::string& device) {
  const auto home = sluice_home();
  if (!home) return home.error();
  const auto file =
      find_json_file(*home / "codec" / "profiles" / "decode", device, "device with decode times");
  if (!file) return file.error();
  return read_decode_times(*file);
}

DecodeTimes decode_times_of(const CodecProfile& profile) {
  DecodeTimes times{
      .device = profile.device, .note = "from profile " + profile.id + ".", .model = profile.model};
  for (const LevelFacts& level : profile.levels) {
    if (level.decode)
      times.entries.push_back({level.codec, level.level, *level.decode, times.note});
  }
  return times;
}

Result<CodecProfile> combine(CodecProfile sizes, const DecodeTimes& times) {
  const bool same_device = sizes.device == times.device;
  for (LevelFacts& level : sizes.levels) {
    if (!same_device) level.encode.reset();
    if (same_device && level.decode) continue;
    const DecodeTimeEntry* entry = times.find(level.codec, level.level);
    if (entry == nullptr) {
      return error_in(
          "", fmt::format("no decode time of `{}` on device `{}`", level.id(), times.device),
          fmt::format("add codec `{}` to its decode times, or use a profile measured there",
                      level.codec));
    }
    level.decode = entry->decode;
    const bool other_model = times.model && *times.model != sizes.model;
    if (other_model && level.decode->source == FactSource::kMeasured)
      level.decode->source = FactSource::kScaled;
  }
  if (!same_device) sizes.note += fmt::format(" Decode times on {}: {}", times.device, times.note);
  sizes.device = times.device;
  return sizes;
}

}  // namespace sluice
