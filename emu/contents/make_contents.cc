#include "emu/contents/make_contents.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <chrono>

#include "base/files.h"
#include "base/random.h"
#include "codec/container/decode.h"
#include "codec/container/encode.h"
#include "emu/contents/folder.h"
#include "emu/contents/value_source.h"

namespace sluice {
namespace {

constexpr int kTimedDecodes = 3;  // behind a first one that warms up and is hashed
constexpr std::int64_t kTextLetters = 64;

std::string host_name() {
  utsname names{};
  return ::uname(&names) == 0 && names.nodename[0] != '\0' ? names.nodename : "unknown";
}

Status check_spec(const ContentsSpec& spec) {
  const auto refuse = [](const char* what, const char* fix) { return error_in("", what, fix); };
  if (spec.model.layers.empty()) return refuse("a model without layers", "name another model");
  if (spec.levels.empty()) return refuse("no levels to encode at", "name at least one --level");
  if (std::any_of(spec.levels.begin(), spec.levels.end(),
                  [](const CodecLevel& level) { return level.reducer != nullptr; }))
    return refuse("a level with a reducer: made contents have no attention to choose tokens by",
                  "name the codec alone");
  if (spec.chunk_tokens.empty()) return refuse("no chunks", "give --tokens above 0");
  if (std::any_of(spec.chunk_tokens.begin(), spec.chunk_tokens.end(),
                  [](std::int64_t tokens) { return tokens <= 0; }))
    return refuse("a chunk without tokens", "give every chunk at least one token");
  if (spec.text_per_token < DataSize::zero()) return refuse("text of a negative size", "give 0");
  return {};
}

// The part of a context of `context_tokens` that this chunk holds.
KvShape chunk_shape(const ModelGeometry& model, TokenRange chunk, std::int64_t context_tokens) {
  KvShape shape;
  shape.facts.model = model.id;
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    const LayerGeometry& geometry = model.layers[i];
    const std::int64_t kept =
        context_tokens - std::min(context_tokens, geometry.window_tokens.value_or(context_tokens));
    const std::int64_t begin = std::clamp(kept, chunk.begin, chunk.end);
    const TensorShape tensor{.dtype = Dtype::kFp16,
                             .heads = geometry.kv_heads,
                             .tokens = chunk.end - begin,
                             .dim = geometry.head_dim};
    KvLayer<TensorShape> layer{.layer = static_cast<std::int64_t>(i), .first_token = begin};
    if (geometry.tensors == 1) {
      layer.latent = tensor;
    } else {
      layer.key = layer.value = tensor;
    }
    shape.layers.push_back(std::move(layer));
  }
  return shape;
}

Status write_bytes(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  return write_file_atomically(
      path, std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

Result<StoredBytes> keep(std::vector<std::byte> bytes,
                         const std::optional<std::filesystem::path>& file) {
  if (!file) return StoredBytes::in_memory(std::move(bytes));
  if (const Status written = write_bytes(*file, bytes); !written) return written.error();
  return StoredBytes::in_file(*file, DataSize::bytes(static_cast<std::int64_t>(bytes.size())));
}

// Letters and spaces that differ from chunk to chunk.
std::vector<std::byte> made_text(const ContentsSpec& spec, std::size_t chunk) {
  RandomStream random(spec.seed, "text of a chunk", chunk);
  std::vector<std::byte> text(
      static_cast<std::size_t>((spec.text_per_token * spec.chunk_tokens[chunk]).bytes()));
  for (std::byte& letter : text) {
    const auto draw = random.below(kTextLetters);
    letter = static_cast<std::byte>(draw < 26 ? 'a' + draw : draw < 52 ? 'A' + draw - 26 : ' ');
  }
  return text;
}

class ContentsMaker {
 public:
  ContentsMaker(const ContentsSpec& spec, ValueSource source)
      : spec_(spec), source_(std::move(source)) {
    for (const std::int64_t tokens : spec.chunk_tokens) context_tokens_ += tokens;
    catalogue_ = {.context = spec.context,
                  .model = spec.model.id,
                  .values = source_.words(),
                  .host = host_name(),
                  .decode_threads = spec.decode_threads};
    for (const CodecLevel& level : spec.levels) catalogue_.levels.push_back(level.id());
  }

  Result<ContextContents> make() {
    std::int64_t begin = 0;
    for (std::size_t chunk = 0; chunk < spec_.chunk_tokens.size(); ++chunk) {
      const std::int64_t end = begin + spec_.chunk_tokens[chunk];
      if (const Status made = make_chunk(chunk, {begin, end}); !made) return made.error();
      begin = end;
    }
    if (spec_.folder) {
      const Status written =
          write_file_atomically(catalogue_path(*spec_.folder), to_json(catalogue_));
      if (!written) return written.error();
    }
    return ContextContents(std::move(catalogue_), std::move(chunks_), std::move(texts_));
  }

 private:
  Status make_chunk(std::size_t chunk, TokenRange range) {
    const KvShape shape = chunk_shape(spec_.model, range, context_tokens_);
    if (const Status sound = check_shape(shape); !sound) return sound;
    KvCache cache = KvCache::allocate(shape);
    if (const Status filled = source_.fill(cache, static_cast<std::int64_t>(chunk), spec_.threads);
        !filled)
      return filled;
    const std::int64_t elements = num_elements(shape);
    catalogue_.chunks.push_back(
        {.tokens = range.tokens(),
         .elements = elements,
         .decoded_size = DataSize::bytes(elements * bytes_per_element(Dtype::kFp16))});
    chunks_.emplace_back();
    std::vector<std::vector<std::byte>> files;
    for (const CodecLevel& level : spec_.levels) {
      auto file = encode_container(
          cache.view(), level,
          {.layers_per_section = spec_.layers_per_section, .threads = spec_.threads});
      if (!file) return file.error();
      files.push_back(std::move(*file));
    }
    // Decoding fills the memory that encoding is done with.
    for (std::size_t level = 0; level < files.size(); ++level) {
      if (const Status added = add_version(chunk, level, std::move(files[level]), cache); !added)
        return added;
    }
    return add_text(chunk);
  }

  Status add_version(std::size_t chunk, std::size_t level, std::vector<std::byte> file,
                     KvCache& cache) {
    const std::string name = fmt::format("chunk {} at {}", chunk, catalogue_.levels[level]);
    auto header = parse_header(file, name);
    if (!header) return header.error();
    ChunkVersion version{.size = header->file_size,
                         .encoded_hash = hash_bytes(file),
                         .header_size = header->header_size,
                         .refinement_sizes = refinement_sizes_of(*header)};
    const auto time = time_decodes(file, *header, cache, name);
    if (!time) return time.error();
    version.decode_time = *time;
    version.tensor_hash = hash_tensors(cache.view());
    catalogue_.chunks[chunk].versions.push_back(std::move(version));
    auto stored = keep(std::move(file), file_at(chunk, level));
    if (!stored) return stored.error();
    chunks_[chunk].push_back({.header = std::move(*header), .bytes = std::move(*stored)});
    if (spec_.on_progress) {
      const auto levels = static_cast<std::int64_t>(spec_.levels.size());
      spec_.on_progress(
          static_cast<std::int64_t>(chunk) * levels + static_cast<std::int64_t>(level) + 1,
          static_cast<std::int64_t>(spec_.chunk_tokens.size()) * levels);
    }
    return {};
  }

  Result<Duration> time_decodes(std::span<const std::byte> file, const ContainerHeader& header,
                                KvCache& cache, const std::string& name) const {
    std::vector<Duration> times;
    for (int i = 0; i <= kTimedDecodes; ++i) {
      const auto began = std::chrono::steady_clock::now();
      const Status decoded =
          decode_container_into(file, header, cache, name, {.threads = spec_.decode_threads});
      if (!decoded) return decoded.error();
      if (i > 0) times.push_back(std::chrono::steady_clock::now() - began);
    }
    std::nth_element(times.begin(), times.begin() + kTimedDecodes / 2, times.end());
    return times[kTimedDecodes / 2];
  }

  Status add_text(std::size_t chunk) {
    if (spec_.text_per_token == DataSize::zero()) {
      texts_.emplace_back();
      return {};
    }
    auto text = made_text(spec_, chunk);
    ChunkEntry& entry = catalogue_.chunks[chunk];
    entry.text_size = DataSize::bytes(static_cast<std::int64_t>(text.size()));
    entry.text_hash = hash_bytes(text);
    auto stored =
        keep(std::move(text),
             spec_.folder ? std::optional(text_path(*spec_.folder, chunk)) : std::nullopt);
    if (!stored) return stored.error();
    texts_.push_back(std::move(*stored));
    return {};
  }

  [[nodiscard]] std::optional<std::filesystem::path> file_at(std::size_t chunk,
                                                             std::size_t level) const {
    if (!spec_.folder) return std::nullopt;
    return chunk_path(*spec_.folder, chunk, level);
  }

  const ContentsSpec& spec_;
  ValueSource source_;
  std::int64_t context_tokens_ = 0;
  Catalogue catalogue_;
  std::vector<std::vector<EncodedChunk>> chunks_;
  std::vector<StoredBytes> texts_;
};

Status make_folder(const std::filesystem::path& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  const bool is_empty = !failed && std::filesystem::is_empty(folder, failed);
  if (failed) return error_in(folder.string(), failed.message(), "name a folder that can be made");
  if (!is_empty)
    return error_in(folder.string(), "is not empty", "name a new folder, or open this one");
  return {};
}

}  // namespace

std::vector<std::int64_t> cut_into_chunks(std::int64_t tokens, std::int64_t chunk_tokens) {
  std::vector<std::int64_t> chunks;
  for (; tokens > 0 && chunk_tokens > 0; tokens -= chunks.back())
    chunks.push_back(std::min(tokens, chunk_tokens));
  return chunks;
}

Result<ContextContents> make_contents(const ContentsSpec& spec) {
  if (const Status sound = check_spec(spec); !sound) return sound.error();
  std::int64_t run_max = 0;
  for (const LayerGeometry& layer : spec.model.layers)
    run_max = std::max<std::int64_t>(run_max, layer.head_dim);
  auto source = spec.capture ? ValueSource::of_capture(*spec.capture, run_max)
                             : ValueSource::made(spec.seed, run_max);
  if (!source) return source.error();
  if (spec.folder) {
    if (const Status made = make_folder(*spec.folder); !made) return made.error();
  }
  return ContentsMaker(spec, std::move(*source)).make();
}

}  // namespace sluice
