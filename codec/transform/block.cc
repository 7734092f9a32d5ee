#include "codec/transform/block.h"

#include "codec/sluice/kernel.h"
#include "codec/sluice/payload.h"

namespace sluice::transform {

void Rotations::add(const SectionContext& context, TensorKind kind, const RopeFacts* rope,
                    std::int64_t dim, std::span<const std::int64_t> positions, bool is_undone) {
  is_undone_ = is_undone;
  backend_ = context.backend;
  tensors_.push_back({.table = ladder::is_rotated(context, kind, rope, dim)
                                   ? ladder::rotation_table(*rope, positions, is_undone)
                                   : ladder::RotationTable{},
                      .dim = dim});
}

void Rotations::turn(std::size_t tensor, std::int64_t row, std::span<float> channels) const {
  const ladder::Kernels& kernels = ladder::kernels_of(backend_);
  const OfTensor& of = tensors_[tensor];
  ladder::rotate_heads(of.table, static_cast<std::size_t>(row), of.dim, channels,
                       is_undone_ ? kernels.rotate_back : kernels.rotate);
}

}  // namespace sluice::transform
