// One codec level on one backend, section by section: what `codec bench` times.
// Where in the flow: the codec's own functions, without container, checksums or files.
// Surprise: decoding writes into memory that was written before, so that no page is touched first.
#pragma once

#include <memory>
#include <vector>

#include "codec/registry.h"

namespace sluice::bench {

class CodecWork {
 public:
  // `cache` and `target`, of one shape, outlive it. The model has num_model_layers layers.
  CodecWork(const KvCache& cache, KvCache& target, std::int64_t num_model_layers,
            CodecLevel codec_level, Backend backend);
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
  const Codec* codec_;
  std::vector<Section> sections_;
};

}  // namespace sluice::bench
