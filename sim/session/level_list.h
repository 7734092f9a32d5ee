// The levels of a ladder, shared by the plans of all loads of a run: copying one copies no names.
// Where in the flow: in every LoadPlan, between the profile (5) and the session (3).
#pragma once

#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

#include "policies/policy.h"

namespace sluice {

class LevelList {
 public:
  LevelList() = default;
  LevelList(std::vector<LevelInfo> levels)
      : levels_(std::make_shared<const std::vector<LevelInfo>>(std::move(levels))) {}
  LevelList(std::initializer_list<LevelInfo> levels) : LevelList(std::vector<LevelInfo>(levels)) {}

  [[nodiscard]] const std::vector<LevelInfo>& all() const { return levels_ ? *levels_ : kNone; }
  [[nodiscard]] bool empty() const { return all().empty(); }
  [[nodiscard]] std::size_t size() const { return all().size(); }
  [[nodiscard]] const LevelInfo& operator[](std::size_t i) const { return all()[i]; }

 private:
  inline static const std::vector<LevelInfo> kNone;
  std::shared_ptr<const std::vector<LevelInfo>> levels_;
};

}  // namespace sluice
