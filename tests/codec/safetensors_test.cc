// safetensors from strangers: everything that a header can lie about.
#include "codec/safetensors/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/random.h"
#include "tests/temporary_folder.h"

namespace sluice {
namespace {

using testing::HasSubstr;

std::string file_of(const std::string& header, std::size_t data_bytes) {
  std::string file(8, '\0');
  for (int i = 0; i < 8; ++i)
    file[static_cast<std::size_t>(i)] = static_cast<char>(header.size() >> (8 * i) & 0xFF);
  return file + header + std::string(data_bytes, 'x');
}

std::string error_of(const std::string& bytes) {
  const auto file = parse_safetensors(std::make_shared<const std::string>(bytes), "a.safetensors");
  return file.ok() ? "no error" : file.error().to_line();
}

std::string tensor(const std::string& name, const std::string& dtype, const std::string& shape,
                   const std::string& offsets) {
  return "\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape +
         ",\"data_offsets\":" + offsets + "}";
}

const std::string kGood =
    "{" + tensor("b", "F16", "[2,3]", "[4,16]") + "," + tensor("a", "F32", "[1]", "[0,4]") + "}";

TEST(Safetensors, TensorsComeInTheOrderOfTheirBytes) {
  const auto file =
      parse_safetensors(std::make_shared<const std::string>(file_of(kGood, 16)), "a.safetensors");
  ASSERT_TRUE(file.ok()) << file.error().to_line();
  ASSERT_EQ(file->tensors.size(), 2U);
  EXPECT_EQ(file->tensors[0].name, "a");
  EXPECT_EQ(file->tensors[1].shape, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(file->find("b")->data.size(), 12U);
  EXPECT_EQ(file->find("c"), nullptr);
}

TEST(Safetensors, EveryTruncationIsAnErrorThatNamesTheFile) {
  const std::string whole = file_of(kGood, 16);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THAT(error_of(whole.substr(0, size)), HasSubstr("error: a.safetensors: "));
  }
  EXPECT_THAT(error_of(whole + "x"), HasSubstr("1 bytes behind the last tensor"));
}

TEST(Safetensors, LiesInTheHeaderAreNamed) {
  const auto error = [](const std::string& tensors, std::size_t bytes) {
    return error_of(file_of("{" + tensors + "}", bytes));
  };
  EXPECT_THAT(error(tensor("a", "F16", "[2]", "[0,5]"), 5),
              HasSubstr("tensor `a`: its shape and dtype do not make the 5 bytes"));
  EXPECT_THAT(error(tensor("a", "F16", "[2]", "[0,40]"), 4),
              HasSubstr("outside the file's 4 bytes"));
  EXPECT_THAT(error(tensor("a", "F16", "[2]", "[4,0]"), 4), HasSubstr("outside"));
  EXPECT_THAT(error(tensor("a", "F16", "[4294967296,4294967296]", "[0,0]"), 0), HasSubstr("shape"));
  EXPECT_THAT(error(tensor("a", "F16", "[-1]", "[0,2]"), 2),
              HasSubstr("`shape` is not a list of whole numbers"));
  EXPECT_THAT(error(tensor("a", "F16", "[18446744073709551615]", "[0,2]"), 2),
              HasSubstr("`shape`"));
  EXPECT_THAT(error(tensor("a", "F16", "[1.5]", "[0,3]"), 3), HasSubstr("`shape`"));
  EXPECT_THAT(error(tensor("a", "BF61", "[1]", "[0,2]"), 2), HasSubstr("dtype `BF61` is unknown"));
  EXPECT_THAT(
      error(tensor("a", "F16", "[1]", "[0,2]") + "," + tensor("b", "F16", "[1]", "[3,5]"), 5),
      HasSubstr("`b` leaves a gap"));
  EXPECT_THAT(
      error(tensor("a", "F16", "[2]", "[0,4]") + "," + tensor("b", "F16", "[1]", "[2,4]"), 4),
      HasSubstr("`b` overlaps"));
  EXPECT_THAT(
      error(tensor("a", "F16", "[1]", "[0,2]") + "," + tensor("a", "F16", "[1]", "[2,4]"), 4),
      HasSubstr("`a` stands twice"));
  EXPECT_THAT(error("\"a\":{\"dtype\":\"F16\",\"shape\":[1]}", 2), HasSubstr("needs exactly"));
  EXPECT_THAT(error("\"a\":7", 0), HasSubstr("tensor `a`: needs exactly"));
  EXPECT_THAT(error("\"__metadata__\":{\"k\":1}", 0), HasSubstr("metadata `k` is not a string"));
}

TEST(Safetensors, HeadersThatAreNoObjectOrTooLargeOrTooDeepAreRefused) {
  EXPECT_THAT(error_of(file_of("[]", 0)), HasSubstr("not a JSON object"));
  EXPECT_THAT(error_of(file_of("{", 0)), HasSubstr("is not JSON at byte"));
  EXPECT_THAT(error_of(file_of("", 0)), HasSubstr("is not JSON"));
  EXPECT_THAT(error_of(file_of(std::string(100'000, '['), 0)), HasSubstr("nested deeper than 16"));
  std::string huge(8, '\xff');
  EXPECT_THAT(error_of(huge + "{}"), HasSubstr("passes the limit"));
}

TEST(Safetensors, RandomChangesOfTheHeaderNeverCrash) {
  RandomStream random(5);
  const std::string whole = file_of(kGood, 16);
  for (int round = 0; round < 20'000; ++round) {
    std::string changed = whole;
    for (std::uint64_t n = 1 + random.below(3); n > 0; --n)
      changed[random.below(8 + kGood.size())] = static_cast<char>(random.below(256));
    (void)error_of(changed);
  }
}

TEST(Safetensors, WhatIsWrittenIsReadBackAndTheSameEveryTime) {
  const std::string bytes = "\x01\x02\x03\x04";
  const std::vector<SafetensorsTensor> tensors{
      {"z", "I8", {4}, std::as_bytes(std::span(bytes))},
      {"a", "F16", {1, 2}, std::as_bytes(std::span(bytes))},
      {"none", "F16", {0, 2}, {}}};
  const std::filesystem::path path = temporary_folder() / "written.safetensors";
  ASSERT_TRUE(write_safetensors(path, {{"k", "v"}}, tensors).ok());
  const auto first = read_file(path);
  const auto file = read_safetensors(path);
  ASSERT_TRUE(file.ok()) << file.error().to_line();
  EXPECT_EQ(file->metadata.at("k"), "v");
  EXPECT_EQ(file->find("a")->shape, (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(file->find("none")->data.size(), 0U);
  ASSERT_TRUE(write_safetensors(path, {{"k", "v"}}, tensors).ok());
  EXPECT_EQ(*first, *read_file(path));
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace sluice
