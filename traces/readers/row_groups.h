// Rows of one file that belong to several traces: told apart by a key, each with its own hash.
// Where in the flow: under the readers of files that hold many runs, links or sessions.
// Surprise: traces come in the order of their first rows; groups may take turns in the file.
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/sha256.h"
#include "traces/link_trace.h"

namespace sluice {

inline constexpr std::size_t kMaxTracesPerFile = 200'000;
inline constexpr std::size_t kMaxRowsInGroups = std::size_t{1} << 26;  // at most a step each
inline constexpr std::size_t kMaxKeyBytes = 500;

// `State` is what a reader keeps per trace; it is made by State{}.
template <typename State>
class RowGroups {
 public:
  struct Group {
    std::string key;
    State state{};
    Sha256 hash;  // of the group's rows, each with a line feed
  };

  // The group of `key`, made if it is new, after `row` went into its hash. The error has no place.
  [[nodiscard]] Result<Group*> at(std::string_view key, std::string_view row) {
    if (++num_rows_ > kMaxRowsInGroups) {
      return error_in("", fmt::format("more than {} rows of several traces", kMaxRowsInGroups),
                      "split the file");
    }
    auto found = index_.find(key);
    if (found == index_.end()) {
      if (key.size() > kMaxKeyBytes)
        return error_in("", "what names the trace is longer than 500 bytes", "check the columns");
      if (groups_.size() >= kMaxTracesPerFile) {
        return error_in("", fmt::format("more than {} traces in one file", kMaxTracesPerFile),
                        "split the file");
      }
      found = index_.emplace(std::string(key), groups_.size()).first;
      groups_.push_back(std::make_unique<Group>());
      groups_.back()->key = key;
    }
    Group* group = groups_[found->second].get();
    group->hash.update(row);
    group->hash.update("\n");
    return group;
  }
  // nullptr when there is none.
  [[nodiscard]] Group* find(std::string_view key) const {
    const auto found = index_.find(key);
    return found == index_.end() ? nullptr : groups_[found->second].get();
  }
  [[nodiscard]] const std::vector<std::unique_ptr<Group>>& all() const { return groups_; }

 private:
  std::map<std::string, std::size_t, std::less<>> index_;
  std::vector<std::unique_ptr<Group>> groups_;
  std::size_t num_rows_ = 0;
};

// Names the traces of a file FILE#KEY. A trace alone in its file is the file: it keeps the file's
// name and gets its hash.
inline void name_traces(std::vector<LinkTrace>& traces, const std::vector<std::string>& keys,
                        const std::filesystem::path& path, const std::string& file_sha256) {
  if (traces.size() == 1) {
    traces.front().sha256 = file_sha256;
    return;
  }
  for (std::size_t i = 0; i < traces.size(); ++i)
    traces[i].name = fmt::format("{}#{}", path.filename().string(), keys[i]);
}

}  // namespace sluice
