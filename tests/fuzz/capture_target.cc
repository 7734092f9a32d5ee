// A safetensors file, and the capture in it.
#include <cstring>

#include "base/random.h"
#include "codec/bytes.h"
#include "codec/capture_format.h"
#include "codec/container/decode.h"
#include "codec/container/encode.h"
#include "tests/fuzz/target.h"

namespace sluice::fuzz {
namespace {

Finding run(std::span<const std::byte> input) {
  auto bytes = std::make_shared<const std::string>(reinterpret_cast<const char*>(input.data()),
                                                   input.size());
  const auto file = parse_safetensors(bytes, "input");
  if (!file) return std::nullopt;
  for (const SafetensorsTensor& tensor : file->tensors) {
    const auto* end = tensor.data.data() + tensor.data.size();
    const auto* last = reinterpret_cast<const std::byte*>(bytes->data() + bytes->size());
    if (end > last) return "a tensor ends behind its file";
  }
  const auto capture = capture_of(*file);
  if (!capture) return std::nullopt;
  if (!check_shape(shape_of(capture->cache.view()))) return "a capture of an impossible shape";
  // Whoever reads a capture encodes it: every element is read. Texts that no container may hold are
  // refused; what is encoded must decode.
  const auto encoded = encode_container(capture->cache.view(), *find_codec_level("raw"));
  if (!encoded) return std::nullopt;
  const auto decoded = decode_container(*encoded, "encoded");
  if (!decoded) return "what was encoded is not decoded: " + decoded.error().to_line();
  return std::nullopt;
}

Bytes file_of(const std::string& header, std::size_t data_bytes) {
  ByteWriter out;
  out.put(static_cast<std::uint64_t>(header.size()));
  out.put_text(header);
  Bytes file = std::move(out).take();
  for (std::size_t i = 0; i < data_bytes; ++i) file.push_back(static_cast<std::byte>(i));
  return file;
}

std::vector<Bytes> seeds() {
  return {
      file_of("{}", 0),
      file_of(R"({"t":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}})", 24),
      file_of(R"({"__metadata__":{"format":"sluice-kv-1"},)"
              R"("layer.0.key":{"dtype":"F16","shape":[1,2,2],"data_offsets":[0,8]},)"
              R"("layer.0.value":{"dtype":"F16","shape":[1,2,2],"data_offsets":[8,16]}})",
              16),
      file_of(
          R"({"__metadata__":{"format":"sluice-kv-1","model":"m","revision":"r",)"
          R"("keys":"post-rope","first_token":"3","query_first_token":"4",)"
          R"("rope":"{\"theta\":10000.0,\"rotated_dims\":2,\"scaling\":null,\"pairing\":\"half\"}"},)"
          R"("layer.0.key":{"dtype":"BF16","shape":[1,2,2],"data_offsets":[0,8]},)"
          R"("layer.0.value":{"dtype":"BF16","shape":[1,2,2],"data_offsets":[8,16]},)"
          R"("layer.0.query":{"dtype":"BF16","shape":[2,1,2],"data_offsets":[16,24]},)"
          R"("layer.7.latent":{"dtype":"F32","shape":[2,3],"data_offsets":[24,48]},)"
          R"("token_ids":{"dtype":"I32","shape":[2],"data_offsets":[48,56]}})",
          56),
      file_of(R"({"__metadata__":{"format":"sluice-kv-1","first_token":"[1]"},)"
              R"("layer.0.key":{"dtype":"F16","shape":[1,2,1],"data_offsets":[0,4]},)"
              R"("layer.0.positions":{"dtype":"I32","shape":[2],"data_offsets":[8,16]},)"
              R"("layer.0.value":{"dtype":"F16","shape":[1,2,1],"data_offsets":[4,8]}})",
              16),
  };
}

}  // namespace

// The JSON changes and its length follows, or the whole file changes.
void mutate_safetensors(Bytes& file, std::size_t bytes_max, std::uint64_t seed,
                        const MutateBytes& change) {
  std::uint64_t size = 0;
  if (file.size() >= sizeof size) std::memcpy(&size, file.data(), sizeof size);
  if (file.size() < sizeof size || size > file.size() - sizeof size || seed % 4 == 0)
    return change(file, bytes_max);
  const auto begin = file.begin() + sizeof size;
  const auto end = begin + static_cast<std::ptrdiff_t>(size);
  Bytes header(begin, end);
  change(header, bytes_max - std::min(bytes_max, file.size()) + header.size());
  const Bytes data(end, file.end());
  size = header.size();
  file.resize(sizeof size);
  std::memcpy(file.data(), &size, sizeof size);
  file.insert(file.end(), header.begin(), header.end());
  file.insert(file.end(), data.begin(), data.end());
}

Target capture_target() {
  return {.name = "capture", .run = run, .seeds = seeds, .mutate = mutate_safetensors};
}

}  // namespace sluice::fuzz
