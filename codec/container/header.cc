#include "codec/container/header.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/assert.h"
#include "codec/bytes.h"
#include "codec/container/kept_tokens.h"
#include "codec/container/layout.h"
#include "codec/container/seal.h"

namespace sluice {
namespace {

using container::LayerForm;

void put_text(ByteWriter& out, std::string_view text) {
  out.put(static_cast<std::uint32_t>(text.size()));
  out.put_text(text);
}

void put_tensor(ByteWriter& out, const TensorShape& tensor) {
  out.put(static_cast<std::uint32_t>(tensor.dtype));
  out.put(tensor.heads);
  out.put(tensor.dim);
}

// The distinct RoPE facts of all layers, in order of appearance, as JSON texts; and each layer's
// number in it, from 1.
struct RopeTable {
  std::vector<std::string> texts;
  std::vector<std::uint32_t> number_of_layer;  // 0: not known
};

RopeTable rope_table(const KvShape& shape) {
  RopeTable table;
  for (const auto& layer : shape.layers) {
    std::uint32_t number = 0;
    if (layer.rope != nullptr) {
      const std::string text = rope_to_json(*layer.rope).dump();
      const auto found = std::find(table.texts.begin(), table.texts.end(), text);
      number = static_cast<std::uint32_t>(found - table.texts.begin()) + 1;
      if (found == table.texts.end()) table.texts.push_back(text);
    }
    table.number_of_layer.push_back(number);
  }
  return table;
}

void put_layers(ByteWriter& out, const KvShape& shape) {
  const RopeTable ropes = rope_table(shape);
  out.put(static_cast<std::uint32_t>(ropes.texts.size()));
  for (const std::string& text : ropes.texts) put_text(out, text);
  out.put(static_cast<std::uint32_t>(shape.layers.size()));
  for (std::size_t i = 0; i < shape.layers.size(); ++i) {
    const auto& layer = shape.layers[i];
    const TensorShape& first = layer.latent ? *layer.latent : *layer.key;
    out.put(layer.layer);
    out.put(layer.first_token);
    out.put(first.tokens);
    out.put(ropes.number_of_layer[i]);
    out.put(static_cast<std::uint32_t>(layer.latent ? LayerForm::kLatent : LayerForm::kKeyValue));
    put_tensor(out, first);
    if (layer.value) put_tensor(out, *layer.value);
  }
}

Status check_text(const char* field, std::string_view text, std::size_t bytes_max) {
  if (text.size() > bytes_max) {
    return error_in("", fmt::format("its {} is longer than {} bytes", field, bytes_max),
                    "shorten it in the capture's metadata");
  }
  if (container::has_control_characters(text)) {
    return error_in("", fmt::format("its {} holds control characters", field),
                    "take them out of the capture's metadata");
  }
  return {};
}

std::uint32_t flags_of(const ContainerHeader& header) {
  return (header.is_sealed() ? container::kSealedFlag : 0) |
         (header.model_profile ? container::kModelProfileFlag : 0) |
         (header.source_elements ? container::kReducedFlag : 0);
}

}  // namespace

std::string_view to_text(SectionKind kind) {
  return kind == SectionKind::kKeyAndValue ? "key+value" : to_text(tensor_kinds(kind).front());
}

std::span<const TensorKind> tensor_kinds(SectionKind kind) {
  static constexpr TensorKind kKeyAndValue[] = {TensorKind::kKey, TensorKind::kValue};
  if (kind == SectionKind::kKeyAndValue) return kKeyAndValue;
  return std::span(kTensorKinds).subspan(static_cast<std::size_t>(kind), 1);
}

std::string hex(const Bytes32& bytes) {
  std::string text;
  for (const std::byte b : bytes) text += fmt::format("{:02x}", static_cast<unsigned>(b));
  return text;
}

DataSize ContainerHeader::payload_size(const SectionEntry& section) const {
  return is_sealed() ? section.size - DataSize::bytes(kSealTagBytes) : section.size;
}

std::int64_t source_elements(const ContainerHeader& header) {
  return header.source_elements.value_or(num_elements(header.shape));
}

std::int64_t num_elements(const ContainerHeader& header, const SectionEntry& section) {
  std::int64_t elements = 0;  // check_shape() has summed all of them within int64
  for (std::size_t i = section.first_entry; i < section.first_entry + section.num_entries; ++i) {
    for (const TensorKind kind : tensor_kinds(section.kind)) {
      const TensorShape* tensor = header.shape.layers[i].find(kind);
      if (tensor != nullptr) elements += tensor->elements();
    }
  }
  return elements;
}

Status check_texts(const ContainerHeader& header) {
  const KvFacts& facts = header.shape.facts;
  if (Status status = check_text("model", facts.model, container::kTextBytesMax); !status)
    return status;
  if (Status status = check_text("revision", facts.revision, container::kTextBytesMax); !status)
    return status;
  for (const std::string& rope : rope_table(header.shape).texts) {
    if (Status status = check_text("RoPE entry", rope, container::kRopeBytesMax); !status)
      return status;
  }
  return {};
}

std::vector<std::byte> header_front(const ContainerHeader& header) {
  ByteWriter out;
  out.put_text(std::string_view(container::kMagic, sizeof container::kMagic));
  out.put(container::kVersion);
  out.put(flags_of(header));
  out.put(header.header_size.bytes());
  out.put(header.file_size.bytes());
  put_text(out, header.codec_id);
  out.put(header.codec_version);
  put_text(out, header.level);
  put_text(out, header.shape.facts.model);
  put_text(out, header.shape.facts.revision);
  out.put(static_cast<std::uint32_t>(header.shape.facts.keys));
  const TokenRange range = token_range(header.shape);
  out.put(range.begin);
  out.put(range.end);
  if (header.model_profile) out.put_bytes(*header.model_profile);
  if (header.seal_salt) out.put_bytes(*header.seal_salt);
  put_layers(out, header.shape);
  if (header.source_elements) {
    out.put(*header.source_elements);
    container::put_kept_tokens(out, header.shape);
  }
  return std::move(out).take();
}

std::vector<std::byte> entry_bytes(const SectionEntry& section, std::uint32_t crc32) {
  ByteWriter out;
  out.put(static_cast<std::uint32_t>(section.first_entry));
  out.put(static_cast<std::uint32_t>(section.num_entries));
  out.put(static_cast<std::uint8_t>(section.kind));
  out.put(static_cast<std::uint8_t>(section.refinement));
  out.put(std::uint16_t{0});
  out.put(crc32);
  out.put(section.offset);
  out.put(section.size.bytes());
  out.put(section.side.bytes());
  return std::move(out).take();
}

std::vector<std::byte> header_bytes(const ContainerHeader& header, const FileSeal* seal) {
  SLUICE_ASSERT(header.is_sealed() == (seal != nullptr), "a seal goes with a sealed header");
  ByteWriter out;
  out.put_bytes(header_front(header));
  out.put(static_cast<std::uint32_t>(header.sections.size()));
  for (const SectionEntry& section : header.sections)
    out.put_bytes(entry_bytes(section, section.crc32));
  if (seal != nullptr) out.put_bytes(seal->header_tag(out.bytes()));
  out.put(crc32_of(out.bytes()));
  return std::move(out).take();
}

void lay_out(ContainerHeader& header) {
  SLUICE_ASSERT(check_shape(header.shape).ok(), "lay_out: the shape was not checked");
  SLUICE_ASSERT(header.source_elements || !has_positions(header.shape),
                "lay_out: positions are kept where tokens were dropped");
  // Every field has its width whatever its value.
  header.sections_at = static_cast<std::int64_t>(header_front(header).size());
  const std::size_t tag = header.is_sealed() ? kSealTagBytes : 0;
  const std::size_t table = 4 + header.sections.size() * container::kSectionBytes;
  header.header_size = DataSize::bytes(
      header.sections_at + static_cast<std::int64_t>(table + tag + container::kChecksumBytes));
  header.file_size = header.header_size;
  for (SectionEntry& section : header.sections) {
    section.offset = header.file_size.bytes();
    header.file_size += section.size;
  }
}

}  // namespace sluice
