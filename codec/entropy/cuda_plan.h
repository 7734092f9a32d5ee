// What a warp needs to know of a tile, and the host's list of a section's planes and tiles.
// Where in the flow: between the plans of cachegen codecs and the kernels of cuda_decode.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "codec/device/device_codec.h"
#include "codec/entropy/plane.h"

namespace sluice::entropy {

// A plane of one tensor: where its symbols go and what they are worth.
struct PlaneJob {
  DeviceTensor tensor;
  std::int64_t scales_at = 0;    // byte of the payload: an fp16 scale per row, where rows have one
  std::int32_t max_symbol = 1;   // what such a scale stands for
  float step = 0;                // of all rows, where they share one
  float* anchors_dev = nullptr;  // [group, channel], where rows are differences to anchors
  unsigned channels = 0, dim = 0;
};

// One tile: a warp's work.
struct TileJob {
  std::uint64_t at = 0;         // byte of the payload
  std::uint64_t models_at = 0;  // its column models, counted from the start of the scratch memory
  std::uint32_t bytes = 0;
  std::uint32_t plane = 0;  // number of the PlaneJob
  std::uint32_t row = 0, rows = 0, column = 0, columns = 0;
  std::uint16_t model = 0;  // PlaneModel
  std::uint16_t stage = 0;  // kernels run stage by stage
};

// Lists tiles, or only counts them.
class TileLister final : public TileVisitor {
 public:
  // Room for the list, or null to count.
  explicit TileLister(std::byte* list) : list_(list) {}

  // The tiles that come now belong to this plane, whose bytes start here in the payload.
  void begin_plane(std::uint32_t plane, std::size_t at, std::uint16_t stage) {
    plane_ = plane, at_ = at, stage_ = stage;
  }
  const char* visit(const PlaneTile& tile) override;

  [[nodiscard]] std::size_t num_tiles() const { return num_tiles_; }
  // Memory of column models, in int16.
  [[nodiscard]] std::size_t num_models() const { return num_models_; }
  [[nodiscard]] bool has_shipped() const { return has_shipped_; }

 private:
  std::byte* list_;
  std::uint32_t plane_ = 0;
  std::size_t at_ = 0;
  std::uint16_t stage_ = 0;
  std::size_t num_tiles_ = 0, num_models_ = 0;
  bool has_shipped_ = false;
};

// A start of each lane's symbols 0 to 31 of a shipped table: what a warp searches in shared memory.
inline constexpr std::size_t kShippedSharedBytes = sizeof(std::uint16_t[32][kLanes]);

// Sizes of a section with these tiles; `extra_bytes` of scratch come behind the column models.
[[nodiscard]] MemoryNeed decode_need(std::size_t num_planes, const TileLister& tiles,
                                     std::size_t extra_bytes, std::size_t payload_bytes);
// A plan with room for the planes and tiles, whose list starts at tiles_at(); its header is put.
[[nodiscard]] DevicePlan decode_plan(std::size_t num_planes, const TileLister& tiles,
                                     std::span<const std::byte> payload, const LentMemory& memory,
                                     const LaunchTarget& target);
[[nodiscard]] std::byte* tiles_at(const DevicePlan& plan);
// Where the extra scratch starts on the device.
[[nodiscard]] std::byte* extra_scratch_dev(const DevicePlan& plan, const TileLister& tiles);

// What decode_section says of a fault that decode_tiles() of cuda_decode.h found.
[[nodiscard]] Error tile_error(const Fault& fault);

}  // namespace sluice::entropy
