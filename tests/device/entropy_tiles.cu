#include "tests/device/entropy_tiles.h"

#include <utility>

#include "codec/entropy/cuda_plan.h"
#include "codec/entropy/cuda_symbols.h"

namespace sluice {
namespace {

using entropy::SymbolTileLister;

Status list_planes(std::span<const std::byte> payload, bool has_digits, std::int64_t rows,
                   std::int64_t columns, std::span<const std::int8_t> shifts,
                   SymbolTileLister& tiles) {
  tiles.begin_plane(0, 0, 0, shifts);
  const auto base = entropy::walk_plane(payload, rows, columns, false, tiles);
  if (!base) return base.error();
  if (!has_digits) return {};
  tiles.begin_plane(0, *base, 1, shifts);
  const auto digits = entropy::walk_digit_plane(payload.subspan(*base), rows, columns, tiles);
  if (!digits) return digits.error();
  return {};
}

Status copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return check_cuda(cudaMemcpyAsync(to, from, bytes, kind, nullptr), "copying");
}

// Device memory of a run.
struct Buffers {
  DeviceBuffer payload, lists, models, symbols, matrix, header;
};
Result<Buffers> make_buffers(const SymbolTileLister& tiles, std::size_t payload_bytes,
                             std::size_t symbol_bytes) {
  Buffers buffers;
  const auto make = [](DeviceBuffer& to, std::size_t bytes) -> Status {
    auto made = make_device_buffer(bytes == 0 ? 1 : bytes);
    if (!made) return made.error();
    to = std::move(*made);
    return {};
  };
  for (const Status& status :
       {make(buffers.payload, payload_bytes), make(buffers.lists, tiles.list_bytes()),
        make(buffers.models, tiles.num_models() * sizeof(std::int16_t)),
        make(buffers.symbols, symbol_bytes),
        make(buffers.matrix, sizeof(entropy::SymbolMatrixOnDevice)),
        make(buffers.header, sizeof(RunHeader))}) {
    if (!status) return status.error();
  }
  return Result<Buffers>(std::move(buffers));
}

Status upload(const Buffers& buffers, const SymbolTileLister& tiles,
              std::span<const std::byte> payload, std::int64_t columns) {
  std::vector<std::byte> lists(tiles.list_bytes());
  tiles.write_lists(lists.data());
  const entropy::SymbolMatrixOnDevice matrix{
      reinterpret_cast<std::int16_t*>(buffers.symbols.data()), static_cast<std::uint32_t>(columns)};
  const RunHeader header;
  for (const Status& status :
       {copy(buffers.payload.data(), payload.data(), payload.size(), cudaMemcpyHostToDevice),
        copy(buffers.lists.data(), lists.data(), lists.size(), cudaMemcpyHostToDevice),
        copy(buffers.matrix.data(), &matrix, sizeof matrix, cudaMemcpyHostToDevice),
        copy(buffers.header.data(), &header, sizeof header, cudaMemcpyHostToDevice)}) {
    if (!status) return status;
  }
  return check_cuda(cudaStreamSynchronize(nullptr), "copying there");
}

}  // namespace

Result<std::vector<std::int16_t>> decode_tiles_on_device(std::span<const std::byte> payload,
                                                         bool has_digits, std::int64_t rows,
                                                         std::int64_t columns,
                                                         std::span<const std::int8_t> shifts) {
  SymbolTileLister tiles;
  const Status listed = list_planes(payload, has_digits, rows, columns, shifts, tiles);
  std::vector<std::int16_t> symbols(static_cast<std::size_t>(rows * columns));
  const std::size_t symbol_bytes = symbols.size() * sizeof symbols[0];
  auto buffers = make_buffers(tiles, payload.size(), symbol_bytes);
  if (!buffers) return buffers.error();
  if (Status status = upload(*buffers, tiles, payload, columns); !status) return status.error();
  entropy::SymbolLaunch work;
  work.lists = entropy::symbol_lists(
      tiles, buffers->lists.data(),
      reinterpret_cast<const entropy::SymbolMatrixOnDevice*>(buffers->matrix.data()));
  work.num_tiles = static_cast<unsigned>(tiles.num_tiles());
  work.payload_dev = buffers->payload.data();
  work.models_dev = reinterpret_cast<std::int16_t*>(buffers->models.data());
  work.header_dev = reinterpret_cast<RunHeader*>(buffers->header.data());
  work.blocks = 2;
  for (unsigned stage = 0; stage < 2; ++stage) {
    const Status status = entropy::launch_symbol_tiles("entropy tiles", work, stage, nullptr);
    if (!status) return status.error();
  }
  RunHeader header;
  for (const Status& status :
       {copy(symbols.data(), buffers->symbols.data(), symbol_bytes, cudaMemcpyDeviceToHost),
        copy(&header, buffers->header.data(), sizeof header, cudaMemcpyDeviceToHost),
        check_cuda(cudaStreamSynchronize(nullptr), "decoding")}) {
    if (!status) return status.error();
  }
  // What a kernel finds lies in front of what the list ended with.
  if (header.first_fault != kNoFault) return entropy::tile_error(unpack_fault(header.first_fault));
  if (!listed) return listed.error();
  return symbols;
}

}  // namespace sluice
