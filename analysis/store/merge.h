// Shards of one campaign into one file: `./sluice store merge A.db B.db … INTO.db`.
#pragma once

#include <filesystem>
#include <span>

#include "base/result.h"

namespace sluice {

struct MergeSummary {
  std::int64_t num_added = 0;  // runs
  std::int64_t num_known = 0;  // that the target, or an earlier source, had with the same content
};

// Copies every done run of `sources` into `target`, which is made when absent. Two runs of one key
// with different content are an error that names the run, found before anything is written.
// Interrupted, it leaves whole runs; merging again completes it.
[[nodiscard]] Result<MergeSummary> merge_stores(std::span<const std::filesystem::path> sources,
                                                const std::filesystem::path& target);

}  // namespace sluice
