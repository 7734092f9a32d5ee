#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "codec/bytes.h"
#include "codec/container/header.h"
#include "codec/container/kept_tokens.h"
#include "codec/container/layout.h"
#include "codec/container/seal.h"
#include "codec/container/section_table.h"
#include "codec/strict_json.h"

namespace sluice {
namespace {

using container::LayerForm;

constexpr const char* kEncodeAgain = "the file is damaged or cut off: encode it again";

// Reads one header in file order. The first thing that is wrong is kept; later ones follow from it.
class HeaderParser {
 public:
  HeaderParser(std::span<const std::byte> body, std::string name)
      : in_(body), name_(std::move(name)) {}

  // `header` comes with the sizes; `flags` are known ones.
  Result<ContainerHeader> parse(ContainerHeader header, std::uint32_t flags) {
    const std::size_t body_bytes = in_.left();
    header.codec_id = text("codec id", container::kTextBytesMax);
    header.codec_version = in_.get<std::uint32_t>();
    header.level = text("level", container::kTextBytesMax);
    header.shape.facts.model = text("model", container::kTextBytesMax);
    header.shape.facts.revision = text("revision", container::kTextBytesMax);
    const auto keys = in_.get<std::uint32_t>();
    if (keys > static_cast<std::uint32_t>(KeyForm::kPreRope))
      fail(fmt::format("key form {} is unknown", keys));
    header.shape.facts.keys = static_cast<KeyForm>(keys);
    TokenRange range;
    range.begin = in_.get<std::int64_t>();
    range.end = in_.get<std::int64_t>();
    if ((flags & container::kModelProfileFlag) != 0) header.model_profile = bytes32();
    if ((flags & container::kSealedFlag) != 0) header.seal_salt = bytes32();
    read_layers(header.shape);
    if ((flags & container::kReducedFlag) != 0) read_kept_tokens(header);
    header.sections_at =
        static_cast<std::int64_t>(container::kPreludeBytes + body_bytes - in_.left());
    if (!error_) check_layers(header.shape, range);
    if (!error_) read_sections(header);
    if (!error_ && in_.left() != 0) fail("bytes are left over in the header");
    if (!in_.ok()) fail("the header ends too early");
    if (error_) return *error_;
    return header;
  }

 private:
  void fail(const std::string& what) {
    if (!error_) error_ = error_in(name_, what, "the file is damaged: encode it again");
  }

  std::string text(const char* field, std::size_t bytes_max) {
    const auto size = in_.get<std::uint32_t>();
    if (size > bytes_max) {
      fail(fmt::format("the {} is longer than {} bytes", field, bytes_max));
      return {};
    }
    std::string text(in_.get_text(size));
    if (container::has_control_characters(text))
      fail(fmt::format("the {} holds control characters", field));
    return text;
  }

  Bytes32 bytes32() {
    Bytes32 copy{};
    const auto bytes = in_.get_bytes(copy.size());
    std::copy(bytes.begin(), bytes.end(), copy.begin());
    return copy;
  }

  // A count of things that take at least `bytes_each`: never more than the rest of the header can
  // hold.
  std::uint32_t count(const char* things, std::size_t bytes_each) {
    const auto number = in_.get<std::uint32_t>();
    if (number <= in_.left() / bytes_each) return number;
    fail(fmt::format("{} {} do not fit its header", number, things));
    return 0;
  }

  TensorShape tensor(std::int64_t tokens) {
    const auto dtype = in_.get<std::uint32_t>();
    if (dtype < 1 || dtype > 3) fail(fmt::format("dtype {} is unknown", dtype));
    TensorShape shape{.dtype = static_cast<Dtype>(dtype), .heads = 0, .tokens = tokens, .dim = 0};
    shape.heads = in_.get<std::int64_t>();
    shape.dim = in_.get<std::int64_t>();
    return shape;
  }

  std::vector<std::shared_ptr<const RopeFacts>> read_ropes() {
    std::vector<std::shared_ptr<const RopeFacts>> ropes{nullptr};
    const std::uint32_t number = count("RoPE entries", 4);
    for (std::uint32_t i = 0; i < number && !error_; ++i) {
      const auto json = parse_strict_json(text("RoPE entry", container::kRopeBytesMax));
      const auto facts = json ? rope_from_json(*json) : Result<RopeFacts>(json.error());
      if (!facts) {
        fail(facts.error().what);
      } else {
        ropes.push_back(std::make_shared<const RopeFacts>(*facts));
      }
    }
    return ropes;
  }

  void read_layers(KvShape& shape) {
    const auto ropes = read_ropes();
    const std::uint32_t number = count("layers", container::kLayerBytesMin);
    for (std::uint32_t i = 0; i < number && !error_; ++i) {
      KvLayer<TensorShape> layer;
      layer.layer = in_.get<std::int64_t>();
      layer.first_token = in_.get<std::int64_t>();
      const auto tokens = in_.get<std::int64_t>();
      const auto rope = in_.get<std::uint32_t>();
      const auto form = in_.get<std::uint32_t>();
      if (rope >= ropes.size()) return fail(fmt::format("RoPE entry {} does not exist", rope));
      layer.rope = ropes[rope];
      if (form == static_cast<std::uint32_t>(LayerForm::kLatent)) {
        layer.latent = tensor(tokens);
      } else if (form == static_cast<std::uint32_t>(LayerForm::kKeyValue)) {
        layer.key = tensor(tokens);
        layer.value = tensor(tokens);
      } else {
        return fail(fmt::format("layer form {} is unknown", form));
      }
      shape.layers.push_back(std::move(layer));
    }
  }

  void read_kept_tokens(ContainerHeader& header) {
    header.source_elements = in_.get<std::int64_t>();
    if (!in_.ok()) return fail("the header ends too early");
    if (const Status status = check_shape(header.shape); !status) return fail(status.error().what);
    if (const auto fault = container::get_kept_tokens(in_, header.shape)) return fail(*fault);
    if (*header.source_elements < num_elements(header.shape))
      fail(fmt::format("it holds more than the {} elements that it says there were",
                       *header.source_elements));
  }

  void check_layers(const KvShape& shape, TokenRange range) {
    if (!in_.ok()) return fail("the header ends too early");
    if (const Status status = check_shape(shape); !status) return fail(status.error().what);
    if (token_range(shape) != range) fail("the token range is not that of its layers");
  }

  void read_sections(ContainerHeader& header) {
    const std::uint32_t number = count("sections", container::kSectionBytes);
    for (std::uint32_t i = 0; i < number; ++i) {
      SectionEntry section;
      section.first_entry = in_.get<std::uint32_t>();
      section.num_entries = in_.get<std::uint32_t>();
      section.kind = static_cast<SectionKind>(in_.get<std::uint8_t>());
      section.refinement = in_.get<std::uint8_t>();
      if (in_.get<std::uint16_t>() != 0) fail(fmt::format("section {}: reserved bits are set", i));
      section.crc32 = in_.get<std::uint32_t>();
      section.offset = in_.get<std::int64_t>();
      section.size = DataSize::bytes(in_.get<std::int64_t>());
      section.side = DataSize::bytes(in_.get<std::int64_t>());
      header.sections.push_back(section);
    }
    if (header.is_sealed()) (void)in_.get_bytes(kSealTagBytes);  // checked where the key is
    if (!in_.ok()) return fail("the header ends too early");
    if (const auto fault = container::fault_of_sections(header)) fail(*fault);
  }

  ByteReader in_;
  std::string name_;
  std::optional<Error> error_;
};

}  // namespace

Result<ContainerExtent> parse_extent(std::span<const std::byte> prelude, const std::string& name) {
  ByteReader in(prelude);
  if (in.get_text(sizeof container::kMagic) !=
      std::string_view(container::kMagic, sizeof container::kMagic)) {
    return error_in(name, "is not a .kvb container", "make one with `./sluice codec encode`");
  }
  const auto version = in.get<std::uint32_t>();
  (void)in.get<std::uint32_t>();  // flags: believed once the checksum fits
  const auto header_size = in.get<std::uint64_t>();
  const auto file_size = in.get<std::uint64_t>();
  if (!in.ok()) return error_in(name, "the container ends too early", kEncodeAgain);
  if (version != container::kVersion) {
    return error_in(name,
                    fmt::format("container version {} is not {}", version, container::kVersion),
                    "encode it again");
  }
  if (header_size < container::kPreludeBytes + container::kChecksumBytes ||
      header_size > file_size || file_size > std::numeric_limits<std::int64_t>::max()) {
    return error_in(name, fmt::format("its header of {} bytes does not fit", header_size),
                    kEncodeAgain);
  }
  return ContainerExtent{DataSize::bytes(static_cast<std::int64_t>(header_size)),
                         DataSize::bytes(static_cast<std::int64_t>(file_size))};
}

Result<ContainerHeader> parse_header(std::span<const std::byte> file, const std::string& name) {
  const auto extent =
      parse_extent(file.first(std::min(file.size(), container::kPreludeBytes)), name);
  if (!extent) return extent.error();
  if (extent->file_size.bytes() != static_cast<std::int64_t>(file.size())) {
    return error_in(name,
                    fmt::format("holds {} bytes where its header says {}", file.size(),
                                extent->file_size.bytes()),
                    kEncodeAgain);
  }
  const auto body =
      file.first(static_cast<std::size_t>(extent->header_size.bytes()) - container::kChecksumBytes);
  ByteReader checksum(file.subspan(body.size()));
  if (checksum.get<std::uint32_t>() != crc32_of(body))
    return error_in(name, "the header's checksum is wrong", kEncodeAgain);
  ByteReader prelude(body.subspan(sizeof container::kMagic + sizeof container::kVersion));
  const auto flags = prelude.get<std::uint32_t>();
  if ((flags & ~container::kKnownFlags) != 0) {
    return error_in(name, fmt::format("flags {:#x} are unknown", flags),
                    "read it with the version that wrote it");
  }
  ContainerHeader header;
  header.header_size = extent->header_size;
  header.file_size = extent->file_size;
  return HeaderParser(body.subspan(container::kPreludeBytes), name).parse(std::move(header), flags);
}

}  // namespace sluice
