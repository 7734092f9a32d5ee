#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/names.h"
#include "codec/bytes.h"
#include "codec/safetensors/safetensors.h"
#include "codec/strict_json.h"

namespace sluice {
namespace {

using nlohmann::json;

constexpr std::uint64_t kHeaderBytesMax = 32U << 20;  // a capture of 1000 layers has less than 1 MB
constexpr DataSize kFileSizeMax = DataSize::bytes(std::int64_t{256} << 30);
constexpr const char* kWriteAgain = "the file is damaged or cut off: write or fetch it again";

struct DtypeSize {
  std::string_view name;
  std::int64_t bytes;
};
constexpr DtypeSize kDtypes[] = {{"F16", 2},  {"BF16", 2},    {"F32", 4},    {"F64", 8},
                                 {"I8", 1},   {"I16", 2},     {"I32", 4},    {"I64", 8},
                                 {"U8", 1},   {"U16", 2},     {"U32", 4},    {"U64", 8},
                                 {"BOOL", 1}, {"F8_E4M3", 1}, {"F8_E5M2", 1}};

Result<std::int64_t> dtype_size(const std::string& dtype) {
  std::vector<std::string> known;
  for (const DtypeSize& entry : kDtypes) {
    if (entry.name == dtype) return entry.bytes;
    known.emplace_back(entry.name);
  }
  return error_in("", fmt::format("dtype `{}` is unknown", dtype), suggest_name(dtype, known));
}

// elements * bytes each, or nothing when it passes int64.
std::optional<std::int64_t> byte_count(std::span<const std::int64_t> shape,
                                       std::int64_t bytes_each) {
  std::int64_t bytes = bytes_each;
  for (const std::int64_t count : shape) {
    if (count != 0 && bytes > std::numeric_limits<std::int64_t>::max() / count) return std::nullopt;
    bytes *= count;
  }
  return bytes;
}

// A list of whole numbers >= 0 that fit int64.
std::optional<std::vector<std::int64_t>> read_counts(const json& list) {
  if (!list.is_array()) return std::nullopt;
  std::vector<std::int64_t> counts;
  for (const json& item : list) {
    if (!item.is_number_unsigned()) return std::nullopt;
    const auto value = item.get<std::uint64_t>();
    if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      return std::nullopt;
    counts.push_back(static_cast<std::int64_t>(value));
  }
  return counts;
}

// One entry of the header. `data` is everything behind the header. Errors name neither file nor
// tensor.
Result<SafetensorsTensor> read_tensor(const std::string& name, const json& entry,
                                      std::span<const std::byte> data) {
  const auto wrong = [](const std::string& what) { return error_in("", what, kWriteAgain); };
  if (!entry.is_object() || entry.size() != 3 || !entry.contains("dtype") ||
      !entry.contains("shape") || !entry.contains("data_offsets")) {
    return wrong("needs exactly `dtype`, `shape` and `data_offsets`");
  }
  if (!entry["dtype"].is_string()) return wrong("`dtype` is not a string");
  const auto element_bytes = dtype_size(entry["dtype"].get<std::string>());
  if (!element_bytes) return element_bytes.error();
  const auto shape = read_counts(entry["shape"]);
  if (!shape) return wrong("`shape` is not a list of whole numbers");
  const auto offsets = read_counts(entry["data_offsets"]);
  if (!offsets || offsets->size() != 2)
    return wrong("`data_offsets` is not a pair of whole numbers");
  const std::int64_t begin = (*offsets)[0];
  const std::int64_t end = (*offsets)[1];
  if (begin > end || static_cast<std::uint64_t>(end) > data.size()) {
    return wrong(fmt::format("bytes {} to {} are outside the file's {} bytes of data", begin, end,
                             data.size()));
  }
  const auto bytes = byte_count(*shape, *element_bytes);
  if (!bytes || *bytes != end - begin) {
    return wrong(
        fmt::format("its shape and dtype do not make the {} bytes of `data_offsets`", end - begin));
  }
  return SafetensorsTensor{
      .name = name,
      .dtype = entry["dtype"].get<std::string>(),
      .shape = *shape,
      .data = data.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin))};
}

Status read_metadata(const json& entry, SafetensorsFile& file) {
  if (!entry.is_object())
    return error_in(file.name, "`__metadata__` is not an object of strings", kWriteAgain);
  for (const auto& [key, value] : entry.items()) {
    if (!value.is_string())
      return error_in(file.name, fmt::format("metadata `{}` is not a string", key), "quote it");
    file.metadata[key] = value.get<std::string>();
  }
  return {};
}

// Sorts the tensors by their bytes, which must lie one behind the other to the end of the file.
Status check_tiling(SafetensorsFile& file, std::span<const std::byte> data) {
  const auto by_bytes = [](const SafetensorsTensor& a, const SafetensorsTensor& b) {
    const auto key = [](const SafetensorsTensor& t) {
      return std::pair(t.data.data(), t.data.data() + t.data.size());
    };
    return key(a) < key(b);
  };
  std::stable_sort(file.tensors.begin(), file.tensors.end(), by_bytes);
  const std::byte* end = data.data();
  for (const SafetensorsTensor& tensor : file.tensors) {
    if (tensor.data.data() != end) {
      const char* how =
          tensor.data.data() < end ? "overlaps the tensor before it" : "leaves a gap before it";
      return error_in(file.name, fmt::format("tensor `{}` {}", tensor.name, how), kWriteAgain);
    }
    end += tensor.data.size();
  }
  if (end != data.data() + data.size()) {
    return error_in(file.name,
                    fmt::format("{} bytes behind the last tensor", data.data() + data.size() - end),
                    kWriteAgain);
  }
  return {};
}

}  // namespace

const SafetensorsTensor* SafetensorsFile::find(std::string_view tensor_name) const {
  const auto found = std::find_if(tensors.begin(), tensors.end(),
                                  [&](const auto& t) { return t.name == tensor_name; });
  return found == tensors.end() ? nullptr : &*found;
}

Result<SafetensorsFile> parse_safetensors(std::shared_ptr<const std::string> bytes,
                                          std::string name) {
  SafetensorsFile file{
      .name = std::move(name), .bytes = std::move(bytes), .metadata = {}, .tensors = {}};
  ByteReader in(std::as_bytes(std::span(*file.bytes)));
  const auto header_size = in.get<std::uint64_t>();
  if (!in.ok())
    return error_in(file.name, "is not a safetensors file: shorter than 8 bytes", kWriteAgain);
  if (header_size > kHeaderBytesMax) {
    return error_in(
        file.name,
        fmt::format("a header of {} bytes passes the limit of {}", header_size, kHeaderBytesMax),
        "use a safetensors file");
  }
  const std::string_view text = in.get_text(static_cast<std::size_t>(header_size));
  if (!in.ok())
    return error_in(file.name, fmt::format("its header of {} bytes is cut off", header_size),
                    kWriteAgain);
  const auto header = parse_strict_json(text);
  if (!header) return error_in(file.name, "the header: " + header.error().what, kWriteAgain);
  if (!header->is_object())
    return error_in(file.name, "the header is not a JSON object", "use a safetensors file");
  const auto data = in.get_bytes(in.left());
  for (const auto& [key, entry] : header->items()) {
    if (key == "__metadata__") {
      if (Status status = read_metadata(entry, file); !status) return status.error();
      continue;
    }
    auto tensor = read_tensor(key, entry, data);
    if (!tensor)
      return error_in(file.name, fmt::format("tensor `{}`: {}", key, tensor.error().what),
                      tensor.error().fix);
    file.tensors.push_back(std::move(*tensor));
  }
  if (Status status = check_tiling(file, data); !status) return status.error();
  return file;
}

Result<SafetensorsFile> read_safetensors(const std::filesystem::path& path) {
  auto bytes = read_file(path, kFileSizeMax);
  if (!bytes) return bytes.error();
  return parse_safetensors(std::make_shared<const std::string>(std::move(*bytes)), path.string());
}

}  // namespace sluice
