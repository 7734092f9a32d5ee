// cachegen-published on a GPU: two planes per tensor, anchors first, then differences to them.
// Where in the flow: codec/device/registry.cc lists it; the stream is decoded by
// codec/entropy/cuda_decode.h.
// Surprise: the unrounded anchors live in the lent work memory between the two kernels.
#include "codec/cachegen_published/binding.h"
#include "codec/cachegen_published/cuda.h"
#include "codec/cachegen_published/kernel.h"
#include "codec/cachegen_released/binding.h"
#include "codec/cachegen_released/cuda_quantise.h"
#include "codec/cachegen_released/kernel.h"
#include "codec/device/launch.h"
#include "codec/device/plan.h"
#include "codec/entropy/cuda_collect.h"
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
                  codable(anchor + static_cast<float>(symbol) * facts.step));
  }
};

using cachegen_released::TensorToEncode;

constexpr unsigned kScalesAt = sizeof(float);  // of a tensor's front, behind its step

// The token of difference row `row`, and the group whose anchor it has.
__device__ inline unsigned token_of_row(unsigned row) {
  return row / DifferenceRows::kPerGroup * (DifferenceRows::kPerGroup + 1) +
         row % DifferenceRows::kPerGroup + 1;
}
__device__ inline const float* anchor_of_row(const TensorToEncode& job, unsigned row) {
  return job.anchors_dev + static_cast<std::size_t>(row / DifferenceRows::kPerGroup) * job.channels;
}
__device__ inline unsigned num_rows(const TensorToEncode& job) {
  return job.tokens - (job.tokens + DifferenceRows::kPerGroup) / (DifferenceRows::kPerGroup + 1);
}

// A warp per token: anchors become scale, symbols and the values that they decode to.
__global__ void __launch_bounds__(kMaxThreads)
    quantise_anchors(const TensorToEncode* jobs, unsigned num_jobs, std::int64_t num_tokens) {
  const unsigned warps = blockDim.x / entropy::kLanes;
  for (std::int64_t unit = blockIdx.x * warps + threadIdx.x / entropy::kLanes; unit < num_tokens;
       unit += gridDim.x * warps) {
    const TensorToEncode& job = job_of_unit(jobs, num_jobs, unit);
    const auto token = static_cast<unsigned>(unit - job.first_unit);
    if (token % kGroupTokens != 0) continue;
    const std::size_t group = token / kGroupTokens;
    std::int16_t* const symbols = job.symbols_dev + group * job.channels;
    const std::uint16_t scale = cachegen_released::quantise_token(job, token, symbols);
    if (entropy::lane_of_thread() == 0) store_u16(job.front_dev + kScalesAt + 2 * group, scale);
    const float step = cachegen_released::step_of(scale, job.max_symbol);
    for (unsigned c = entropy::lane_of_thread(); c < job.channels; c += entropy::kLanes)
      job.anchors_dev[group * job.channels + c] = static_cast<float>(symbols[c]) * step;
  }
}

// A thread per difference row: the sum runs over channels in order, as the CPU's does.
__global__ void __launch_bounds__(kMaxThreads)
    measure_differences(const TensorToEncode* jobs, unsigned num_jobs, std::int64_t num_tokens) {
  for (std::int64_t unit = blockIdx.x * blockDim.x + threadIdx.x; unit < num_tokens;
       unit += gridDim.x * blockDim.x) {
    const TensorToEncode& job = job_of_unit(jobs, num_jobs, unit);
    const auto row = static_cast<unsigned>(unit - job.first_unit);
    if (row >= num_rows(job)) continue;
    const float* const anchor = anchor_of_row(job, row);
    double sum = 0;
    for (unsigned c = 0; c < job.channels; ++c) {
      const double delta =
          static_cast<double>(cachegen_released::codable_at(job, token_of_row(row), c)) - anchor[c];
      sum += delta * delta;
    }
    job.sizes_dev[row] = sqrt(sum / static_cast<double>(job.channels));
  }
}

// A block per tensor: sizes in order by counting smaller ones; their median, or the mean where that
// is 0, makes the step.
__global__ void __launch_bounds__(kMaxThreads)
    choose_steps(const TensorToEncode* jobs, unsigned num_jobs) {
  for (unsigned index = blockIdx.x; index < num_jobs; index += gridDim.x) {
    const TensorToEncode& job = jobs[index];
    const unsigned rows = num_rows(job);
    for (unsigned i = threadIdx.x; i < rows; i += blockDim.x) {
      unsigned place = 0;
      for (unsigned other = 0; other < rows; ++other) {
        const bool is_before = job.sizes_dev[other] < job.sizes_dev[i] ||
                               (job.sizes_dev[other] == job.sizes_dev[i] && other < i);
        place += is_before ? 1 : 0;
      }
      job.sorted_dev[place] = job.sizes_dev[i];
    }
    __syncthreads();
    if (threadIdx.x != 0) continue;
    double typical = rows == 0 ? 0 : job.sorted_dev[rows / 2];
    if (rows > 0 && !(typical > 0)) {
      double sum = 0;
      for (unsigned i = 0; i < rows; ++i) sum += job.sorted_dev[i];
      typical = sum / static_cast<double>(rows);
    }
    *reinterpret_cast<float*>(job.front_dev) = static_cast<float>(typical) * job.relative_step;
  }
}

// A warp per difference row: symbols.
__global__ void __launch_bounds__(kMaxThreads)
    quantise_differences(const TensorToEncode* jobs, unsigned num_jobs, std::int64_t num_tokens) {
  const unsigned warps = blockDim.x / entropy::kLanes;
  for (std::int64_t unit = blockIdx.x * warps + threadIdx.x / entropy::kLanes; unit < num_tokens;
       unit += gridDim.x * warps) {
    const TensorToEncode& job = job_of_unit(jobs, num_jobs, unit);
    const auto row = static_cast<unsigned>(unit - job.first_unit);
    if (row >= num_rows(job)) continue;
    const float step = *reinterpret_cast<const float*>(job.front_dev);
    const float* const anchor = anchor_of_row(job, row);
    std::int16_t* const symbols =
        job.differences_dev + static_cast<std::size_t>(row) * job.channels;
    for (unsigned c = entropy::lane_of_thread(); c < job.channels; c += entropy::kLanes) {
      const float value = cachegen_released::codable_at(job, token_of_row(row), c);
      symbols[c] = step > 0 ? delta_symbol(value, anchor[c], step) : std::int16_t{0};
    }
  }
}

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

struct EncodePieces {
  entropy::EncodeLists lists;
  std::vector<TensorToEncode> tensors;
  std::int64_t num_tokens = 0;
  std::size_t work_bytes = 0;  // from EncodeLayout::work_at() on
};

TensorToEncode make_job(const SectionContext& context, const DeviceSectionTensor& tensor,
                        std::int64_t first_unit, entropy::WorkLayout& work) {
  const TensorShape& shape = tensor.values.shape;
  const auto groups = static_cast<std::size_t>(num_groups(shape.tokens));
  const auto channels = static_cast<std::size_t>(shape.channels());
  const std::size_t rows = static_cast<std::size_t>(shape.tokens) - groups;
  TensorToEncode job;
  job.tensor = tensor.values;
  job.first_unit = first_unit;
  job.channels = static_cast<unsigned>(shape.channels());
  job.dim = static_cast<unsigned>(shape.dim);
  job.tokens = static_cast<unsigned>(shape.tokens);
  job.max_symbol = kAnchorSymbol;
  job.relative_step = relative_step(context, tensor.layer);
  job.symbols_dev = work.take<std::int16_t>(groups * channels);
  job.differences_dev = work.take<std::int16_t>(rows * channels);
  job.anchors_dev = work.take<float>(groups * channels);
  job.sizes_dev = work.take<double>(rows);
  job.sorted_dev = work.take<double>(rows);
  job.front_dev = work.take<std::byte>(kScalesAt + 2 * groups);
  return job;
}

EncodePieces encode_pieces(const SectionContext& context,
                           std::span<const DeviceSectionTensor> tensors, std::byte* work_dev) {
  EncodePieces pieces;
  entropy::WorkLayout work(work_dev);
  for (const DeviceSectionTensor& tensor : tensors) {
    const TensorShape& shape = tensor.values.shape;
    const auto groups = static_cast<unsigned>(num_groups(shape.tokens));
    const TensorToEncode job = make_job(context, tensor, pieces.num_tokens, work);
    entropy::PlaneToEncode anchors;
    anchors.symbols = job.symbols_dev;
    anchors.front = job.front_dev;
    anchors.front_bytes = kScalesAt + 2 * groups;
    anchors.rows = groups;
    anchors.columns = job.channels;
    pieces.lists.add_plane(anchors, shape.dim, work);
    entropy::PlaneToEncode differences;
    differences.symbols = job.differences_dev;
    differences.rows = job.tokens - groups;
    differences.columns = job.channels;
    pieces.lists.add_plane(differences, shape.dim, work);
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
