#include "analysis/store/text_pool.h"

namespace sluice {
namespace {
// Reasons that carry numbers hardly repeat; what is remembered of them stays bounded.
constexpr std::size_t kMostRemembered = 1 << 16;
}  // namespace

TextPool::TextPool(const Database& database)
    : database_(&database), insert_(database.prepare("INSERT INTO phrase (words) VALUES (?1)")) {}

Result<std::int64_t> TextPool::id_of(const std::string& text) {
  if (const auto known = ids_.find(text); known != ids_.end()) return known->second;
  if (Status added = insert_.run_with(text); !added) return added.error();
  if (ids_.size() >= kMostRemembered) ids_.clear();
  const std::int64_t id = database_->last_insert_id();
  ids_.emplace(text, id);
  return id;
}

}  // namespace sluice
