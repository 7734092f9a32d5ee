// Stores each distinct text once per writer and hands out its id: level names and policies' reasons
// repeat a lot.
// Where in the flow: inside write_run().
// Surprise: another process may store the same text again; ids are not compared, texts are.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "analysis/store/database.h"

namespace sluice {

class TextPool {
 public:
  explicit TextPool(const Database& database);
  // Inserts within the caller's transaction when the text is new here.
  [[nodiscard]] Result<std::int64_t> id_of(const std::string& text);
  // After a rollback the rows of this transaction are gone.
  void forget() { ids_.clear(); }

 private:
  const Database* database_;
  Statement insert_;
  std::unordered_map<std::string, std::int64_t> ids_;
};

}  // namespace sluice
