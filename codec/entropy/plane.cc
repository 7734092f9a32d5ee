#include "codec/entropy/plane.h"

#include <algorithm>

#include "codec/bytes.h"

namespace sluice::entropy {
namespace {

// Big enough that 32 lane states weigh little, small enough for thousands of tiles per context.
constexpr std::int64_t kTileColumns = 256;
constexpr std::int64_t kTileRows = 256;

struct PlaneHeader {
  PlaneModel model = PlaneModel::kClassFamily;
  TileShape shape;
};

Error unknown_model() {
  return error_in("", "a plane with a probability model this version does not know",
                  "decode it with the version that wrote it");
}

std::int64_t most_rows(PlaneModel model, std::int64_t tile_columns) {
  const std::int64_t lanes = groups_of(tile_columns) * kLanes;
  switch (model) {
    case PlaneModel::kShipped:
      return kMaxShippedRows;
    case PlaneModel::kDigits:
    case PlaneModel::kPeaked:
      return kMaxTallPlaces / lanes;
    case PlaneModel::kClassFamily:
    case PlaneModel::kProfile:
      break;
  }
  return kMaxTilePlaces / lanes;
}

Result<PlaneHeader> read_header(ByteReader& in, std::int64_t rows, std::int64_t columns) {
  const auto model = in.get<std::uint8_t>();
  const auto flags = in.get<std::uint8_t>();
  PlaneHeader header;
  header.shape.columns = in.get<std::uint16_t>();
  header.shape.rows = in.get<std::uint32_t>();
  if (!in.ok()) return bad_plane("a plane that ends in its header");
  if (model > static_cast<std::uint8_t>(PlaneModel::kPeaked) || flags != 0) {
    return unknown_model();
  }
  header.model = static_cast<PlaneModel>(model);
  const auto& shape = header.shape;
  if (shape.rows < 1 || shape.rows > rows || shape.columns < 1 || shape.columns > columns ||
      shape.rows > most_rows(header.model, shape.columns)) {
    return bad_plane("a plane with an impossible tile size");
  }
  return header;
}

// Everything between a plane's header and its padding.
Status walk_tiles(ByteReader& in, std::size_t plane_bytes, std::int64_t rows, std::int64_t columns,
                  const PlaneHeader& header, TileVisitor& visitor) {
  const TileShape& shape = header.shape;
  const std::int64_t num_tiles = ceil_div(rows, shape.rows) * ceil_div(columns, shape.columns);
  if (static_cast<std::int64_t>(in.left() / sizeof(std::uint32_t)) < num_tiles) {
    return bad_plane("a plane that ends in its list of tiles");
  }
  ByteReader lengths(in.get_bytes(static_cast<std::size_t>(num_tiles) * sizeof(std::uint32_t)));
  for (const TileArea& area : tile_areas(rows, columns, shape)) {
    PlaneTile tile{.model = header.model, .area = area, .bytes = {}};
    tile.offset = plane_bytes - in.left();
    tile.bytes = in.get_bytes(lengths.get<std::uint32_t>());
    if (!in.ok()) return bad_plane("a plane that ends in a tile");
    if (const char* const wrong = visitor.visit(tile); wrong != nullptr) return bad_plane(wrong);
  }
  return {};
}

}  // namespace

TileShape tile_shape(std::int64_t rows, std::int64_t columns, PlaneModel model,
                     std::int64_t column_unit) {
  const std::int64_t unit = std::clamp<std::int64_t>(column_unit, 1, kTileColumns);
  const std::int64_t tile_columns = std::min(columns, kTileColumns / unit * unit);
  if (model == PlaneModel::kShipped) {
    return {std::min(rows, kMaxShippedRows), tile_columns};
  }
  const std::int64_t most = kMaxTilePlaces / (groups_of(tile_columns) * kLanes);
  // As many symbols in a tile of few columns as in one of many, as far as places allow.
  const std::int64_t wanted = std::min(
      most, std::max(kTileRows, kTileColumns * kTileRows / (groups_of(tile_columns) * kLanes)));
  const std::int64_t tiles =
      std::max<std::int64_t>(1, (2 * rows + wanted) / (2 * wanted));  // nearest
  return {std::min(ceil_div(rows, tiles), most), tile_columns};
}

TileShape tall_tile_shape(std::int64_t rows, std::int64_t columns, std::int64_t most_places) {
  constexpr std::int64_t kMostGroups = 65535 / kLanes;  // columns of a tile are 16 bits
  const std::int64_t tile_rows = ceil_div(rows, ceil_div(rows, kTallRows));
  const std::int64_t groups = groups_of(columns);
  const std::int64_t most = std::min(kMostGroups, most_places / (tile_rows * kLanes));
  const std::int64_t tiles = ceil_div(groups, most);
  return {tile_rows, std::min(columns, ceil_div(groups, tiles) * kLanes)};
}

std::vector<TileArea> tile_areas(std::int64_t rows, std::int64_t columns, const TileShape& shape) {
  std::vector<TileArea> areas;
  for (std::int64_t row = 0; row < rows; row += shape.rows) {
    for (std::int64_t column = 0; column < columns; column += shape.columns) {
      areas.push_back({row, std::min(shape.rows, rows - row), column,
                       std::min(shape.columns, columns - column)});
    }
  }
  return areas;
}

std::size_t padded_size(std::size_t size, std::int64_t elements) {
  return std::max(size, static_cast<std::size_t>(ceil_div(elements, kMaxElementsPerByte)));
}

Error bad_plane(const char* what) {
  return error_in("", what, "the file is damaged; encode the cache again");
}

Result<std::size_t> walk_plane(std::span<const std::byte> bytes, std::int64_t rows,
                               std::int64_t columns, bool has_profile, TileVisitor& visitor) {
  if (rows * columns == 0) return std::size_t{0};
  ByteReader in(bytes);
  const auto header = read_header(in, rows, columns);
  if (!header) return header.error();
  if (header->model == PlaneModel::kDigits) {
    return bad_plane("a plane of digits in place of one of symbols");
  }
  if (header->model == PlaneModel::kProfile && !has_profile) {
    return error_in("", "a plane whose tables are in a model profile, and none was given",
                    "name the profile that the cache was encoded with");
  }
  if (Status status = walk_tiles(in, bytes.size(), rows, columns, *header, visitor); !status) {
    return status.error();
  }
  const std::size_t size = bytes.size() - in.left();
  const auto padding = in.get_bytes(padded_size(size, rows * columns) - size);
  if (!in.ok()) return bad_plane("a plane that ends in its padding");
  if (std::any_of(padding.begin(), padding.end(), [](std::byte b) { return b != std::byte{0}; })) {
    return bad_plane("a plane whose padding is not zero");
  }
  return size + padding.size();
}

Result<std::size_t> walk_digit_plane(std::span<const std::byte> bytes, std::int64_t rows,
                                     std::int64_t columns, TileVisitor& visitor) {
  if (rows * columns == 0) return std::size_t{0};
  ByteReader in(bytes);
  const auto header = read_header(in, rows, columns);
  if (!header) return header.error();
  if (header->model != PlaneModel::kDigits) {
    return bad_plane("a plane of symbols in place of one of digits");
  }
  if (Status status = walk_tiles(in, bytes.size(), rows, columns, *header, visitor); !status) {
    return status.error();
  }
  return bytes.size() - in.left();
}

}  // namespace sluice::entropy
