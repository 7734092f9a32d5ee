// `sluice trace`: link and workload files listed, inspected, converted, made and drawn.
// Data goes to stdout, notes, warnings and errors to stderr; errors are one line, and the exit code
// is 0 only if all that was asked for was done.
#include <fmt/format.h>

#include <exception>
#include <functional>

#include "base/command_line.h"
#include "traces/cli/commands.h"

namespace sluice::trace_cli {
namespace {

void add_read_options(CLI::App& command, ReadArgs& args) {
  command.add_option("--reader", args.reader, "reader to use; `./sluice trace list` shows them");
  command.add_option("--unit", args.unit, "unit of the rates, as in Mbit/s or MB/s");
  command.add_option("--time-unit", args.time_unit, "unit of the times, as in s or ms");
  command.add_option("--time-column", args.time_column, "csv: header of the time column");
  command.add_option("--rate-column", args.rate_column,
                     "header of the rate column, where a file has several");
  command.add_option("--trace", args.trace,
                     "one of several traces in the file: its name behind #, or its number");
  command.add_option("--stamps", args.stamps,
                     "whether a row's time is the `start` or the `end` of its interval");
  command.add_option("--kind", args.kind,
                     "what the rates are: `capacity` or achieved `throughput`");
}

void add_file(CLI::App& command, ReadArgs& args) {
  command.add_option("FILE", args.file, "the trace file")->required();
  add_read_options(command, args);
}

void add_generator_options(CLI::App& command, GeneratorArgs& args) {
  command.add_option("--seed", args.seed, "seed of the draws")->capture_default_str();
  command.add_option("--replicates", args.replicates, "how many traces")->capture_default_str();
  command.add_option("--length", args.length, "length of a time-clocked trace, as in 60s");
}

void add_workload_options(CLI::App& command, WorkloadArgs& args) {
  command.add_option("--input-column", args.input_column,
                     "workload-csv: header of the input tokens");
  command.add_option("--output-column", args.output_column,
                     "workload-csv: header of the output tokens, or `none`");
  command.add_option("--block-tokens", args.block_tokens, "llmservingsim: tokens per prefix block");
}

void add_format_option(CLI::App& command, std::string& format) {
  command.add_option("--format", format, "table, csv or json")->capture_default_str();
}

// Runs what needs a table format.
Status with_format(const std::string& text, const std::function<Status(TableFormat)>& run) {
  const Result<TableFormat> format = parse_table_format(text);
  if (!format) return format.error();
  return run(*format);
}

void add_synth(CLI::App& app, SynthArgs& args, std::function<Status()>& command) {
  CLI::App* synth_command = app.add_subcommand("synth", "a trace file from a generator");
  synth_command->add_option("WORDS", args.words, "GENERATOR key=value ... OUT")->required();
  add_generator_options(*synth_command, args.generator);
  synth_command->add_option("--to", args.to,
                            "format to write; csv unless the generator draws per chunk");
  synth_command->footer(
      "example: ./sluice trace synth uniform-per-chunk low=100Mbit/s high=10Gbit/s chunks=10 "
      "--replicates 5 bw.jsonl");
  synth_command->callback([&] { command = [&] { return synth(args); }; });
}

void add_plot(CLI::App& app, PlotArgs& args, std::function<Status()>& command) {
  CLI::App* plot_command = app.add_subcommand("plot", "a picture of files or of a generator");
  plot_command->add_option("WORDS", args.words, "FILE ..., or GENERATOR key=value ...")->required();
  plot_command->add_option("--out", args.out, "the SVG file to write")->required();
  plot_command->add_option("--rate-axis", args.rate_axis, "auto, linear or log")
      ->capture_default_str();
  add_read_options(*plot_command, args.read);
  add_workload_options(*plot_command, args.workload);
  add_generator_options(*plot_command, args.generator);
  plot_command->footer(
      "example: ./sluice trace plot lumos5g-walking --length 800s --replicates 3 --out links.svg");
  plot_command->callback([&] { command = [&] { return plot(args); }; });
}

int run(int argc, char** argv) {
  CLI::App app{"Link and workload traces: list, inspect, convert, synth, plot."};
  app.name("./sluice trace");
  app.require_subcommand(1);
  app.footer(
      "example: ./sluice trace synth square high=1Gbit/s high_time=10s low=100Mbit/s low_time=5s "
      "--length 60s square.csv");
  std::string format = "table", out, to;
  ReadArgs read_args;
  WorkloadArgs workload_args;
  SynthArgs synth_args;
  PlotArgs plot_args;
  std::function<Status()> command;

  CLI::App* list_command = app.add_subcommand("list", "readers, generators and writers");
  add_format_option(*list_command, format);
  list_command->callback([&] { command = [&] { return with_format(format, list); }; });

  CLI::App* inspect_command = app.add_subcommand("inspect", "what a trace file holds");
  add_file(*inspect_command, read_args);
  add_workload_options(*inspect_command, workload_args);
  add_format_option(*inspect_command, format);
  inspect_command->footer("example: ./sluice trace inspect trace.down --format json");
  inspect_command->callback([&] {
    command = [&] {
      return with_format(format, [&](TableFormat f) -> Status {
        const Result<bool> workload = is_workload(read_args, workload_args);
        if (!workload) return workload.error();
        return *workload ? inspect_workload(read_args, workload_args, f) : inspect(read_args, f);
      });
    };
  });

  CLI::App* convert_command = app.add_subcommand("convert", "a trace file in another format");
  add_file(*convert_command, read_args);
  convert_command->add_option("OUT", out, "the file to write")->required();
  convert_command
      ->add_option("--to", to, "format to write: mahimahi, two-column, sabre, csv or cachegen")
      ->required();
  convert_command->footer("example: ./sluice trace convert trace.txt trace.down --to mahimahi");
  convert_command->callback([&] { command = [&] { return convert(read_args, out, to); }; });

  add_synth(app, synth_args, command);
  add_plot(app, plot_args, command);

  if (const auto code = parse_command_line(app, argc, argv)) return *code;
  const Status done = command();
  if (done) return 0;
  fmt::print(stderr, "{}\n", done.error().to_line());
  return kExitFailed;
}

}  // namespace
}  // namespace sluice::trace_cli

int main(int argc, char** argv) {
  try {
    return sluice::trace_cli::run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return sluice::kExitFailed;
  }
}
