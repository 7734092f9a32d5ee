#include "tests/device/bench_section.h"

#include <algorithm>
#include <cstring>

#include "base/random.h"
#include "codec/device/plan.h"
#include "codec/device/section_run.h"
#include "codec/float16.h"
#include "codec/measure/linear_fit.h"
#include "codec/registry.h"

namespace sluice {
namespace {

constexpr std::int64_t kBlockTokens = 16;     // as vLLM's default
constexpr std::int64_t kPatternTokens = 256;  // drawn once, repeated along the context

// Values near N(0, 1), some channels apart from 0, each at its own width.
std::vector<std::uint16_t> pattern(const BenchShape& shape) {
  RandomStream random(17);
  const std::int64_t channels = shape.heads * shape.dim;
  std::vector<std::uint16_t> values;
  for (std::int64_t token = 0; token < std::min(kPatternTokens, shape.tokens); ++token) {
    for (std::int64_t c = 0; c < channels; ++c) {
      const double width = 0.2 + 0.1 * static_cast<double>(c * 7 % 13);
      const double middle = c % 16 == 3 ? 4 : 0;
      values.push_back(fp32_to_fp16(static_cast<float>(random.normal(middle, width))));
    }
  }
  return values;
}

// The median time of `work` between two events, after one run to warm up.
template <typename Work>
Result<Duration> median_time(cudaStream_t stream, cudaEvent_t begin, cudaEvent_t end, int repeats,
                             const Work& work) {
  if (Status status = work(); !status) return status.error();
  std::vector<Duration> times;
  for (int i = 0; i < repeats; ++i) {
    if (Status status = check_cuda(cudaEventRecord(begin, stream), "timing"); !status)
      return status.error();
    if (Status status = work(); !status) return status.error();
    if (Status status = check_cuda(cudaEventRecord(end, stream), "timing"); !status)
      return status.error();
    if (Status status = check_cuda(cudaStreamSynchronize(stream), "running kernels"); !status)
      return status.error();
    float milliseconds = 0;
    if (Status status = check_cuda(cudaEventElapsedTime(&milliseconds, begin, end), "timing");
        !status) {
      return status.error();
    }
    times.push_back(nanoseconds_to_duration(1e6 * static_cast<double>(milliseconds)));
  }
  return median(std::move(times));
}

}  // namespace

Result<BenchSection> BenchSection::make(const BenchShape& shape) {
  BenchSection section;
  section.shape_ = shape;
  section.bytes_ = static_cast<std::size_t>(shape.elements()) * sizeof(std::uint16_t);
  const std::int64_t blocks = (shape.tokens + kBlockTokens - 1) / kBlockTokens;
  const std::int64_t channels = shape.heads * shape.dim;
  const auto pool_elements = static_cast<std::size_t>(blocks * kBlockTokens * channels);
  auto stream = make_stream();
  auto begin = make_event();
  auto end = make_event();
  auto source = make_device_buffer(section.bytes_);
  auto target = make_device_buffer(static_cast<std::size_t>(shape.layers) * pool_elements *
                                   sizeof(std::uint16_t));
  auto table = make_device_buffer(static_cast<std::size_t>(blocks) * sizeof(std::int32_t));
  if (!stream) return stream.error();
  if (!begin) return begin.error();
  if (!end) return end.error();
  if (!source) return source.error();
  if (!target) return target.error();
  if (!table) return table.error();
  section.stream_ = std::move(*stream);
  section.begin_ = std::move(*begin);
  section.end_ = std::move(*end);
  section.source_ = std::move(*source);
  section.target_ = std::move(*target);
  section.block_table_ = std::move(*table);
  const TensorShape tensor{
      .dtype = Dtype::kFp16, .heads = shape.heads, .tokens = shape.tokens, .dim = shape.dim};
  for (std::int64_t layer = 0; layer < shape.layers; ++layer) {
    const auto index = static_cast<std::size_t>(layer);
    std::byte* const from =
        section.source_.data() + index * section.bytes_ / static_cast<std::size_t>(shape.layers);
    std::byte* const to = section.target_.data() + index * pool_elements * sizeof(std::uint16_t);
    const auto* const blocks_dev =
        reinterpret_cast<const std::int32_t*>(section.block_table_.data());
    section.from_.push_back(
        {layer, 0, nullptr, contiguous_tensor(tensor, from, token_major(tensor))});
    section.to_.push_back(
        {layer, 0, nullptr,
         paged_tensor(tensor, to, blocks_dev, kBlockTokens, BlockOrder::kTokenHeadDim)});
  }
  if (Status status = section.fill(); !status) return status.error();
  return section;
}

Status BenchSection::fill() {
  const std::vector<std::uint16_t> values = pattern(shape_);
  const std::size_t bytes = values.size() * sizeof(std::uint16_t);
  for (std::size_t at = 0; at < bytes_; at += bytes) {
    const auto error =
        at == 0 ? cudaMemcpyAsync(source_.data(), values.data(), bytes, cudaMemcpyHostToDevice,
                                  stream_.get())
                : cudaMemcpyAsync(source_.data() + at, source_.data(), std::min(bytes, bytes_ - at),
                                  cudaMemcpyDeviceToDevice, stream_.get());
    if (Status status = check_cuda(error, "filling the cache"); !status) return status;
  }
  // Blocks in an order that is not theirs.
  const auto num_blocks =
      static_cast<std::int32_t>(block_table_.span().size() / sizeof(std::int32_t));
  std::vector<std::int32_t> table;
  for (std::int32_t block = 0; block < num_blocks; ++block) table.push_back(num_blocks - 1 - block);
  if (Status status =
          check_cuda(cudaMemcpyAsync(block_table_.data(), table.data(), block_table_.span().size(),
                                     cudaMemcpyHostToDevice, stream_.get()),
                     "filling the block table");
      !status) {
    return status;
  }
  return check_cuda(cudaStreamSynchronize(stream_.get()), "filling the cache");
}

SectionContext BenchSection::context(std::size_t level) const {
  return {
      .level = level, .kind = TensorKind::kKey, .refinement = 0, .num_model_layers = shape_.layers};
}

Status BenchSection::wait(const char* doing) const {
  return check_cuda(cudaStreamSynchronize(stream_.get()), doing);
}

Result<SectionTimes> BenchSection::run(const DeviceCodec& codec, std::size_t level,
                                       const LaunchTarget& target, int repeats) {
  const auto payload =
      codec.encodes() ? encode(codec, level, target, repeats) : encode_on_cpu(codec, level);
  if (!payload) return payload.error();
  const auto time = decode(codec, level, *payload, target, repeats);
  if (!time) return time.error();
  return SectionTimes{.payload_bytes = static_cast<std::int64_t>(payload->host.span().size()),
                      .encode = payload->encode,
                      .decode = *time};
}

Result<BenchSection::Payload> BenchSection::encode(const DeviceCodec& codec, std::size_t level,
                                                   const LaunchTarget& target, int repeats) {
  const auto need = codec.encode_memory(context(level), from_);
  if (!need) return need.error();
  auto pinned = make_pinned_buffer(need->pinned_bytes);
  auto work = make_device_buffer(need->work_bytes);
  auto device = make_device_buffer(need->payload_bytes);
  if (!pinned) return pinned.error();
  if (!work) return work.error();
  if (!device) return device.error();
  const LentMemory memory{pinned->span(), work->span(), device->span()};
  const auto plan = codec.plan_encode(context(level), from_, memory, target);
  if (!plan) return plan.error();
  if (Status status = upload(*plan, stream_.get()); !status) return status.error();
  const auto time = median_time(stream_.get(), begin_.get(), end_.get(), repeats,
                                [&] { return codec.launch_encode(*plan, stream_.get()); });
  if (!time) return time.error();
  if (Status status = enqueue_encode(codec, *plan, stream_.get()); !status) return status.error();
  if (Status status = wait("encoding"); !status) return status.error();
  auto host = make_pinned_buffer(finish_encode(*plan).payload_bytes);
  if (!host) return host.error();
  const auto error = cudaMemcpyAsync(host->data(), device->data(), host->span().size(),
                                     cudaMemcpyDeviceToHost, stream_.get());
  if (Status status = check_cuda(error, "copying the payload"); !status) return status.error();
  if (Status status = wait("copying the payload"); !status) return status.error();
  return Payload{std::move(*device), std::move(*host), *time};
}

Result<BenchSection::Payload> BenchSection::encode_on_cpu(const DeviceCodec& codec,
                                                          std::size_t level) {
  const auto cpu = find_codec(codec.id);
  if (!cpu) return cpu.error();
  std::vector<std::byte> elements(bytes_);
  const auto error = cudaMemcpyAsync(elements.data(), source_.data(), bytes_,
                                     cudaMemcpyDeviceToHost, stream_.get());
  if (Status status = check_cuda(error, "copying the cache"); !status) return status.error();
  if (Status status = wait("copying the cache"); !status) return status.error();
  std::vector<SectionTensor> tensors;
  const std::byte* from = elements.data();
  for (const DeviceSectionTensor& tensor : from_) {
    const TensorShape& shape = tensor.values.shape;
    tensors.push_back({.layer = tensor.layer, .values = {shape, from, token_major(shape)}});
    from += shape.size().bytes();
  }
  const auto encoded = (*cpu)->encode_section(context(level), tensors);
  if (!encoded) return encoded.error();
  auto device = make_device_buffer(encoded->payload.size());
  auto host = make_pinned_buffer(encoded->payload.size());
  if (!device) return device.error();
  if (!host) return host.error();
  std::copy(encoded->payload.begin(), encoded->payload.end(), host->data());
  return Payload{std::move(*device), std::move(*host), Duration{}};
}

Result<Duration> BenchSection::decode(const DeviceCodec& codec, std::size_t level,
                                      const Payload& payload, const LaunchTarget& target,
                                      int repeats) {
  const auto need = codec.decode_memory(context(level), payload.host.span(), to_);
  if (!need) return need.error();
  auto pinned = make_pinned_buffer(need->pinned_bytes);
  auto work = make_device_buffer(need->work_bytes);
  if (!pinned) return pinned.error();
  if (!work) return work.error();
  const LentMemory memory{pinned->span(), work->span(), payload.device.span()};
  const auto plan = codec.plan_decode(context(level), payload.host.span(), to_, memory, target);
  if (!plan) return plan.error();
  if (Status status = enqueue_decode(codec, *plan, stream_.get()); !status) return status.error();
  const auto time = median_time(stream_.get(), begin_.get(), end_.get(), repeats,
                                [&] { return codec.launch_decode(*plan, stream_.get()); });
  if (!time) return time.error();
  if (Status status = finish_decode(codec, *plan); !status) return status.error();
  return *time;
}

Result<Duration> BenchSection::copy(int repeats) {
  return median_time(stream_.get(), begin_.get(), end_.get(), repeats, [&] {
    return check_cuda(cudaMemcpyAsync(target_.data(), source_.data(), bytes_,
                                      cudaMemcpyDeviceToDevice, stream_.get()),
                      "copying on the device");
  });
}

}  // namespace sluice
