// cachegen-released on a GPU: a plane per tensor, a row per token with a scale of its own.
// Where in the flow: codec/device/registry.cc lists it; the stream is decoded by
// codec/entropy/cuda_decode.h.
#include "codec/cachegen_released/binding.h"
#include "codec/cachegen_released/cuda.h"
#include "codec/cachegen_released/kernel.h"
#include "codec/device/launch.h"
#include "codec/device/plan.h"
#include "codec/entropy/cuda_decode.h"

namespace sluice::cachegen_released {

struct TokenRows {
  static __device__ entropy::RowFacts facts(const entropy::PlaneJob& plane,
                                            const std::byte* payload, unsigned row) {
    const std::uint16_t scale =
        load_u16(payload + plane.scales_at + 2 * static_cast<std::int64_t>(row));
    return {step_of(scale, plane.max_symbol), plane.tensor.token_offset(row)};
  }
  static __device__ void put(const entropy::PlaneJob& plane, const entropy::RowFacts& facts,
                             unsigned, const entropy::LaneColumn& column, std::int16_t symbol) {
    store_element(plane.tensor, facts.elements + column.elements,
                  static_cast<float>(symbol) * facts.step);
  }
};

namespace {

// The section's planes in order: on_plane(number, byte of its scales), and its tiles to `tiles`.
template <typename OnPlane>
Status list_planes(std::span<const std::byte> payload, std::span<const DeviceSectionTensor> tensors,
                   entropy::TileLister& tiles, const OnPlane& on_plane) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const TensorShape& shape = tensors[i].values.shape;
    ByteReader in(payload.subspan(at));
    const auto scales = read_scales(in, shape.tokens);
    if (!scales) return scales.error();
    on_plane(i, at);
    at += scales->size();
    tiles.begin_plane(static_cast<std::uint32_t>(i), at, 0);
    const auto bytes =
        entropy::walk_plane(payload.subspan(at), shape.tokens, shape.channels(), false, tiles);
    if (!bytes) return bytes.error();
    at += *bytes;
  }
  return check_nothing_left(payload.subspan(at));
}

Result<MemoryNeed> decode_memory(const SectionContext&, std::span<const std::byte> payload,
                                 std::span<const DeviceSectionTensor> tensors) {
  entropy::TileLister tiles(nullptr);
  (void)list_planes(payload, tensors, tiles, [](auto...) {});  // its error is plan_decode's to keep
  return entropy::decode_need(tensors.size(), tiles, 0, payload.size());
}

Result<DevicePlan> plan_decode(const SectionContext& context, std::span<const std::byte> payload,
                               std::span<const DeviceSectionTensor> tensors,
                               const LentMemory& memory, const LaunchTarget& target) {
  entropy::TileLister count(nullptr);
  (void)list_planes(payload, tensors, count, [](auto...) {});
  const MemoryNeed need = entropy::decode_need(tensors.size(), count, 0, payload.size());
  if (Status status = check_memory(memory, need); !status) return status.error();
  if (Status status = check_tensors(tensors); !status) return status.error();
  DevicePlan plan = entropy::decode_plan(tensors.size(), count, payload, memory, target);
  entropy::TileLister tiles(entropy::tiles_at(plan));
  const Status status = list_planes(payload, tensors, tiles, [&](std::size_t i, std::size_t at) {
    entropy::PlaneJob job;
    job.tensor = tensors[i].values;
    job.scales_at = static_cast<std::int64_t>(at);
    job.max_symbol = max_symbol(context, tensors[i].layer);
    job.channels = static_cast<unsigned>(tensors[i].values.shape.channels());
    job.dim = static_cast<unsigned>(tensors[i].values.shape.dim);
    put_job(plan, i, job);
  });
  if (!status) plan.host_error = status.error();
  return plan;
}

Status launch_decode(const DevicePlan& plan, StreamHandle stream) {
  return entropy::launch_tiles<TokenRows>("cachegen-released: decode_tiles", plan, 0, stream);
}

}  // namespace
}  // namespace sluice::cachegen_released

namespace sluice {

DeviceCodec cachegen_released_device_codec() {
  DeviceCodec codec{};
  codec.id = "cachegen-released";
  codec.decode_memory = cachegen_released::decode_memory;
  codec.plan_decode = cachegen_released::plan_decode;
  codec.launch_decode = cachegen_released::launch_decode;
  codec.decode_error = entropy::tile_error;
  return codec;
}

}  // namespace sluice
