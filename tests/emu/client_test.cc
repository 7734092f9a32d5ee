// Whole loads over loopback: real bytes, real decoding, tensors verified; and what becomes of them
// when server, connection or bytes fail.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "emu/client/catalogue_request.h"
#include "policies/registry.h"
#include "tests/emu/client_bench.h"

namespace sluice {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

Decision fetch_all_at_once(const Observation& o) {
  Decision all{{}, "all"};
  for (const ChunkView& c : o.chunks) {
    if (c.phase == ChunkPhase::kAbsent) all.actions.push_back(Fetch{.chunk = c.index});
  }
  return all;
}

// A server that greets one client and then sends it 64 MB of Pings, and reads nothing more.
class PingingServer {
 public:
  explicit PingingServer(std::span<const std::byte> payload) {
    auto socket = ListeningSocket::open("127.0.0.1", 0);
    place.port = socket->port();
    listener_ = socket->release();
    std::vector<std::byte> pings;
    FrameWriter writer;
    while (pings.size() < kBatch) writer.write(FrameType::kPing, 0, payload, pings);
    thread_ = std::jthread([this, pings] { serve(pings); });
  }
  ~PingingServer() {
    thread_.join();
    ::close(listener_);
  }

  ServerPlace place;

 private:
  static constexpr std::size_t kBatch = 64'000;
  void serve(const std::vector<std::byte>& pings) const {
    const int client = ::accept(listener_, nullptr, nullptr);
    FrameReader reader;
    FrameWriter writer;
    ServerHandshake handshake(std::nullopt, *random_bytes());
    std::vector<std::byte> reply;
    while (!handshake.done()) {
      const auto space = reader.space();
      const ssize_t got = ::recv(client, space.data(), space.size(), 0);
      if (got <= 0) break;
      reader.received(static_cast<std::size_t>(got));
      const auto frame = reader.next();
      if (!frame) break;
      if (*frame && !handshake.on_frame(**frame, reader, writer, reply)) break;
    }
    ::send(client, reply.data(), reply.size(), MSG_NOSIGNAL);
    for (int i = 0; i < 1000; ++i) {
      if (::send(client, pings.data(), pings.size(), MSG_NOSIGNAL) <= 0) break;
    }
    ::close(client);
  }
  int listener_ = -1;
  std::jthread thread_;
};

std::int64_t size_of_all(const Catalogue& catalogue, std::size_t level) {
  std::int64_t sum = 0;
  for (const ChunkEntry& chunk : catalogue.chunks) sum += chunk.versions[level].size.bytes();
  return sum;
}

TEST(Client, LoadsAContextAndVerifiesEveryTensor) {
  ClientBench bench;
  const LoadRecord load = bench.run(fetch_in_order);
  ASSERT_EQ(load.outcome, LoadOutcome::kCompleted) << load.failure;
  EXPECT_EQ(bench.num_verified(), 3);
  EXPECT_EQ(load.bytes_moved.bytes(), size_of_all(*bench.catalogue, 0));
  EXPECT_EQ(bench.server->counts().connections, 1);
  for (const std::int32_t chunk : {0, 1, 2}) {
    const auto cache = bench.worker->find(ConnectionGroup{0}, chunk);
    ASSERT_NE(cache, nullptr);
    EXPECT_EQ(hash_tensors(cache->view()), bench.catalogue->find(chunk, 0)->tensor_hash);
  }
  const ChunkRecord& first = load.chunks.at(0);
  EXPECT_LE(*first.requested_at, *first.first_byte_at);
  EXPECT_LE(*first.first_byte_at, *first.arrived_at);
  EXPECT_LE(*first.arrived_at, *first.compute_began_at);
  EXPECT_LE(*first.compute_began_at, *first.resident_at);
}

TEST(Client, LoadsOneAfterTheOtherUseTheirMemoryAgain) {
  // Room for the three decoded chunks of one load, not of two.
  ClientBench bench;
  bench.memory_max = bench.catalogue->chunks[0].decoded_size * 3;
  for (std::uint64_t i = 0; i < 4; ++i) {
    const LoadRecord load = bench.run(fetch_all_at_once);
    EXPECT_EQ(load.outcome, LoadOutcome::kCompleted) << load.failure;
    bench.worker->release(ConnectionGroup{i});
  }
}

TEST(Client, ADecodeThatDoesNotFitInMemoryFailsTheLoadInWords) {
  ClientBench bench;
  bench.memory_max = bench.catalogue->chunks[0].decoded_size;
  const LoadRecord load = bench.run(fetch_in_order);
  EXPECT_EQ(load.outcome, LoadOutcome::kFailed);
  EXPECT_THAT(load.failure, HasSubstr("do not fit"));
}

TEST(Client, ATransferOverSeveralConnectionsComesInRanges) {
  ClientBench bench;
  bench.connections = 4;
  const LoadRecord load = bench.run(fetch_in_order);
  EXPECT_EQ(load.outcome, LoadOutcome::kCompleted) << load.failure;
  EXPECT_EQ(bench.server->counts().connections, 4);
  EXPECT_EQ(bench.server->counts().requests, 12);
  EXPECT_EQ(load.bytes_moved.bytes(), size_of_all(*bench.catalogue, 0));
}

TEST(Client, AKeyOnBothSidesSealsWhatTravels) {
  const SealKey key(*random_bytes());
  ClientBench bench(client_contents(), {.key = key});
  EXPECT_EQ(bench.run(fetch_in_order).outcome, LoadOutcome::kCompleted);
}

TEST(Client, AServerThatWantsAnotherKeyIsRefusedForGood) {
  ClientBench bench(client_contents(), {.key = SealKey(*random_bytes())});
  bench.place.key.reset();
  const LoadRecord load = bench.run(fetch_in_order);
  EXPECT_EQ(load.outcome, LoadOutcome::kFailed);
  EXPECT_THAT(load.failure, HasSubstr("failed 6 times, last: the server refused it"));
  EXPECT_THAT(bench.network->last_failure(), HasSubstr("key"));
}

TEST(Client, RoundTripIsTheConfiguredOneUntilTheKernelKnowsBetter) {
  ClientBench bench;
  std::vector<Duration> seen;
  bench.run([&seen](const Observation& o) {
    seen.push_back(o.round_trip);
    return fetch_in_order(o);
  });
  EXPECT_EQ(seen.front(), 7ms);
  EXPECT_LT(seen.back(), 7ms);  // loopback
  EXPECT_GT(seen.back(), Duration::zero());
}

TEST(Client, ACancelledTransferLeavesItsConnectionToTheOthers) {
  ClientBench bench;
  bool cancelled = false;
  const auto rule = [&cancelled](const Observation& o) -> Decision {
    if (!std::exchange(cancelled, true)) return {{Fetch{.chunk = 0}, Cancel{.chunk = 0}}, "no"};
    return fetch_in_order(o);
  };
  const LoadRecord load = bench.run(rule);
  EXPECT_EQ(load.outcome, LoadOutcome::kCompleted) << load.failure;
  EXPECT_EQ(bench.server->counts().connections, 1);
}

TEST(Client, AResetInTheMiddleIsMendedByTheRestOfTheRange) {
  ClientBench bench;
  bench.server->set_faults(
      {{.kind = FaultKind::kReset, .request = 1, .times = 1, .after = DataSize::bytes(40'000)}});
  const LoadRecord load = bench.run(fetch_in_order);
  EXPECT_EQ(load.outcome, LoadOutcome::kCompleted) << load.failure;
  EXPECT_EQ(bench.server->fault_hits(), 1);
  EXPECT_EQ(bench.server->counts().connections, 2);
  // Nothing that had come was fetched twice, and the session saw no failure.
  EXPECT_EQ(load.bytes_moved.bytes(), size_of_all(*bench.catalogue, 0));
  EXPECT_EQ(load.chunks.at(1).reason, "next");
}

TEST(Client, ADamagedFrameIsFoundAndTheRestFetchedAnew) {
  ClientBench bench;
  bench.server->set_faults({{.kind = FaultKind::kCorruptFrame, .request = 0, .times = 1}});
  const LoadRecord load = bench.run(fetch_in_order);
  EXPECT_EQ(load.outcome, LoadOutcome::kCompleted) << load.failure;
  EXPECT_EQ(bench.num_verified(), 3);
  EXPECT_EQ(load.bytes_moved.bytes(), size_of_all(*bench.catalogue, 0));
}

TEST(Client, ADamagedChunkIsFoundByItsHashAndFetchedAgain) {
  ClientBench bench;
  bench.server->set_faults({{.kind = FaultKind::kCorruptDisk,
                             .request = 1,
                             .times = 1,
                             .after = DataSize::bytes(20'000)}});
  const LoadRecord load = bench.run(fetch_in_order);
  EXPECT_EQ(load.outcome, LoadOutcome::kCompleted) << load.failure;
  EXPECT_EQ(bench.num_verified(), 3);
  EXPECT_THAT(load.chunks.at(1).reason,
              HasSubstr("[after 1 failure, last: what came is not what was sent]"));
  EXPECT_EQ(load.bytes_moved.bytes(),
            size_of_all(*bench.catalogue, 0) + bench.catalogue->find(1, 0)->size.bytes());
}

TEST(Client, AChunkThatIsDamagedForEverFailsTheLoadAndIsNeverDelivered) {
  ClientBench bench;
  bench.server->set_faults({{.kind = FaultKind::kCorruptDisk,
                             .request = 0,
                             .times = 0,
                             .after = DataSize::bytes(2'000)}});
  const LoadRecord load = bench.run(fetch_in_order);
  EXPECT_EQ(load.outcome, LoadOutcome::kFailed);
  EXPECT_EQ(load.failure, "chunk 0 failed 6 times, last: what came is not what was sent");
  EXPECT_EQ(bench.num_verified(), 0);
}

TEST(Client, ARefusedLevelIsReplacedByTheNextOne) {
  ClientBench bench;
  bench.server->set_faults({{.kind = FaultKind::kRefuse, .request = 2, .times = 1}});
  const LoadRecord load = bench.run(fetch_in_order);
  EXPECT_EQ(load.outcome, LoadOutcome::kCompleted) << load.failure;
  EXPECT_EQ(load.chunks.at(2).level, "cachegen-released@2");
}

TEST(Client, AHalfOpenConnectionIsLeftForANewOne) {
  ClientBench bench;
  bench.server->set_faults(
      {{.kind = FaultKind::kHalfOpen, .request = 1, .times = 1, .after = DataSize::bytes(30'000)}});
  const LoadRecord load = bench.run(fetch_in_order);
  EXPECT_EQ(load.outcome, LoadOutcome::kCompleted) << load.failure;
  EXPECT_EQ(bench.server->counts().connections, 2);
  EXPECT_GE(load.ttft().value(), bench.patience.stall_time);
}

TEST(Client, AServerThatIsSilentForEverFailsTheLoad) {
  ClientBench bench;
  bench.patience.stall_time = 30ms;
  bench.patience.give_up_time = 100ms;
  bench.server->set_faults({{.kind = FaultKind::kHalfOpen, .request = 0, .times = 0}});
  const LoadRecord load = bench.run(fetch_in_order);
  EXPECT_EQ(load.failure, "chunk 0 failed 6 times, last: nothing came for too long");
}

TEST(Client, AServerThatIsKilledAndStartedAgainServesTheRest) {
  ClientBench bench;
  const std::uint16_t port = bench.place.port;
  std::optional<std::jthread> starter;
  const auto rule = [&](const Observation& o) {
    if (o.chunks[0].phase == ChunkPhase::kResident && !starter) {
      bench.server.reset();
      starter.emplace([&bench, port] {
        std::this_thread::sleep_for(150ms);
        bench.start_server(port);
      });
    }
    return fetch_in_order(o);
  };
  const LoadRecord load = bench.run(rule);
  starter->join();
  EXPECT_EQ(load.outcome, LoadOutcome::kCompleted) << load.failure;
  EXPECT_EQ(bench.num_verified(), 3);
}

TEST(Client, WithoutAServerTheLoadFailsInTime) {
  ClientBench bench;
  bench.patience.attempts = 3;
  bench.server.reset();
  const LoadRecord load = bench.run(fetch_in_order);
  EXPECT_EQ(load.failure, "chunk 0 failed 6 times, last: the link went down");
  EXPECT_THAT(bench.network->last_failure(), HasSubstr("no connection"));
}

TEST(Client, ARecomputedChunkTakesTheTimeOfItsProfile) {
  ClientBench bench;
  bench.adjust_plan = [](LoadPlan& plan) {
    for (ChunkPlan& chunk : plan.chunks) chunk.recompute_time = 40ms;
    plan.first_token_time = 30ms;
  };
  const auto rule = [](const Observation& o) -> Decision {
    for (const ChunkView& c : o.chunks) {
      if (c.phase == ChunkPhase::kAbsent) return {{Recompute{.chunk = c.index}}, "recompute"};
    }
    return {{Wait{}}, "wait"};
  };
  const LoadRecord load = bench.run(rule);
  EXPECT_EQ(load.outcome, LoadOutcome::kCompleted) << load.failure;
  EXPECT_GE(load.ttft().value(), 150ms);
  // The text of the chunks, 4 bytes a token, and nothing else.
  EXPECT_EQ(load.bytes_moved.bytes(), 3 * 512 * 4);
}

// A base and two digits, each a level.
std::shared_ptr<const Contents> embedded_contents() {
  static const std::shared_ptr<const Contents> kept = [] {
    ContentsSpec spec = small_spec();
    spec.levels = {*find_codec_level("sluice@embedded-2"), *find_codec_level("sluice@embedded-1"),
                   *find_codec_level("sluice@embedded-0")};
    auto made = make_contents(spec);
    auto contents = std::make_shared<Contents>();
    if (!made || !contents->add(std::move(*made))) ADD_FAILURE() << "no contents";
    return contents;
  }();
  return kept;
}

TEST(EmbeddedChunks, AreHeldAndDecodedOnceAtTheLevelThatTheyReached) {
  // Chunk 0 takes both digits in one request, chunk 1 in two.
  const auto rule = [](const Observation& o) -> Decision {
    const auto held = [](std::int32_t chunk, std::int32_t level) {
      return Fetch{.chunk = chunk, .level = level, .decode = DecodeWhen::kWhenAsked};
    };
    if (o.chunks[0].phase == ChunkPhase::kAbsent) return {{held(0, 2), held(1, 2)}, "bases"};
    if (o.transfers_in_flight > 0) return {{Wait{}}, "under way"};
    if (o.chunks[0].level == 2) return {{held(0, 0), held(1, 1)}, "digits"};
    if (o.chunks[1].level == 1) return {{held(1, 0)}, "the last digit"};
    return {{Start{}}, "all here"};
  };
  ClientBench bench(embedded_contents());
  const LoadRecord load = bench.run(rule);
  ASSERT_EQ(load.outcome, LoadOutcome::kCompleted) << load.failure;
  EXPECT_EQ(bench.num_verified(), 2) << "one decode for each chunk";
  for (const std::int32_t chunk : {0, 1}) {
    const auto cache = bench.worker->find(ConnectionGroup{0}, chunk);
    ASSERT_NE(cache, nullptr);
    EXPECT_EQ(hash_tensors(cache->view()), bench.catalogue->find(chunk, 0)->tensor_hash);
  }
}

TEST(EmbeddedChunks, OfABaseThatWasDecodedAreDecodedAgainWithTheirDigits) {
  const auto rule = [](const Observation& o) -> Decision {
    if (o.transfers_in_flight > 0) return {{Wait{}}, "under way"};
    for (const ChunkView& c : o.chunks) {
      if (c.phase == ChunkPhase::kAbsent) return {{Fetch{.chunk = c.index, .level = 2}}, "base"};
      if (c.phase == ChunkPhase::kResident && c.level == 2)
        return {{Fetch{.chunk = c.index, .level = 0}}, "digits"};
    }
    return {{Wait{}}, "decoding, or all here"};
  };
  ClientBench bench(embedded_contents());
  const LoadRecord load = bench.run(rule);
  ASSERT_EQ(load.outcome, LoadOutcome::kCompleted) << load.failure;
  EXPECT_EQ(bench.num_verified(), 4);
  EXPECT_EQ(load.chunks[0].level, "sluice@embedded-2");
}

TEST(EmbeddedChunks, ComeWholeByThePolicyAnytimeOnAFastLink) {
  ClientBench bench(embedded_contents());
  auto policy = make_policy(*parse_policy("anytime"), {});
  const LoadRecord load =
      bench.run([&policy](const Observation& o) { return (*policy)->decide(o); });
  ASSERT_EQ(load.outcome, LoadOutcome::kCompleted) << load.failure;
  EXPECT_EQ(bench.num_verified(), 2);
  for (const ChunkRecord& chunk : load.chunks) EXPECT_EQ(chunk.level, "sluice@embedded-2");
}

TEST(Client, ALoadThatIsGivenUpClosesItsConnections) {
  ClientBench bench;
  bench.server->set_faults({{.kind = FaultKind::kHalfOpen, .request = 0, .times = 0}});
  const LoadRecord load = bench.run(fetch_in_order, [&bench] {
    bench.clock.schedule_in(50ms, [&bench] { bench.clock.stop(); });
  });
  EXPECT_EQ(load.outcome, LoadOutcome::kUnfinished);
  EXPECT_EQ(bench.clock.run(bench.clock.now() + 1ms), 0u);
  const LoadRecord next = [&bench] {
    bench.server->set_faults({});
    return bench.run(fetch_in_order);
  }();
  EXPECT_EQ(next.outcome, LoadOutcome::kCompleted) << next.failure;
}

TEST(Client, FetchesACatalogueAndSaysWhyItCannot) {
  ClientBench bench;
  const auto catalogue = fetch_catalogue(bench.place, ContextId{kTestContext});
  ASSERT_TRUE(catalogue.ok()) << catalogue.error().to_line();
  EXPECT_EQ(catalogue->chunks.size(), 3u);
  const auto unknown = fetch_catalogue(bench.place, ContextId{99});
  ASSERT_FALSE(unknown.ok());
  EXPECT_THAT(unknown.error().to_line(), HasSubstr("gave no catalogue: not found"));
}

TEST(Client, AServerThatAsksAndDoesNotReadTheAnswersIsLeft) {
  const PingingServer server(ping_bytes(7));
  const auto catalogue = fetch_catalogue(server.place, ContextId{1}, {.attempts = 1});
  EXPECT_THAT(catalogue.error().to_line(), HasSubstr("asks and does not read the answers"));
}

TEST(Client, APingOfAWrongLengthIsABreach) {
  const PingingServer server(std::vector<std::byte>(9));
  const auto catalogue = fetch_catalogue(server.place, ContextId{1}, {.attempts = 1});
  EXPECT_THAT(catalogue.error().to_line(), HasSubstr("of a wrong length"));
}

TEST(Client, ATransferLargerThanAllowedIsRefusedBeforeMemoryIsTaken) {
  ClientBench bench;
  bench.transfer_max = DataSize::bytes(1000);
  EXPECT_EQ(bench.run(fetch_in_order).outcome, LoadOutcome::kFailed);
  EXPECT_THAT(bench.network->last_failure(), HasSubstr("more than the 1000 allowed"));
}

TEST(Client, DecodedBytesThatTheCatalogueDeniesAreNotAllocated) {
  ClientBench bench;
  auto lie = *bench.catalogue;
  for (ChunkEntry& chunk : lie.chunks) chunk.decoded_size = DataSize::bytes(1);
  bench.catalogue = std::make_shared<const Catalogue>(std::move(lie));
  const LoadRecord load = bench.run(fetch_in_order);
  EXPECT_EQ(load.outcome, LoadOutcome::kFailed);
  EXPECT_THAT(load.failure, HasSubstr("decoded bytes"));
  EXPECT_EQ(bench.num_verified(), 0);
}

TEST(ServerPlaces, AreReadFromText) {
  EXPECT_EQ(parse_server_place("127.0.0.1:7070")->port, 7070);
  for (const char* bad :
       {"", "127.0.0.1", ":80", "localhost:80", "127.0.0.1:0", "127.0.0.1:99999", "127.0.0.1:8x"}) {
    EXPECT_FALSE(parse_server_place(bad).ok()) << bad;
  }
}

}  // namespace
}  // namespace sluice
