// A few of each fault. tests/bench/emu_soak.cc is the whole soak.
#include "tests/emu/soak.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "emu/host/namespace.h"
#include "tests/emu/client_bench.h"

namespace sluice {
namespace {

constexpr std::int64_t kTimes = 2;

void soak(bool over_link) {
  const auto report = run_soak({.times = kTimes,
                                .over_link = over_link,
                                .emu_program = std::string(SLUICE_BIN_DIR) + "/sluice-emu"});
  ASSERT_TRUE(report.ok()) << report.error().to_line();
  EXPECT_EQ(report->faults.size(), over_link ? 9U : 8U);
  EXPECT_THAT(complaints(*report, kTimes), testing::IsEmpty());
}

TEST(FaultSoak, OverTheEmulatedLinkNothingHangsLeaksOrIsWrong) {
  if (const auto missing = why_no_namespaces()) GTEST_SKIP() << *missing;
  soak(true);
}

TEST(FaultSoak, OverLoopbackNothingHangsLeaksOrIsWrong) {
  soak(false);
}

TEST(FaultSoak, TellsATensorThatIsNotWhatWasEncoded) {
  ClientBench bench;
  const LoadRecord load = bench.run(fetch_in_order);
  Catalogue catalogue = *bench.catalogue;
  EXPECT_EQ(count_wrong_tensors(catalogue, load, *bench.worker), 0);
  catalogue.chunks[1].versions[0].tensor_hash.low ^= 1;
  EXPECT_EQ(count_wrong_tensors(catalogue, load, *bench.worker), 1);
  bench.worker->release(ConnectionGroup{0});
  EXPECT_EQ(count_wrong_tensors(catalogue, load, *bench.worker), 3);
}

TEST(FaultSoak, ComplainsOfWhateverIsWrong) {
  SoakReport report;
  report.faults = {{.injected = 5, .completed = 4, .failed = 1}};
  EXPECT_THAT(complaints(report, 5), testing::IsEmpty());
  report.after.descriptors = 1;
  EXPECT_THAT(complaints(report, 6),
              testing::ElementsAre("server ended and restarted: 1 times not injected",
                                   testing::HasSubstr("leaked: 0 descriptors")));
  report.after = report.before;
  report.faults[0].hangs = report.faults[0].wrong_tensors = report.faults[0].wordless = 2;
  EXPECT_EQ(complaints(report, 5).size(), 3U);
}

TEST(Holdings, CountWhatIsOpenAndNoMoreOnceItIsClosed) {
  const Holdings before = current_holdings();
  {
    const Descriptor descriptor(::dup(STDERR_FILENO));
    std::thread thread([] { std::this_thread::sleep_for(std::chrono::milliseconds{100}); });
    const Holdings more = current_holdings();
    EXPECT_EQ(more.descriptors, before.descriptors + 1);
    EXPECT_EQ(more.threads, before.threads + 1);
    thread.join();
  }
  EXPECT_EQ(settled_holdings(before), before);
  if (const auto missing = why_no_namespaces()) GTEST_SKIP() << *missing;
  const auto space = NetworkNamespace::make();
  ASSERT_TRUE(space.ok());
  EXPECT_EQ(current_holdings().namespaces, before.namespaces + 1);
}

}  // namespace
}  // namespace sluice
