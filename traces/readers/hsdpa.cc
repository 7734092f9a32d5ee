// Norway's HSDPA logs (Riiser et al., MMSys 2013): 3G in Oslo's buses, trams, ferries; six columns,
// the first in seconds since 1970.
#include "traces/readers/interval_log.h"
#include "traces/readers/reader.h"

namespace sluice {

Result<std::vector<LinkTrace>> read_hsdpa(const std::filesystem::path& path, const ReadOptions&) {
  return read_interval_log(path, EpochUnit::kSeconds);
}

}  // namespace sluice
