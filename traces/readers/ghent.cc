// Ghent's 4G/LTE logs (van der Hooft et al., IEEE Communications Letters 2016): six columns, the
// first in milliseconds since 1970.
#include "traces/readers/interval_log.h"
#include "traces/readers/reader.h"

namespace sluice {

Result<std::vector<LinkTrace>> read_ghent(const std::filesystem::path& path, const ReadOptions&) {
  return read_interval_log(path, EpochUnit::kMilliseconds);
}

}  // namespace sluice
