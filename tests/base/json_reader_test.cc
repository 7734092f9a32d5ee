// The strict JSON reader: every fault is one line that names file, field and fix.
#include "base/json_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice {
namespace {

// The fault found when an object with `name`, `count` (1 to 10), and `items` with `size` (0 to 1)
// is read.
std::string fault_of(const std::string& text) {
  auto in = JsonReader::parse(text, "a.json");
  if (!in) return in.error().to_line();
  (void)in->text("name");
  (void)in->integer("count", {1, 10});
  for (JsonReader& item : in->objects("items")) (void)item.number("size", {0, 1});
  const Status status = in->finish();
  return status.ok() ? "" : status.error().to_line();
}

TEST(JsonReader, ReadsWhatItAskedFor) {
  EXPECT_EQ(fault_of(R"({"name": "x", "count": 10, "items": [{"size": 0}, {"size": 0.5}]})"), "");
}

TEST(JsonReader, AnUnknownKeyIsRefusedWithTheNearestKnownOne) {
  EXPECT_EQ(fault_of(R"({"name": "x", "count": 1, "items": [{"size": 1}], "nam": 1})"),
            "error: a.json: unknown key `nam`; did you mean `name`?");
  EXPECT_EQ(fault_of(R"({"name": "x", "count": 1, "items": [{"size": 1, "extra": 1}]})"),
            "error: a.json: unknown key `extra` in `items[0]`; known: size");
}

TEST(JsonReader, AMisspeltRequiredKeyIsNamedAsWritten) {
  EXPECT_EQ(fault_of(R"({"name": "x", "cuont": 1, "items": [{"size": 1}]})"),
            "error: a.json: unknown key `cuont`; did you mean `count`?");
}

TEST(JsonReader, AMissingKeyIsNamedWithItsPlace) {
  EXPECT_EQ(fault_of(R"({"name": "x", "count": 1, "items": [{"size": 1}, {}]})"),
            "error: a.json: `items[1].size` is missing; add it");
}

TEST(JsonReader, ValuesOutsideTheirRangeOrOfAnotherTypeAreRefused) {
  const std::string rest = R"("name": "x", "items": [{"size": 1}])";
  for (const char* count :
       {"0", "-1", "11", "1.0", "1e1", "\"1\"", "null", "true", "99999999999999999999"}) {
    EXPECT_THAT(fault_of(fmt::format(R"({{"count": {}, {}}})", count, rest)),
                testing::AllOf(testing::StartsWith("error: a.json: `count` is "),
                               testing::EndsWith("; write a whole number from 1 to 10")));
  }
  EXPECT_EQ(fault_of(R"({"name": "", "count": 1, "items": [{"size": 1}]})"),
            "error: a.json: `name` is empty; fill it in");
  EXPECT_EQ(fault_of(R"({"name": "x", "count": 1, "items": []})"),
            "error: a.json: `items` is [], not a list of objects; write it as [ { … } ]");
}

TEST(JsonReader, ARepeatedKeyIsRefused) {
  EXPECT_EQ(fault_of(R"({"name": "x", "count": 1, "items": [{"size": 1, "size": 0}]})"),
            "error: a.json: `size` stands twice in one object; keep one");
}

TEST(JsonReader, TextThatIsNotJsonIsAnErrorWithItsLine) {
  EXPECT_THAT(fault_of("{\n\"name\": \"x\",\n\"count\": ,"),
              testing::StartsWith("error: a.json:3: not JSON: "));
  EXPECT_THAT(fault_of(""), testing::StartsWith("error: a.json:1: not JSON: "));
  EXPECT_THAT(fault_of("{\"name\": 1e999}"), testing::StartsWith("error: a.json: not JSON: "));
  EXPECT_EQ(fault_of("[1]"), "error: a.json: not a JSON object; start it with `{`");
}

TEST(JsonReader, AMillionOpenBracketsAreAnErrorNotACrash) {
  EXPECT_THAT(fault_of(std::string(1'000'000, '[')),
              testing::StartsWith("error: a.json:1: not JSON: "));
}

}  // namespace
}  // namespace sluice
