// Drawing: text that cannot become markup, text that fits, ticks where people expect them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/drawing/canvas.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Markup, TextCannotBecomeAnElementOrLeaveItsAttribute) {
  EXPECT_EQ(escape_markup("<a href=\"x\" b='y'>&"),
            "&lt;a href=&quot;x&quot; b=&#39;y&#39;&gt;&amp;");
  EXPECT_EQ(Markup().leaf("p", {{"title", "\"><script>"}}, "</p>").take(),
            "<p title=\"&quot;&gt;&lt;script&gt;\">&lt;/p&gt;</p>\n");
}

TEST(Markup, BytesThatAreNoUtf8BecomeTheReplacementCharacterAndControlsVanish) {
  EXPECT_EQ(escape_markup("a\xFFz"), "a\uFFFDz");
  EXPECT_EQ(escape_markup("\xC0\xAF"), "\uFFFD\uFFFD") << "an overlong slash";
  EXPECT_EQ(escape_markup("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD") << "a surrogate";
  EXPECT_EQ(escape_markup("\xE2\x82"), "\uFFFD\uFFFD") << "cut off at the end";
  EXPECT_EQ(escape_markup(std::string_view("a\0\x1B\x7F\nb", 6)), "a b");
  EXPECT_EQ(escape_markup("µs – 1 s 😀"), "µs – 1 s 😀");
}

TEST(Markup, ShorteningCountsCharactersAndNeverCutsOneInTwo) {
  EXPECT_EQ(shorten("µµµµ", 4), "µµµµ");
  EXPECT_EQ(shorten("µµµµµ", 4), "µµµ…");
  EXPECT_EQ(shorten("", 4), "");
}

TEST(Scale, LinearTicksAreRoundAndWithinTheDomain) {
  EXPECT_THAT(Scale::linear({0, 100}, {0, 1}).ticks(5), ElementsAre(0, 20, 40, 60, 80, 100));
  EXPECT_THAT(Scale::linear({0, 0.7}, {0, 1}).ticks(7),
              ElementsAre(0, testing::DoubleEq(0.1), testing::DoubleEq(0.2), testing::DoubleEq(0.3),
                          testing::DoubleEq(0.4), testing::DoubleEq(0.5), testing::DoubleEq(0.6),
                          testing::DoubleEq(0.7)));
  EXPECT_THAT(Scale::linear({-3, 3}, {0, 1}).ticks(3), ElementsAre(-2, 0, 2));
  EXPECT_EQ(tick_text(3 * 0.1), "0.3");
  EXPECT_EQ(tick_text(-20), "−20");
  EXPECT_EQ(tick_text(-0.0), "0");
}

TEST(Scale, LogarithmicTicksAreOneTwoFiveWhileThereIsRoomAndPowersOfTenBeyond) {
  EXPECT_THAT(Scale::logarithmic({0.4, 12}, {0, 1}).ticks(8),
              ElementsAre(testing::DoubleEq(0.5), 1, 2, 5, 10));
  EXPECT_THAT(Scale::logarithmic({1, 1e6}, {0, 1}).ticks(6),
              ElementsAre(1, 10, 100, 1e3, 1e4, 1e5, 1e6));
}

TEST(Scale, ValuesOutsideTheDomainStayAtItsEnds) {
  const Scale linear = Scale::linear({0, 10}, {100, 200});
  EXPECT_EQ(linear.at(-5), 100);
  EXPECT_EQ(linear.at(5), 150);
  EXPECT_EQ(linear.at(50), 200);
  const Scale logarithmic = Scale::logarithmic({1, 100}, {0, 2});
  EXPECT_DOUBLE_EQ(logarithmic.at(10), 1);
  EXPECT_EQ(logarithmic.at(0), 0);
}

TEST(Scale, ADomainHoldsZeroAndEndsOnATickAndIsNeverEmpty) {
  EXPECT_EQ(nice_domain(12, 81, 5).low, 0);
  EXPECT_EQ(nice_domain(12, 81, 5).high, 100);
  EXPECT_EQ(nice_domain(-13, 4, 5).low, -15);
  EXPECT_EQ(nice_domain(-13, 4, 5).high, 5);
  EXPECT_GT(nice_domain(0, 0, 5).high, 0);
}

TEST(Canvas, AFileByItselfSaysWhatItIsAndStylesItself) {
  Canvas canvas = Canvas::standalone({200, 100}, ".a>b{fill:red}", "a <picture>");
  canvas.line({0, 1}, {2.25, 3}, "grid");
  EXPECT_EQ(canvas.take(),
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"200\" height=\"100\" viewBox=\"0 0 "
            "200 100\" "
            "role=\"img\" aria-label=\"a &lt;picture&gt;\"><style>.a&gt;b{fill:red}</style>\n"
            "<line class=\"grid\" x1=\"0\" y1=\"1\" x2=\"2.2\" y2=\"3\"/>\n</svg>\n");
}

}  // namespace
}  // namespace sluice
