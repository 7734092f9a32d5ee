// Independent jobs on several threads, for sections that know nothing of each other.
// Surprise: which error comes back does not depend on the threads: it is that of the first job, in
// order, that fails.
#pragma once

#include <cstddef>
#include <functional>

#include "base/result.h"

namespace sluice {

// job(i) for every i in [0, count), on at most `threads` threads, this one among them; with one,
// in order and without starting any. After a failure later jobs may be left out, earlier ones never
// are. An exception of a job counts as its failure and comes out here.
[[nodiscard]] Status for_each_index(std::size_t count, int threads,
                                    const std::function<Status(std::size_t)>& job);

}  // namespace sluice
