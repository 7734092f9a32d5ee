#include "emu/contents/contents.h"

#include <fmt/format.h>

#include "base/assert.h"
#include "base/files.h"
#include "codec/codec.h"
#include "emu/contents/folder.h"
#include "emu/contents/selection.h"

namespace sluice {
namespace {

constexpr const char* kMakeAgain = "make the contents again";

// The file at `path`, which the catalogue says has this size and hash.
Result<std::vector<std::byte>> verified_bytes(const StoredBytes& stored, std::uint64_t hash,
                                              const std::filesystem::path& path) {
  auto bytes = stored.read_all();
  if (!bytes) return bytes;
  if (hash_bytes(*bytes) != hash)
    return error_in(path.string(), "its hash is not the catalogue's", kMakeAgain);
  return bytes;
}

Result<EncodedChunk> open_chunk(const std::filesystem::path& path, const ChunkVersion& version,
                                const std::string& level) {
  EncodedChunk chunk{.header = {}, .bytes = StoredBytes::in_file(path, version.size)};
  const auto bytes = verified_bytes(chunk.bytes, version.encoded_hash, path);
  if (!bytes) return bytes.error();
  auto header = parse_header(*bytes, path.string());
  if (!header) return header.error();
  if (header->codec_id + "@" + header->level != level) {
    return error_in(
        path.string(),
        fmt::format("is {}@{}, and the catalogue says {}", header->codec_id, header->level, level),
        kMakeAgain);
  }
  if (header->header_size != version.header_size ||
      refinement_sizes_of(*header) != version.refinement_sizes)
    return error_in(path.string(), "its sections are not the catalogue's", kMakeAgain);
  chunk.header = std::move(*header);
  return chunk;
}

Result<StoredBytes> open_text(const std::filesystem::path& path, const ChunkEntry& entry) {
  if (entry.text_size == DataSize::zero()) return StoredBytes();
  StoredBytes text = StoredBytes::in_file(path, entry.text_size);
  const auto bytes = verified_bytes(text, entry.text_hash, path);
  if (!bytes) return bytes.error();
  return text;
}

}  // namespace

std::filesystem::path catalogue_path(const std::filesystem::path& folder) {
  return folder / "catalogue.json";
}
std::filesystem::path chunk_path(const std::filesystem::path& folder, std::size_t chunk,
                                 std::size_t level) {
  return folder / fmt::format("chunk-{}.level-{}.kvb", chunk, level);
}
std::filesystem::path text_path(const std::filesystem::path& folder, std::size_t chunk) {
  return folder / fmt::format("chunk-{}.text", chunk);
}

std::vector<DataSize> refinement_sizes_of(const ContainerHeader& header) {
  std::vector<DataSize> sizes(static_cast<std::size_t>(highest_refinement(header)) + 1);
  for (const SectionEntry& section : header.sections)
    sizes[static_cast<std::size_t>(section.refinement)] += section.size;
  return sizes;
}

ContextContents::ContextContents(Catalogue catalogue, std::vector<std::vector<EncodedChunk>> chunks,
                                 std::vector<StoredBytes> texts)
    : catalogue_(std::move(catalogue)),
      catalogue_json_(to_json(catalogue_)),
      chunks_(std::move(chunks)),
      texts_(std::move(texts)) {
  SLUICE_ASSERT(chunks_.size() == catalogue_.chunks.size() && texts_.size() == chunks_.size(),
                "a catalogue of other chunks");
}

const EncodedChunk* ContextContents::find(std::int64_t chunk, std::int64_t level) const {
  if (catalogue_.find(chunk, level) == nullptr) return nullptr;
  return &chunks_[static_cast<std::size_t>(chunk)][static_cast<std::size_t>(level)];
}

const StoredBytes* ContextContents::find_text(std::int64_t chunk) const {
  if (chunk < 0 || chunk >= static_cast<std::int64_t>(texts_.size())) return nullptr;
  const StoredBytes& text = texts_[static_cast<std::size_t>(chunk)];
  return text.size() == DataSize::zero() ? nullptr : &text;
}

Status Contents::add(ContextContents context) {
  const ContextId id = context.catalogue().context;
  if (!contexts_.emplace(id, std::move(context)).second) {
    return error_in("", fmt::format("context {} is there twice", hash_to_text(id.value)),
                    "make it with another number");
  }
  return {};
}

const ContextContents* Contents::find(ContextId context) const {
  const auto found = contexts_.find(context);
  return found == contexts_.end() ? nullptr : &found->second;
}

const EncodedChunk* Contents::find(ContextId context, std::int64_t chunk,
                                   std::int64_t level) const {
  const ContextContents* contents = find(context);
  return contents == nullptr ? nullptr : contents->find(chunk, level);
}

Result<ContextContents> open_contents(const std::filesystem::path& folder) {
  const auto file = catalogue_path(folder);
  const auto text = read_file(file, DataSize::bytes(static_cast<std::int64_t>(kCatalogueBytesMax)));
  if (!text) return text.error();
  auto catalogue = parse_catalogue(*text, file.string());
  if (!catalogue) return catalogue.error();
  std::vector<std::vector<EncodedChunk>> chunks;
  std::vector<StoredBytes> texts;
  for (std::size_t c = 0; c < catalogue->chunks.size(); ++c) {
    const ChunkEntry& entry = catalogue->chunks[c];
    auto& versions = chunks.emplace_back();
    for (std::size_t level = 0; level < entry.versions.size(); ++level) {
      auto chunk =
          open_chunk(chunk_path(folder, c, level), entry.versions[level], catalogue->levels[level]);
      if (!chunk) return chunk.error();
      versions.push_back(std::move(*chunk));
    }
    auto chunk_text = open_text(text_path(folder, c), entry);
    if (!chunk_text) return chunk_text.error();
    texts.push_back(std::move(*chunk_text));
  }
  return ContextContents(std::move(*catalogue), std::move(chunks), std::move(texts));
}

}  // namespace sluice
