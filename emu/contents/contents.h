// Encoded chunks of contexts at every level, with their catalogues: what a server serves.
// Where in the flow: made by make_contents.h or opened from folders; the server reads from it, and
// a plan takes sizes and decode times from its catalogue.
// A folder holds one context: catalogue.json, chunk-N.level-L.kvb and chunk-N.text, numbers from 0.
#pragma once

#include <filesystem>
#include <map>
#include <vector>

#include "base/result.h"
#include "codec/container/header.h"
#include "emu/contents/catalogue.h"
#include "emu/contents/stored_bytes.h"

namespace sluice {

// One chunk at one level.
struct EncodedChunk {
  ContainerHeader header;
  StoredBytes bytes;
};

class ContextContents {
 public:
  // Both in the order of the catalogue: chunks[chunk][level], texts[chunk].
  ContextContents(Catalogue catalogue, std::vector<std::vector<EncodedChunk>> chunks,
                  std::vector<StoredBytes> texts);

  [[nodiscard]] const Catalogue& catalogue() const { return catalogue_; }
  [[nodiscard]] const std::string& catalogue_json() const { return catalogue_json_; }
  // Null when there is no such chunk or level, or no text is kept.
  [[nodiscard]] const EncodedChunk* find(std::int64_t chunk, std::int64_t level) const;
  [[nodiscard]] const StoredBytes* find_text(std::int64_t chunk) const;

 private:
  Catalogue catalogue_;
  std::string catalogue_json_;
  std::vector<std::vector<EncodedChunk>> chunks_;
  std::vector<StoredBytes> texts_;
};

// Several contexts.
class Contents {
 public:
  // Refuses a context that is there.
  [[nodiscard]] Status add(ContextContents context);
  [[nodiscard]] const ContextContents* find(ContextId context) const;
  [[nodiscard]] const EncodedChunk* find(ContextId context, std::int64_t chunk,
                                         std::int64_t level) const;
  [[nodiscard]] const std::map<ContextId, ContextContents>& contexts() const { return contexts_; }

 private:
  std::map<ContextId, ContextContents> contexts_;
};

// Reads every byte once: each container parses, is of the codec and level that the catalogue names,
// and has the catalogue's sizes and hash. Bytes stay in the files.
[[nodiscard]] Result<ContextContents> open_contents(const std::filesystem::path& folder);

}  // namespace sluice
