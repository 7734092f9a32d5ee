#include "sim/serving/compute/compute_device.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.h"
#include "base/files.h"
#include "base/json_reader.h"
#include "base/parse.h"
#include "base/sha256.h"
#include "codec/profile_json.h"

namespace sluice {
namespace {

constexpr DataSize kMaxFileSize = DataSize::bytes(1 << 20);
constexpr double kKvBytesPerElement = 2;  // fp16 or bf16 in GPU memory
constexpr double kActivationBytes = 2;
constexpr double kAllReducesPerLayer =
    2;  // after attention and after the MLP (Megatron-LM, section 3)
constexpr std::int64_t kMaxGpus = 64;

// Earlier tokens attended to, summed over the tokens: position + i by token i, at most the window.
double attended_tokens(const LayerGeometry& layer, double tokens, double position) {
  if (!layer.window_tokens) return tokens * (position + tokens / 2);
  const auto window = static_cast<double>(*layer.window_tokens);
  const double growing = std::clamp(window - position, 0.0, tokens);
  return growing * (position + growing / 2) + (tokens - growing) * window;
}

double attention_flops(const ModelGeometry& model, double tokens, double position) {
  double flops = 0;
  for (const LayerGeometry& layer : model.layers) {
    flops +=
        4.0 * model.attention_heads * layer.head_dim * attended_tokens(layer, tokens, position);
  }
  return flops;
}

// Seconds in which one GPU of `gpus` sends its share of the all-reduces (a ring sends each byte 2
// (n - 1) / n times).
double all_reduce_s(const ModelGeometry& model, const ParallelCost& cost, std::int32_t gpus,
                    double tokens) {
  const double bytes = kAllReducesPerLayer * static_cast<double>(model.layers.size()) * tokens *
                       model.hidden_size * kActivationBytes;
  return bytes * 2 * (gpus - 1) / gpus / cost.interconnect_bytes_per_sec.value;
}

Duration pass_time(const RooflinePrefill& cost, std::int32_t gpus, const ModelGeometry& model,
                   std::int64_t tokens, std::int64_t position) {
  const auto num_tokens = static_cast<double>(tokens);
  const auto parameters = static_cast<double>(model.parameters);
  const double dense_s = 2 * parameters * num_tokens / (gpus * cost.dense_flops_per_sec.value);
  const double attention_s = attention_flops(model, num_tokens, static_cast<double>(position)) /
                             (gpus * cost.attention_flops_per_sec.value);
  const double memory_bytes =
      parameters * cost.weight_bytes_per_parameter.value +
      static_cast<double>(model.elements(position + tokens)) * kKvBytesPerElement;
  const double memory_s = memory_bytes / (gpus * cost.memory_bytes_per_sec.value);
  double seconds = cost.pass_overhead_s.value + std::max(dense_s + attention_s, memory_s);
  if (gpus > 1)
    seconds += cost.parallel->pass_overhead_s.value +
               all_reduce_s(model, *cost.parallel, gpus, num_tokens);
  return seconds_to_duration(seconds);
}

DeviceFact read_fact(JsonReader in, JsonRange<double> range) {
  return {.value = in.number("value", range),
          .source = read_source(in, "source"),
          .note = in.text("note")};
}

RooflinePrefill read_roofline(JsonReader in) {
  const JsonRange<double> rate{1e6, 1e20}, overhead{0, 3600};
  RooflinePrefill prefill;
  prefill.dense_flops_per_sec = read_fact(in.object("dense_flops_per_sec"), rate);
  prefill.attention_flops_per_sec = read_fact(in.object("attention_flops_per_sec"), rate);
  prefill.memory_bytes_per_sec = read_fact(in.object("memory_bytes_per_sec"), rate);
  prefill.weight_bytes_per_parameter = read_fact(in.object("weight_bytes_per_parameter"), {0.1, 8});
  prefill.pass_overhead_s = read_fact(in.object("pass_overhead_s"), overhead);
  if (in.has("parallel")) {
    JsonReader parallel = in.object("parallel");
    prefill.parallel = {.interconnect_bytes_per_sec =
                            read_fact(parallel.object("interconnect_bytes_per_sec"), rate),
                        .pass_overhead_s = read_fact(parallel.object("pass_overhead_s"), overhead)};
  }
  return prefill;
}

ConstantPrefill read_constant(JsonReader in) {
  return {.recompute_s = read_fact(in.object("recompute_s"), {0, 3600}),
          .first_token_s = read_fact(in.object("first_token_s"), {0, 3600})};
}

std::filesystem::path devices_folder(const std::filesystem::path& home) {
  return home / "sim" / "serving" / "compute" / "devices";
}

// "a100x8" is ("a100", 8).
struct GroupId {
  std::string device;
  std::int32_t gpus;
};

std::optional<GroupId> parse_group_id(const std::string& id) {
  const auto x = id.rfind('x');
  if (x == std::string::npos || x == 0) return std::nullopt;
  const auto gpus = parse_integer(id.substr(x + 1), "GPUs");
  if (!gpus || *gpus < 2 || *gpus > kMaxGpus) return std::nullopt;
  return GroupId{id.substr(0, x), static_cast<std::int32_t>(*gpus)};
}

}  // namespace

Duration ComputeDevice::prefill_time(const ModelGeometry& model, std::int64_t tokens,
                                     std::int64_t position) const {
  SLUICE_ASSERT(tokens >= 0 && position >= 0, "tokens are counted from zero");
  if (tokens == 0) return Duration::zero();
  if (const auto* constant = std::get_if<ConstantPrefill>(&prefill))
    return seconds_to_duration(constant->recompute_s.value);
  return pass_time(std::get<RooflinePrefill>(prefill), gpus, model, tokens, position);
}

Duration ComputeDevice::first_token_time(const ModelGeometry& model, std::int64_t tokens,
                                         std::int64_t position) const {
  if (const auto* constant = std::get_if<ConstantPrefill>(&prefill))
    return seconds_to_duration(constant->first_token_s.value);
  return prefill_time(model, tokens, position);
}

Result<ComputeDevice> read_device(const std::filesystem::path& file) {
  const auto text = read_file(file, kMaxFileSize);
  if (!text) return text.error();
  auto parsed = JsonReader::parse(*text, file.string());
  if (!parsed) return parsed.error();
  JsonReader& in = *parsed;
  in.expect_format("sluice-compute-device-1");
  ComputeDevice device;
  device.id = device.gpu = file.stem().string();
  device.name = in.text("name");
  device.note = in.text("note");
  const bool roofline = in.has("roofline");
  if (roofline == in.has("constant"))
    in.fail("", "needs either `roofline` or `constant`", "give one of them");
  if (roofline) {
    device.prefill = read_roofline(in.object("roofline"));
  } else {
    device.prefill = read_constant(in.object("constant"));
  }
  if (const Status status = in.finish(); !status) return status.error();
  device.sha256 = sha256_hex(*text);
  return device;
}

Result<ComputeDevice> find_device(const std::string& id) {
  const auto home = sluice_home();
  if (!home) return home.error();
  const auto folder = devices_folder(*home);
  const auto alone = find_json_file(folder, id, "compute device");
  if (alone) return read_device(*alone);
  const auto group = parse_group_id(id);
  if (!group) return alone.error();
  const auto file = find_json_file(folder, group->device, "compute device");
  if (!file) return file.error();
  auto device = read_device(*file);
  if (!device) return device;
  const auto* roofline = std::get_if<RooflinePrefill>(&device->prefill);
  if (roofline == nullptr || !roofline->parallel) {
    return error_in("",
                    fmt::format("device `{}` cannot stand in a group (`{}`)", group->device, id),
                    "use one, or add `parallel` to its file");
  }
  device->id = id;
  device->gpus = group->gpus;
  return device;
}

Result<std::vector<ComputeDevice>> all_devices() {
  const auto home = sluice_home();
  if (!home) return home.error();
  const auto ids = list_json_ids(devices_folder(*home));
  if (!ids) return ids.error();
  std::vector<ComputeDevice> devices;
  for (const std::string& id : *ids) {
    auto device = read_device(devices_folder(*home) / (id + ".json"));
    if (!device) return device.error();
    devices.push_back(*std::move(device));
  }
  return devices;
}

}  // namespace sluice
