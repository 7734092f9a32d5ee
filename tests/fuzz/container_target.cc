// A whole .kvb: parsed and decoded as it is, and again with its size and checksums made right.
#include <cstring>

#include "base/random.h"
#include "tests/codec/container_bytes.h"
#include "tests/codec/made_caches.h"
#include "tests/fuzz/target.h"

namespace sluice::fuzz {
namespace {

// A file of 16 KiB may hold 4 million elements of a codec that packs 256 into a byte; that is
// sound, and slow.
constexpr std::int64_t kElementsMax = 1 << 18;
constexpr std::size_t kSizesEnd = 32;
constexpr std::size_t kFileSizeAt = 24;

const SealKey& key() {
  static const SealKey kKey(counting_bytes(0));
  return kKey;
}

bool is_large(std::span<const std::byte> file) {
  const auto header = parse_header(file, "input");
  return header.ok() && num_elements(header->shape) > kElementsMax;
}

bool hold_the_same(const KvCache& a, const KvCache& b) {
  for (std::size_t i = 0; i < a.view().layers.size(); ++i) {
    for (const TensorKind kind : kTensorKinds) {
      const TensorView* x = a.view().layers[i].find(kind);
      const TensorView* y = b.view().layers[i].find(kind);
      if (x == nullptr || x->shape.elements() == 0) continue;
      if (std::memcmp(x->data, y->data, static_cast<std::size_t>(x->shape.size().bytes())) != 0)
        return false;
    }
  }
  return true;
}

// Decoded elements are a cache like any other: every backend encodes it to the same bytes, and
// decodes those.
Finding encode_again(std::span<const std::byte> file, const KvCache& cache) {
  const auto header = parse_header(file, "input");
  CodecLevel codec_level = *codec_of(*header, "input");
  codec_level.reducer = nullptr;  // what a reducer kept is kept
  std::optional<Bytes> first;
  for (const Backend backend : available_backends()) {
    const auto again = encode_container(cache.view(), codec_level, {.backend = backend});
    if (!again) return "what was decoded is not encoded: " + again.error().to_line();
    if (first && *first != *again) return "backends encode other bytes";
    first = *again;
  }
  const auto decoded = decode_container(*first, "again");
  if (!decoded) return "what was encoded is not decoded: " + decoded.error().to_line();
  if (codec_level.codec->info.lossless && !hold_the_same(cache, *decoded))
    return "a lossless codec lost something";
  return std::nullopt;
}

Finding decode_on_every_backend(std::span<const std::byte> file) {
  if (is_large(file)) return std::nullopt;
  const auto header = parse_header(file, "input");
  const bool is_sealed = header.ok() && header->is_sealed();
  std::optional<Result<KvCache>> first;
  for (const Backend backend : available_backends()) {
    auto cache = decode_container(file, "input",
                                  {.backend = backend, .seal_key = is_sealed ? &key() : nullptr});
    if (!first) {
      first = std::move(cache);
      continue;
    }
    if (first->ok() != cache.ok()) return "one backend decodes what another refuses";
    if (cache.ok() && !hold_the_same(**first, *cache)) return "backends decode other elements";
  }
  return first->ok() ? encode_again(file, **first) : std::nullopt;
}

Bytes repaired(Bytes file) {
  if (file.size() >= kSizesEnd) {
    const std::uint64_t size = file.size();
    std::memcpy(file.data() + kFileSizeAt, &size, sizeof size);
  }
  return with_right_checksums(std::move(file));
}

Finding run(std::span<const std::byte> input) {
  if (Finding finding = decode_on_every_backend(input)) return finding;
  return decode_on_every_backend(repaired(Bytes(input.begin(), input.end())));
}

std::vector<Bytes> seeds() {
  std::vector<Bytes> files;
  for (const NamedCache& made : odd_caches()) {
    if (num_elements(shape_of(made.cache.view())) > 4000) continue;
    for (const Codec& codec : all_codecs()) {
      files.push_back(*encode_container(made.cache.view(), {&codec, codec.info.default_level},
                                        {.layers_per_section = 2}));
    }
  }
  files.push_back(*encode_container(
      small_cache().view(), *find_codec_level("int8"),
      {.layers_per_section = 1, .seal_key = &key(), .seal_salt = counting_bytes(32)}));
  files.push_back(*encode_container(small_cache().view(), *find_codec_level("int8+window@token+25"),
                                    {.layers_per_section = 1}));
  return files;
}

// Other gaps between as many tokens.
void change_positions(KvLayer<TensorShape>& layer, RandomStream& random) {
  Positions moved = *layer.positions;
  std::int64_t further = 0;
  for (std::int64_t& position : moved)
    position += further += static_cast<std::int64_t>(random.below(9));
  layer.first_token = moved.front();
  layer.positions = if_gapped(std::move(moved));
}

void change_shape(KvShape& shape, RandomStream& random) {
  if (shape.layers.empty()) return;
  auto& layer = shape.layers[random.below(shape.layers.size())];
  if (layer.positions && random.bernoulli(0.5)) return change_positions(layer, random);
  const auto number = static_cast<std::int64_t>(random.below(40));
  const auto which = random.below(3);
  for (auto* tensor : {&layer.key, &layer.value, &layer.latent}) {
    if (!*tensor) continue;
    (which == 0 ? (*tensor)->tokens : which == 1 ? (*tensor)->heads : (*tensor)->dim) = number;
  }
}

// The sections' bytes behind a header laid out for them.
Bytes assembled(ContainerHeader header, std::span<const Bytes> sections) {
  for (std::size_t i = 0; i < sections.size(); ++i) {
    header.sections[i].size = DataSize::bytes(static_cast<std::int64_t>(sections[i].size()));
    header.sections[i].side = std::min(header.sections[i].side, header.sections[i].size);
    header.sections[i].crc32 = crc32_of(sections[i]);
  }
  lay_out(header);
  std::optional<FileSeal> seal;
  if (header.is_sealed()) seal.emplace(key(), *header.seal_salt, header_front(header));
  Bytes file = header_bytes(header, seal ? &*seal : nullptr);
  for (const Bytes& section : sections) file.insert(file.end(), section.begin(), section.end());
  return file;
}

// A sound file stays one that is parsed: a section's bytes change, or a shape, and the header
// follows.
void mutate(Bytes& file, std::size_t bytes_max, std::uint64_t seed, const MutateBytes& change) {
  RandomStream random(seed);
  auto header = parse_header(file, "input");
  const auto choice = random.below(5);
  if (!header || header->sections.empty() || choice == 0) {
    change(file, bytes_max);
    file = repaired(std::move(file));
    return;
  }
  std::vector<Bytes> sections;
  for (const SectionEntry& section : header->sections) {
    const auto begin = file.begin() + section.offset;
    sections.emplace_back(begin, begin + section.size.bytes());
  }
  if (choice == 1) {
    change_shape(header->shape, random);
    if (!check_shape(header->shape)) return;
  } else {
    Bytes& section = sections[random.below(sections.size())];
    change(section, bytes_max - std::min(bytes_max, file.size()) + section.size());
  }
  Bytes made = assembled(*std::move(header), sections);
  if (made.size() <= bytes_max) file = std::move(made);
}

}  // namespace

Target container_target() {
  return {.name = "container", .run = run, .seeds = seeds, .mutate = mutate};
}

}  // namespace sluice::fuzz
