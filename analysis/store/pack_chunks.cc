#include "analysis/store/pack_chunks.h"

#include <fmt/format.h>

#include "analysis/store/chunk_text.h"
#include "analysis/store/codes.h"

namespace sluice {
namespace {

constexpr const char* kSelectChunks = R"sql(
SELECT chunk_index, tokens, action, level_id, bytes, damage, reason_id, requested_ns, first_byte_ns,
  arrived_ns, compute_began_ns, resident_ns
FROM chunk_row WHERE run_id = ?1 AND load_index = ?2 ORDER BY chunk_index
)sql";

void append_row(std::string& text, const Statement& row, Instant load_arrived) {
  const ChunkRecord chunk{.index = static_cast<std::int32_t>(row.integer(0)),
                          .tokens = row.integer(1),
                          .action = chunk_action_from(row.integer(2)),
                          .level = {},
                          .bytes = row.size(4),
                          .damage = row.real(5),
                          .reason = {},
                          .requested_at = row.optional_instant(7),
                          .first_byte_at = row.optional_instant(8),
                          .arrived_at = row.optional_instant(9),
                          .compute_began_at = row.optional_instant(10),
                          .resident_at = row.optional_instant(11)};
  append_chunk(text, chunk, row.integer(3), row.integer(6), load_arrived);
}

Status move_rows(const Database& database) {
  Statement loads = database.prepare("SELECT run_id, load_index, arrived_ns FROM load");
  Statement chunks = database.prepare(kSelectChunks);
  Statement update =
      database.prepare("UPDATE load SET chunks = ?3 WHERE run_id = ?1 AND load_index = ?2");
  return loads.for_each([&]() -> Status {
    std::string text = "[";
    const Status read = chunks.bind(loads.integer(0), loads.integer(1)).for_each([&] {
      if (text.size() > 1) text += ',';
      append_row(text, chunks, loads.instant(2));
    });
    if (!read) return read;
    text += ']';
    return update.run_with(loads.integer(0), loads.integer(1), KeptText{text});
  });
}

}  // namespace

Status pack_chunks(const Database& database) {
  if (Status moved = move_rows(database); !moved) return moved;
  return database.execute(
      fmt::format("DROP TABLE chunk_row; CREATE VIEW chunk AS {}", kChunkQuery));
}

}  // namespace sluice
