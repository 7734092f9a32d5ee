// Errors, names, tables, files, hashes: what a user reads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "base/files.h"
#include "base/names.h"
#include "base/result.h"
#include "base/sha256.h"
#include "base/table.h"
#include "tests/temporary_folder.h"

namespace sluice {
namespace {

TEST(Error, IsOneLineWithFileLineFaultAndFix) {
  EXPECT_EQ(error_at("a.yaml", 3, "unknown key `sede`", "did you mean `seed`?").to_line(),
            "error: a.yaml:3: unknown key `sede`; did you mean `seed`?");
  EXPECT_EQ(error_in("", "two\nlines", "").to_line(), "error: two lines");
}

TEST(Error, SpellsOutBytesThatCouldSteerATerminal) {
  EXPECT_EQ(error_in("", "red \x1b[31m, bell \a", "").to_line(),
            "error: red \\x1b[31m, bell \\x07");
  EXPECT_EQ(error_in("", "stray \xd4, cut \xe2\x82", "").to_line(),
            "error: stray \\xd4, cut \\xe2\\x82");
  EXPECT_EQ(error_in("", "beyond ASCII \xc2\x9b", "").to_line(), "error: beyond ASCII \\xc2\\x9b");
  EXPECT_EQ(error_in("", "Größe in µs, 3 × €", "").to_line(), "error: Größe in µs, 3 × €");
}

TEST(Names, TheNearestKnownNameIsSuggested) {
  const std::vector<std::string> known{"seed", "replicates", "policies"};
  EXPECT_EQ(suggest_name("sede", known), "did you mean `seed`?");
  EXPECT_EQ(suggest_name("zzzzzzzz", known), "known: seed, replicates, policies");
}

TEST(Table, AlignsForPeopleAndQuotesForCsv) {
  Table table;
  table.column("name", "name", Align::kLeft).column("n", "n");
  table.row({"a,b", {"1 k", "1000"}}).row({"c", "22"});
  std::ostringstream text, csv;
  table.print_text(text);
  table.print_csv(csv);
  EXPECT_EQ(text.str(), "name    n\n----  ---\na,b   1 k\nc      22\n");
  EXPECT_EQ(csv.str(), "name,n\n\"a,b\",1000\nc,22\n");
}

TEST(Table, AColumnWithoutTitleIsForCsvAloneAndOneWithoutKeyForPeopleAlone) {
  Table table;
  table.column("", "rate").column("rate", "").column("high", "");
  table.row({"8 % [5, 12]", "0.08", "0.12"});
  std::ostringstream text, csv;
  table.print_text(text);
  table.print_csv(csv);
  EXPECT_EQ(text.str(), "       rate\n-----------\n8 % [5, 12]\n");
  EXPECT_EQ(csv.str(), "rate,high\n0.08,0.12\n");
}

TEST(Table, NotesStandBelowTheTableForPeopleAlone) {
  Table table;
  table.column("n", "n").row({"1"}).note("[1] a note");
  std::ostringstream text, csv;
  table.print_text(text);
  table.print_csv(csv);
  EXPECT_EQ(text.str(), "n\n-\n1\n[1] a note\n");
  EXPECT_EQ(csv.str(), "n\n1\n");
}

TEST(Sha256, MatchesTheStandardsExample) {
  // FIPS 180-4, one-block example.
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Files, AFailedWriteLeavesNothingBehind) {
  const auto folder = temporary_folder() / "sluice_files_test";
  std::filesystem::create_directories(folder / "taken");
  EXPECT_FALSE(write_file_atomically(folder / "taken", "x").ok());  // a folder stands there
  EXPECT_TRUE(write_file_atomically(folder / "good", "x").ok());
  std::size_t num_entries = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder))
    ++num_entries;
  EXPECT_EQ(num_entries, 2u);
  EXPECT_EQ(*read_file(folder / "good"), "x");
  EXPECT_FALSE(read_file(folder / "missing").ok());
  EXPECT_FALSE(read_file(folder / "taken").ok());
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace sluice
