// cachegen-published on a GPU: two planes per tensor, anchors first, then differences to them.
// Where in the flow: codec/device/registry.cc lists it; the stream is decoded by
// codec/entropy/cuda_decode.h.
// Surprise: the unrounded anchors live in the lent work memory between the two kernels.
#include "codec/cachegen_published/binding.h"
#include "codec/cachegen_published/cuda.h"
#include "codec/cachegen_released/binding.h"
#include "codec/cachegen_released/kernel.h"
#include "codec/device/launch.h"
#include "codec/device/plan.h"
#include "codec/entropy/cuda_decode.h"

namespace sluice::cachegen_published {

// Row g is token 10 g.
struct AnchorRows {
  static __device__ entropy::RowFacts facts(const entropy::PlaneJob& plane,
                                            const std::byte* payload, unsigned row) {
    const std::uint16_t scale =
        load_u16(payload + plane.scales_at + 2 * static_cast<std::int64_t>(row));
    return {cachegen_released::step_of(scale, plane.max_symbol),
            plane.tensor.token_offset(row * kGroupTokens)};
  }
  static __device__ void put(const entropy::PlaneJob& plane, const entropy::RowFacts& facts,
                             unsigned row, const entropy::LaneColumn& column, std::int16_t symbol) {
    const float value = static_cast<float>(symbol) * facts.step;
    plane.anchors_dev[static_cast<std::size_t>(row) * plane.channels + column.channel] = value;
    store_element(plane.tensor, facts.elements + column.elements, value);
  }
};

// Nine rows per group: the tokens behind the anchor.
struct DifferenceRows {
  static constexpr unsigned kPerGroup = static_cast<unsigned>(kGroupTokens) - 1;
  static __device__ entropy::RowFacts facts(const entropy::PlaneJob& plane, const std::byte*,
                                            unsigned row) {
    const unsigned token = row / kPerGroup * (kPerGroup + 1) + row % kPerGroup + 1;
    return {plane.step, plane.tensor.token_offset(token)};
  }
  static __device__ void put(const entropy::PlaneJob& plane, const entropy::RowFacts& facts,
                             unsigned row, const entropy::LaneColumn& column, std::int16_t symbol) {
    const float anchor =
        plane.anchors_dev[static_cast<std::size_t>(row / kPerGroup) * plane.channels +
                          column.channel];
    store_element(plane.tensor, facts.elements + column.elements,
                  anchor + static_cast<float>(symbol) * facts.step);
  }
};

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
  Status status = entropy::launch_tiles<AnchorRows>("cachegen-published: decode_tiles of anchors",
                                                    plan, kAnchorStage, stream);
  if (!status) return status;
  return entropy::launch_tiles<DifferenceRows>("cachegen-published: decode_tiles of differences",
                                               plan, kDifferenceStage, stream);
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
  return codec;
}

}  // namespace sluice
