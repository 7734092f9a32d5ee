// sluice on a GPU, decoding: symbols, each layer of digits, sums over the basis, tokens.
// Where in the flow: codec/device/registry.cc lists it; cuda_plan.cc is its host side, and tiles
// are decoded by codec/entropy/cuda_symbols.h.
// Surprise: every launch is a stage that the next one needs whole; all units of a section share it.
#include "codec/entropy/cuda_plan.h"
#include "codec/entropy/cuda_symbols.h"
#include "codec/sluice/cuda.h"
#include "codec/sluice/cuda_plan.h"
#include "codec/sluice/cuda_synthesis.h"

namespace sluice::ladder {
namespace {

// Blocks for `units` of which each takes `per_block`: all the multiprocessors hold, or fewer.
unsigned blocks_for(std::int64_t units, std::int64_t per_block, const LaunchTarget& target) {
  const auto held = static_cast<std::int64_t>(target.num_multiprocessors) *
                    target.parameters.blocks_per_multiprocessor;
  return static_cast<unsigned>(std::min(entropy::ceil_div(units, per_block), held));
}

Status launch_tiles(const DevicePlan& plan, const DecodeWork& work, StreamHandle stream) {
  const int warps = plan.target.parameters.warps_per_block;
  entropy::SymbolLaunch tiles;
  tiles.lists = work.lists;
  tiles.num_tiles = work.num_tiles;
  tiles.payload_dev = plan.memory.payload_dev.data();
  tiles.models_dev = work.models_dev;
  tiles.header_dev = header_dev(plan);
  tiles.blocks = blocks_for(work.num_tiles, warps, plan.target);
  tiles.warps_per_block = static_cast<unsigned>(warps);
  for (unsigned stage = 0; stage < work.num_stages; ++stage) {
    const Status status =
        entropy::launch_symbol_tiles("sluice: decode_symbol_tiles", tiles, stage, stream);
    if (!status) return status;
  }
  return {};
}

Status launch_sums(const DevicePlan& plan, const DecodeWork& work, StreamHandle stream) {
  if (work.basis_units == 0) return {};
  const GridSize size{.blocks = blocks_for(work.basis_units, 1, plan.target),
                      .threads_per_block = kSumThreads};
  return launch("sluice: multiply_basis", size, stream, multiply_basis, work.basis_jobs_dev,
                work.num_basis_jobs, work.basis_units);
}

Status launch_decode(const DevicePlan& plan, StreamHandle stream) {
  const DecodeWork work = work_of(plan);
  if (Status status = launch_tiles(plan, work, stream); !status) return status;
  if (Status status = launch_sums(plan, work, stream); !status) return status;
  if (work.tokens == 0) return {};
  const int warps = plan.target.parameters.warps_per_block;
  const GridSize size{.blocks = blocks_for(work.tokens, warps, plan.target),
                      .threads_per_block = static_cast<unsigned>(warps) * entropy::kLanes};
  return launch("sluice: write_tokens", size, stream, write_tokens, work.token_jobs_dev,
                work.num_token_jobs, work.tokens, plan.memory.payload_dev.data());
}

}  // namespace
}  // namespace sluice::ladder

namespace sluice {

DeviceCodec sluice_device_codec() {
  DeviceCodec codec{};
  codec.id = "sluice";
  codec.decode_memory = ladder::decode_memory;
  codec.plan_decode = ladder::plan_decode;
  codec.launch_decode = ladder::launch_decode;
  codec.decode_error = entropy::tile_error;
  return codec;
}

}  // namespace sluice
