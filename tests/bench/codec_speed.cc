// `./sluice codec bench`: how fast codecs encode and decode, next to the machine's memory and to
// library coders, all in one run. Measures, asserts nothing.
// Where in the flow: the codecs of the registry, on a made cache or a capture; the table's columns
// are explained in tests/bench/README.md.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/command_line.h"
#include "codec/capture_format.h"
#include "codec/measure/measure.h"
#include "tests/bench/speed_ceilings.h"
#include "tests/bench/speed_codec.h"
#include "tests/bench/speed_input.h"
#include "tests/bench/speed_measure.h"
#include "tests/bench/speed_peers.h"
#include "tests/bench/speed_table.h"

namespace sluice::bench {
namespace {

struct Options {
  std::vector<std::string> codecs, levels, backends;
  std::vector<int> cores;
  std::int64_t tokens = 256;
  int repeats = 3;
  std::string capture, clock = "wall", format = "table";
};

struct Plan {
  std::vector<CodecLevel> codec_levels;
  std::vector<Backend> backends;
  std::vector<int> cores;
  Timing timing;
  TableFormat format = TableFormat::kTable;
};

int num_cpus() {
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

Result<std::vector<CodecLevel>> chosen_levels(const Options& options) {
  std::vector<CodecLevel> chosen;
  for (const std::string& name : options.codecs) {
    const auto level = find_codec_level(name);
    if (!level) return level.error();
    if (name.find('@') != std::string::npos) chosen.push_back(*level);
  }
  for (const Codec& codec : all_codecs()) {
    const bool is_named = std::count(options.codecs.begin(), options.codecs.end(), codec.info.id);
    if (!options.codecs.empty() && !is_named) continue;
    for (std::size_t i = 0; i < codec.info.levels.size(); ++i) {
      const auto& wanted = options.levels;
      const CodecLevel level{&codec, i};
      if (wanted.empty() || std::count(wanted.begin(), wanted.end(), level.level_name()) > 0)
        chosen.push_back(level);
    }
  }
  if (chosen.empty()) {
    return error_in("--level", "no chosen codec has such a level",
                    "`./sluice codec list` names the levels");
  }
  return chosen;
}

Result<Plan> plan_of(const Options& options) {
  Plan plan;
  const auto levels = chosen_levels(options);
  if (!levels) return levels.error();
  plan.codec_levels = *levels;
  for (const std::string& name : options.backends) {
    const auto backend = backend_from_text(name);
    if (!backend) return error_in("--backend", backend.error().what, backend.error().fix);
    plan.backends.push_back(*backend);
  }
  if (options.backends.empty()) plan.backends = available_backends();
  plan.cores = options.cores;
  if (plan.cores.empty()) plan.cores = {1, num_cpus()};
  std::sort(plan.cores.begin(), plan.cores.end());
  plan.cores.erase(std::unique(plan.cores.begin(), plan.cores.end()), plan.cores.end());
  plan.timing = {.clock = options.clock == "cpu" ? Clock::kCpu : Clock::kWall,
                 .repeats = options.repeats};
  const auto format = parse_table_format(options.format);
  if (!format) return format.error();
  plan.format = *format;
  return plan;
}

struct Input {
  KvCache cache;
  std::int64_t num_model_layers;
  std::string name;
};

Result<Input> input_of(const Options& options) {
  if (options.capture.empty()) {
    return Input{made_kv_cache(options.tokens), kModelLayers,
                 "a made cache of Mistral-7B's shape (8 KV heads of 128)"};
  }
  auto capture = read_capture(options.capture);
  if (!capture) return capture.error();
  KvCache cache = std::move(capture->cache);
  if (num_elements(shape_of(cache.view())) == 0) {
    return error_in(options.capture, "the capture holds no element", "use one with tokens");
  }
  const std::int64_t layers = num_model_layers(shape_of(cache.view()));
  return Input{std::move(cache), layers, options.capture};
}

// The runs of one command: each appends a row.
class Bench {
 public:
  Bench(const Plan& plan, const Input& input)
      : plan_(plan),
        input_(input),
        target_(KvCache::allocate(shape_of(input.cache.view()))),
        num_elements_(num_elements(shape_of(input.cache.view()))) {}

  [[nodiscard]] Result<SpeedReport> run() {
    report_.head = head();
    for (const auto part : {&Bench::ceilings, &Bench::codecs, &Bench::peers}) {
      if (Status status = (this->*part)(); !status) return status.error();
    }
    return report_;
  }

 private:
  using Work = std::function<Status()>;

  // Times `work` on row.cores cores and keeps the row.
  [[nodiscard]] Status add(std::vector<SpeedRow>& rows, SpeedRow row, std::int64_t elements,
                           const Work& work) {
    const std::string name =
        fmt::format("{} {} {} {}", row.name, row.backend, row.direction, row.cores);
    std::fprintf(stderr, "%s\n", name.c_str());
    const auto seconds = median_seconds(name, plan_.timing, row.cores, work);
    if (!seconds) return seconds.error();
    row.elements_per_sec = static_cast<double>(elements) / *seconds;
    rows.push_back(std::move(row));
    return {};
  }

  [[nodiscard]] Status ceilings() {
    Ceilings memory;
    const auto elements = static_cast<std::int64_t>(Ceilings::num_bytes() / 2);
    const auto one = [&](const char* name, const char* direction, int cores,
                         Status (Ceilings::*go)(int)) {
      return add(report_.ceilings, {name, "", direction, cores, 0, 16}, elements,
                 [&, go, cores] { return (memory.*go)(cores); });
    };
    for (const int cores : plan_.cores) {
      for (Status status : {one("memcpy", "copy", cores, &Ceilings::copy),
                            one("streaming write", "write", cores, &Ceilings::streaming_write),
                            one("streaming read", "read", cores, &Ceilings::streaming_read)}) {
        if (!status) return status;
      }
    }
    return {};
  }

  [[nodiscard]] Status codecs() {
    for (const CodecLevel& level : plan_.codec_levels) {
      for (const Backend backend : plan_.backends) {
        CodecWork work(input_.cache, target_, input_.num_model_layers, level, backend);
        for (const int cores : plan_.cores) {
          const auto encode = [&] { return work.encode(cores); };
          const auto decode = [&] { return work.decode(cores); };
          if (Status status = encode(); !status) return status;
          if (Status status = decode(); !status) return status;  // the target is warm
          const double bits = static_cast<double>(work.num_payload_bytes()) * 8 /
                              static_cast<double>(num_elements_);
          SpeedRow row{level.id(), std::string(to_text(backend)), kEncode, cores, 0, bits};
          if (Status status = add(report_.codecs, row, num_elements_, encode); !status)
            return status;
          row.direction = kDecode;
          if (Status status = add(report_.codecs, row, num_elements_, decode); !status)
            return status;
        }
      }
    }
    return {};
  }

  [[nodiscard]] Status peers() {
    const auto planes = symbols_of(input_.cache, input_.num_model_layers);
    const auto few = some_of(planes);
    for (const auto& peer : {zstd_peer(planes, 1), zstd_peer(planes, 3), arithmetic_peer(few)}) {
      for (const int cores : plan_.cores) {
        const auto encode = [&] { return peer->encode(cores); };
        const auto decode = [&] { return peer->decode(cores); };
        if (Status status = encode(); !status) return status;
        const double bits =
            static_cast<double>(peer->num_bytes()) * 8 / static_cast<double>(peer->num_symbols());
        SpeedRow row{peer->name(), "", kEncode, cores, 0, bits};
        if (Status status = add(report_.peers, row, peer->num_symbols(), encode); !status)
          return status;
        row.direction = kDecode;
        if (Status status = add(report_.peers, row, peer->num_symbols(), decode); !status)
          return status;
        if (Status status = peer->check(); !status) return status;
      }
    }
    return {};
  }

  // Keys and values from all over the model, for the coder that is slow and no faster on more.
  [[nodiscard]] static std::vector<SymbolPlane> some_of(const std::vector<SymbolPlane>& planes) {
    constexpr std::size_t kPlanesMax = 8;
    if (planes.size() <= kPlanesMax) return planes;
    std::vector<SymbolPlane> some;
    for (std::size_t i = 0; i < kPlanesMax; ++i)  // keys at even places, values at odd ones
      some.push_back(planes[(planes.size() * i / kPlanesMax + i % 2) % planes.size()]);
    return some;
  }

  [[nodiscard]] std::vector<std::string> head() const {
    double load[1] = {0};
    const bool has_load = getloadavg(load, 1) == 1;
    const auto& layers = input_.cache.view().layers;
    return {
        fmt::format("measured on {}, {} CPUs, load {} at the start", cpu_name(), num_cpus(),
                    has_load ? fmt::format("{:.2f}", load[0]) : "unknown"),
        fmt::format("input: {}, {} layers, {} tokens, {} elements, {:.1f} MB of fp16", input_.name,
                    layers.size(), token_range(shape_of(input_.cache.view())).tokens(),
                    num_elements_, static_cast<double>(2 * num_elements_) / 1e6),
        fmt::format("times: {}, median of {} repeats; sections of 8 layers, into warm memory",
                    plan_.timing.clock == Clock::kWall ? "wall clock" : "processor time",
                    plan_.timing.repeats)};
  }

  const Plan& plan_;
  const Input& input_;
  KvCache target_;
  std::int64_t num_elements_;
  SpeedReport report_;
};

void print(const SpeedReport& report, TableFormat format) {
  if (format == TableFormat::kTable) {
    for (const std::string& line : report.head) std::cout << line << '\n';
  }
  print_as(format, table_of(report), json_of(report), std::cout);
}

void add_options(CLI::App& app, Options& options) {
  app.add_option("--codec", options.codecs, "only this codec, or codec@level; several times");
  app.add_option("--level", options.levels, "only levels of this name; several times");
  app.add_option("--backend", options.backends, "only scalar or avx2; several times");
  app.add_option("--cores", options.cores, "threads; several times (default: 1, and all)")
      ->check(CLI::Range(1, 1024));
  app.add_option("--tokens", options.tokens, "tokens of the made cache")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{65'536}))
      ->capture_default_str();
  app.add_option("--repeat", options.repeats, "repeats per row; the median counts")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--capture", options.capture, "a capture (safetensors) in place of a made cache");
  app.add_option("--clock", options.clock,
                 "wall, or cpu: processor time per core, for hosts that others use too")
      ->check(CLI::IsMember({"wall", "cpu"}))
      ->capture_default_str();
  app.add_option("--format", options.format, "table, csv or json")->capture_default_str();
  app.footer("example: ./sluice codec bench --codec int4 --cores 1");
}

Status run(const Options& options) {
  const auto plan = plan_of(options);
  if (!plan) return plan.error();
  const auto input = input_of(options);
  if (!input) return input.error();
  const auto report = Bench(*plan, *input).run();
  if (!report) return report.error();
  print(*report, plan->format);
  return {};
}

int fail(const Error& error) {
  std::fprintf(stderr, "%s\n", error.to_line().c_str());
  return kExitFailed;
}

}  // namespace
}  // namespace sluice::bench

int main(int argc, char** argv) {
  using namespace sluice::bench;
  try {
    CLI::App app("Measure how fast codecs encode and decode on this machine.",
                 "./sluice codec bench");
    Options options;
    add_options(app, options);
    if (const auto code = sluice::parse_command_line(app, argc, argv)) return *code;
    const sluice::Status status = run(options);
    return status ? 0 : fail(status.error());
  } catch (const std::exception& error) {
    return fail(sluice::error_in("", error.what(), "report this as a bug"));
  }
}
