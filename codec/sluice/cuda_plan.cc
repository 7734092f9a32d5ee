#include "codec/sluice/cuda_plan.h"

#include <algorithm>
#include <cstring>

#include "codec/device/plan.h"
#include "codec/entropy/cuda_encode_plan.h"
#include "codec/sluice/cuda_pieces.h"
#include "codec/sluice/rotation.h"

namespace sluice::ladder {
namespace {

// What the host writes and the device reads, laid out alike on both sides; from null it only
// counts.
class JobImage {
 public:
  JobImage(std::byte* host, std::byte* dev)
      : host_(host), dev_(dev), is_counted_(host == nullptr) {}

  template <typename T>
  struct Room {
    T* host = nullptr;
    T* dev = nullptr;
  };
  template <typename T>
  Room<T> take(std::size_t count) {
    return {host_.take<T>(count), dev_.take<T>(count)};
  }
  // Returns where they will be on the device.
  template <typename T>
  const T* put(const std::vector<T>& values) {
    const Room<T> room = take<T>(values.size());
    if (!is_counted_) std::copy(values.begin(), values.end(), room.host);
    return room.dev;
  }
  [[nodiscard]] bool is_counted() const { return is_counted_; }
  [[nodiscard]] std::size_t bytes() const { return host_.bytes(); }

 private:
  entropy::WorkLayout host_, dev_;
  bool is_counted_;
};

// The synthesis side of one block in words of four coefficients: see BasisJob.
void pack_quads(const std::int8_t* basis, std::int64_t width, std::uint32_t* quads) {
  std::fill_n(quads, (width + 3) / 4 * width, 0U);
  for (std::int64_t j = 0; j < width; ++j) {
    std::uint32_t* const row = quads + j / 4 * width;
    for (std::int64_t c = 0; c < width; ++c)
      row[c] |= std::uint32_t{static_cast<std::uint8_t>(basis[j * width + c])} << (8 * (j % 4));
  }
}

std::vector<float> steps_of(const UnitHead& head, float rung_step) {
  std::vector<float> steps;
  for (const std::int8_t k : head.classes) steps.push_back(rung_step * class_factor(k));
  return steps;
}

// Lays a section out, jobs in memory of both sides and matrices in the device's.
class Planner {
 public:
  Planner(const SectionContext& context, const SectionPieces& pieces, JobImage image,
          std::byte* scratch_dev)
      : context_(context), pieces_(pieces), image_(image), scratch_(scratch_dev) {}

  void lay_out() {
    const JobImage::Room<DecodeWork> room = image_.take<DecodeWork>(1);
    const auto lists = image_.take<std::byte>(pieces_.tiles.list_bytes());
    matrices_ = image_.take<entropy::SymbolMatrixOnDevice>(pieces_.units.size());
    work_.models_dev = scratch_.take<std::int16_t>(pieces_.tiles.num_models());
    work_.num_tiles = static_cast<unsigned>(pieces_.tiles.num_tiles());
    work_.num_stages = pieces_.num_stages;
    if (pieces_.status) take_jobs();
    for (std::size_t i = 0; i < pieces_.units.size(); ++i) add_unit(i);
    if (image_.is_counted()) return;
    work_.lists = entropy::symbol_lists(pieces_.tiles, lists.dev, matrices_.dev);
    pieces_.tiles.write_lists(lists.host);
    *room.host = work_;
  }
  [[nodiscard]] std::size_t job_bytes() const { return image_.bytes(); }
  [[nodiscard]] std::size_t scratch_bytes() const { return scratch_.bytes(); }

 private:
  void take_jobs() {
    std::size_t blocks = 0, tensors = 0;
    for (const UnitPieces& unit : pieces_.units) {
      tensors += unit.unit.tensors.size();
      if (has_basis(unit)) blocks += unit.head.layer->widths.size();
    }
    basis_jobs_ = image_.take<BasisJob>(blocks);
    token_jobs_ = image_.take<TokenJob>(tensors);
    work_.basis_jobs_dev = basis_jobs_.dev;
    work_.token_jobs_dev = token_jobs_.dev;
  }

  static bool has_basis(const UnitPieces& unit) {
    return unit.head.layer != nullptr && !unit.head.layer->basis.empty();
  }

  void add_unit(std::size_t index) {
    const UnitPieces& unit = pieces_.units[index];
    const auto channels = static_cast<std::size_t>(unit.unit.channels());
    const std::size_t count = unit.head.classes.size() * channels;
    std::int16_t* const symbols = scratch_.take<std::int16_t>(count);
    if (!image_.is_counted())
      matrices_.host[index] = {symbols, static_cast<std::uint32_t>(channels)};
    if (!pieces_.status) return;  // tiles are decoded for their faults alone
    std::int32_t* sums = nullptr;
    if (has_basis(unit)) {
      sums = scratch_.take<std::int32_t>(count);
      add_basis(unit, symbols, sums);
    }
    add_tokens(unit, symbols, sums);
  }

  void add_basis(const UnitPieces& unit, const std::int16_t* symbols, std::int32_t* sums) {
    BasisJob job{.symbols_dev = symbols,
                 .sums_dev = sums,
                 .rows = static_cast<unsigned>(unit.head.rows()),
                 .channels = static_cast<unsigned>(unit.unit.channels())};
    const std::int8_t* basis = unit.head.layer->basis.data();
    for (const std::int64_t width : unit.head.layer->widths) {
      const auto words = static_cast<std::size_t>((width + 3) / 4 * width);
      const JobImage::Room<std::uint32_t> quads = image_.take<std::uint32_t>(words);
      job.first_unit = work_.basis_units;
      job.quads_dev = quads.dev;
      job.width = static_cast<unsigned>(width);
      if (!image_.is_counted()) {
        pack_quads(basis, width, quads.host);
        basis_jobs_.host[work_.num_basis_jobs] = job;
      }
      ++work_.num_basis_jobs;
      work_.basis_units += job.num_units();
      job.first += job.width;
      basis += width * width;
    }
  }

  void add_tokens(const UnitPieces& unit, const std::int16_t* symbols, const std::int32_t* sums) {
    TokenJob job;
    job.symbols_dev = symbols;
    job.sums_dev = sums;
    job.channels = static_cast<unsigned>(unit.unit.channels());
    put_floats(unit, job);
    for (std::size_t i = 0; i < unit.unit.tensors.size(); ++i) {
      const DeviceSectionTensor& tensor = unit.unit.tensors[i];
      job.tensor = tensor.values;
      job.first_unit = work_.tokens;
      job.raw_at = unit.raw_at.empty() ? -1 : unit.raw_at[i];
      job.rotation = rotation_of(unit, tensor);
      if (!image_.is_counted()) token_jobs_.host[work_.num_token_jobs] = job;
      ++work_.num_token_jobs;
      work_.tokens += tensor.values.shape.tokens;
      const auto channels = static_cast<unsigned>(tensor.values.shape.channels());
      job.first += channels;
      job.scales_dev += image_.is_counted() ? 0 : channels;
      job.offsets_dev += image_.is_counted() ? 0 : channels;
    }
  }

  // Steps of rows, scales and offsets of channels.
  void put_floats(const UnitPieces& unit, TokenJob& job) {
    if (image_.is_counted()) {
      (void)image_.take<float>(unit.head.classes.size());
      (void)image_.take<float>(job.channels);
      (void)image_.take<float>(job.channels);
      return;
    }
    const UnitBasis basis = unit.head.basis();
    job.steps_dev = image_.put(steps_of(unit.head, pieces_.step));
    job.scales_dev = image_.put(basis.scales);
    job.offsets_dev =
        image_.put(channel_offsets(basis, unit.head.offsets, kernels_of(context_.backend)));
  }

  // Layers whose tokens stand at the same positions share a table.
  struct KnownRotation {
    const RopeFacts* rope;
    std::span<const std::int64_t> positions;
    std::int64_t first_position, rows;
    DeviceRotation rotation;
  };
  DeviceRotation rotation_of(const UnitPieces& unit, const DeviceSectionTensor& tensor) {
    const UnitHead& head = unit.head;
    if (head.rows() == 0 ||
        !is_rotated(context_, tensor.kind, tensor.rope, tensor.values.shape.dim)) {
      return {};
    }
    const DeviceSectionTensor& first = unit.unit.tensors[0];
    const std::int64_t first_position = first.position(head.first_row());
    for (const KnownRotation& known : rotations_) {
      if (known.rope == tensor.rope && known.positions.data() == first.positions.data() &&
          known.first_position == first_position && known.rows == head.rows()) {
        return known.rotation;
      }
    }
    rotations_.push_back({tensor.rope, first.positions, first_position, head.rows(),
                          make_rotation(unit, *tensor.rope)});
    return rotations_.back().rotation;
  }
  DeviceRotation make_rotation(const UnitPieces& unit, const RopeFacts& rope) {
    DeviceRotation rotation;
    if (image_.is_counted()) {
      const auto count = static_cast<std::size_t>(unit.head.rows() * (rope.rotated_dims / 2));
      (void)image_.take<float>(count);
      (void)image_.take<float>(count);
      return rotation;
    }
    const RotationTable table =
        rotation_table(rope, positions_of(unit.unit, unit.head.first_row()), false);
    rotation.cosines_dev = image_.put(table.cosines);
    rotation.sines_dev = image_.put(table.sines);
    rotation.pairs = static_cast<unsigned>(table.pairs);
    rotation.first = static_cast<unsigned>(table.pairing.first);
    rotation.step = static_cast<unsigned>(table.pairing.step);
    rotation.distance = static_cast<unsigned>(table.pairing.distance);
    return rotation;
  }

  const SectionContext& context_;
  const SectionPieces& pieces_;
  JobImage image_;
  entropy::WorkLayout scratch_;
  DecodeWork work_;
  JobImage::Room<entropy::SymbolMatrixOnDevice> matrices_;
  JobImage::Room<BasisJob> basis_jobs_;
  JobImage::Room<TokenJob> token_jobs_;
  std::vector<KnownRotation> rotations_;
};

struct Sizes {
  std::size_t job_bytes = 0, scratch_at = 0;
  MemoryNeed need;
};

Sizes sizes_of(const SectionContext& context, const SectionPieces& pieces) {
  constexpr std::size_t kAlignment = 256;
  Planner count(context, pieces, JobImage(nullptr, nullptr), nullptr);
  count.lay_out();
  Sizes sizes{.job_bytes = count.job_bytes()};
  const std::size_t jobs = job_memory_bytes(sizes.job_bytes);
  sizes.scratch_at = (jobs + kAlignment - 1) / kAlignment * kAlignment;
  sizes.need = {.pinned_bytes = jobs,
                .work_bytes = sizes.scratch_at + count.scratch_bytes(),
                .payload_bytes = pieces.payload_bytes};
  return sizes;
}

}  // namespace

DecodeWork work_of(const DevicePlan& plan) {
  DecodeWork work;
  std::memcpy(&work, plan.memory.pinned.data() + sizeof(RunHeader), sizeof work);
  return work;
}

Result<MemoryNeed> decode_memory(const SectionContext& context, std::span<const std::byte> payload,
                                 std::span<const DeviceSectionTensor> tensors) {
  return sizes_of(context, read_pieces(context, payload, tensors)).need;
}

Result<DevicePlan> plan_decode(const SectionContext& context, std::span<const std::byte> payload,
                               std::span<const DeviceSectionTensor> tensors,
                               const LentMemory& memory, const LaunchTarget& target) {
  const SectionPieces pieces = read_pieces(context, payload, tensors);
  const Sizes sizes = sizes_of(context, pieces);
  if (Status status = check_memory(memory, sizes.need); !status) return status.error();
  if (Status status = check_tensors(tensors); !status) return status.error();
  DevicePlan plan;
  plan.memory = memory;
  plan.target = target;
  plan.lower_payloads.assign(context.lower_payloads.begin(), context.lower_payloads.end());
  plan.payload = payload;
  plan.job_bytes = sizes.job_bytes;
  plan.num_tiles = pieces.tiles.num_tiles();
  plan.scratch_at = sizes.scratch_at;
  put_header(plan, {});
  std::byte* const jobs = memory.pinned.data() + sizeof(RunHeader);
  std::byte* const jobs_dev = memory.work_dev.data() + sizeof(RunHeader);
  Planner planner(context, pieces, JobImage(jobs, jobs_dev),
                  memory.work_dev.data() + sizes.scratch_at);
  planner.lay_out();
  if (!pieces.status) plan.host_error = pieces.status.error();
  return plan;
}

}  // namespace sluice::ladder
