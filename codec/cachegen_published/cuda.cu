// cachegen-published on a GPU: two planes per tensor, anchors first, then differences to them.
// Where in the flow: codec/device/registry.cc lists it; the stream is decoded by
// codec/entropy/cuda_decode.h and encoded by cuda_encode.h there.
// Surprise: the unrounded anchors live in the lent work memory between the kernels.
#include "codec/cachegen_published/binding.h"
#include "codec/cachegen_published/cuda.h"
#include "codec/cachegen_published/cuda_plan.h"
#include "codec/cachegen_released/binding.h"
#include "codec/device/launch.h"
#include "codec/entropy/cuda_collect.h"

namespace sluice::cachegen_published {

namespace {

constexpr std::uint16_t kAnchorStage = 0, kDifferenceStage = 1;

std::size_t anchor_count(const TensorShape& shape) {
  return static_cast<std::size_t>(num_groups(shape.tokens) * shape.channels());
}
std::size_t anchor_bytes(std::span<const DeviceSectionTensor> tensors) {
  std::size_t count = 0;
  for (const DeviceSectionTensor& tensor : tensors) count += anchor_count(tensor.values.shape);
  return count * sizeof(float);
}

// The section's tensors in order: on_tensor(number, byte of its payload, head), and the tiles of
// planes 2 i (anchors) and 2 i + 1 (differences) to `tiles`.
template <typename OnTensor>
Status list_planes(std::span<const std::byte> payload, std::span<const DeviceSectionTensor> tensors,
                   entropy::TileLister& tiles, const OnTensor& on_tensor) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const TensorShape& shape = tensors[i].values.shape;
    const std::int64_t groups = num_groups(shape.tokens);
    const auto head = read_head(groups, payload.subspan(at));
    if (!head) return head.error();
    on_tensor(i, at, *head);
    at += head->bytes;
    const std::int64_t rows[] = {groups, shape.tokens - groups};
    for (const std::uint16_t stage : {kAnchorStage, kDifferenceStage}) {
      tiles.begin_plane(static_cast<std::uint32_t>(2 * i + stage), at, stage);
      const auto bytes =
          entropy::walk_plane(payload.subspan(at), rows[stage], shape.channels(), false, tiles);
      if (!bytes) return bytes.error();
      at += *bytes;
    }
  }
  return cachegen_released::check_nothing_left(payload.subspan(at));
}

Result<MemoryNeed> decode_memory(const SectionContext&, std::span<const std::byte> payload,
                                 std::span<const DeviceSectionTensor> tensors) {
  entropy::TileLister tiles(nullptr);
  (void)list_planes(payload, tensors, tiles, [](auto...) {});  // its error is plan_decode's to keep
  return entropy::decode_need(2 * tensors.size(), tiles, anchor_bytes(tensors), payload.size());
}

Result<DevicePlan> plan_decode(const SectionContext&, std::span<const std::byte> payload,
                               std::span<const DeviceSectionTensor> tensors,
                               const LentMemory& memory, const LaunchTarget& target) {
  entropy::TileLister count(nullptr);
  (void)list_planes(payload, tensors, count, [](auto...) {});
  const std::size_t planes = 2 * tensors.size();
  const MemoryNeed need =
      entropy::decode_need(planes, count, anchor_bytes(tensors), payload.size());
  if (Status status = check_memory(memory, need); !status) return status.error();
  if (Status status = check_tensors(tensors); !status) return status.error();
  DevicePlan plan = entropy::decode_plan(planes, count, payload, memory, target);
  entropy::TileLister tiles(entropy::tiles_at(plan));
  auto* anchors = reinterpret_cast<float*>(entropy::extra_scratch_dev(plan, count));
  const auto put_planes = [&](std::size_t i, std::size_t at, const TensorHead& head) {
    const TensorShape& shape = tensors[i].values.shape;
    entropy::PlaneJob job;
    job.tensor = tensors[i].values;
    job.scales_at = static_cast<std::int64_t>(at + sizeof head.step);
    job.max_symbol = kAnchorSymbol;
    job.step = head.step;
    job.anchors_dev = anchors;
    job.channels = static_cast<unsigned>(shape.channels());
    job.dim = static_cast<unsigned>(shape.dim);
    put_job(plan, 2 * i + kAnchorStage, job);
    put_job(plan, 2 * i + kDifferenceStage, job);
    anchors += anchor_count(shape);
  };
  const Status status = list_planes(payload, tensors, tiles, put_planes);
  if (!status) plan.host_error = status.error();
  return plan;
}

Status launch_decode(const DevicePlan& plan, StreamHandle stream) {
  if (Status status = entropy::launch_tiles<AnchorRows>(
          "cachegen-published: decode_tiles of anchors", plan, kAnchorStage, stream);
      !status) {
    return status;
  }
  return entropy::launch_tiles<DifferenceRows>("cachegen-published: decode_tiles of differences",
                                               plan, kDifferenceStage, stream);
}

Status launch_encode(const DevicePlan& plan, StreamHandle stream) {
  const LaunchParameters& parameters = plan.target.parameters;
  const GridSize warps{
      .blocks = num_blocks(plan),
      .threads_per_block = static_cast<unsigned>(parameters.warps_per_block * entropy::kLanes)};
  const GridSize per_tensor{.blocks = static_cast<unsigned>(plan.num_jobs),
                            .threads_per_block = static_cast<unsigned>(parameters.threads)};
  const auto* const jobs = jobs_dev<TensorToEncode>(plan);
  if (Status status = launch("cachegen-published: quantise_anchors", warps, stream,
                             quantise_anchors, jobs, plan.num_jobs, plan.num_units);
      !status) {
    return status;
  }
  if (Status status = launch("cachegen-published: measure_differences", warps, stream,
                             measure_differences, jobs, plan.num_jobs, plan.num_units);
      !status) {
    return status;
  }
  if (Status status = launch("cachegen-published: choose_steps", per_tensor, stream, choose_steps,
                             jobs, plan.num_jobs);
      !status) {
    return status;
  }
  if (Status status = launch("cachegen-published: quantise_differences", warps, stream,
                             quantise_differences, jobs, plan.num_jobs, plan.num_units);
      !status) {
    return status;
  }
  return entropy::launch_encoders(plan, stream);
}

}  // namespace
}  // namespace sluice::cachegen_published

namespace sluice {

DeviceCodec cachegen_published_device_codec() {
  DeviceCodec codec{};
  codec.id = "cachegen-published";
  codec.decode_memory = cachegen_published::decode_memory;
  codec.plan_decode = cachegen_published::plan_decode;
  codec.launch_decode = cachegen_published::launch_decode;
  codec.decode_error = entropy::tile_error;
  codec.encode_memory = cachegen_published::encode_memory;
  codec.plan_encode = cachegen_published::plan_encode;
  codec.launch_encode = cachegen_published::launch_encode;
  return codec;
}

}  // namespace sluice
