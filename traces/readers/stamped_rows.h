// Rows of time and rate to steps: which interval a row's rate belongs to.
// Where in the flow: between a reader with a time column and LinkTrace::steps.
// Surprise: in files that stamp the end of an interval, the first row may have no interval of its
// own.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "traces/link_trace.h"
#include "traces/read.h"
#include "traces/step_list.h"

namespace sluice {

// Rows of a time and what holds then, under a StampRule.
//
// kEnd: row i covers (time of row i-1, time of row i]. For the first row:
//  - stamped 0: no interval; the row is skipped;
//  - stamped no later than the longest step between later rows, or alone in the file: the clock
//    began at zero, so the row covers (0, its time] (a 1 Hz trace stamped 1, 2, 3 ... n is n
//    seconds long);
//  - stamped later: the file is a slice that kept its clock, nobody knows when the interval began,
//    so the row only marks the trace's zero and is skipped.
// kStart: row i covers [time of row i, time of row i+1), the first row's time being the trace's
// zero. The last row lasts as long as the one before it, unless close() says where it ends.
class StampedRows {
 public:
  explicit StampedRows(StampRule rule) : rule_(rule) {}
  // Refuses times that do not go forward, or that pass kMaxTraceLength since the first; the error
  // has no place.
  [[nodiscard]] Status add(Duration time, const RowValues& row);
  // kStart: the last row ends at `time`; no row may follow.
  [[nodiscard]] Status close(Duration time);
  [[nodiscard]] bool closed() const { return closed_; }
  [[nodiscard]] std::int64_t num_rows() const { return num_rows_; }
  // Of the last row; zero before the first.
  [[nodiscard]] Duration last_time() const { return last_.time; }
  [[nodiscard]] std::size_t num_steps() const { return list_.num_steps(); }
  // Fills steps, length, num_rows and num_skipped; call once, after at least one row.
  [[nodiscard]] Status finish(LinkTrace& trace) &&;

 private:
  [[nodiscard]] Status forward(Duration time) const;
  void finish_end_stamps(LinkTrace& trace);

  StampRule rule_;
  StepList list_;
  struct Row {
    Duration time{};
    RowValues values;
  };
  Row first_, last_;  // as they stood
  Duration last_step_{}, longest_step_{};
  std::int64_t num_rows_ = 0;
  bool closed_ = false;
};

}  // namespace sluice
