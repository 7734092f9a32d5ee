// sluice emu record: a scenario from what a stored run observed.
#include <fmt/format.h>

#include "analysis/store/store.h"
#include "emu/cli/commands.h"
#include "emu/run/record.h"

namespace sluice::cli {
namespace {

struct Options {
  std::string store, out, name, tier = "emu", policy;
  std::int64_t run = 0, replicate = 0;
};

Result<RunRow> find_run(const Store& store, const Options& options) {
  RunFilter filter;
  if (options.run > 0) {
    filter.run = RunId{options.run};
  } else {
    filter.tier = options.tier;
  }
  const auto runs = store.read_runs(filter);
  if (!runs) return runs.error();
  std::vector<RunRow> found;
  for (const RunRow& run : *runs) {
    if (options.run > 0 ||
        (run.replicate == options.replicate && policy_text(run.policy) == options.policy))
      found.push_back(run);
  }
  if (found.size() == 1) return found.front();
  return error_in(options.store, found.empty() ? "no such run" : "several runs fit",
                  "give --run ID; `./sluice store list FILE` shows them");
}

Result<int> record(const Options& options) {
  if (options.run <= 0 && options.policy.empty())
    return error_in("record", "no run is named", "give --run ID, or --policy and --replicate");
  const Result<Store> store = Store::open_to_read(options.store);
  if (!store) return store.error();
  const Result<RunRow> run = find_run(*store, options);
  if (!run) return run.error();
  const std::filesystem::path folder(options.out);
  RecordOptions to{.folder = folder, .name = options.name};
  if (to.name.empty()) to.name = folder.filename().string();
  to.command = fmt::format("./sluice emu record --store {} --run {} --out {}", options.store,
                           run->id.value, options.out);
  const auto lost = record_scenario(*store, *run, to);
  if (!lost) return lost.error();
  for (const std::string& item : *lost) fmt::print(stderr, "not recovered: {}\n", item);
  fmt::print("{}\n", (folder / "scenario.yaml").string());
  return 0;
}

}  // namespace

void add_record(CLI::App& app, EmuRun& run) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("record", "a scenario from what a stored run observed");
  command->add_option("--store", options->store, "the store's file")->required();
  command->add_option("--run", options->run, "its id in the store");
  command->add_option("--tier", options->tier, "without --run")->capture_default_str();
  command->add_option("--policy", options->policy, "without --run");
  command->add_option("--replicate", options->replicate, "without --run")->capture_default_str();
  command->add_option("--out", options->out, "folder to make")->required();
  command->add_option("--name", options->name, "of the scenario; default: the folder's");
  command->footer("example: ./sluice emu record --store out/emu-validation.db --run 3 --out mine");
  command->callback([options, &run] { run = [options] { return record(*options); }; });
}

}  // namespace sluice::cli
