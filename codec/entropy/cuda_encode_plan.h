// What the encoder's kernels need to know, and the host's layout of their memory.
// Where in the flow: between the plans of cachegen codecs and the kernels of cuda_encode.h.
// Surprise: tiles are coded into rooms for their worst case and copied together afterwards, since
// nobody knows a tile's size before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "codec/device/device_codec.h"
#include "codec/entropy/model_search.h"
#include "codec/entropy/plane.h"

namespace sluice::entropy {

struct PlaneToEncode {
  const std::int16_t* symbols = nullptr;  // [row, column]
  const std::byte* front = nullptr;       // the codec's own bytes in front of the plane
  std::uint32_t front_bytes = 0;
  std::uint32_t rows = 0, columns = 0, tile_rows = 0, tile_columns = 0;
  std::uint32_t first_tile = 0, num_tiles = 0;
  std::uint32_t model = 0;  // PlaneModel
};

struct TileToEncode {
  std::byte* room = nullptr;      // the front grows from its start, words from its end
  ColumnModel* models = nullptr;  // [column]
  std::uint32_t room_bytes = 0;
  std::uint32_t plane = 0;
  std::uint32_t row = 0, rows = 0, column = 0, columns = 0;
};

// What became of them.
struct CodedTile {
  std::uint32_t front_bytes = 0, word_bytes = 0;
  std::uint32_t symbol_bytes = 0;  // of the words, those of symbols
  std::uint64_t at = 0;            // in its plane
};
struct CodedPlane {
  std::uint64_t at = 0;     // in the payload
  std::uint64_t bytes = 0;  // padded
  std::uint64_t unpadded_bytes = 0;
  std::uint64_t side_bytes = 0;  // with its front
};

// Hands out the device memory of a run, piece by piece; from null it only counts.
class WorkLayout {
 public:
  explicit WorkLayout(std::byte* base) : base_(base) {}
  template <typename T>
  T* take(std::size_t count) {
    constexpr std::size_t kAlignment = 256;
    bytes_ = (bytes_ + kAlignment - 1) / kAlignment * kAlignment;
    const std::size_t at = bytes_;
    bytes_ += count * sizeof(T);
    return base_ == nullptr ? nullptr : reinterpret_cast<T*>(base_ + at);
  }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  std::byte* base_;
  std::size_t bytes_ = 0;
};

// The planes and tiles of a section, listed in the order of their bytes.
struct EncodeLists {
  std::vector<PlaneToEncode> planes;
  std::vector<TileToEncode> tiles;
  std::size_t payload_bytes = 0;  // the most that it can become

  void add_plane(const PlaneToEncode& plane, std::int64_t column_unit, WorkLayout& work);
  [[nodiscard]] bool has_shipped() const;
};

// Memory: RunHeader, `tensor_bytes` of the codec's own jobs, planes, tiles; then what kernels
// write.
struct EncodeLayout {
  std::size_t tensor_bytes = 0;
  std::size_t num_planes = 0, num_tiles = 0;
  [[nodiscard]] std::size_t planes_at() const { return sizeof(RunHeader) + tensor_bytes; }
  [[nodiscard]] std::size_t tiles_at() const {
    return planes_at() + num_planes * sizeof(PlaneToEncode);
  }
  [[nodiscard]] std::size_t job_bytes() const {
    return tiles_at() + num_tiles * sizeof(TileToEncode) - sizeof(RunHeader);
  }
  [[nodiscard]] std::size_t results_at() const {
    constexpr std::size_t kAlignment = 256;
    return (sizeof(RunHeader) + job_bytes() + kAlignment - 1) / kAlignment * kAlignment;
  }
  [[nodiscard]] std::size_t work_at() const {  // where a WorkLayout starts
    constexpr std::size_t kAlignment = 256;
    const std::size_t end =
        results_at() + num_planes * sizeof(CodedPlane) + num_tiles * sizeof(CodedTile);
    return (end + kAlignment - 1) / kAlignment * kAlignment;
  }
};

// Sizes of such a section; `work_bytes` from EncodeLayout::work_at() on.
[[nodiscard]] MemoryNeed encode_need(const EncodeLists& lists, std::size_t tensor_bytes,
                                     std::size_t work_bytes);
// A plan whose header, planes and tiles are put; the codec puts its own jobs and says how many
// units its quantiser has.
[[nodiscard]] DevicePlan encode_plan(const EncodeLists& lists, const EncodeLayout& layout,
                                     const LentMemory& memory, const LaunchTarget& target);
// The layout of a plan that encode_plan() made.
[[nodiscard]] EncodeLayout layout_of(const DevicePlan& plan);

}  // namespace sluice::entropy
