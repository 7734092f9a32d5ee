#include "codec/model_profile/inverse.h"

#include <Eigen/LU>

namespace sluice {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

}  // namespace

std::vector<float> inverse_of(const LayerProfile& layer) {
  std::vector<float> inverses;
  inverses.reserve(layer.basis.size());
  const std::int8_t* next = layer.basis.data();
  if (layer.basis.empty()) return inverses;
  for (const std::int64_t width : layer.widths) {
    Matrix basis(width, width);
    for (std::int64_t i = 0; i < width * width; ++i) basis.data()[i] = next[i];
    next += width * width;
    const Matrix inverse = basis.partialPivLu().inverse();
    for (std::int64_t i = 0; i < width * width; ++i)
      inverses.push_back(static_cast<float>(inverse.data()[i]));
  }
  return inverses;
}

}  // namespace sluice
