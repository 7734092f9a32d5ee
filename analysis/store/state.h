// What an open Store holds; shared by the files that implement it (store, inputs, write, read).
#pragma once

#include <optional>

#include "analysis/store/store.h"
#include "analysis/store/text_pool.h"
#include "analysis/store/worker.h"

namespace sluice {

struct StoreState {
  explicit StoreState(Database opened) : database(std::move(opened)) {}

  Database database;
  std::string worker = this_worker();
  // Prepared by the first write and kept: write_run() is the hot path.
  struct Writer {
    explicit Writer(const Database& database);
    TextPool texts;
    Statement insert_load, insert_chunk;
  };
  std::optional<Writer> writer;
};

}  // namespace sluice
