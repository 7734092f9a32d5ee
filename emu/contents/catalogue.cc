#include "emu/contents/catalogue.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/json_reader.h"

namespace sluice {
namespace {

constexpr const char* kFormat = "sluice-emu-catalogue-2";
// Bounds of what a catalogue may claim; sums over a context stay far within 64 bits.
constexpr std::int64_t kBytesMax = std::int64_t{1} << 40;
constexpr std::int64_t kTokensMax = std::int64_t{1} << 30;
constexpr std::int64_t kNanosecondsMax = std::int64_t{1} << 50;
constexpr std::size_t kRefinementsMax = 64;
constexpr std::int32_t kThreadsMax = 1024;

using Json = nlohmann::ordered_json;

Json to_json_value(const ChunkVersion& version) {
  Json refinements = Json::array();
  for (const DataSize size : version.refinement_sizes)
    refinements.push_back({{"bytes", size.bytes()}});
  return {{"bytes", version.size.bytes()},
          {"xxh3_64", hash_to_text(version.encoded_hash)},
          {"tensors_xxh3_128", to_text(version.tensor_hash)},
          {"decode_ns", to_ns(version.decode_time)},
          {"header_bytes", version.header_size.bytes()},
          {"refinements", std::move(refinements)}};
}

Json to_json_value(const ChunkEntry& chunk) {
  Json versions = Json::array();
  for (const ChunkVersion& version : chunk.versions) versions.push_back(to_json_value(version));
  return {{"tokens", chunk.tokens},
          {"elements", chunk.elements},
          {"decoded_bytes", chunk.decoded_size.bytes()},
          {"text_bytes", chunk.text_size.bytes()},
          {"text_xxh3_64", hash_to_text(chunk.text_hash)},
          {"levels", std::move(versions)}};
}

DataSize read_size(JsonReader& json, const std::string& key, std::int64_t low = 0) {
  return DataSize::bytes(json.integer(key, {low, kBytesMax}));
}

std::uint64_t read_hash(JsonReader& json, const std::string& key) {
  const auto hash = hash_from_text(json.text(key));
  if (!hash) json.fail(key, "is no XXH3-64 hash", "write 16 hexadecimal digits");
  return hash.value_or(0);
}

ChunkVersion read_version(JsonReader& json) {
  ChunkVersion version;
  version.size = read_size(json, "bytes", 1);
  version.encoded_hash = read_hash(json, "xxh3_64");
  const auto tensors = tensor_hash_from_text(json.text("tensors_xxh3_128"));
  if (!tensors) json.fail("tensors_xxh3_128", "is no XXH3-128 hash", "write 32 hexadecimal digits");
  version.tensor_hash = tensors.value_or(TensorHash{});
  version.decode_time = nanoseconds(json.integer("decode_ns", {0, kNanosecondsMax}));
  version.header_size = read_size(json, "header_bytes", 1);
  DataSize sum = version.header_size;
  for (JsonReader& refinement : json.objects("refinements")) {
    if (version.refinement_sizes.size() == kRefinementsMax) {
      json.fail("refinements", fmt::format("has more than {} entries", kRefinementsMax),
                "no codec has so many");
      break;
    }
    version.refinement_sizes.push_back(read_size(refinement, "bytes"));
    sum += version.refinement_sizes.back();
  }
  if (sum != version.size)
    json.fail("bytes", "is not the sum of header_bytes and refinements", "make the contents again");
  return version;
}

ChunkEntry read_chunk(JsonReader& json, std::size_t num_levels) {
  ChunkEntry chunk;
  chunk.tokens = json.integer("tokens", {1, kTokensMax});
  chunk.elements = json.integer("elements", {0, kBytesMax});
  chunk.decoded_size = read_size(json, "decoded_bytes");
  chunk.text_size = read_size(json, "text_bytes");
  chunk.text_hash = read_hash(json, "text_xxh3_64");
  for (JsonReader& version : json.objects("levels"))
    chunk.versions.push_back(read_version(version));
  if (chunk.versions.size() != num_levels)
    json.fail("levels", fmt::format("has {} entries", chunk.versions.size()),
              fmt::format("write one for each of the {} levels", num_levels));
  return chunk;
}

}  // namespace

std::optional<DataSize> ChunkVersion::size_beyond(const ChunkVersion& lower) const {
  const std::size_t have = lower.refinement_sizes.size();
  if (have >= refinement_sizes.size()) return std::nullopt;
  DataSize travels = header_size;
  for (std::size_t i = 0; i < refinement_sizes.size(); ++i) {
    if (i < have && refinement_sizes[i] != lower.refinement_sizes[i]) return std::nullopt;
    if (i >= have) travels += refinement_sizes[i];
  }
  return travels;
}

const ChunkVersion* Catalogue::find(std::int64_t chunk, std::int64_t level) const {
  if (chunk < 0 || chunk >= static_cast<std::int64_t>(chunks.size())) return nullptr;
  const auto& versions = chunks[static_cast<std::size_t>(chunk)].versions;
  if (level < 0 || level >= static_cast<std::int64_t>(versions.size())) return nullptr;
  return &versions[static_cast<std::size_t>(level)];
}

std::int64_t Catalogue::tokens() const {
  std::int64_t sum = 0;
  for (const ChunkEntry& chunk : chunks) sum += chunk.tokens;
  return sum;
}

std::string to_json(const Catalogue& catalogue) {
  Json levels = Json::array(), chunks = Json::array();
  for (const std::string& level : catalogue.levels) levels.push_back({{"id", level}});
  for (const ChunkEntry& chunk : catalogue.chunks) chunks.push_back(to_json_value(chunk));
  const Json document = {
      {"format", kFormat},           {"context", hash_to_text(catalogue.context.value)},
      {"model", catalogue.model},    {"values", catalogue.values},
      {"host", catalogue.host},      {"decode_threads", catalogue.decode_threads},
      {"levels", std::move(levels)}, {"chunks", std::move(chunks)}};
  // What is not UTF-8 (a file's name) is replaced: the text must be read again.
  return document.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<Catalogue> parse_catalogue(std::string_view text, const std::string& name) {
  if (text.size() > kCatalogueBytesMax)
    return error_in(name, "is too long for a catalogue", "make the contents again");
  auto json = JsonReader::parse(text, name);
  if (!json) return json.error();
  Catalogue catalogue;
  json->expect_format(kFormat);
  catalogue.context.value = read_hash(*json, "context");
  catalogue.model = json->text("model");
  catalogue.values = json->text("values");
  catalogue.host = json->text("host");
  catalogue.decode_threads =
      static_cast<std::int32_t>(json->integer("decode_threads", {1, kThreadsMax}));
  for (JsonReader& level : json->objects("levels")) catalogue.levels.push_back(level.text("id"));
  for (JsonReader& chunk : json->objects("chunks"))
    catalogue.chunks.push_back(read_chunk(chunk, catalogue.levels.size()));
  if (const Status status = json->finish(); !status) return status.error();
  return catalogue;
}

}  // namespace sluice
