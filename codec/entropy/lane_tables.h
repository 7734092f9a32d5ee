// The tables of a group's lanes, as kernels of both directions want them.
#pragma once

#include "codec/entropy/class_family.h"
#include "codec/entropy/field_fit.h"
#include "codec/entropy/kernel.h"
#include "codec/entropy/tables.h"

namespace sluice::entropy {

// How many symbols a column model is: scale, kind, centre, in this order.
inline constexpr int kNumFields = 3;

class LaneTables {
 public:
  explicit LaneTables(const TableSet& tables) : tables_(tables) {}
  // The next lane's.
  void add(int table, std::int32_t centre) {
    numbers_[used_] = table;
    centres_[used_++] = centre;
  }
  [[nodiscard]] bool has_pairs() const {
    for (int lane = 0; lane < used_; ++lane) {
      if (!tables_.has_pairs(numbers_[lane])) return false;
    }
    return true;
  }
  // Pairs only when has_pairs().
  [[nodiscard]] DecodeLanes decode_lanes(bool paired) const {
    DecodeLanes lanes;
    lanes.slots = tables_.slots();
    lanes.used = used_;
    for (int lane = 0; lane < kLanes; ++lane) {
      lanes.offsets[lane] = tables_.slot_offset(numbers_[lane], paired);
      lanes.centres[lane] = centres_[lane];
    }
    return lanes;
  }
  [[nodiscard]] EncodeLanes encode_lanes(bool paired) const {
    EncodeLanes lanes;
    lanes.symbols = tables_.symbols();
    lanes.used = used_;
    for (int lane = 0; lane < kLanes; ++lane) {
      lanes.offsets[lane] = tables_.symbol_offset(numbers_[lane], paired);
      lanes.centres[lane] = centres_[lane];
    }
    return lanes;
  }

 private:
  const TableSet& tables_;
  int used_ = 0;
  int numbers_[kLanes]{};  // 0, the identity, where no lane was added
  std::int32_t centres_[kLanes]{};
};

// Field `field` of the column models of a group with `lanes` columns.
[[nodiscard]] inline LaneTables field_lanes(const FieldModel& fields, int field, int lanes) {
  const ClassFamily& family = class_family();
  const int table = field == 0   ? family.table(fields.scale_table, kFieldScaleKind)
                    : field == 1 ? family.kind_table
                                 : family.table(fields.centre_table, kFieldCentreKind);
  const std::int32_t centre = field == 0 ? fields.scale_base : field == 1 ? 0 : fields.centre_base;
  LaneTables tables(family.tables);
  for (int lane = 0; lane < lanes; ++lane) tables.add(table, centre);
  return tables;
}

}  // namespace sluice::entropy
