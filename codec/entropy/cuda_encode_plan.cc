#include "codec/entropy/cuda_encode_plan.h"

#include <algorithm>
#include <cstring>

#include "codec/device/plan.h"
#include "codec/entropy/cuda_plan.h"
#include "codec/entropy/lane_tables.h"
#include "codec/entropy/shipped_tables.h"

namespace sluice::entropy {
namespace {

// The most bytes of a tile: every symbol an exception, every lane a word in every step.
std::size_t room_bytes(const TileArea& area, PlaneModel model) {
  const std::int64_t groups = groups_of(area.columns);
  const std::int64_t places = groups * area.rows * kLanes;
  constexpr std::int64_t kStates = sizeof(std::uint32_t) * kLanes;
  const std::int64_t words = kWordBytes * places;
  if (model == PlaneModel::kShipped) {
    return static_cast<std::size_t>(
        area.columns * static_cast<std::int64_t>(sizeof(ShippedDistribution)) + kStates + words);
  }
  constexpr std::int64_t kHeader = 9, kException = 4;
  const std::int64_t fields = kWordBytes * kNumFields * kLanes * groups;
  return static_cast<std::size_t>(kHeader + (groups + 7) / 8 + kException * places + kStates +
                                  fields + words);
}

}  // namespace

void EncodeLists::add_plane(const PlaneToEncode& given, std::int64_t column_unit,
                            WorkLayout& work) {
  PlaneToEncode plane = given;
  plane.first_tile = static_cast<std::uint32_t>(tiles.size());
  const std::int64_t elements = std::int64_t{plane.rows} * plane.columns;
  std::size_t bytes = 0;
  if (elements > 0) {
    const auto model = static_cast<PlaneModel>(plane.model);
    const TileShape shape = tile_shape(plane.rows, plane.columns, model, column_unit);
    plane.tile_rows = static_cast<std::uint32_t>(shape.rows);
    plane.tile_columns = static_cast<std::uint32_t>(shape.columns);
    bytes = 8;
    for (const TileArea& area : tile_areas(plane.rows, plane.columns, shape)) {
      TileToEncode tile;
      tile.plane = static_cast<std::uint32_t>(planes.size());
      tile.row = static_cast<std::uint32_t>(area.row);
      tile.rows = static_cast<std::uint32_t>(area.rows);
      tile.column = static_cast<std::uint32_t>(area.column);
      tile.columns = static_cast<std::uint32_t>(area.columns);
      tile.room_bytes = static_cast<std::uint32_t>(room_bytes(area, model));
      tile.room = work.take<std::byte>(tile.room_bytes);
      tile.models = work.take<ColumnModel>(tile.columns);
      bytes += sizeof(std::uint32_t) + tile.room_bytes;
      tiles.push_back(tile);
    }
    bytes = padded_size(bytes, elements);
  }
  plane.num_tiles = static_cast<std::uint32_t>(tiles.size()) - plane.first_tile;
  payload_bytes += plane.front_bytes + bytes;
  planes.push_back(plane);
}

bool EncodeLists::has_shipped() const {
  return std::any_of(planes.begin(), planes.end(), [](const PlaneToEncode& plane) {
    return plane.model == static_cast<std::uint32_t>(PlaneModel::kShipped);
  });
}

MemoryNeed encode_need(const EncodeLists& lists, std::size_t tensor_bytes, std::size_t work_bytes) {
  const EncodeLayout layout{tensor_bytes, lists.planes.size(), lists.tiles.size()};
  return {.pinned_bytes = sizeof(RunHeader) + layout.job_bytes(),
          .work_bytes = layout.work_at() + work_bytes,
          .payload_bytes = lists.payload_bytes};
}

DevicePlan encode_plan(const EncodeLists& lists, const EncodeLayout& layout,
                       const LentMemory& memory, const LaunchTarget& target) {
  DevicePlan plan;
  plan.memory = memory;
  plan.target = target;
  plan.job_bytes = layout.job_bytes();
  plan.num_planes = layout.num_planes;
  plan.num_tiles = layout.num_tiles;
  if (lists.has_shipped()) {
    plan.shared_bytes =
        static_cast<std::size_t>(target.parameters.warps_per_block) * kShippedSharedBytes;
  }
  std::byte* const pinned = memory.pinned.data();
  std::memcpy(pinned + layout.planes_at(), lists.planes.data(),
              lists.planes.size() * sizeof(PlaneToEncode));
  std::memcpy(pinned + layout.tiles_at(), lists.tiles.data(),
              lists.tiles.size() * sizeof(TileToEncode));
  put_header(plan, {});
  return plan;
}

EncodeLayout layout_of(const DevicePlan& plan) {
  const std::size_t lists =
      plan.num_planes * sizeof(PlaneToEncode) + plan.num_tiles * sizeof(TileToEncode);
  return {plan.job_bytes - lists, plan.num_planes, plan.num_tiles};
}

}  // namespace sluice::entropy
