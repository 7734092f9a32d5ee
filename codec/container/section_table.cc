#include "codec/container/section_table.h"

#include <fmt/format.h>

#include <map>

#include "codec/container/seal.h"

namespace sluice::container {
namespace {

using Fault = std::optional<std::string>;

Fault fault_of_extents(const ContainerHeader& header) {
  std::int64_t end = header.header_size.bytes();
  for (std::size_t i = 0; i < header.sections.size(); ++i) {
    const SectionEntry& section = header.sections[i];
    const bool is_inside =
        section.size >= DataSize::zero() && section.size.bytes() <= header.file_size.bytes() - end;
    if (section.offset != end || !is_inside)
      return fmt::format("section {} does not follow the one before it", i);
    if (header.payload_size(section) < DataSize::zero())
      return fmt::format("section {} is shorter than its seal", i);
    if (section.side < DataSize::zero() || section.side > section.size)
      return fmt::format("section {} claims more side bytes than it has", i);
    end += section.size.bytes();
  }
  if (end != header.file_size.bytes()) return "bytes are left over after the last section";
  return std::nullopt;
}

// Which tensors the bases seen so far cover, and how far their refinements have come.
class Coverage {
 public:
  explicit Coverage(const ContainerHeader& header)
      : header_(header), num_layers_(header.shape.layers.size()) {
    for (std::vector<bool>& marks : covered_) marks.resize(num_layers_);
  }

  Fault add(std::size_t number, const SectionEntry& section) {
    if (section.kind > SectionKind::kKeyAndValue)
      return fmt::format("section {} is of a kind that version 1 does not know", number);
    if (section.num_entries == 0 || section.first_entry > num_layers_ ||
        section.num_entries > num_layers_ - section.first_entry) {
      return fmt::format("section {} names layers that do not exist", number);
    }
    return section.refinement == 0 ? add_base(number, section) : add_refinement(number, section);
  }

  [[nodiscard]] Fault missing() const {
    for (const TensorKind kind : kTensorKinds) {
      for (std::size_t entry = 0; entry < num_layers_; ++entry) {
        const auto& layer = header_.shape.layers[entry];
        const TensorShape* tensor = layer.find(kind);
        if (tensor != nullptr && tensor->elements() > 0 && !marks_of(kind)[entry])
          return fmt::format("no section holds the {} of layer {}", to_text(kind), layer.layer);
      }
    }
    return std::nullopt;
  }

 private:
  struct Chain {
    std::size_t num_entries;
    std::int32_t refinements;  // that follow the base
  };

  [[nodiscard]] const std::vector<bool>& marks_of(TensorKind kind) const {
    return covered_[static_cast<std::size_t>(kind)];
  }

  Fault add_base(std::size_t number, const SectionEntry& section) {
    for (const TensorKind kind : tensor_kinds(section.kind)) {
      for (std::size_t i = 0; i < section.num_entries; ++i) {
        auto mark = covered_[static_cast<std::size_t>(kind)][section.first_entry + i];
        if (mark) return fmt::format("section {} repeats a layer", number);
        mark = true;
      }
    }
    if (num_elements(header_, section) == 0)
      return fmt::format("section {} covers no elements", number);
    chains_[{section.first_entry, section.kind}] = {section.num_entries, 0};
    return std::nullopt;
  }

  // Bases are disjoint, so the first layer and the kind name one.
  Fault add_refinement(std::size_t number, const SectionEntry& section) {
    const auto base = chains_.find({section.first_entry, section.kind});
    if (base == chains_.end() || base->second.num_entries != section.num_entries)
      return fmt::format("section {} refines layers that no section before it codes", number);
    Chain& chain = base->second;
    if (section.refinement != chain.refinements + 1) {
      return fmt::format("section {} is refinement {} where {} is next", number, section.refinement,
                         chain.refinements + 1);
    }
    ++chain.refinements;
    return std::nullopt;
  }

  const ContainerHeader& header_;
  std::size_t num_layers_;
  std::vector<bool> covered_[std::size(kTensorKinds)];
  std::map<std::pair<std::size_t, SectionKind>, Chain> chains_;
};

}  // namespace

std::optional<std::string> fault_of_sections(const ContainerHeader& header) {
  if (Fault fault = fault_of_extents(header)) return fault;
  Coverage coverage(header);
  for (std::size_t i = 0; i < header.sections.size(); ++i) {
    if (Fault fault = coverage.add(i, header.sections[i])) return fault;
  }
  return coverage.missing();
}

}  // namespace sluice::container
