// The step from store version 3, a row per chunk, to version 4, the chunks of a load as one text.
// Where in the flow: run by migrate() (schema.cc), within its transaction.
#pragma once

#include "analysis/store/database.h"

namespace sluice {

// Chunks as rows, from the column load.chunks: the view `chunk` of version 4. Sluice itself asks
// with this query and not with the view, which SQLite keeps from using JSON in a schema that is not
// trusted.
inline constexpr const char* kChunkQuery = R"sql(
SELECT
  load.run_id,
  load.load_index,
  json_extract(one.value, '$[0]') AS chunk_index,
  json_extract(one.value, '$[1]') AS tokens,
  json_extract(one.value, '$[2]') AS action,  -- fetched, recomputed, none, reused
  json_extract(one.value, '$[3]') AS level_id,  -- REFERENCES phrase (id)
  json_extract(one.value, '$[4]') AS bytes,
  CAST(json_extract(one.value, '$[5]') AS REAL) AS damage,
  json_extract(one.value, '$[6]') AS reason_id,  -- REFERENCES phrase (id)
  load.arrived_ns + (json_extract(one.value, '$[7]')) AS requested_ns,
  load.arrived_ns + (json_extract(one.value, '$[8]')) AS first_byte_ns,
  load.arrived_ns + (json_extract(one.value, '$[9]')) AS arrived_ns,
  load.arrived_ns + (json_extract(one.value, '$[10]')) AS compute_began_ns,
  load.arrived_ns + (json_extract(one.value, '$[11]')) AS resident_ns
FROM load, json_each(load.chunks) AS one)sql";

// Moves the rows of the table `chunk_row` (the table `chunk` of version 3) into load.chunks, and
// makes the view.
[[nodiscard]] Status pack_chunks(const Database& database);

}  // namespace sluice
