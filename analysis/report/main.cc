// `sluice report`: a store as an HTML page.
#include <fmt/format.h>

#include <iostream>

#include "analysis/report/report.h"
#include "base/command_line.h"

namespace sluice {
namespace {

struct Arguments {
  std::string store, out, load;
  ReportOptions options;
};

int run(const Arguments& arguments) {
  ReportOptions options = arguments.options;
  const auto fail = [](const Error& error) {
    std::cerr << error.to_line() << '\n';
    return 1;
  };
  if (!arguments.load.empty()) {
    const Result<LoadName> load = parse_load_name(arguments.load);
    if (!load) return fail(load.error());
    options.load = *load;
  }
  if (const Status written = write_report(arguments.store, options, arguments.out); !written)
    return fail(written.error());
  std::cout << arguments.out << '\n';
  return 0;
}

int run(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("A self-contained HTML page from a results store.", "./sluice report");
  app.add_option("--store", arguments.store, "the results store")->required();
  app.add_option("--out", arguments.out, "the page to write; its name is printed")->required();
  app.add_option("--scenario", arguments.options.scenario, "only this scenario, by name");
  app.add_option("--tier", arguments.options.tier, "only this tier");
  app.add_option("--baseline", arguments.options.baseline,
                 "compare with this policy only, named as in the table");
  app.add_option("--delta", arguments.options.delta,
                 "violation rates closer than this share are equivalent; 0.01 is one point")
      ->check(CLI::Range(0.0, 0.99));
  app.add_option("--load", arguments.load,
                 "RUN/INDEX: the load whose timeline is drawn; by default the most telling one");
  app.add_option("--title", arguments.options.title, "the page's title");
  app.footer("example: ./sluice report --store runs.db --out report.html");
  if (const auto code = parse_command_line(app, argc, argv)) return *code;
  return run(arguments);
}

}  // namespace
}  // namespace sluice

int main(int argc, char** argv) {
  try {
    return sluice::run(argc, argv);
  } catch (const std::exception& e) {
    std::cerr << "error: " << e.what()
              << "; this store holds values that cannot be computed with\n";
    return 1;
  }
}
