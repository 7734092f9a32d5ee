// One codec level on one backend, section by section: what `codec bench` times.
// Where in the flow: the codec's own functions, without container, checksums or files; sections are
// those that a container of each chunk would have.
// Surprise: decoding writes into memory that was written before, so that no page is touched first.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "codec/registry.h"
#include "codec/token_importance.h"

namespace sluice::bench {

struct SpeedInput {
  KvCache cache;  // with elements
  std::int64_t num_model_layers = 0;
  std::string name;               // for the report's head
  std::int64_t chunk_tokens = 0;  // tokens coded together; 0: all
  std::optional<TokenImportance> importance = {};
  std::shared_ptr<const ModelProfile> model_profile = {};
};

class CodecWork {
 public:
  // `input` outlives it.
  CodecWork(const SpeedInput& input, CodecLevel codec_level, Backend backend);
  [[nodiscard]] Status encode(int cores);  // keeps the payloads
  [[nodiscard]] Status decode(int cores);  // of the last encode()
  [[nodiscard]] std::int64_t num_payload_bytes() const;

 private:
  struct Section {
    SectionContext context;
    std::vector<SectionTensor> from;
    std::vector<MutableSectionTensor> to;
    std::vector<std::byte> payload;
  };
  // Chunks of the cache, and where they are decoded to.
  struct Chunk {
    KvView from;
    KvCache to;
    std::vector<std::vector<float>> importance;  // per layer; empty: not known
  };
  void add_chunk(Chunk& chunk, const SpeedInput& input, CodecLevel codec_level, Backend backend);

  const Codec* codec_;
  std::vector<std::unique_ptr<Chunk>> chunks_;
  std::vector<Section> sections_;
};

}  // namespace sluice::bench
