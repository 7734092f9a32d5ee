// From coded tiles to one payload: sizes, places, copies.
// Where in the flow: behind encode_tiles(), three small kernels.
#pragma once

#include "codec/device/kernel_parts.h"
#include "codec/device/launch.h"
#include "codec/device/plan.h"
#include "codec/entropy/cuda_encode.h"

namespace sluice::entropy {

inline constexpr unsigned kPlaneHeaderBytes = 8;

__device__ inline unsigned bytes_of(const CodedTile& tile) {
  return tile.front_bytes + tile.word_bytes;
}

// A warp per plane: where its tiles go in it, how long it is.
inline __global__ void __launch_bounds__(kMaxThreads)
    measure_planes(const PlaneToEncode* planes, unsigned num_planes, CodedTile* tiles,
                   CodedPlane* coded) {
  const unsigned warps = blockDim.x / kLanes;
  const unsigned lane = lane_of_thread();
  for (unsigned p = blockIdx.x * warps + threadIdx.x / kLanes; p < num_planes;
       p += gridDim.x * warps) {
    const PlaneToEncode& plane = planes[p];
    unsigned long long bytes = kPlaneHeaderBytes + 4ULL * plane.num_tiles;
    unsigned long long symbol_bytes = 0;
    for (unsigned base = 0; base < plane.num_tiles; base += kLanes) {
      const bool has_tile = base + lane < plane.num_tiles;
      CodedTile* const tile = tiles + plane.first_tile + base + lane;
      const unsigned long long mine = has_tile ? bytes_of(*tile) : 0;
      unsigned long long upto = mine;  // of lanes 0 to this one
      for (unsigned apart = 1; apart < kLanes; apart *= 2) {
        const unsigned long long other = __shfl_up_sync(kAllLanes, upto, apart);
        if (lane >= apart) upto += other;
      }
      if (has_tile) tile->at = bytes + upto - mine;
      bytes += __shfl_sync(kAllLanes, upto, kLanes - 1);
      symbol_bytes += static_cast<unsigned long long>(
          sum_over_warp(has_tile ? static_cast<long long>(tile->symbol_bytes) : 0));
    }
    if (lane != 0) continue;
    const unsigned long long elements = static_cast<unsigned long long>(plane.rows) * plane.columns;
    const unsigned long long least = (elements + kMaxElementsPerByte - 1) / kMaxElementsPerByte;
    CodedPlane result;
    result.unpadded_bytes = elements == 0 ? 0 : bytes;
    result.bytes = result.unpadded_bytes < least ? least : result.unpadded_bytes;
    result.side_bytes = plane.front_bytes + result.bytes - symbol_bytes;
    coded[p] = result;
  }
}

// One thread: planes are few.
inline __global__ void place_planes(const PlaneToEncode* planes, unsigned num_planes,
                                    CodedPlane* coded, RunHeader* header) {
  if (threadIdx.x != 0) return;
  std::uint64_t at = 0, side = 0;
  for (unsigned p = 0; p < num_planes; ++p) {
    at += planes[p].front_bytes;
    coded[p].at = at;
    at += coded[p].bytes;
    side += coded[p].side_bytes;
  }
  header->payload_bytes = at;
  header->side_bytes = side;
}

// By all threads of a block.
__device__ inline void copy_bytes(std::byte* to, const std::byte* from, unsigned bytes) {
  for (unsigned i = threadIdx.x; i < bytes; i += blockDim.x) to[i] = from[i];
}

__device__ inline void write_plane(const PlaneToEncode& plane, const CodedPlane& coded,
                                   const CodedTile* tiles, std::byte* payload) {
  std::byte* const to = payload + coded.at;
  copy_bytes(to - plane.front_bytes, plane.front, plane.front_bytes);
  if (plane.num_tiles == 0) return;
  if (threadIdx.x == 0) {
    to[0] = static_cast<std::byte>(plane.model);
    to[1] = std::byte{0};
    store_u16(to + 2, static_cast<std::uint16_t>(plane.tile_columns));
    store_u32(to + 4, plane.tile_rows);
  }
  for (unsigned i = threadIdx.x; i < plane.num_tiles; i += blockDim.x)
    store_u32(to + kPlaneHeaderBytes + 4 * i, bytes_of(tiles[plane.first_tile + i]));
  for (std::uint64_t i = coded.unpadded_bytes + threadIdx.x; i < coded.bytes; i += blockDim.x)
    to[i] = std::byte{0};
}

// A block per tile or plane, turn by turn.
inline __global__ void __launch_bounds__(kMaxThreads)
    write_payload(const PlaneToEncode* planes, unsigned num_planes, const TileToEncode* tiles,
                  unsigned num_tiles, const CodedPlane* coded_planes, const CodedTile* coded_tiles,
                  std::byte* payload) {
  for (unsigned i = blockIdx.x; i < num_planes + num_tiles; i += gridDim.x) {
    if (i < num_planes) {
      write_plane(planes[i], coded_planes[i], coded_tiles, payload);
      continue;
    }
    const TileToEncode& tile = tiles[i - num_planes];
    const CodedTile& coded = coded_tiles[i - num_planes];
    std::byte* const to = payload + coded_planes[tile.plane].at + coded.at;
    copy_bytes(to, tile.room, coded.front_bytes);
    copy_bytes(to + coded.front_bytes, tile.room + tile.room_bytes - coded.word_bytes,
               coded.word_bytes);
  }
}

// Everything behind the codec's quantiser, for a plan of encode_plan().
[[nodiscard]] inline Status launch_encoders(const DevicePlan& plan, StreamHandle stream) {
  const EncodeLayout layout = layout_of(plan);
  const auto tables = class_tables_on_device();
  if (!tables) return tables.error();
  std::byte* const work = plan.memory.work_dev.data();
  const auto* const planes = reinterpret_cast<const PlaneToEncode*>(work + layout.planes_at());
  const auto* const tiles = reinterpret_cast<const TileToEncode*>(work + layout.tiles_at());
  auto* const coded_planes = reinterpret_cast<CodedPlane*>(work + layout.results_at());
  auto* const coded_tiles = reinterpret_cast<CodedTile*>(coded_planes + layout.num_planes);
  const auto num_planes = static_cast<unsigned>(layout.num_planes);
  const auto num_tiles = static_cast<unsigned>(layout.num_tiles);
  const GridSize warps{
      .blocks = num_blocks(plan),
      .threads_per_block = static_cast<unsigned>(plan.target.parameters.warps_per_block * kLanes),
      .dynamic_shared_bytes = plan.shared_bytes};
  const GridSize one{.blocks = 1, .threads_per_block = kLanes};
  const GridSize copies{.blocks = num_planes + num_tiles,
                        .threads_per_block = static_cast<unsigned>(plan.target.parameters.threads)};
  if (Status status = launch("encode_tiles", warps, stream, encode_tiles, planes, tiles, num_tiles,
                             *tables, coded_tiles);
      !status) {
    return status;
  }
  if (Status status = launch("measure_planes", {.blocks = num_planes, .threads_per_block = kLanes},
                             stream, measure_planes, planes, num_planes, coded_tiles, coded_planes);
      !status) {
    return status;
  }
  if (Status status = launch("place_planes", one, stream, place_planes, planes, num_planes,
                             coded_planes, header_dev(plan));
      !status) {
    return status;
  }
  return launch("write_payload", copies, stream, write_payload, planes, num_planes, tiles,
                num_tiles, coded_planes, coded_tiles, plan.memory.payload_dev.data());
}

}  // namespace sluice::entropy
