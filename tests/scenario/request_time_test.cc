// What a request takes beside the network: every transfer's bytes come so much later, and what
// waits behind another one hides it.
#include "sim/serving/request_time.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/sim_clock.h"
#include "sim/net/fluid/fluid_network.h"
#include "sim/serving/run.h"
#include "tests/net/net_fixture.h"
#include "tests/scenario/scenario_files.h"

namespace sluice {
namespace {

using namespace net_test;
using testing::HasSubstr;

// 8 Mbit/s, 10 ms each way, no handshake: a byte takes 1 us, 10 kB take 10 ms and arrive 20 + 10 ms
// after the request.
struct Bench {
  explicit Bench(Duration request_time)
      : network(clock,
                std::make_unique<FluidNetwork>(clock, one_cable(constant(mbps(8)), 10ms), plain()),
                request_time),
        diary(clock, network) {}
  SimClock clock;
  RequestTimeNetwork network;
  Diary diary;
};

TEST(RequestTime, DelaysTheFirstByteAndWithItTheLast) {
  Bench bench(2ms);
  const TransferId id = bench.network.start(transfer(10'000), bench.diary);
  bench.clock.run();
  EXPECT_EQ(bench.diary.of(id).first_byte_at, kRunStart + 22ms + 1us);
  EXPECT_EQ(bench.diary.of(id).completed_at, kRunStart + 32ms);
  EXPECT_EQ(bench.diary.of(id).at_completion, DataSize::bytes(10'000));
}

// The second request's 2 ms pass while the first is answered: it ends 10 ms after it, as without.
TEST(RequestTime, IsHiddenBehindATransferThatIsUnderWay) {
  Bench bench(2ms);
  const TransferId first = bench.network.start(transfer(10'000), bench.diary);
  const TransferId second = bench.network.start(transfer(10'000), bench.diary);
  bench.clock.run();
  EXPECT_EQ(bench.diary.of(first).completed_at, kRunStart + 32ms);
  EXPECT_EQ(bench.diary.of(second).completed_at, kRunStart + 42ms);
}

TEST(RequestTime, ATransferThatIsCancelledInItNeverBegins) {
  Bench bench(2ms);
  const TransferId first = bench.network.start(transfer(10'000), bench.diary);
  const TransferId other = bench.network.start(transfer(10'000, 2), bench.diary);
  bench.clock.schedule(kRunStart + 1ms, [&] {
    EXPECT_EQ(bench.network.delivered(first), DataSize::zero());
    EXPECT_EQ(bench.network.cancel(first), DataSize::zero());
    bench.network.close(ConnectionGroup{2});
  });
  bench.clock.run();
  EXPECT_EQ(bench.diary.of(first).completed_at, std::nullopt);
  EXPECT_EQ(bench.diary.of(other).completed_at, std::nullopt);
  EXPECT_EQ(bench.network.usage(LinkId{0}).wire_sent, DataSize::zero());
}

// After 27 ms, 5 of 10 kB are here.
TEST(RequestTime, ACancelAnswersWhatHasCome) {
  Bench bench(2ms);
  const TransferId id = bench.network.start(transfer(10'000), bench.diary);
  bench.clock.schedule(kRunStart + 27ms, [&] {
    EXPECT_EQ(bench.network.delivered(id), DataSize::bytes(5'000));
    EXPECT_EQ(bench.network.cancel(id), DataSize::bytes(5'000));
    EXPECT_EQ(bench.network.cancel(id), DataSize::zero()) << "it is over";
  });
  bench.clock.run();
  EXPECT_EQ(bench.diary.of(id).completed_at, std::nullopt);
}

TEST(RequestTime, AFailureComesUnderTheNameThatStartGave) {
  Bench bench(2ms);
  Transfer nowhere = transfer(10'000);
  nowhere.to = NodeId{7};
  const TransferId id = bench.network.start(nowhere, bench.diary);
  bench.clock.run();
  EXPECT_EQ(bench.diary.of(id).why, TransferFailure::kNoRoute);
}

// One chunk of at most 1500 tokens: one request.
TEST(RequestTime, OfAScenarioIsInEachLoadsTtft) {
  const std::string one = replaced(kSmallScenario, "{low: 1000, high: 4000}", "1000");
  const Result<Scenario> without = read_text(one);
  const Result<Scenario> with =
      read_text(replaced(one, "slo: 2s", "store: {request_time: 5ms}\nslo: 2s"));
  ASSERT_TRUE(without.ok() && with.ok());
  EXPECT_NE(with->sha256, without->sha256) << "results depend on it";
  const auto plain_run = run_replicate(*without, without->policies.front(), 0, "fluid");
  const auto later_run = run_replicate(*with, with->policies.front(), 0, "fluid");
  ASSERT_TRUE(plain_run.ok() && later_run.ok());
  ASSERT_EQ(plain_run->loads.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i)
    EXPECT_EQ(*later_run->loads[i].first_token_at - *plain_run->loads[i].first_token_at, 5ms);
}

TEST(RequestTime, OfAScenarioIsAtMostAMinute) {
  const Result<Scenario> s =
      read_text(replaced(kSmallScenario, "slo: 2s", "store: {request_time: 61s}\nslo: 2s"));
  ASSERT_FALSE(s.ok());
  EXPECT_THAT(s.error().to_line(), HasSubstr("store.request_time: 61 s is too long"));
}

}  // namespace
}  // namespace sluice
