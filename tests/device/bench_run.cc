#include "tests/device/bench_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/table.h"
#include "codec/measure/linear_fit.h"
#include "codec/registry.h"

namespace sluice {
namespace {

using WallClock = std::chrono::steady_clock;

// Bytes of fp16 per second.
double fp16_bytes_per_sec(const BenchRow& row, Duration time) {
  return 2.0 * static_cast<double>(row.shape.elements()) / to_seconds(time);
}

std::string in_gb_per_s(double bytes_per_sec) {
  constexpr double kGiga = 1000.0 * 1000.0 * 1000.0;
  return fmt::format("{:.1f}", bytes_per_sec / kGiga);
}

double bytes_per_sec(DataRate rate) {
  return static_cast<double>(rate.bits_per_sec()) / static_cast<double>(DataSize::bytes(1).bits());
}

std::string name_of(const BenchShape& shape) {
  return fmt::format("{}, {} tokens", shape.model, shape.tokens);
}

class BenchRun {
 public:
  BenchRun(const BenchOptions& options, const GpuFacts& gpu)
      : options_(options), start_(WallClock::now()) {
    report_.gpu = gpu;
  }

  Result<BenchReport> run() {
    for (const BenchShape& shape : options_.shapes) {
      if (Status status = run_shape(shape); !status) return status.error();
    }
    return std::move(report_);
  }

 private:
  [[nodiscard]] bool is_over() const {
    const auto spent =
        std::chrono::duration_cast<std::chrono::nanoseconds>(WallClock::now() - start_);
    return spent.count() > to_ns(options_.budget);
  }
  void leave_out(const std::string& what, const std::string& why) {
    report_.left_out.push_back(what + ": " + why);
  }

  Status run_shape(const BenchShape& shape) {
    auto section = BenchSection::make(shape);
    if (!section) {
      leave_out(name_of(shape), section.error().what);
      return {};
    }
    if (Status status = measure_copy(*section); !status) return status;
    for (const DeviceCodec& device : all_device_codecs()) {
      const auto codec = find_codec(device.id);
      if (!codec) return codec.error();
      for (std::size_t level = 0; level < (*codec)->info.levels.size(); ++level) {
        run_level(*section, shape, device, (*codec)->info, level);
      }
    }
    return {};
  }

  void run_level(BenchSection& section, const BenchShape& shape, const DeviceCodec& device,
                 const CodecInfo& info, std::size_t level) {
    const int confined =
        std::min(options_.confined_multiprocessors, report_.gpu.num_multiprocessors);
    for (const int multiprocessors : {report_.gpu.num_multiprocessors, confined}) {
      const std::string what =
          fmt::format("{}@{} on {} multiprocessors, {}", info.id, info.levels[level].name,
                      multiprocessors, name_of(shape));
      if (is_over()) {
        leave_out(what, "the time was over");
        return;
      }
      const auto times =
          section.run(device, level, report_.gpu.target(multiprocessors), options_.repeats);
      if (times) {
        report_.rows.push_back({shape, info.id, info.levels[level].name, multiprocessors, *times});
      } else {
        leave_out(what, times.error().what);
      }
      if (multiprocessors == confined) break;  // the GPU has no more
    }
  }

  // The best of all shapes: small copies do not fill a GPU.
  Status measure_copy(BenchSection& section) {
    const auto time = section.copy(options_.repeats);
    if (!time) return time.error();
    if (to_ns(*time) == 0) return {};
    const double rate = static_cast<double>(section.copied().bits()) / to_seconds(*time);
    if (rate > static_cast<double>(report_.copy_rate.bits_per_sec()))
      report_.copy_rate = DataRate::bits_per_sec(static_cast<std::int64_t>(rate));
    return {};
  }

  BenchOptions options_;
  WallClock::time_point start_;
  BenchReport report_;
};

}  // namespace

BenchOptions full_bench() {
  BenchOptions options;
  for (const auto& [model, layers] : {std::pair{"mistral-7b", 32}, std::pair{"llama-3-70b", 80}}) {
    for (const std::int64_t tokens : {256, 1536, 9500})
      options.shapes.push_back(
          {.model = model, .layers = layers, .heads = 8, .dim = 128, .tokens = tokens});
  }
  options.budget = seconds_to_duration(240);
  return options;
}

Result<BenchReport> run_bench(const BenchOptions& options) {
  const auto gpu = find_gpu();
  if (!gpu) return gpu.error();
  return BenchRun(options, *gpu).run();
}

void print_bench(const BenchReport& report, std::ostream& out) {
  Table table;
  table.column("model", "model", Align::kLeft)
      .column("tokens", "tokens")
      .column("codec", "codec", Align::kLeft)
      .column("level", "level", Align::kLeft)
      .column("multiprocessors", "SMs")
      .column("bits_per_element", "bits per element")
      .column("encode_us", "encode us")
      .column("decode_us", "decode us")
      .column("encode_gb_per_s", "encode GB/s of fp16")
      .column("decode_gb_per_s", "decode GB/s of fp16")
      .column("decode_of_copy", "of a copy");
  const double ceiling = bytes_per_sec(report.copy_rate);
  for (const BenchRow& row : report.rows) {
    const DataSize size = DataSize::bytes(row.times.payload_bytes);
    const double decode = fp16_bytes_per_sec(row, row.times.decode);
    const bool is_timed = to_ns(row.times.encode) > 0;  // else the CPU has encoded
    const auto us = [](Duration time) { return fmt::format("{:.1f}", 1000 * to_ms(time)); };
    table.row({row.shape.model, fmt::format("{}", row.shape.tokens), row.codec, row.level,
               fmt::format("{}", row.multiprocessors),
               fmt::format("{:.2f}", static_cast<double>(size.bits()) /
                                         static_cast<double>(row.shape.elements())),
               is_timed ? us(row.times.encode) : "-", us(row.times.decode),
               is_timed ? in_gb_per_s(fp16_bytes_per_sec(row, row.times.encode)) : "-",
               in_gb_per_s(decode), fmt::format("{:.0f} %", 100 * decode / ceiling)});
  }
  table.note(fmt::format(
      "{}, sm_{}, {} SMs. Medians of kernel times; a device-to-device copy moves {} GB/s, read "
      "and written once each.",
      report.gpu.name, report.gpu.compute_capability, report.gpu.num_multiprocessors,
      in_gb_per_s(ceiling)));
  for (const std::string& line : report.left_out) table.note("left out: " + line);
  table.print_text(out);
}

DecodeTimes decode_times_of(const BenchReport& report, const std::string& device,
                            const std::string& command) {
  DecodeTimes times{
      .device = device,
      .note = fmt::format(
          "Measured on {} (sm_{}, {} SMs, driver {}, CUDA {}) by `{}`: kernels alone, "
          "the payload on the device, into blocks of 16 tokens.",
          report.gpu.name, report.gpu.compute_capability, report.gpu.num_multiprocessors,
          report.gpu.driver_version, report.gpu.runtime_version, command)};
  for (const Codec& codec : all_codecs()) {
    for (const CodecLevelInfo& level : codec.info.levels) {
      std::vector<TimePoint> points;
      std::string sizes;
      for (const BenchRow& row : report.rows) {
        if (row.codec != codec.info.id || row.level != level.name ||
            row.multiprocessors != report.gpu.num_multiprocessors ||
            row.shape.model != report.rows.front().shape.model) {
          continue;
        }
        points.push_back({row.shape.elements(), row.times.decode});
        sizes += fmt::format("{}{}", sizes.empty() ? "" : ", ", row.shape.tokens);
      }
      if (points.empty()) continue;
      times.entries.push_back(
          {codec.info.id, level.name, fit_time(points),
           fmt::format("line through {} tokens of {}", sizes, report.rows.front().shape.model)});
    }
  }
  return times;
}

}  // namespace sluice
