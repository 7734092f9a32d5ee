// cachegen-released on a GPU: a plane per tensor, a row per token with a scale of its own.
// Where in the flow: codec/device/registry.cc lists it; the stream is decoded by
// codec/entropy/cuda_decode.h.
#include "codec/cachegen_released/binding.h"
#include "codec/cachegen_released/cuda.h"
#include "codec/cachegen_released/cuda_quantise.h"
#include "codec/cachegen_released/kernel.h"
#include "codec/device/launch.h"
#include "codec/device/plan.h"
#include "codec/entropy/cuda_collect.h"
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

// A warp per token: scale and symbols.
__global__ void __launch_bounds__(kMaxThreads)
    quantise_tokens(const TensorToEncode* jobs, unsigned num_jobs, std::int64_t num_tokens) {
  const unsigned warps = blockDim.x / entropy::kLanes;
  for (std::int64_t unit = blockIdx.x * warps + threadIdx.x / entropy::kLanes; unit < num_tokens;
       unit += gridDim.x * warps) {
    const TensorToEncode& job = job_of_unit(jobs, num_jobs, unit);
    const auto token = static_cast<unsigned>(unit - job.first_unit);
    const std::uint16_t scale = quantise_token(
        job, token, job.symbols_dev + static_cast<std::size_t>(token) * job.channels);
    if (entropy::lane_of_thread() == 0)
      store_u16(job.front_dev + 2 * static_cast<std::size_t>(token), scale);
  }
}

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

struct EncodePieces {
  entropy::EncodeLists lists;
  std::vector<TensorToEncode> tensors;
  std::int64_t num_tokens = 0;
  std::size_t work_bytes = 0;  // from EncodeLayout::work_at() on
};

EncodePieces encode_pieces(const SectionContext& context,
                           std::span<const DeviceSectionTensor> tensors, std::byte* work_dev) {
  EncodePieces pieces;
  entropy::WorkLayout work(work_dev);
  for (const DeviceSectionTensor& tensor : tensors) {
    const TensorShape& shape = tensor.values.shape;
    TensorToEncode job;
    job.tensor = tensor.values;
    job.first_unit = pieces.num_tokens;
    job.channels = static_cast<unsigned>(shape.channels());
    job.dim = static_cast<unsigned>(shape.dim);
    job.tokens = static_cast<unsigned>(shape.tokens);
    job.max_symbol = max_symbol(context, tensor.layer);
    job.symbols_dev = work.take<std::int16_t>(static_cast<std::size_t>(shape.elements()));
    job.front_dev = work.take<std::byte>(2 * static_cast<std::size_t>(shape.tokens));
    entropy::PlaneToEncode plane;
    plane.symbols = job.symbols_dev;
    plane.front = job.front_dev;
    plane.front_bytes = 2 * job.tokens;
    plane.rows = job.tokens;
    plane.columns = job.channels;
    plane.model = static_cast<std::uint32_t>(plane_model(context.level));
    pieces.lists.add_plane(plane, shape.dim, work);
    pieces.tensors.push_back(job);
    pieces.num_tokens += shape.tokens;
  }
  pieces.work_bytes = work.bytes();
  return pieces;
}

Result<MemoryNeed> encode_memory(const SectionContext& context,
                                 std::span<const DeviceSectionTensor> tensors) {
  const EncodePieces pieces = encode_pieces(context, tensors, nullptr);
  return entropy::encode_need(pieces.lists, tensors.size() * sizeof(TensorToEncode),
                              pieces.work_bytes);
}

Result<DevicePlan> plan_encode(const SectionContext& context,
                               std::span<const DeviceSectionTensor> tensors,
                               const LentMemory& memory, const LaunchTarget& target) {
  if (Status status = check_memory(memory, *encode_memory(context, tensors)); !status)
    return status.error();
  if (Status status = check_tensors(tensors); !status) return status.error();
  const auto layout = [&](const entropy::EncodeLists& lists) {
    return entropy::EncodeLayout{tensors.size() * sizeof(TensorToEncode), lists.planes.size(),
                                 lists.tiles.size()};
  };
  const auto counted = encode_pieces(context, tensors, nullptr);
  const EncodePieces pieces =
      encode_pieces(context, tensors, memory.work_dev.data() + layout(counted.lists).work_at());
  DevicePlan plan = entropy::encode_plan(pieces.lists, layout(pieces.lists), memory, target);
  plan.num_jobs = tensors.size();
  plan.num_units = pieces.num_tokens;
  for (std::size_t i = 0; i < pieces.tensors.size(); ++i) put_job(plan, i, pieces.tensors[i]);
  return plan;
}

Status launch_encode(const DevicePlan& plan, StreamHandle stream) {
  const GridSize warps{.blocks = num_blocks(plan),
                       .threads_per_block = static_cast<unsigned>(
                           plan.target.parameters.warps_per_block * entropy::kLanes)};
  if (Status status = launch("cachegen-released: quantise_tokens", warps, stream, quantise_tokens,
                             jobs_dev<TensorToEncode>(plan), plan.num_jobs, plan.num_units);
      !status) {
    return status;
  }
  return entropy::launch_encoders(plan, stream);
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
  codec.encode_memory = cachegen_released::encode_memory;
  codec.plan_encode = cachegen_released::plan_encode;
  codec.launch_encode = cachegen_released::launch_encode;
  return codec;
}

}  // namespace sluice
