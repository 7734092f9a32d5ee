#include "tests/emu/soak.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/random.h"
#include "emu/contents/make_contents.h"
#include "tests/emu/soak_load.h"
#include "tests/emu/soak_place.h"
#include "tests/emu/watchdog.h"

namespace sluice {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr ContextId kContext{0x50AC};
// The policies take turns.
constexpr const char* kPolicies[] = {"seed-ratio", "fixed:level=int8@token",
                                     "fixed:level=cachegen-released@2"};
// Rounds until every fault was met, at most so many times as many as are asked for.
constexpr std::int64_t kPatience = 3;

// Removed with its owner.
struct Folder {
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "sluice-soak-XXXXXX").string();
    if (::mkdtemp(pattern.data())) path = pattern;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    if (!path.empty()) fs::remove_all(path, ignored);
  }
  fs::path path;
};

Result<std::shared_ptr<const Contents>> make_small_contents(const fs::path& folder) {
  const auto model = find_geometry("smollm2-135m");
  if (!model) return model.error();
  ContentsSpec spec{.context = kContext, .model = *model};
  for (const char* name : {"int8@token", "cachegen-released@2", "cachegen-released@3"}) {
    const auto level = find_codec_level(name);
    if (!level) return level.error();
    spec.levels.push_back(*level);
  }
  spec.chunk_tokens = {64, 96, 64};
  spec.folder = folder;
  if (const auto made = make_contents(spec); !made) return made.error();
  auto opened = open_contents(folder);
  if (!opened) return opened.error();
  auto contents = std::make_shared<Contents>();
  if (const Status added = contents->add(std::move(*opened)); !added) return added.error();
  return std::shared_ptr<const Contents>(std::move(contents));
}

void count(const SoakLoad& load, FaultTally& tally) {
  // A tensor is never wrong, fault or not.
  tally.wrong_tensors += load.wrong_tensors;
  if (load.record.outcome == LoadOutcome::kUnfinished) ++tally.hangs;
  if (!load.injected) {
    ++tally.missed;
    return;
  }
  ++tally.injected;
  tally.longest = std::max(tally.longest, load.took);
  if (load.record.outcome == LoadOutcome::kCompleted) ++tally.completed;
  if (load.record.outcome == LoadOutcome::kFailed) {
    ++tally.failed;
    if (load.record.failure.empty()) ++tally.wordless;
  }
}

class Soak {
 public:
  explicit Soak(const SoakOptions& options) : options_(options) {
    for (const SoakFault fault :
         {SoakFault::kServerGone, SoakFault::kProcessKilled, SoakFault::kReset,
          SoakFault::kStalledDisk, SoakFault::kCorruptAtRest, SoakFault::kCorruptOnWire,
          SoakFault::kHalfOpen, SoakFault::kRefused, SoakFault::kLinkOutage}) {
      if (fault == SoakFault::kLinkOutage && !options.over_link) continue;
      if (fault == SoakFault::kProcessKilled && options.emu_program.empty()) continue;
      report_.faults.push_back({.fault = fault});
    }
  }

  Result<SoakReport> run() {
    auto contents = make_small_contents(folder_.path / "context");
    if (!contents) return contents.error();
    contents_ = std::move(*contents);
    catalogue_ =
        std::make_shared<const Catalogue>(contents_->contexts().begin()->second.catalogue());
    // What the first round opens once for all is no leak; what it meets is not counted.
    const std::vector<FaultTally> none = report_.faults;
    if (const Status round = run_round(0); !round) return round.error();
    report_.faults = none;
    report_.before = current_holdings();
    const auto began = std::chrono::steady_clock::now();
    for (std::int64_t i = 1; i <= options_.times * kPatience && wants_more(); ++i) {
      if (const Status round = run_round(i); !round) return round.error();
    }
    report_.took = std::chrono::steady_clock::now() - began;
    report_.after = settled_holdings(report_.before);
    return report_;
  }

 private:
  [[nodiscard]] bool wants(const FaultTally& tally) const {
    return tally.injected < options_.times;
  }
  [[nodiscard]] bool wants_more() const {
    return std::any_of(report_.faults.begin(), report_.faults.end(),
                       [this](const FaultTally& tally) { return wants(tally); });
  }

  // One load with each fault that is still wanted, on a place of its own.
  Status run_round(std::int64_t number) {
    const Watchdog watchdog("a round of the soak", 5min);
    RandomStream random(options_.seed, "soak", static_cast<std::uint64_t>(number));
    auto place = SoakPlace::open(contents_, options_.over_link);
    if (!place) return place.error();
    SoakClient client((*place)->for_clients(), catalogue_);
    for (FaultTally& tally : report_.faults) {
      if (!wants(tally)) continue;
      const auto policy = parse_policy(kPolicies[random.below(std::size(kPolicies))]);
      if (!policy) return policy.error();
      const auto load = tally.fault == SoakFault::kProcessKilled
                            ? load_of_process(*policy, random)
                            : run_load_with(tally.fault, **place, client, *policy, random);
      if (!load) return load.error();
      count(*load, tally);
    }
    return {};
  }

  Result<SoakLoad> load_of_process(const PolicySpec& policy, RandomStream& random) {
    ServerProcess process(options_.emu_program, folder_.path / "context");
    const Status started = process.start("stall:request=1,after=10kB,delay=80ms");
    if (!started) return started.error();
    SoakClient client(process.for_clients(), catalogue_);
    return run_load_with_kill(process, client, policy, random);
  }

  SoakOptions options_;
  Folder folder_;
  std::shared_ptr<const Contents> contents_;
  std::shared_ptr<const Catalogue> catalogue_;
  SoakReport report_;
};

}  // namespace

Result<SoakReport> run_soak(const SoakOptions& options) {
  return Soak(options).run();
}

const char* to_text(SoakFault fault) {
  switch (fault) {
    case SoakFault::kServerGone:
      return "server ended and restarted";
    case SoakFault::kProcessKilled:
      return "server process killed and restarted";
    case SoakFault::kReset:
      return "connection reset";
    case SoakFault::kStalledDisk:
      return "stalled disk";
    case SoakFault::kCorruptAtRest:
      return "chunk corrupted at rest";
    case SoakFault::kCorruptOnWire:
      return "frame corrupted on the wire";
    case SoakFault::kHalfOpen:
      return "half-open connection";
    case SoakFault::kRefused:
      return "server refuses";
    case SoakFault::kLinkOutage:
      return "link outage";
  }
  return "";
}

std::vector<std::string> complaints(const SoakReport& report, std::int64_t times) {
  std::vector<std::string> all;
  for (const FaultTally& tally : report.faults) {
    const auto say = [&](std::int64_t number, const char* what) {
      if (number != 0) all.push_back(fmt::format("{}: {} {}", to_text(tally.fault), number, what));
    };
    say(std::max<std::int64_t>(0, times - tally.injected), "times not injected");
    say(tally.hangs, "loads hung");
    say(tally.wrong_tensors, "wrong tensors");
    say(tally.wordless, "loads failed and did not say why");
  }
  if (report.after != report.before) {
    all.push_back(
        fmt::format("leaked: {} before, {} after", to_text(report.before), to_text(report.after)));
  }
  return all;
}

std::int64_t count_wrong_tensors(const Catalogue& catalogue, const LoadRecord& load,
                                 const DecodeWorker& worker) {
  std::int64_t wrong = 0;
  for (const ChunkRecord& chunk : load.chunks) {
    const auto cache =
        worker.find(ConnectionGroup{static_cast<std::uint64_t>(load.index)}, chunk.index);
    if (!cache) {
      wrong += load.outcome == LoadOutcome::kCompleted;
      continue;
    }
    const auto level = std::find(catalogue.levels.begin(), catalogue.levels.end(), chunk.level);
    const ChunkVersion* version = catalogue.find(chunk.index, level - catalogue.levels.begin());
    wrong += !version || hash_tensors(cache->view()) != version->tensor_hash;
  }
  return wrong;
}

}  // namespace sluice
