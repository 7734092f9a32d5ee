#include "analysis/store/store.h"

#include "analysis/store/schema.h"
#include "analysis/store/state.h"

namespace sluice {
namespace {

// Pages of 8 KiB hold a dozen loads, and a write-ahead log of 16 MiB is copied back in long
// stretches: a third more loads per second than with SQLite's own 4 KiB and 4 MiB.
constexpr const char* kPageSize = "PRAGMA page_size = 8192";  // means something to a new file only

// A commit is on disk for other processes at once; it survives a killed process, not always a power
// cut.
Status configure(const Database& database) {
  return database.execute(
      "PRAGMA foreign_keys = ON; PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY;"
      "PRAGMA cache_size = -65536; PRAGMA trusted_schema = OFF; PRAGMA wal_autocheckpoint = 2048");
}

}  // namespace

Store::Store(std::unique_ptr<StoreState> state) : state_(std::move(state)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

const Database& Store::database() const {
  return state_->database;
}

Result<Store> Store::open(const std::filesystem::path& file) {
  auto opened = Database::open(file, OpenMode::kCreate);
  if (!opened) return opened.error();
  auto state = std::make_unique<StoreState>(std::move(*opened));
  // First a look, so that a stranger's file is refused before anything in it changes.
  if (Status set = state->database.execute(kPageSize); !set) return set.error();
  if (Status ours = migrate(state->database); !ours) return ours.error();
  if (Status set = state->database.execute("PRAGMA journal_mode = WAL"); !set) return set.error();
  if (Status set = configure(state->database); !set) return set.error();
  return Store(std::move(state));
}

Result<Store> Store::open_to_read(const std::filesystem::path& file) {
  auto opened = Database::open(file, OpenMode::kReadOnly);
  if (!opened) return opened.error();
  auto state = std::make_unique<StoreState>(std::move(*opened));
  if (Status ours = require_current_schema(state->database); !ours) return ours.error();
  if (Status set = configure(state->database); !set) return set.error();
  return Store(std::move(state));
}

}  // namespace sluice
