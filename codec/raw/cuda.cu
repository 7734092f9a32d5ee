// raw on a GPU: rows of [dim] move between the payload and the tensor's layout; the bits stay.
// Where in the flow: codec/device/registry.cc lists it.
// Surprise: where layout and payload lie on 16 bytes a thread moves 16, elsewhere 2 at a time.
#include "codec/damage.h"
#include "codec/device/kernel_parts.h"
#include "codec/device/launch.h"
#include "codec/device/plan.h"
#include "codec/raw/cuda.h"

namespace sluice::raw {

// One tensor of the section; a row is its [dim] of one head and token.
struct RowJob {
  DeviceTensor tensor;
  std::int64_t payload_at = 0;  // byte of the payload where its rows begin
  std::int64_t first_unit = 0;
  std::int64_t rows_per_unit = 1;
  int piece_bytes = 2;  // 16 or 2
};

// move(address in the tensor, address in the payload) for every piece of one unit's rows.
template <typename Piece, typename Byte, typename Move>
__device__ void for_each_piece(const RowJob& job, std::int64_t unit, Byte* payload, Move move) {
  const TensorShape& shape = job.tensor.shape;
  const auto width = static_cast<unsigned>(bytes_per_element(shape.dtype));
  const auto tokens = static_cast<unsigned>(shape.tokens);
  const std::int64_t first_row = (unit - job.first_unit) * job.rows_per_unit;
  const std::int64_t rows_left = shape.heads * shape.tokens - first_row;
  const auto rows =
      static_cast<unsigned>(rows_left < job.rows_per_unit ? rows_left : job.rows_per_unit);
  const auto row_bytes = static_cast<unsigned>(shape.dim) * width;
  const unsigned pieces_per_row = row_bytes / sizeof(Piece);
  for (unsigned i = threadIdx.x; i < rows * pieces_per_row; i += blockDim.x) {
    const auto row = static_cast<unsigned>(first_row) + i / pieces_per_row;
    const unsigned byte = i % pieces_per_row * sizeof(Piece);
    const std::int64_t element = job.tensor.offset(row / tokens, row % tokens, byte / width);
    move(job.tensor.data_dev + element * width + byte % width,
         payload + job.payload_at + static_cast<std::int64_t>(row) * row_bytes + byte);
  }
}

__global__ void __launch_bounds__(kMaxThreads)
    decode_rows(const RowJob* jobs, unsigned num_jobs, std::int64_t num_units,
                const std::byte* payload) {
  for (std::int64_t unit = blockIdx.x; unit < num_units; unit += gridDim.x) {
    const RowJob& job = job_of_unit(jobs, num_jobs, unit);
    if (job.piece_bytes == 16) {
      for_each_piece<uint4>(job, unit, payload, [](std::byte* element, const std::byte* packed) {
        *reinterpret_cast<uint4*>(element) = *reinterpret_cast<const uint4*>(packed);
      });
    } else {
      for_each_piece<std::uint16_t>(job, unit, payload,
                                    [](std::byte* element, const std::byte* packed) {
                                      *reinterpret_cast<std::uint16_t*>(element) =
                                          *reinterpret_cast<const std::uint16_t*>(packed);
                                    });
    }
  }
}

__global__ void __launch_bounds__(kMaxThreads)
    encode_rows(const RowJob* jobs, unsigned num_jobs, std::int64_t num_units, std::byte* payload) {
  for (std::int64_t unit = blockIdx.x; unit < num_units; unit += gridDim.x) {
    const RowJob& job = job_of_unit(jobs, num_jobs, unit);
    if (job.piece_bytes == 16) {
      for_each_piece<uint4>(job, unit, payload, [](const std::byte* element, std::byte* packed) {
        *reinterpret_cast<uint4*>(packed) = *reinterpret_cast<const uint4*>(element);
      });
    } else {
      for_each_piece<std::uint16_t>(job, unit, payload,
                                    [](const std::byte* element, std::byte* packed) {
                                      *reinterpret_cast<std::uint16_t*>(packed) =
                                          *reinterpret_cast<const std::uint16_t*>(element);
                                    });
    }
  }
}

namespace {

std::int64_t payload_bytes(std::span<const DeviceSectionTensor> tensors) {
  std::int64_t bytes = 0;
  for (const DeviceSectionTensor& tensor : tensors) bytes += tensor.values.shape.size().bytes();
  return bytes;
}

MemoryNeed memory_need(std::span<const DeviceSectionTensor> tensors) {
  const std::size_t jobs = job_memory_bytes(tensors.size() * sizeof(RowJob));
  return {.pinned_bytes = jobs,
          .work_bytes = jobs,
          .payload_bytes = static_cast<std::size_t>(payload_bytes(tensors))};
}

Result<MemoryNeed> decode_memory(const SectionContext&, std::span<const std::byte> payload,
                                 std::span<const DeviceSectionTensor> tensors) {
  const auto bytes = static_cast<std::int64_t>(payload.size());
  if (Status status = check_payload_size(bytes, payload_bytes(tensors)); !status)
    return status.error();
  return memory_need(tensors);
}

Result<MemoryNeed> encode_memory(const SectionContext&,
                                 std::span<const DeviceSectionTensor> tensors) {
  return memory_need(tensors);
}

// Rows are counted in 32 bits.
Status check_rows(std::span<const DeviceSectionTensor> tensors) {
  for (const DeviceSectionTensor& tensor : tensors) {
    if (tensor.values.shape.heads * tensor.values.shape.tokens > 0x7FFFFFFF)
      return error_in("", "a tensor of more than 2^31 rows", "cut it into chunks");
  }
  return {};
}

RowJob make_job(const DeviceTensor& tensor, std::int64_t payload_at, std::int64_t first_unit,
                const LaunchTarget& target) {
  RowJob job;
  job.tensor = tensor;
  job.payload_at = payload_at;
  job.first_unit = first_unit;
  job.rows_per_unit = std::max<std::int64_t>(1, target.parameters.unit_elements / tensor.shape.dim);
  job.piece_bytes = lies_in_eights(tensor) && payload_at % 16 == 0 ? 16 : 2;
  return job;
}

Result<DevicePlan> plan(std::span<const DeviceSectionTensor> tensors, const LentMemory& memory,
                        const LaunchTarget& target) {
  if (Status status = check_memory(memory, memory_need(tensors)); !status) return status.error();
  if (Status status = check_tensors(tensors); !status) return status.error();
  if (Status status = check_rows(tensors); !status) return status.error();
  DevicePlan plan;
  plan.memory = memory;
  plan.target = target;
  plan.num_jobs = tensors.size();
  plan.job_bytes = tensors.size() * sizeof(RowJob);
  std::int64_t payload_at = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const TensorShape& shape = tensors[i].values.shape;
    const RowJob job = make_job(tensors[i].values, payload_at, plan.num_units, target);
    put_job(plan, i, job);
    plan.num_units += (shape.heads * shape.tokens + job.rows_per_unit - 1) / job.rows_per_unit;
    payload_at += shape.size().bytes();
  }
  put_header(plan, {.payload_bytes = static_cast<std::uint64_t>(payload_at)});
  return plan;
}

Result<DevicePlan> plan_decode(const SectionContext& context, std::span<const std::byte> payload,
                               std::span<const DeviceSectionTensor> tensors,
                               const LentMemory& memory, const LaunchTarget& target) {
  if (const auto need = decode_memory(context, payload, tensors); !need) return need.error();
  auto made = plan(tensors, memory, target);
  if (made) made->payload = payload;
  return made;
}

Result<DevicePlan> plan_encode(const SectionContext&, std::span<const DeviceSectionTensor> tensors,
                               const LentMemory& memory, const LaunchTarget& target) {
  return plan(tensors, memory, target);
}

GridSize grid_of(const DevicePlan& plan) {
  return {.blocks = num_blocks(plan),
          .threads_per_block = static_cast<unsigned>(plan.target.parameters.threads)};
}

Status launch_decode(const DevicePlan& plan, StreamHandle stream) {
  return launch("raw: decode_rows", grid_of(plan), stream, decode_rows, jobs_dev<RowJob>(plan),
                plan.num_jobs, plan.num_units, plan.memory.payload_dev.data());
}

Status launch_encode(const DevicePlan& plan, StreamHandle stream) {
  return launch("raw: encode_rows", grid_of(plan), stream, encode_rows, jobs_dev<RowJob>(plan),
                plan.num_jobs, plan.num_units, plan.memory.payload_dev.data());
}

Error decode_error(const Fault&) {
  return damaged("a fault that raw does not know");
}

}  // namespace
}  // namespace sluice::raw

namespace sluice {

DeviceCodec raw_device_codec() {
  return {.id = "raw",
          .decode_memory = raw::decode_memory,
          .plan_decode = raw::plan_decode,
          .launch_decode = raw::launch_decode,
          .decode_error = raw::decode_error,
          .encode_memory = raw::encode_memory,
          .plan_encode = raw::plan_encode,
          .launch_encode = raw::launch_encode};
}

}  // namespace sluice
