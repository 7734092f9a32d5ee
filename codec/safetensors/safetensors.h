// safetensors files: a JSON header, then the tensors' bytes. Read from anyone, written
// deterministically.
// Where in the flow: under the capture format (codec/capture_format.h). Format: Hugging Face's
// safetensors, "Format" in its README: u64 header size, JSON, data; little-endian, row-major, no
// gaps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sluice {

struct SafetensorsTensor {
  std::string name;
  std::string dtype;                // "F16", "BF16", "F32", "I32", …
  std::vector<std::int64_t> shape;  // their product is the number of elements; none for a scalar
  std::span<const std::byte> data;  // elements * element size bytes, not aligned
};

struct SafetensorsFile {
  std::string name;                          // for errors
  std::shared_ptr<const std::string> bytes;  // what `data` views
  std::map<std::string, std::string> metadata;
  std::vector<SafetensorsTensor> tensors;  // in the order of their bytes

  [[nodiscard]] const SafetensorsTensor* find(std::string_view tensor_name) const;
};

// Every shape and offset is checked: in the file, as long as its shape says, no gap, no overlap.
[[nodiscard]] Result<SafetensorsFile> read_safetensors(const std::filesystem::path& path);
[[nodiscard]] Result<SafetensorsFile> parse_safetensors(std::shared_ptr<const std::string> bytes,
                                                        std::string name);

// Complete or not at all; tensors in the given order, metadata sorted by key: same input, same
// bytes.
[[nodiscard]] Status write_safetensors(const std::filesystem::path& path,
                                       const std::map<std::string, std::string>& metadata,
                                       std::span<const SafetensorsTensor> tensors);

}  // namespace sluice
