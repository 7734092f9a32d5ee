#include "tests/bench/speed_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "codec/measure/measure.h"
#include "codec/model_profile/model_profile.h"
#include "tests/bench/speed_ceilings.h"
#include "tests/bench/speed_peers.h"

namespace sluice::bench {
namespace {

// The runs of one command: each appends a row.
class Bench {
 public:
  Bench(const SpeedPlan& plan, const SpeedInput& input)
      : plan_(plan), input_(input), num_elements_(num_elements(shape_of(input.cache.view()))) {}

  [[nodiscard]] Result<SpeedReport> run() {
    report_.head = head();
    for (const auto part : {&Bench::codecs, &Bench::peers}) {
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

  // Measured again before every codec, since a host's memory has its moods: the best median counts.
  [[nodiscard]] Status ceilings() {
    const auto elements = static_cast<std::int64_t>(Ceilings::num_bytes() / 2);
    const auto one = [&](const char* name, const char* direction, int cores,
                         Status (Ceilings::*go)(int)) {
      return add(ceilings_, {name, "", direction, cores, 0, 16}, elements,
                 [&, go, cores] { return (memory_.*go)(cores); });
    };
    ceilings_.clear();
    for (const int cores : plan_.cores) {
      for (Status status : {one("memcpy", "copy", cores, &Ceilings::copy),
                            one("streaming write", "write", cores, &Ceilings::streaming_write),
                            one("streaming read", "read", cores, &Ceilings::streaming_read)}) {
        if (!status) return status;
      }
    }
    if (report_.ceilings.empty()) report_.ceilings = ceilings_;
    for (std::size_t i = 0; i < ceilings_.size(); ++i) {
      double& best = report_.ceilings[i].elements_per_sec;
      best = std::max(best, ceilings_[i].elements_per_sec);
    }
    return {};
  }

  // A row each for encoding and decoding; row.bits_per_element is set.
  [[nodiscard]] Status add_both(std::vector<SpeedRow>& rows, SpeedRow row, std::int64_t elements,
                                const Work& encode, const Work& decode) {
    row.direction = kEncode;
    if (Status status = add(rows, row, elements, encode); !status) return status;
    row.direction = kDecode;
    return add(rows, row, elements, decode);
  }

  [[nodiscard]] Status codecs() {
    for (const CodecLevel& level : plan_.codec_levels) {
      if (Status status = ceilings(); !status) return status;
      for (const Backend backend : plan_.backends) {
        if (Status status = codec(level, backend); !status) return status;
      }
    }
    return {};
  }

  [[nodiscard]] Status codec(const CodecLevel& level, Backend backend) {
    CodecWork work(input_, level, backend);
    if (Status status = work.encode(1); !status) return status;
    if (Status status = work.decode(1); !status) return status;  // the target is warm
    const double bits =
        static_cast<double>(work.num_payload_bytes()) * 8 / static_cast<double>(num_elements_);
    for (const int cores : plan_.cores) {
      const SpeedRow row{level.id(), std::string(to_text(backend)), "", cores, 0, bits};
      Status status = add_both(
          report_.codecs, row, num_elements_, [&] { return work.encode(cores); },
          [&] { return work.decode(cores); });
      if (!status) return status;
    }
    return {};
  }

  [[nodiscard]] Status peers() {
    if (!plan_.has_peers) return {};
    const auto planes = symbols_of(input_.cache, input_.num_model_layers);
    const auto few = some_of(planes);
    for (const auto& one : {zstd_peer(planes, 1), zstd_peer(planes, 3), arithmetic_peer(few)}) {
      if (Status status = peer(*one); !status) return status;
    }
    return {};
  }

  [[nodiscard]] Status peer(Peer& coder) {
    if (Status status = coder.encode(1); !status) return status;
    const double bits =
        static_cast<double>(coder.num_bytes()) * 8 / static_cast<double>(coder.num_symbols());
    for (const int cores : plan_.cores) {
      Status status = add_both(
          report_.peers, {coder.name(), "", "", cores, 0, bits}, coder.num_symbols(),
          [&] { return coder.encode(cores); }, [&] { return coder.decode(cores); });
      if (!status) return status;
    }
    return coder.check();
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
        fmt::format(
            "input: {}, {} layers, {} tokens{}, {} elements, {:.1f} MB of fp16, model "
            "profile {}",
            input_.name, layers.size(), token_range(shape_of(input_.cache.view())).tokens(),
            input_.chunk_tokens == 0 ? "" : fmt::format(" in chunks of {}", input_.chunk_tokens),
            num_elements_, static_cast<double>(2 * num_elements_) / 1e6,
            input_.model_profile ? input_.model_profile->name : "none"),
        fmt::format("times: {}, median of {} repeats (fewer above 0.17 s); sections "
                    "of 8 layers, into warm memory",
                    plan_.timing.clock == Clock::kWall ? "wall clock" : "processor time",
                    plan_.timing.repeats)};
  }

  const SpeedPlan& plan_;
  const SpeedInput& input_;
  std::int64_t num_elements_;
  Ceilings memory_;
  std::vector<SpeedRow> ceilings_;  // of the last time
  SpeedReport report_;
};

}  // namespace

int num_cpus() {
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

Result<SpeedReport> measure_speed(const SpeedPlan& plan, const SpeedInput& input) {
  return Bench(plan, input).run();
}

}  // namespace sluice::bench
