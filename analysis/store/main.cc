// The program behind `./sluice store …` and `./sluice explain …`: thin, the library does the work.
#include <fmt/format.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "analysis/store/check.h"
#include "analysis/store/content_hash.h"
#include "analysis/store/explain.h"
#include "analysis/store/export.h"
#include "analysis/store/list.h"
#include "analysis/store/merge.h"
#include "base/command_line.h"

namespace sluice {
namespace {

struct Options {
  std::string store, out, row;
  std::string format = "table";
  std::vector<std::string> files;
  bool runs = false;
};

Status run_hash_command(const Options& options) {
  auto store = Store::open_to_read(options.store);
  if (!store) return store.error();
  const auto hash = content_hash(*store);
  if (!hash) return hash.error();
  std::cout << *hash << "\n";
  return {};
}

Status run_check(const Options& options) {
  const auto format = parse_table_format(options.format);
  if (!format) return format.error();
  auto store = Store::open_to_read(options.store);
  if (!store) return store.error();
  const auto findings = check_store(*store);
  if (!findings) return findings.error();
  Table table;
  table.column("row", "row", Align::kLeft).column("what", "what", Align::kLeft);
  nlohmann::json json = nlohmann::json::array();
  for (const Finding& finding : *findings) {
    table.row({finding.row, finding.what});
    json.push_back({{"row", finding.row}, {"what", finding.what}});
  }
  if (findings->empty() && *format == TableFormat::kTable) {
    std::cout << "ok: the file is whole, every row keeps the rules\n";
    return {};
  }
  print_as(*format, table, json, std::cout);
  if (findings->empty()) return {};
  return error_in(options.store, fmt::format("{} findings", findings->size()),
                  "merge the sound runs of a copy, or run the scenario again into a new file");
}

Status run_merge(const Options& options) {
  const std::vector<std::filesystem::path> sources(options.files.begin(), options.files.end() - 1);
  const auto merged = merge_stores(sources, options.files.back());
  if (!merged) return merged.error();
  std::cout << fmt::format("{} runs added to {}, {} were there\n", merged->num_added,
                           options.files.back(), merged->num_known);
  return {};
}

Status run_export(const Options& options) {
  auto store = Store::open_to_read(options.store);
  if (!store) return store.error();
  if (Status done = export_csv(*store, options.out); !done) return done;
  for (const char* name : {"runs.csv", "loads.csv", "chunks.csv"}) {
    std::cout << (std::filesystem::path(options.out) / name).string() << "\n";
  }
  return {};
}

Status run_list(const Options& options) {
  const auto format = parse_table_format(options.format);
  if (!format) return format.error();
  auto store = Store::open_to_read(options.store);
  if (!store) return store.error();
  const auto listing = options.runs ? list_runs(*store) : list_groups(*store);
  if (!listing) return listing.error();
  print_as(*format, listing->table, listing->json, std::cout);
  return {};
}

Status run_explain(const Options& options) {
  const auto format = parse_table_format(options.format);
  if (!format) return format.error();
  const auto row = parse_row_name(options.row);
  if (!row) return row.error();
  auto store = Store::open_to_read(options.store);
  if (!store) return store.error();
  const auto explanation = explain(*store, *row);
  if (!explanation) return explanation.error();
  print_as(*format, *explanation, std::cout);
  return {};
}

struct Command {
  const char* name;
  const char* help;
  const char* example;
  Status (*run)(const Options&);
  void (*add_options)(CLI::App&, Options&);
};

void add_store(CLI::App& app, Options& options) {
  app.add_option("--store,store", options.store, "the store's file")->required();
}
void add_format(CLI::App& app, Options& options) {
  app.add_option("--format", options.format, "table, csv or json")->capture_default_str();
}

const Command kCommands[] = {
    {"hash", "print the SHA-256 of all results", "./sluice store hash --store runs.db",
     run_hash_command, add_store},
    {"check", "is the file whole, do its rows keep the rules",
     "./sluice store check --store runs.db", run_check,
     [](CLI::App& app, Options& options) {
       add_store(app, options);
       add_format(app, options);
     }},
    {"merge", "copy the runs of several files into the last one",
     "./sluice store merge a.db b.db all.db", run_merge,
     [](CLI::App& app, Options& options) {
       app.add_option("files", options.files, "sources, then the target")
           ->required()
           ->expected(2, 1 << 16);
     }},
    {"export", "write runs.csv, loads.csv and chunks.csv",
     "./sluice store export --store runs.db --out csv", run_export,
     [](CLI::App& app, Options& options) {
       add_store(app, options);
       app.add_option("--out", options.out, "folder for the files")->required();
     }},
    {"list", "what the file holds", "./sluice store list --store runs.db --runs", run_list,
     [](CLI::App& app, Options& options) {
       add_store(app, options);
       add_format(app, options);
       app.add_flag("--runs", options.runs, "one row per run");
     }},
    {"explain", "how a row came about, and the command that makes it again",
     "./sluice explain --store runs.db load:1/0", run_explain,
     [](CLI::App& app, Options& options) {
       app.add_option("--store", options.store, "the store's file")->required();
       app.add_option("row", options.row, "run:12, load:12/3 or chunk:12/3/5")->required();
       add_format(app, options);
     }},
};

int main_program(int argc, char** argv) {
  CLI::App app("Results: content hash, integrity, merging, export, provenance.", "./sluice store");
  app.require_subcommand(1);
  app.footer("example: ./sluice store list --store runs.db");
  Options options;
  for (const Command& command : kCommands) {
    CLI::App* subcommand = app.add_subcommand(command.name, command.help);
    subcommand->footer(std::string("example: ") + command.example);
    command.add_options(*subcommand, options);
  }
  if (const auto code = parse_command_line(app, argc, argv)) return *code;
  for (const Command& command : kCommands) {
    if (!app.got_subcommand(command.name)) continue;
    const Status done = command.run(options);
    if (done) return 0;
    std::cerr << done.error().to_line() << "\n";
    return 1;
  }
  return 1;
}

}  // namespace
}  // namespace sluice

int main(int argc, char** argv) {
  return sluice::main_program(argc, argv);
}
