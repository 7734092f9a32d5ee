#include "codec/entropy/cuda_plan.h"

#include <cstring>

#include "codec/device/plan.h"
#include "codec/entropy/lane_tables.h"
#include "codec/entropy/tile_faults.h"

namespace sluice::entropy {
namespace {

constexpr std::size_t kAlignment = 256;

std::size_t aligned(std::size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

std::size_t job_bytes(std::size_t num_planes, std::size_t num_tiles) {
  return num_planes * sizeof(PlaneJob) + num_tiles * sizeof(TileJob);
}

std::size_t model_bytes(const TileLister& tiles) {
  return aligned(tiles.num_models() * sizeof(std::int16_t));
}

}  // namespace

const char* TileLister::visit(const PlaneTile& tile) {
  const bool has_models =
      tile.model == PlaneModel::kClassFamily || tile.model == PlaneModel::kPeaked;
  has_shipped_ = has_shipped_ || tile.model == PlaneModel::kShipped;
  if (list_ != nullptr) {
    const TileJob job{.at = at_ + tile.offset,
                      .models_at = num_models_,
                      .bytes = static_cast<std::uint32_t>(tile.bytes.size()),
                      .plane = plane_,
                      .row = static_cast<std::uint32_t>(tile.area.row),
                      .rows = static_cast<std::uint32_t>(tile.area.rows),
                      .column = static_cast<std::uint32_t>(tile.area.column),
                      .columns = static_cast<std::uint32_t>(tile.area.columns),
                      .model = static_cast<std::uint16_t>(tile.model),
                      .stage = stage_};
    std::memcpy(list_ + num_tiles_ * sizeof job, &job, sizeof job);
  }
  ++num_tiles_;
  if (has_models) {
    num_models_ += static_cast<std::size_t>(groups_of(tile.area.columns) * kNumFields * kLanes);
  }
  return nullptr;
}

MemoryNeed decode_need(std::size_t num_planes, const TileLister& tiles, std::size_t extra_bytes,
                       std::size_t payload_bytes) {
  const std::size_t jobs = job_memory_bytes(job_bytes(num_planes, tiles.num_tiles()));
  return {.pinned_bytes = jobs,
          .work_bytes = aligned(jobs) + model_bytes(tiles) + extra_bytes,
          .payload_bytes = payload_bytes};
}

DevicePlan decode_plan(std::size_t num_planes, const TileLister& tiles,
                       std::span<const std::byte> payload, const LentMemory& memory,
                       const LaunchTarget& target) {
  DevicePlan plan;
  plan.memory = memory;
  plan.target = target;
  plan.payload = payload;
  plan.num_jobs = num_planes;
  plan.num_tiles = tiles.num_tiles();
  plan.job_bytes = job_bytes(num_planes, tiles.num_tiles());
  const auto warps = static_cast<std::int64_t>(target.parameters.warps_per_block);
  plan.num_units = ceil_div(static_cast<std::int64_t>(plan.num_tiles), warps);
  plan.scratch_at = aligned(job_memory_bytes(plan.job_bytes));
  if (tiles.has_shipped()) {
    plan.shared_bytes = static_cast<std::size_t>(warps) * kShippedSharedBytes;
  }
  put_header(plan, {});
  return plan;
}

std::byte* tiles_at(const DevicePlan& plan) {
  return plan.memory.pinned.data() + job_memory_bytes(plan.num_jobs * sizeof(PlaneJob));
}

std::byte* extra_scratch_dev(const DevicePlan& plan, const TileLister& tiles) {
  return plan.memory.work_dev.data() + plan.scratch_at + model_bytes(tiles);
}

Error tile_error(const Fault& fault) {
  return bad_plane(to_text(static_cast<TileFault>(fault.kind)));
}

}  // namespace sluice::entropy
