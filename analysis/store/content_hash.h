// One SHA-256 over what the results are, whoever computed them and when.
// Where in the flow: `./sluice store hash`, merging, and every test of resume and of several
// workers.
// Surprise: times of day, worker, host, campaign, build and row ids do not enter; one changed
// nanosecond does.
#pragma once

#include <string>

#include "analysis/store/store.h"

namespace sluice {

// Over all done runs in the order of their keys (scenario SHA-256, policy, version, params, tier,
// seed, replicate): keys, trace, profiles, metrics, every value of every load and chunk. 64
// lower-case hexadecimal digits.
[[nodiscard]] Result<std::string> content_hash(Store& store);

// The same for one run: equal for the same run in two files.
[[nodiscard]] Result<std::string> run_hash(Store& store, const RunRow& run);

}  // namespace sluice
