#include "codec/entropy/cuda_tables.h"

#include <cstring>
#include <map>
#include <mutex>
#include <type_traits>
#include <vector>

#include "codec/device/cuda_handles.h"

namespace sluice::entropy {
namespace {

// Lays arrays one after the other, as they will lie on the device.
class Image {
 public:
  // Where the array will start, in bytes from the image's start.
  template <typename T>
  std::size_t add(const T* values, std::size_t count) {
    constexpr std::size_t kAlignment = 256;
    const std::size_t at = (bytes_.size() + kAlignment - 1) / kAlignment * kAlignment;
    bytes_.resize(at + count * sizeof(T));
    std::memcpy(bytes_.data() + at, values, count * sizeof(T));
    return at;
  }
  [[nodiscard]] std::vector<std::byte>& bytes() { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

void describe_offsets(const ClassFamily& family, ClassTables& tables) {
  const TableSet& set = family.tables;
  const auto number = [](std::uint32_t offset) { return static_cast<std::int32_t>(offset); };
  for (std::int32_t scale = 0; scale < kNumScales; ++scale) {
    for (std::int32_t kind = 0; kind < kNumKinds; ++kind) {
      const int table = family.table(scale, kind);
      const bool has_pairs = set.has_pairs(table);
      tables.singles[scale][kind] = number(set.slot_offset(table, false));
      tables.pairs[scale][kind] = has_pairs ? number(set.slot_offset(table, true)) : -1;
      tables.single_symbols[scale][kind] = set.symbol_offset(table, false);
      tables.pair_symbols[scale][kind] = has_pairs ? set.symbol_offset(table, true) : 0;
    }
  }
  tables.kinds = number(set.slot_offset(family.kind_table, false));
  tables.kind_symbols = set.symbol_offset(family.kind_table, false);
}

Status copy_now(void* to_dev, const std::vector<std::byte>& from) {
  const char* const doing = "copying the class family's tables";
  const auto error =
      cudaMemcpyAsync(to_dev, from.data(), from.size(), cudaMemcpyHostToDevice, nullptr);
  if (Status status = check_cuda(error, doing); !status) return status;
  return check_cuda(cudaStreamSynchronize(nullptr), doing);
}

// ClassTables first, then what it points to.
Result<DeviceBuffer> upload_tables() {
  const ClassFamily& family = class_family();
  const TableSet& set = family.tables;
  const auto num_tables = static_cast<std::size_t>(set.size());
  const FamilyFacts facts = family.facts();
  std::vector<std::int16_t> modes;
  for (int table = 0; table < set.size(); ++table)
    modes.push_back(static_cast<std::int16_t>(set.frequencies(table).mode()));

  ClassTables tables{};
  describe_offsets(family, tables);
  Image image;
  image.add(&tables, 1);
  const std::size_t slots = image.add(set.slots(), set.num_slots());
  const std::size_t symbols = image.add(set.symbols(), set.num_symbols());
  const std::size_t costs = image.add(facts.costs, num_tables * kCostSpan);
  const std::size_t kind_costs = image.add(facts.kind_costs, kNumKinds);
  const std::size_t means = image.add(facts.means, num_tables);
  const std::size_t flatness = image.add(facts.flatness, num_tables);
  const std::size_t firsts = image.add(facts.firsts, num_tables);
  const std::size_t lasts = image.add(facts.lasts, num_tables);
  const std::size_t sigma = image.add(facts.sigma, kNumScales);
  const std::size_t place = image.add(facts.place, kNumScales * kNumKinds);
  const std::size_t own = image.add(facts.own, kNumScales * kNumKinds);
  const std::size_t mode = image.add(modes.data(), num_tables);
  const std::size_t pair_loss = image.add(family.pair_loss.data(), num_tables);

  auto buffer = make_device_buffer(image.bytes().size());
  if (!buffer) return buffer;
  const auto point = [&](auto*& pointer, std::size_t at) {
    pointer = reinterpret_cast<std::remove_reference_t<decltype(pointer)>>(buffer->data() + at);
  };
  point(tables.slots, slots);
  point(tables.symbols, symbols);
  point(tables.facts.costs, costs);
  point(tables.facts.kind_costs, kind_costs);
  point(tables.facts.means, means);
  point(tables.facts.flatness, flatness);
  point(tables.facts.firsts, firsts);
  point(tables.facts.lasts, lasts);
  point(tables.facts.sigma, sigma);
  point(tables.facts.place, place);
  point(tables.facts.own, own);
  point(tables.modes, mode);
  point(tables.pair_loss, pair_loss);
  std::memcpy(image.bytes().data(), &tables, sizeof tables);
  if (Status status = copy_now(buffer->data(), image.bytes()); !status) return status.error();
  return buffer;
}

}  // namespace

Result<const ClassTables*> class_tables_on_device() {
  static std::mutex mutex;
  static std::map<int, DeviceBuffer> tables_of_device;
  int device = 0;
  if (Status status = check_cuda(cudaGetDevice(&device), "asking for the device"); !status)
    return status.error();
  const std::scoped_lock lock(mutex);
  auto found = tables_of_device.find(device);
  if (found == tables_of_device.end()) {
    auto buffer = upload_tables();
    if (!buffer) return buffer.error();
    found = tables_of_device.emplace(device, std::move(*buffer)).first;
  }
  return reinterpret_cast<const ClassTables*>(found->second.data());
}

}  // namespace sluice::entropy
