// The contract of a trace writer; one .cc each, one row each in registry.cc.
#pragma once

#include <ostream>
#include <span>
#include <string>

#include "base/result.h"
#include "traces/link_trace.h"

namespace sluice {

// Called with as many traces as the format holds, of its clock. A check refuses what the format
// cannot express; its errors have no place. A write follows a passed check and cannot fail but for
// the stream.
[[nodiscard]] Status check_mahimahi(std::span<const LinkTrace> traces);
void write_mahimahi(std::span<const LinkTrace> traces, std::ostream& out);
void write_two_column(std::span<const LinkTrace> traces, std::ostream& out);
void write_sabre(std::span<const LinkTrace> traces, std::ostream& out);
void write_csv(std::span<const LinkTrace> traces, std::ostream& out);
void write_cachegen(std::span<const LinkTrace> traces, std::ostream& out);

// `value` / 10^places with no more digits than it takes: decimal_text(1500, 3) is "1.5". value >=
// 0.
[[nodiscard]] std::string decimal_text(std::int64_t value, int places);

}  // namespace sluice
