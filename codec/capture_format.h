// The capture format `sluice-kv-1`: a KV cache as a safetensors file, in and out. The format in
// words: codec/capture/README.md.
// Where in the flow: `codec capture` writes it, every other codec command reads or writes it.
// Surprise: what is missing and optional is no error: it disables what needs it, and `notes` says
// so.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "codec/kv_cache.h"
#include "codec/safetensors/safetensors.h"

namespace sluice {

// Queries of one layer's last tokens, [head, token, dim], post-RoPE.
struct LayerQueries {
  std::int64_t layer = 0;
  TensorView values;
};

struct Capture {
  KvCache cache;
  std::vector<std::int32_t> token_ids;            // of the whole context; empty: not known
  std::vector<LayerQueries> queries;              // in layer order; their memory belongs to `cache`
  std::optional<std::int64_t> query_first_token;  // context position of every layer's first query
  // Further string metadata: `command`, `text_sha256` and others.
  std::map<std::string, std::string> other_facts;
  std::vector<std::string> notes;  // one line per missing entry and what it disables
};

[[nodiscard]] Result<Capture> read_capture(const std::filesystem::path& path);
[[nodiscard]] Result<Capture> capture_of(const SafetensorsFile& file);

// All or nothing, deterministic. read_capture() of the result gives the same cache, bit by bit.
[[nodiscard]] Status write_capture(const Capture& capture, const std::filesystem::path& path);

}  // namespace sluice
