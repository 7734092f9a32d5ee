#include "tests/device/device_run.h"

#include <gtest/gtest.h>

#include "tests/device/kernel_order.h"

namespace sluice {

std::vector<MadeSection> sections_of(const KvView& cache, const Codec& codec, std::size_t level) {
  using Kinds = std::vector<TensorKind>;
  const std::vector<Kinds> joined = {{TensorKind::kKey, TensorKind::kValue}, {TensorKind::kLatent}};
  const std::vector<Kinds> apart = {
      {TensorKind::kKey}, {TensorKind::kValue}, {TensorKind::kLatent}};
  std::vector<MadeSection> sections;
  for (const Kinds& kinds : codec.info.joins_keys_and_values ? joined : apart) {
    MadeSection section;
    section.context = {.level = level,
                       .kind = kinds.front(),
                       .refinement = 0,
                       .num_model_layers = num_model_layers(shape_of(cache)),
                       .keys_are_rotated = cache.facts.keys == KeyForm::kPostRope,
                       .backend = Backend::kScalar};
    for (const auto& layer : cache.layers) {
      for (const TensorKind kind : kinds) {
        const TensorView* tensor = layer.find(kind);
        if (tensor == nullptr || tensor->shape.elements() == 0) continue;
        section.tensors.push_back({.layer = layer.layer,
                                   .first_token = layer.first_token,
                                   .rope = layer.rope.get(),
                                   .values = *tensor,
                                   .kind = kind,
                                   .positions = positions_of(layer)});
      }
    }
    if (!section.tensors.empty()) sections.push_back(std::move(section));
  }
  return sections;
}

Decoded decode_on_cpu(const Codec& codec, const MadeSection& section, const Bytes& payload) {
  Decoded decoded;
  std::vector<MutableSectionTensor> tensors;
  for (const SectionTensor& tensor : section.tensors) {
    const TensorShape& shape = tensor.values.shape;
    decoded.tensors.emplace_back(static_cast<std::size_t>(shape.size().bytes()));
    tensors.push_back({.layer = tensor.layer,
                       .first_token = tensor.first_token,
                       .rope = tensor.rope,
                       .values = {shape, decoded.tensors.back().data(), head_major(shape)},
                       .kind = tensor.kind,
                       .positions = tensor.positions});
  }
  const Status status = codec.decode_section(section.context, payload, tensors);
  if (!status) return {.error = status.error().what, .tensors = {}};
  return decoded;
}

LentBuffers lend(const MemoryNeed& need) {
  auto pinned = make_pinned_buffer(need.pinned_bytes);
  auto work = make_device_buffer(need.work_bytes);
  auto payload = make_device_buffer(need.payload_bytes);
  EXPECT_TRUE(pinned && work && payload) << "no memory to lend";
  return {std::move(*pinned), std::move(*work), std::move(*payload)};
}

DeviceRunner::DeviceRunner(const LaunchTarget& target) : target_(target) {
  auto stream = make_stream();
  EXPECT_TRUE(stream) << stream.error().to_line();
  if (stream) stream_ = std::move(*stream);
}

Status DeviceRunner::wait() const {
  const Status status = check_cuda(cudaStreamSynchronize(stream()), "running kernels");
  if (status) return status;
  const std::string fault = take_kernel_fault();
  return fault.empty() ? status : error_in("", fault, "mend the kernel");
}

Result<EncodedSection> DeviceRunner::encode(const DeviceCodec& codec, const MadeSection& section,
                                            const DeviceSection& tensors) const {
  const auto need = codec.encode_memory(section.context, tensors.tensors());
  if (!need) return need.error();
  const LentBuffers lent = lend(*need);
  const auto plan = codec.plan_encode(section.context, tensors.tensors(), lent.memory(), target_);
  if (!plan) return plan.error();
  if (Status status = enqueue_encode(codec, *plan, stream()); !status) return status.error();
  if (Status status = wait(); !status) return status.error();
  const EncodedSize size = finish_encode(*plan);
  EncodedSection encoded{.payload = Bytes(size.payload_bytes), .side_bytes = size.side_bytes};
  const auto error = cudaMemcpyAsync(encoded.payload.data(), lent.payload.data(),
                                     encoded.payload.size(), cudaMemcpyDeviceToHost, stream());
  if (Status status = check_cuda(error, "copying the payload"); !status) return status.error();
  if (Status status = wait(); !status) return status.error();
  return encoded;
}

Decoded DeviceRunner::decode(const DeviceCodec& codec, const MadeSection& section,
                             const Bytes& payload, const DeviceSection& tensors) const {
  const auto failed = [](const Error& error) {
    return Decoded{.error = error.what, .tensors = {}};
  };
  const auto need = codec.decode_memory(section.context, payload, tensors.tensors());
  if (!need) return failed(need.error());
  const LentBuffers lent = lend(*need);
  const auto plan =
      codec.plan_decode(section.context, payload, tensors.tensors(), lent.memory(), target_);
  if (!plan) return failed(plan.error());
  if (Status status = enqueue_decode(codec, *plan, stream()); !status)
    return failed(status.error());
  if (Status status = wait(); !status) return failed(status.error());
  if (Status status = finish_decode(codec, *plan); !status) return failed(status.error());
  Decoded decoded;
  for (std::size_t i = 0; i < tensors.tensors().size(); ++i)
    decoded.tensors.push_back(tensors.read(i, stream()));
  return decoded;
}

}  // namespace sluice
