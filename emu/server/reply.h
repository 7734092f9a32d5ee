// One request being answered: a selection of stored bytes, read a frame at a time.
// Private to emu/server.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "emu/contents/contents.h"
#include "emu/contents/selection.h"
#include "emu/protocol/messages.h"
#include "emu/server/faults.h"

namespace sluice {

class Reply {
 public:
  // What `get` means in `contents`, which outlives the reply; or the answer that it has no sense.
  [[nodiscard]] static std::variant<Reply, Fail> open(const Contents& contents, const Get& get);

  [[nodiscard]] std::int64_t selection_bytes() const { return selection_bytes_; }
  // Of the bytes asked for, how many are still to come, and where the next one lies in the
  // selection.
  [[nodiscard]] std::int64_t left() const { return end_ - at_; }
  [[nodiscard]] std::int64_t at() const { return at_; }
  [[nodiscard]] std::int64_t done() const { return at_ - begin_; }
  // The next out.size() (<= left()) bytes.
  [[nodiscard]] Status read(std::span<std::byte> out);

 private:
  [[nodiscard]] std::optional<Fail> cut(const Get& get);

  std::string_view text_;  // of a catalogue; else
  std::optional<ByteSource> source_;
  std::vector<FilePiece> pieces_;
  std::int64_t selection_bytes_ = 0, begin_ = 0, at_ = 0, end_ = 0;
};

}  // namespace sluice
