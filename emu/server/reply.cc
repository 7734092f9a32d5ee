#include "emu/server/reply.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace sluice {
namespace {

Fail not_found(const std::string& words) {
  return {.code = FailCode::kNotFound, .words = words};
}
Fail bad_range(const std::string& words) {
  return {.code = FailCode::kBadRange, .words = words};
}

// What of the chunk's container is wanted.
std::variant<std::vector<FilePiece>, Fail> pieces_of(const ContextContents& context,
                                                     const EncodedChunk& chunk, const Get& get) {
  SectionChoice choice;
  if (get.layers) {
    choice.layers = SectionChoice::Layers{.first = get.layers->first, .count = get.layers->count};
  }
  if (get.beyond) {
    const ChunkVersion* const lower = context.catalogue().find(get.chunk, *get.beyond);
    if (lower == nullptr) return not_found(fmt::format("no level {}", *get.beyond));
    if (!context.catalogue().find(get.chunk, get.level)->size_beyond(*lower)) {
      return bad_range(fmt::format("level {} does not extend level {}", get.level, *get.beyond));
    }
    choice.above_refinement = static_cast<std::int32_t>(lower->refinement_sizes.size()) - 1;
  }
  auto pieces = choose_pieces(chunk.header, choice);
  if (!pieces) return bad_range(pieces.error().what);
  return std::move(*pieces);
}

}  // namespace

std::variant<Reply, Fail> Reply::open(const Contents& contents, const Get& get) {
  const ContextContents* const context = contents.find(ContextId{get.context});
  if (context == nullptr) return not_found(fmt::format("no context {:016x}", get.context));
  Reply reply;
  const StoredBytes* stored = nullptr;
  if (get.what == GetWhat::kCatalogue) {
    reply.text_ = context->catalogue_json();
    reply.selection_bytes_ = static_cast<std::int64_t>(reply.text_.size());
  } else if (get.what == GetWhat::kText) {
    stored = context->find_text(get.chunk);
    if (stored == nullptr) return not_found(fmt::format("no text of chunk {}", get.chunk));
    reply.pieces_ = {{.offset = 0, .size = stored->size().bytes()}};
  } else {
    const EncodedChunk* const chunk = context->find(get.chunk, get.level);
    if (chunk == nullptr)
      return not_found(fmt::format("no chunk {} at level {}", get.chunk, get.level));
    auto pieces = pieces_of(*context, *chunk, get);
    if (auto* const fail = std::get_if<Fail>(&pieces)) return std::move(*fail);
    reply.pieces_ = std::get<0>(std::move(pieces));
    stored = &chunk->bytes;
  }
  if (stored != nullptr) {
    reply.selection_bytes_ = total_size(reply.pieces_);
    auto source = stored->open();
    if (!source) return Fail{.code = FailCode::kStorage, .words = "the chunk cannot be read"};
    reply.source_.emplace(std::move(*source));
  }
  if (auto fail = reply.cut(get)) return std::move(*fail);
  return reply;
}

std::optional<Fail> Reply::cut(const Get& get) {
  const auto size = static_cast<std::uint64_t>(selection_bytes_);
  if (get.offset > size)
    return bad_range(fmt::format("offset {} of {} bytes", get.offset, selection_bytes_));
  begin_ = at_ = static_cast<std::int64_t>(get.offset);
  end_ = begin_ + static_cast<std::int64_t>(std::min(get.length, size - get.offset));
  return std::nullopt;
}

Status Reply::read(std::span<std::byte> out) {
  if (!source_) {
    std::memcpy(out.data(), text_.data() + at_, out.size());
    at_ += static_cast<std::int64_t>(out.size());
    return {};
  }
  std::int64_t before = 0;  // bytes of the selection before the piece
  for (const FilePiece& piece : pieces_) {
    const std::int64_t within = at_ - before;
    before += piece.size;
    if (within >= piece.size) continue;
    const auto count = std::min(static_cast<std::int64_t>(out.size()), piece.size - within);
    const auto part = out.first(static_cast<std::size_t>(count));
    if (const Status read = source_->read(piece.offset + within, part); !read) return read;
    at_ += count;
    out = out.subspan(part.size());
    if (out.empty()) return {};
  }
  return {};
}

}  // namespace sluice
