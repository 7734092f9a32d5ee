// What every CUDA backend must hold to: the CPU's bytes, the CPU's elements, the CPU's refusals, at
// every level, on every odd cache, in every layout. A new device codec is picked up by itself.
// Where in the flow: compiled twice, against the host SIMT layer (everywhere) and against CUDA (on
// a machine with a GPU, tests/device/run.sh).
#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "codec/device/gpu.h"
#include "codec/device/registry.h"
#include "codec/device/section_run.h"
#include "codec/registry.h"
#include "tests/codec/made_caches.h"
#include "tests/device/device_cache.h"

namespace sluice {
namespace {

using Bytes = std::vector<std::byte>;

struct DeviceCase {
  const DeviceCodec* device;
  const Codec* cpu;
  std::size_t level;
};

std::vector<DeviceCase> all_cases() {
  std::vector<DeviceCase> cases;
  for (const DeviceCodec& device : all_device_codecs()) {
    const auto cpu = find_codec(device.id);
    for (std::size_t level = 0; level < (*cpu)->info.levels.size(); ++level)
      cases.push_back({&device, *cpu, level});
  }
  return cases;
}

std::string name_of(const testing::TestParamInfo<DeviceCase>& info) {
  std::string name =
      info.param.cpu->info.id + "_" + info.param.cpu->info.levels[info.param.level].name;
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
}

// One kind of one cache: all its layers in one section.
struct MadeSection {
  SectionContext context;
  std::vector<SectionTensor> tensors;
};

std::vector<MadeSection> sections_of(const KvView& cache, std::size_t level) {
  std::vector<MadeSection> sections;
  for (const TensorKind kind : kTensorKinds) {
    MadeSection section;
    section.context = {.level = level,
                       .kind = kind,
                       .refinement = 0,
                       .num_model_layers = num_model_layers(shape_of(cache)),
                       .backend = Backend::kScalar};
    for (const auto& layer : cache.layers) {
      const TensorView* tensor = layer.find(kind);
      if (tensor == nullptr || tensor->shape.elements() == 0) continue;
      section.tensors.push_back({layer.layer, layer.first_token, layer.rope.get(), *tensor});
    }
    if (!section.tensors.empty()) sections.push_back(std::move(section));
  }
  return sections;
}

// The oracle's answer: an Error's text, or every tensor's bytes in [head, token, dim].
struct Decoded {
  std::string error;
  std::vector<Bytes> tensors;
  bool operator==(const Decoded&) const = default;
};

Decoded decode_on_cpu(const Codec& codec, const MadeSection& section, const Bytes& payload) {
  Decoded decoded;
  std::vector<MutableSectionTensor> tensors;
  for (const SectionTensor& tensor : section.tensors) {
    const TensorShape& shape = tensor.values.shape;
    decoded.tensors.emplace_back(static_cast<std::size_t>(shape.size().bytes()));
    tensors.push_back({tensor.layer,
                       tensor.first_token,
                       tensor.rope,
                       {shape, decoded.tensors.back().data(), head_major(shape)}});
  }
  const Status status = codec.decode_section(section.context, payload, tensors);
  if (!status) return {.error = status.error().what, .tensors = {}};
  return decoded;
}

// Memory lent for one run.
struct Lent {
  PinnedBuffer pinned;
  DeviceBuffer work, payload;
  [[nodiscard]] LentMemory memory() const { return {pinned.span(), work.span(), payload.span()}; }
};

class EveryDeviceCodec : public testing::TestWithParam<DeviceCase> {
 protected:
  void SetUp() override {
    const auto gpu = find_gpu();
    if (!gpu) GTEST_SKIP() << gpu.error().to_line();
    // Fewer multiprocessors than units: blocks take several.
    target_ = gpu->target(2);
    auto stream = make_stream();
    ASSERT_TRUE(stream) << stream.error().to_line();
    stream_ = std::move(*stream);
  }

  // check(section) for every kind of every odd cache; a failure names the cache.
  template <typename Check>
  void for_each_section(Check check) {
    for (const NamedCache& made : odd_caches()) {
      SCOPED_TRACE(made.name);
      for (const MadeSection& section : sections_of(made.cache.view(), GetParam().level)) {
        check(section);
        if (HasFatalFailure()) return;
      }
    }
  }

  static Lent lend(const MemoryNeed& need) {
    auto pinned = make_pinned_buffer(need.pinned_bytes);
    auto work = make_device_buffer(need.work_bytes);
    auto payload = make_device_buffer(need.payload_bytes);
    EXPECT_TRUE(pinned && work && payload);
    return {std::move(*pinned), std::move(*work), std::move(*payload)};
  }

  void wait() {
    const Status status = check_cuda(cudaStreamSynchronize(stream_.get()), "running kernels");
    ASSERT_TRUE(status) << status.error().to_line();
  }

  EncodedSection encode_on_device(const MadeSection& section, const DeviceSection& tensors) {
    const DeviceCodec& codec = *GetParam().device;
    const auto need = codec.encode_memory(section.context, tensors.tensors());
    EXPECT_TRUE(need) << need.error().to_line();
    const Lent lent = lend(*need);
    const auto plan = codec.plan_encode(section.context, tensors.tensors(), lent.memory(), target_);
    EXPECT_TRUE(plan) << plan.error().to_line();
    const Status enqueued = enqueue_encode(codec, *plan, stream_.get());
    EXPECT_TRUE(enqueued) << enqueued.error().to_line();
    wait();
    const EncodedSize size = finish_encode(*plan);
    Bytes payload(size.payload_bytes);
    EXPECT_EQ(cudaMemcpyAsync(payload.data(), lent.payload.data(), payload.size(),
                              cudaMemcpyDeviceToHost, stream_.get()),
              cudaSuccess);
    wait();
    return {.payload = std::move(payload), .side_bytes = size.side_bytes};
  }

  Decoded decode_on_device(const MadeSection& section, const Bytes& payload,
                           const DeviceSection& tensors) {
    const DeviceCodec& codec = *GetParam().device;
    const auto need = codec.decode_memory(section.context, payload, tensors.tensors());
    if (!need) return {.error = need.error().what, .tensors = {}};
    const Lent lent = lend(*need);
    const auto plan =
        codec.plan_decode(section.context, payload, tensors.tensors(), lent.memory(), target_);
    if (!plan) return {.error = plan.error().what, .tensors = {}};
    const Status enqueued = enqueue_decode(codec, *plan, stream_.get());
    EXPECT_TRUE(enqueued) << enqueued.error().to_line();
    wait();
    const Status status = finish_decode(codec, *plan);
    if (!status) return {.error = status.error().what, .tensors = {}};
    Decoded decoded;
    for (std::size_t i = 0; i < tensors.tensors().size(); ++i)
      decoded.tensors.push_back(tensors.read(i, stream_.get()));
    return decoded;
  }

  static EncodedSection encode_on_cpu(const MadeSection& section) {
    auto encoded = GetParam().cpu->encode_section(section.context, section.tensors);
    EXPECT_TRUE(encoded) << encoded.error().to_line();
    return encoded ? std::move(*encoded) : EncodedSection{};
  }

  LaunchTarget target_;
  CudaStream stream_;
};

TEST_P(EveryDeviceCodec, EncodesToTheBytesOfTheCpu) {
  for_each_section([&](const MadeSection& section) {
    const EncodedSection expected = encode_on_cpu(section);
    for (const DeviceLayout layout : kDeviceLayouts) {
      SCOPED_TRACE(to_text(layout));
      DeviceSection tensors(section.tensors, layout);
      tensors.write(section.tensors, stream_.get());
      const EncodedSection encoded = encode_on_device(section, tensors);
      ASSERT_EQ(encoded.payload, expected.payload);
      ASSERT_EQ(encoded.side_bytes, expected.side_bytes);
    }
  });
}

TEST_P(EveryDeviceCodec, DecodesToTheElementsOfTheScalarOracle) {
  for_each_section([&](const MadeSection& section) {
    const Bytes payload = encode_on_cpu(section).payload;
    const Decoded expected = decode_on_cpu(*GetParam().cpu, section, payload);
    ASSERT_EQ(expected.error, "");
    for (const DeviceLayout layout : kDeviceLayouts) {
      SCOPED_TRACE(to_text(layout));
      const DeviceSection tensors(section.tensors, layout);
      ASSERT_TRUE(decode_on_device(section, payload, tensors) == expected);
    }
  });
}

TEST_P(EveryDeviceCodec, RefusesAPayloadThatIsTooShortOrTooLong) {
  for_each_section([&](const MadeSection& section) {
    Bytes payload = encode_on_cpu(section).payload;
    const DeviceSection tensors(section.tensors, DeviceLayout::kHeadMajor);
    for (const std::size_t bytes :
         {std::size_t{0}, payload.size() / 2, payload.size() - 1, payload.size() + 1}) {
      payload.resize(bytes);
      const Decoded expected = decode_on_cpu(*GetParam().cpu, section, payload);
      ASSERT_NE(expected.error, "");
      ASSERT_EQ(decode_on_device(section, payload, tensors).error, expected.error);
    }
  });
}

TEST_P(EveryDeviceCodec, JudgesRandomBytesAsTheCpuDoes) {
  RandomStream random(7);
  for_each_section([&](const MadeSection& section) {
    const Bytes payload = encode_on_cpu(section).payload;
    const DeviceSection tensors(section.tensors, DeviceLayout::kTokenMajor);
    for (int round = 0; round < 6; ++round) {
      Bytes changed = payload;
      for (std::byte& b : changed) {
        if (round == 0 || random.below(round < 4 ? changed.size() : 20) == 0)
          b = static_cast<std::byte>(random.below(256));
      }
      const Decoded expected = decode_on_cpu(*GetParam().cpu, section, changed);
      const Decoded decoded = decode_on_device(section, changed, tensors);
      ASSERT_EQ(decoded.error, expected.error);
      ASSERT_TRUE(decoded == expected);
    }
  });
}

TEST_P(EveryDeviceCodec, NamesMemoryThatIsTooSmallOrMissing) {
  for_each_section([&](const MadeSection& section) {
    const DeviceCodec& codec = *GetParam().device;
    const DeviceSection tensors(section.tensors, DeviceLayout::kHeadMajor);
    const auto need = codec.encode_memory(section.context, tensors.tensors());
    ASSERT_TRUE(need);
    const Lent lent = lend(*need);
    LentMemory small = lent.memory();
    small.work_dev = small.work_dev.first(need->work_bytes - 1);
    const auto plan = codec.plan_encode(section.context, tensors.tensors(), small, target_);
    ASSERT_FALSE(plan);
    EXPECT_EQ(plan.error().what, "work memory of " + std::to_string(need->work_bytes - 1) +
                                     " bytes where " + std::to_string(need->work_bytes) +
                                     " are needed");
  });
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryDeviceCodec, testing::ValuesIn(all_cases()), name_of);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EveryDeviceCodec);  // a build without CUDA has none

}  // namespace
}  // namespace sluice
