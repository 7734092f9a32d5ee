// The codec contract: what a codec says about itself, and two pure functions, per section.
// Where in the flow: between a KvView and the container. A section = consecutive layers x (keys |
// values | latents) x one refinement layer, decodable alone. codec/registry.cc lists all codecs;
// contract tests pick them up there.
// Surprise: decoded tensors are defined to the bit, on every host and backend: fp32 arithmetic
// without contraction, rounding to nearest with ties to even, integers wherever possible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "codec/backend.h"
#include "codec/codable.h"  // what lossy codecs code in place of NaN and of large numbers
#include "codec/kv_cache.h"

namespace sluice {

struct ModelProfile;  // codec/model_profile/

struct CodecLevelInfo {
  std::string name;     // "group-64", "2"; kebab-case, unique in its codec
  std::string summary;  // one line
  // How many enhancement layers follow each section's base at this level; 0: it is not layered.
  std::int32_t refinements = 0;
};

struct CodecInfo {
  std::string id;             // kebab-case, never renamed
  std::uint32_t version = 1;  // of the bitstream; a decoder refuses others
  std::string summary;        // one line
  bool lossless = false;      // decode(encode(x)) == x to the bit, NaN payloads included
  // Codes keys better when RoPE facts and positions are known; works without.
  bool needs_positions = false;
  // A section of n elements (its base, where there are refinements) has at least
  // n / max_elements_per_byte bytes: what a decoder may allocate for a file. A codec whose stream
  // could be shorter pads it, and checks the padding when it decodes.
  std::int64_t max_elements_per_byte = 1;
  // Sections hold keys and values of the same layers together: a key, then the value of its layer.
  bool joins_keys_and_values = false;
  bool uses_model_profile = false;  // codes better with one; works without
  bool uses_importance = false;     // codes better with SectionTensor::importance; works without
  std::vector<CodecLevelInfo> levels;  // best quality first, at least one
  std::size_t default_level = 0;       // index in `levels`
};

// What a section's coding depends on besides its tensors; both sides know it (the container stores
// it).
struct SectionContext {
  std::size_t level = 0;  // index in CodecInfo::levels
  // Of the tensors; kKey where keys and values are joined (each tensor then says its own).
  TensorKind kind = TensorKind::kKey;
  std::int32_t refinement = 0;  // 0: the base; n: the nth enhancement of it
  // Decoding only: the payloads of refinements 0 to refinement - 1, in order. A decoder is called
  // once, for the highest refinement that it is to use.
  std::span<const std::span<const std::byte>> lower_payloads;
  std::int64_t num_model_layers = 0;  // 1 + number of the last layer of the whole cache
  bool keys_are_rotated = false;      // by their positions (KeyForm::kPostRope)
  // Both sides hold it (the container names it by its hash); null: none.
  const ModelProfile* model_profile = nullptr;
  Backend backend = best_backend();  // what runs the loops; the result does not depend on it
};

// One layer's tensor of the section's kind, in increasing layer order. Tensors of a section may
// differ in shape; the caller leaves out those without elements, so every count is at least 1.
template <typename View>
struct SectionTensorOf {
  std::int64_t layer = 0;           // number in the model
  std::int64_t first_token = 0;     // position of token 0 in the context
  const RopeFacts* rope = nullptr;  // null: not known
  View values;
  TensorKind kind = TensorKind::kKey;
  // Context position of each token, increasing; empty: first_token, first_token + 1, …
  std::span<const std::int64_t> positions = {};
  // Encoding only, one per token: codec/token_importance.h; empty: not known.
  std::span<const float> importance = {};

  [[nodiscard]] std::int64_t position(std::int64_t token) const {
    return positions.empty() ? first_token + token : positions[static_cast<std::size_t>(token)];
  }
};
using SectionTensor = SectionTensorOf<TensorView>;
using MutableSectionTensor = SectionTensorOf<MutableTensorView>;

struct EncodedSection {
  std::vector<std::byte> payload;  // all bytes of the section
  std::int64_t side_bytes = 0;     // of them, not symbols: scales, tables, lane states, lengths
  // Of a layered codec: the squared error that is left with this layer, in units in which all of a
  // context's sections compare. Rate control spends bytes where it falls most.
  double distortion = 0;
};

struct Codec {
  CodecInfo info;

  // Same input, same bytes. Any shape (one token, any channel count) and any value: see
  // codable(). Errors: only an input that the codec's spec excludes.
  Result<EncodedSection> (*encode_section)(const SectionContext& context,
                                           std::span<const SectionTensor> tensors);

  // Writes every element of `tensors`. `payload` is any bytes at all: a wrong one is an Error or a
  // wrong value, never a crash, a read outside it, or memory beyond a small multiple of the
  // tensors' size. A payload that is shorter or longer than what encode_section made is an Error.
  // The Error has no file: the caller adds it.
  Status (*decode_section)(const SectionContext& context, std::span<const std::byte> payload,
                           std::span<const MutableSectionTensor> tensors);
};

}  // namespace sluice
