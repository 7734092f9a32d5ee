#include <nlohmann/json.hpp>

#include "base/files.h"
#include "codec/bytes.h"
#include "codec/safetensors/safetensors.h"

namespace sluice {
namespace {

constexpr std::size_t kAlignment =
    8;  // data begins at a multiple of it; the header is padded with spaces

std::string header_text(const std::map<std::string, std::string>& metadata,
                        std::span<const SafetensorsTensor> tensors) {
  nlohmann::ordered_json header;
  if (!metadata.empty()) header["__metadata__"] = metadata;
  std::size_t begin = 0;
  for (const SafetensorsTensor& tensor : tensors) {
    const std::size_t end = begin + tensor.data.size();
    header[tensor.name] = {
        {"dtype", tensor.dtype}, {"shape", tensor.shape}, {"data_offsets", {begin, end}}};
    begin = end;
  }
  std::string text = header.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  text.append((kAlignment - text.size() % kAlignment) % kAlignment, ' ');
  return text;
}

}  // namespace

Status write_safetensors(const std::filesystem::path& path,
                         const std::map<std::string, std::string>& metadata,
                         std::span<const SafetensorsTensor> tensors) {
  const std::string header = header_text(metadata, tensors);
  ByteWriter front;
  front.put(static_cast<std::uint64_t>(header.size()));
  front.put_text(header);
  return write_file_atomically(path, [&](std::ostream& out) {
    const auto put = [&](std::span<const std::byte> bytes) {
      out.write(reinterpret_cast<const char*>(bytes.data()),
                static_cast<std::streamsize>(bytes.size()));
    };
    put(front.bytes());
    for (const SafetensorsTensor& tensor : tensors) put(tensor.data);
  });
}

}  // namespace sluice
