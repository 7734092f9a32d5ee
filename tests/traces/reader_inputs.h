// Sound files for every trace reader, changes that know what such files look like, and what every
// reader must give whatever the bytes.
// Where in the flow: under reader_fuzz_test.cc and the fuzz targets in tests/fuzz.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/random.h"
#include "traces/read.h"

namespace sluice::testing {

// A file to start from, under the name that its reader expects.
struct ReaderInput {
  std::string reader;
  std::string text;
  std::string name = "trace";
  std::string rate_column = {};  // where the reader asks for one
  // A file that lies beside it and stays as it is.
  std::string partner_name = {}, partner_text = {};
};
// At least one for each registered reader; the tests fail for a reader without.
[[nodiscard]] const std::vector<ReaderInput>& reader_inputs();
[[nodiscard]] std::vector<ReaderInput> reader_inputs(const std::string& reader);

// A few changes: other digits, or what readers must refuse spliced in, bytes flipped, cut, doubled;
// sometimes a line once more at the end.
[[nodiscard]] std::string mutate_trace(std::string text, RandomStream& random);

// Writes `text` in place of the input's into `folder`, with its partner, and reads it: with the
// reader named, or through detection.
[[nodiscard]] Result<std::vector<LinkTrace>> read_mutant(const ReaderInput& input,
                                                         const std::string& text,
                                                         const std::filesystem::path& folder,
                                                         bool name_the_reader);

// Empty when the outcome is one that callers can live with: sound traces, or one short error line
// with place and fix.
[[nodiscard]] std::string complaint(const Result<std::vector<LinkTrace>>& outcome);

}  // namespace sluice::testing
