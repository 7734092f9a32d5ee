// How cachegen-published's sections are laid out for encoding: its jobs, and their planes and
// tiles. Where in the flow: the host side of cuda.cu.
#pragma once

#include <vector>

#include "codec/cachegen_published/cuda_quantise.h"
#include "codec/device/plan.h"
#include "codec/entropy/cuda_encode_plan.h"

namespace sluice::cachegen_published {

struct EncodePieces {
  entropy::EncodeLists lists;
  std::vector<TensorToEncode> tensors;
  std::int64_t num_tokens = 0;
  std::size_t work_bytes = 0;  // from EncodeLayout::work_at() on
};

inline TensorToEncode make_job(const SectionContext& context, const DeviceSectionTensor& tensor,
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

inline EncodePieces encode_pieces(const SectionContext& context,
                                  std::span<const DeviceSectionTensor> tensors,
                                  std::byte* work_dev) {
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

inline Result<MemoryNeed> encode_memory(const SectionContext& context,
                                        std::span<const DeviceSectionTensor> tensors) {
  const EncodePieces pieces = encode_pieces(context, tensors, nullptr);
  return entropy::encode_need(pieces.lists, tensors.size() * sizeof(TensorToEncode),
                              pieces.work_bytes);
}

inline Result<DevicePlan> plan_encode(const SectionContext& context,
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

}  // namespace sluice::cachegen_published
