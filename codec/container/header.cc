#include "codec/container/header.h"

#include <zlib.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/assert.h"
#include "codec/bytes.h"
#include "codec/container/layout.h"

namespace sluice {
namespace {

using container::kMagic;
using container::kVersion;
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

void put_sections(ByteWriter& out, std::span<const SectionEntry> sections) {
  out.put(static_cast<std::uint32_t>(sections.size()));
  for (const SectionEntry& section : sections) {
    out.put(static_cast<std::uint32_t>(section.first_entry));
    out.put(static_cast<std::uint32_t>(section.num_entries));
    out.put(static_cast<std::uint8_t>(section.kind));
    out.put(static_cast<std::uint8_t>(section.refinement));
    out.put(std::uint16_t{0});
    out.put(section.crc32);
    out.put(section.offset);
    out.put(section.size.bytes());
    out.put(section.side.bytes());
  }
}

std::vector<std::byte> header_bytes(const ContainerHeader& header) {
  ByteWriter out;
  out.put_text(std::string_view(kMagic, sizeof kMagic));
  out.put(kVersion);
  out.put(std::uint32_t{0});  // flags
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
  put_layers(out, header.shape);
  put_sections(out, header.sections);
  out.put(crc32_of(out.bytes()));
  return std::move(out).take();
}

}  // namespace

std::uint32_t crc32_of(std::span<const std::byte> bytes) {
  return static_cast<std::uint32_t>(
      ::crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

std::vector<std::byte> write_header(ContainerHeader& header) {
  SLUICE_ASSERT(check_shape(header.shape).ok(), "write_header: the shape was not checked");
  const std::size_t size =
      header_bytes(header).size();  // every field has its width whatever its value
  header.header_size = DataSize::bytes(static_cast<std::int64_t>(size));
  header.file_size = header.header_size;
  for (SectionEntry& section : header.sections) {
    section.offset = header.file_size.bytes();
    header.file_size += section.size;
  }
  return header_bytes(header);
}

}  // namespace sluice
