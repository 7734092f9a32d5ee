#include "codec/transform/principal.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/random.h"

namespace sluice::transform {
namespace {

constexpr std::int64_t kSpare = 8;  // vectors beyond those asked for, so that the last converge
constexpr int kIterations = 2;      // each brings the subspace nearer by the square of the ratios
constexpr int kSweepsMax = 12;      // of Jacobi rotations; six or seven do
constexpr double kNothing = 1e-12;  // of the largest, below which a component is rounding

using Floats = std::vector<float>;
using Doubles = std::vector<double>;

Floats transposed(std::span<const float> matrix, std::size_t rows, std::size_t columns) {
  Floats out(matrix.size());
  constexpr std::size_t kTile = 32;
  for (std::size_t first = 0; first < rows; first += kTile) {
    for (std::size_t c = 0; c < columns; ++c) {
      for (std::size_t r = first; r < std::min(first + kTile, rows); ++r)
        out[c * rows + r] = matrix[r * columns + c];
    }
  }
  return out;
}

// Eight sums side by side, then one after another: an order that vectorises.
double dot(const float* a, const float* b, std::size_t count) {
  std::array<double, 8> sums{};
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    for (std::size_t k = 0; k < 8; ++k)
      sums[k] += static_cast<double>(a[i + k]) * static_cast<double>(b[i + k]);
  }
  for (; i < count; ++i) sums[0] += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

// Makes rows orthogonal and of length 1 (Gram-Schmidt; a second pass takes out what the first one's
// rounding left); a row that depends on those before it becomes 0.
void orthonormalise(Floats& rows, std::size_t count, std::size_t length, int passes) {
  for (std::size_t i = 0; i < count; ++i) {
    float* const row = rows.data() + i * length;
    const double before = dot(row, row, length);
    for (int pass = 0; pass < passes; ++pass) {
      for (std::size_t j = 0; j < i; ++j) {
        const float* const other = rows.data() + j * length;
        const auto share = static_cast<float>(dot(row, other, length));
        for (std::size_t k = 0; k < length; ++k) row[k] -= share * other[k];
      }
    }
    const double after = dot(row, row, length);
    const double scale = after > before * kNothing ? 1 / std::sqrt(after) : 0;
    for (std::size_t k = 0; k < length; ++k)
      row[k] = static_cast<float>(static_cast<double>(row[k]) * scale);
  }
}

// Eigenvalues and vectors [vector, element] of a symmetric matrix by cyclic Jacobi rotations
// (Golub and Van Loan, "Matrix Computations", section 8.5).
class Jacobi {
 public:
  Jacobi(Doubles matrix, std::size_t size)
      : matrix_(std::move(matrix)), vectors_(size * size), size_(size) {
    for (std::size_t i = 0; i < size; ++i) vectors_[i * size + i] = 1;
  }

  void run() {
    for (int sweep = 0; sweep < kSweepsMax && !is_diagonal(); ++sweep) {
      for (std::size_t p = 0; p + 1 < size_; ++p) {
        for (std::size_t q = p + 1; q < size_; ++q) rotate(p, q);
      }
    }
  }
  [[nodiscard]] double value(std::size_t i) const { return matrix_[i * size_ + i]; }
  [[nodiscard]] const double* vector(std::size_t i) const { return &vectors_[i * size_]; }

 private:
  [[nodiscard]] bool is_diagonal() const {
    double diagonal = 0, rest = 0;
    for (std::size_t i = 0; i < size_; ++i) {
      for (std::size_t j = 0; j < size_; ++j) {
        const double square = matrix_[i * size_ + j] * matrix_[i * size_ + j];
        (i == j ? diagonal : rest) += square;
      }
    }
    return rest <= diagonal * kNothing;
  }

  void rotate(std::size_t p, std::size_t q) {
    const double off = matrix_[p * size_ + q];
    const double a = value(p), b = value(q);
    if (off * off <= kNothing * kNothing * std::abs(a * b) || off == 0) return;
    const double ratio = (b - a) / (2 * off);
    const double tangent = (ratio >= 0 ? 1 : -1) / (std::abs(ratio) + std::sqrt(ratio * ratio + 1));
    const double cosine = 1 / std::sqrt(tangent * tangent + 1), sine = tangent * cosine;
    turn(&matrix_[p * size_], &matrix_[q * size_], 1, cosine, sine);
    turn(&matrix_[p], &matrix_[q], size_, cosine, sine);
    turn(&vectors_[p * size_], &vectors_[q * size_], 1, cosine, sine);
  }

  void turn(double* a, double* b, std::size_t step, double cosine, double sine) const {
    for (std::size_t k = 0; k < size_ * step; k += step) {
      const double x = a[k], y = b[k];
      a[k] = cosine * x - sine * y;
      b[k] = sine * x + cosine * y;
    }
  }

  Doubles matrix_, vectors_;
  std::size_t size_;
};

// rows[i] = sum over j of weights(i)[j] * basis[j], [count, length].
Floats combine(std::span<const double* const> weights, const Floats& basis, std::size_t num_basis,
               std::size_t length, const Kernels& kernels) {
  Floats factors;
  for (const double* row : weights) {
    for (std::size_t j = 0; j < num_basis; ++j) factors.push_back(static_cast<float>(row[j]));
  }
  Floats rows(weights.size() * length);
  kernels.multiply(factors.data(), basis.data(), static_cast<std::int64_t>(weights.size()),
                   static_cast<std::int64_t>(num_basis), static_cast<std::int64_t>(length),
                   rows.data());
  return rows;
}

}  // namespace

Principal principal_components(std::span<const float> matrix, std::int64_t rows,
                               std::int64_t columns, std::int64_t count, const Kernels& kernels) {
  const auto height = static_cast<std::size_t>(rows), width = static_cast<std::size_t>(columns);
  const std::int64_t wanted = std::min({count, rows, columns});
  const std::int64_t held = std::min({count + kSpare, rows, columns});
  const auto size = static_cast<std::size_t>(held);
  const Floats turned = transposed(matrix, height, width);  // [column, row]

  RandomStream random(1);
  Floats of_columns(size * width), of_rows(size * height);
  for (float& x : of_columns) x = random.bernoulli(0.5) ? 1.0F : -1.0F;
  for (int i = 0;; ++i) {
    kernels.multiply(of_columns.data(), turned.data(), held, columns, rows, of_rows.data());
    orthonormalise(of_rows, size, height, i == kIterations ? 2 : 1);
    kernels.multiply(of_rows.data(), matrix.data(), held, rows, columns, of_columns.data());
    if (i == kIterations) break;
    orthonormalise(of_columns, size, width, 1);
  }
  // The matrix is nearly of_rows' of_columns; now both sides orthogonal.
  Doubles products(size * size);
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      products[i * size + j] = products[j * size + i] =
          dot(&of_columns[i * width], &of_columns[j * width], width);
    }
  }
  Jacobi jacobi(std::move(products), size);
  jacobi.run();
  std::vector<std::size_t> order(size);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return jacobi.value(a) > jacobi.value(b); });
  Principal result;
  std::vector<const double*> weights;
  for (std::size_t i = 0; i < static_cast<std::size_t>(wanted); ++i) {
    const double value = jacobi.value(order[i]);
    if (!(value > jacobi.value(order[0]) * kNothing)) break;
    result.sizes.push_back(static_cast<float>(std::sqrt(value)));
    weights.push_back(jacobi.vector(order[i]));
  }
  result.tokens = combine(weights, of_rows, size, height, kernels);
  result.channels = combine(weights, of_columns, size, width, kernels);
  for (std::size_t j = 0; j < result.sizes.size(); ++j) {
    for (std::size_t c = 0; c < width; ++c) result.channels[j * width + c] /= result.sizes[j];
  }
  return result;
}

}  // namespace sluice::transform
