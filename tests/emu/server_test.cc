// The server over loopback, with a client that has nothing in it: what is asked for comes, whole
// and in order; what cannot be is said; nothing that a client sends ends the server.
#include "emu/server/server.h"

#include <gmock/gmock.h>

#include <fstream>
#include <thread>

#include "base/random.h"
#include "tests/emu/made_contents.h"
#include "tests/emu/raw_client.h"
#include "tests/temporary_folder.h"

namespace sluice {
namespace {

std::unique_ptr<Server> serve(ServerOptions options = {},
                              std::shared_ptr<const Contents> contents = small_contents()) {
  auto socket = ListeningSocket::open("127.0.0.1", 0);
  auto server = Server::start(std::move(contents), std::move(*socket), std::move(options));
  if (!server) ADD_FAILURE() << server.error().to_line();
  return std::move(*server);
}

Get chunk(std::uint32_t number, std::uint32_t level) {
  return {.context = kTestContext, .chunk = number, .level = level};
}

std::vector<std::byte> stored(std::int64_t number, std::int64_t level) {
  return *small_contents()->find(ContextId{kTestContext}, number, level)->bytes.read_all();
}

TEST(Server, SendsEveryChunkAtEveryLevelAsItIsStored) {
  const auto server = serve();
  RawClient client(server->port());
  ASSERT_TRUE(client.greet().ok());
  std::uint64_t request = 0;
  for (std::uint32_t number = 0; number < 2; ++number) {
    for (std::uint32_t level = 0; level < 2; ++level) {
      const auto outcome = client.fetch(++request, chunk(number, level));
      EXPECT_EQ(outcome.bytes, stored(number, level));
      ASSERT_TRUE(outcome.done);
      EXPECT_EQ(outcome.done->selection_bytes, outcome.bytes.size());
    }
  }
  EXPECT_EQ(server->counts().requests, 4);
}

TEST(Server, SendsCatalogueAndText) {
  const auto server = serve();
  RawClient client(server->port());
  ASSERT_TRUE(client.greet().ok());
  const auto catalogue =
      client.fetch(1, {.context = kTestContext, .what = GetWhat::kCatalogue}).bytes;
  const std::string text(reinterpret_cast<const char*>(catalogue.data()), catalogue.size());
  const auto parsed = parse_catalogue(text, "served");
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->chunks.size(), 2U);
  const auto words = client.fetch(2, {.context = kTestContext, .what = GetWhat::kText, .chunk = 1});
  EXPECT_EQ(words.bytes.size(), 48U * 4);
  EXPECT_EQ(hash_bytes(words.bytes), parsed->chunks[1].text_hash);
}

TEST(Server, SendsRangesAndLayers) {
  const auto server = serve();
  RawClient client(server->port());
  ASSERT_TRUE(client.greet().ok());
  const auto all = stored(0, 0);
  Get get = chunk(0, 0);
  get.offset = 100;
  get.length = 50;
  EXPECT_EQ(client.fetch(1, get).bytes,
            std::vector<std::byte>(all.begin() + 100, all.begin() + 150));
  get.offset = all.size();
  EXPECT_TRUE(client.fetch(2, get).bytes.empty()) << "at the end: nothing, and done";
  get.offset = all.size() + 1;
  EXPECT_EQ(client.fetch(3, get).fail->code, FailCode::kBadRange);

  get = chunk(0, 0);
  get.layers = LayerRange{.first = 2, .count = 1};
  const auto& header = small_contents()->find(ContextId{kTestContext}, 0, 0)->header;
  auto expected = std::vector<std::byte>(all.begin(), all.begin() + header.header_size.bytes());
  for (const SectionEntry& section : header.sections) {
    if (section.first_entry != 2) continue;
    const auto begin = all.begin() + section.offset;
    expected.insert(expected.end(), begin, begin + section.size.bytes());
  }
  EXPECT_EQ(client.fetch(4, get).bytes, expected);
  get.layers = LayerRange{.first = 3, .count = 1};
  EXPECT_EQ(client.fetch(5, get).fail->code, FailCode::kBadRange);
}

TEST(Server, SaysWhatItDoesNotHave) {
  const auto server = serve();
  RawClient client(server->port());
  ASSERT_TRUE(client.greet().ok());
  EXPECT_EQ(client.fetch(1, chunk(2, 0)).fail->code, FailCode::kNotFound);
  EXPECT_EQ(client.fetch(2, chunk(0, 2)).fail->code, FailCode::kNotFound);
  EXPECT_EQ(client.fetch(3, {.context = 1}).fail->code, FailCode::kNotFound);
  Get beyond = chunk(0, 1);
  beyond.beyond = 0;
  EXPECT_EQ(client.fetch(4, beyond).fail->words, "level 1 does not extend level 0");
  EXPECT_EQ(client.fetch(5, chunk(0, 0)).bytes, stored(0, 0)) << "and goes on";
}

TEST(Server, AnswersRequestsSentBehindTheHelloInTheirOrder) {
  const auto server = serve();
  RawClient client(server->port());
  client.send(FrameType::kHello, 0, to_bytes(Hello{}));
  for (std::uint64_t request = 1; request <= 50; ++request)
    client.get(request, chunk(request % 2, request % 3 == 0 ? 1 : 0));
  EXPECT_EQ(client.next()->type, FrameType::kHelloReply);
  for (std::uint64_t request = 1; request <= 50; ++request) {
    EXPECT_EQ(client.outcome_of(request).bytes, stored(request % 2, request % 3 == 0 ? 1 : 0));
  }
}

TEST(Server, ServesSeveralConnectionsAtOnce) {
  const auto server = serve({.threads = 2});
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 8; ++i) {
    clients.push_back(std::make_unique<RawClient>(server->port()));
    ASSERT_TRUE(clients.back()->greet().ok());
    clients.back()->get(1, chunk(0, 0));
  }
  for (auto& client : clients) EXPECT_EQ(client->outcome_of(1).bytes, stored(0, 0));
  EXPECT_EQ(server->counts().connections_open, 8);
}

TEST(Server, EndsACancelledRequestAndAnswersTheNext) {
  const auto server = serve({.faults = {{.kind = FaultKind::kStall,
                                         .after = DataSize::bytes(1000),
                                         .delay = std::chrono::seconds{30}}}});
  RawClient client(server->port());
  ASSERT_TRUE(client.greet().ok());
  client.get(1, chunk(0, 0));
  client.get(2, chunk(1, 1));
  client.send(FrameType::kCancel, 1);
  client.send(FrameType::kCancel, 9);  // never made
  const auto first = client.outcome_of(1);
  ASSERT_TRUE(first.fail);
  EXPECT_EQ(first.fail->code, FailCode::kCancelled);
  EXPECT_EQ(first.bytes.size(), 1000U);
  EXPECT_EQ(client.outcome_of(2).bytes, stored(1, 1));
}

TEST(Server, AnswersPingsBetweenFrames) {
  const auto server = serve();
  RawClient client(server->port());
  ASSERT_TRUE(client.greet().ok());
  client.send(FrameType::kPing, 0, ping_bytes(77));
  const auto pong = client.next();
  ASSERT_TRUE(pong && pong->type == FrameType::kPong);
  EXPECT_EQ(*parse_ping(pong->payload), 77U);
}

TEST(Server, ClosesAfterTheLastAnswerWhenTheClientDoes) {
  const auto server = serve();
  RawClient client(server->port());
  ASSERT_TRUE(client.greet().ok());
  client.get(1, chunk(0, 0));
  client.send(FrameType::kClose, 0);
  EXPECT_EQ(client.outcome_of(1).bytes, stored(0, 0));
  EXPECT_FALSE(client.next());
  EXPECT_TRUE(client.ended);
}

TEST(Server, LooksAtNothingBehindAClose) {
  const auto server =
      serve({.faults = {{.kind = FaultKind::kStall, .delay = std::chrono::milliseconds{50}}}});
  RawClient client(server->port());
  ASSERT_TRUE(client.greet().ok());
  client.get(1, chunk(0, 0));
  client.send(FrameType::kClose, 0);
  client.send(std::vector<std::byte>(8192));
  EXPECT_EQ(client.outcome_of(1).bytes, stored(0, 0));
  EXPECT_FALSE(client.next());
  EXPECT_EQ(server->counts().protocol_errors, 0);
}

TEST(Server, ClosesAConnectionThatTakesNothingThoughBytesStandBehindItsClose) {
  ServerOptions options;
  options.limits.stall_time = std::chrono::milliseconds{100};
  const auto server = serve(options);
  RawClient client(server->port());
  ASSERT_TRUE(client.greet().ok());
  for (std::uint64_t request = 1; request <= 250; ++request) client.get(request, chunk(0, 0));
  client.send(FrameType::kClose, 0);
  client.send(std::vector<std::byte>(8192));
  for (int i = 0; i < 500 && server->counts().connections_open > 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  EXPECT_EQ(server->counts().connections_open, 0);
  EXPECT_LT(server->counts().bytes_sent.bytes(),
            250 * static_cast<std::int64_t>(stored(0, 0).size()));
}

TEST(Server, HoldsNoMoreRequestsThanItSays) {
  ServerOptions options{.faults = {{.kind = FaultKind::kStall}}};
  options.limits.requests_per_connection = 2;
  const auto server = serve(options);
  RawClient client(server->port());
  ASSERT_TRUE(client.greet().ok());
  for (std::uint64_t request = 1; request <= 3; ++request) client.get(request, chunk(0, 0));
  const auto third = client.outcome_of(3);  // at once, before the first
  ASSERT_TRUE(third.fail);
  EXPECT_EQ(third.fail->code, FailCode::kTooMany);
  EXPECT_EQ(client.outcome_of(1).bytes, stored(0, 0));
  EXPECT_EQ(client.outcome_of(2).bytes, stored(0, 0));
}

TEST(Server, HoldsNoMoreConnectionsThanItSays) {
  ServerOptions options;
  options.limits.connections = 2;
  const auto server = serve(options);
  RawClient first(server->port()), second(server->port());
  ASSERT_TRUE(first.greet().ok() && second.greet().ok());
  RawClient third(server->port());
  EXPECT_FALSE(third.greet().ok());
  EXPECT_EQ(first.fetch(1, chunk(0, 0)).bytes, stored(0, 0));
  EXPECT_EQ(server->counts().connections_refused, 1);
}

TEST(Server, ClosesConnectionsThatSayNothing) {
  ServerOptions options;
  options.limits.handshake_time = std::chrono::milliseconds{50};
  options.limits.idle_time = std::chrono::milliseconds{100};
  const auto server = serve(options);
  RawClient silent(server->port()), idle(server->port());
  ASSERT_TRUE(idle.greet().ok());
  EXPECT_FALSE(silent.next());
  EXPECT_FALSE(idle.next());
  EXPECT_TRUE(silent.ended && idle.ended);
}

TEST(Server, SaysWhatWasWrongAndClosesOnABrokenFrame) {
  const auto server = serve();
  RawClient client(server->port());
  ASSERT_TRUE(client.greet().ok());
  std::vector<std::byte> out;
  FrameWriter().write(FrameType::kPing, 0, ping_bytes(1), out);
  out.back() ^= std::byte{1};
  client.send(out);
  const auto frame = client.next();
  ASSERT_TRUE(frame && frame->type == FrameType::kFail);
  EXPECT_EQ(parse_fail(frame->payload)->words, "a frame's checksum is wrong");
  EXPECT_FALSE(client.next());
  EXPECT_TRUE(client.ended);
}

TEST(Server, SurvivesGarbage) {
  const auto server = serve();
  for (std::uint64_t round = 0; round < 50; ++round) {
    RandomStream random(round, "garbage", 0);
    std::vector<std::byte> bytes(1 + random.below(5000));
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.next_u64());
    RawClient client(server->port());
    const bool greets = round % 2 == 0;
    ASSERT_EQ(greets, greets && client.greet().ok());
    client.send(bytes);
  }
  RawClient client(server->port());
  ASSERT_TRUE(client.greet().ok());
  EXPECT_EQ(client.fetch(1, chunk(0, 0)).bytes, stored(0, 0));
}

TEST(Server, WithAKeyServesWhoHasItAndNobodyElse) {
  const SealKey key(Bytes32{std::byte{1}}), other(Bytes32{std::byte{2}});
  const auto server = serve({.key = key});
  RawClient client(server->port(), key);
  ASSERT_TRUE(client.greet().ok());
  EXPECT_EQ(client.fetch(1, chunk(0, 0)).bytes, stored(0, 0));
  RawClient wrong(server->port(), other);
  EXPECT_EQ(wrong.greet().error().what, "the server does not hold this key");
  RawClient none(server->port());
  EXPECT_EQ(none.greet().error().what, "the server asks for a key");
  none.get(1, chunk(0, 0));
  EXPECT_FALSE(none.next()) << "a request without the proof";
  EXPECT_TRUE(none.ended);
}

TEST(Server, WithoutAKeyRefusesAddressesThatOthersReach) {
  auto socket = ListeningSocket::open("0.0.0.0", 0);
  ASSERT_TRUE(socket.ok());
  EXPECT_THAT(Server::start(small_contents(), std::move(*socket), {}).error().what,
              testing::StartsWith("others may reach this address"));
}

TEST(Server, RefusesACongestionControlThatTheKernelLacks) {
  auto socket = ListeningSocket::open("127.0.0.1", 0);
  const auto server =
      Server::start(small_contents(), std::move(*socket), {.congestion = "no-such-one"});
  EXPECT_EQ(server.error().file, "--congestion");
}

TEST(ServerFaults, OfTheDiskPassTheFramesAndFailTheHash) {
  const auto server =
      serve({.faults = {{.kind = FaultKind::kCorruptDisk, .after = DataSize::bytes(700)}}});
  RawClient client(server->port());
  ASSERT_TRUE(client.greet().ok());
  const auto outcome = client.fetch(1, chunk(0, 0));
  ASSERT_TRUE(outcome.done);
  auto expected = stored(0, 0);
  expected[700] ^= std::byte{1};
  EXPECT_EQ(outcome.bytes, expected);
  EXPECT_EQ(client.fetch(2, chunk(0, 0)).bytes, stored(0, 0)) << "the next time it is sound";
}

TEST(ServerFaults, OfAFrameFailItsChecksum) {
  const auto server = serve({.faults = {{.kind = FaultKind::kCorruptFrame}}});
  RawClient client(server->port());
  ASSERT_TRUE(client.greet().ok());
  EXPECT_FALSE(client.fetch(1, chunk(0, 0)).done);
  EXPECT_EQ(client.fault, "a frame's checksum is wrong");
}

TEST(ServerFaults, ResetAfterSoManyBytes) {
  const auto server =
      serve({.faults = {{.kind = FaultKind::kReset, .after = DataSize::bytes(500)}}});
  RawClient client(server->port());
  ASSERT_TRUE(client.greet().ok());
  const auto outcome = client.fetch(1, chunk(0, 0));
  EXPECT_FALSE(outcome.done);
  EXPECT_LE(outcome.bytes.size(), 500U);
  EXPECT_TRUE(client.was_reset);
  EXPECT_EQ(server->fault_hits(), 1);
}

TEST(ServerFaults, StallForTheirTimeAndThenGoOn) {
  const auto server = serve(
      {.faults = {
           {.kind = FaultKind::kStall, .request = 1, .delay = std::chrono::milliseconds{80}}}});
  RawClient client(server->port());
  ASSERT_TRUE(client.greet().ok());
  EXPECT_TRUE(client.fetch(1, chunk(0, 0)).done);
  const auto began = std::chrono::steady_clock::now();
  EXPECT_EQ(client.fetch(2, chunk(0, 0)).bytes, stored(0, 0));
  EXPECT_GE(std::chrono::steady_clock::now() - began, std::chrono::milliseconds{80});
}

TEST(ServerFaults, HalfOpenEndWithTheIdleTime) {
  ServerOptions options{.faults = {{.kind = FaultKind::kHalfOpen, .after = DataSize::bytes(10)}}};
  options.limits.idle_time = std::chrono::milliseconds{100};
  const auto server = serve(options);
  RawClient client(server->port());
  ASSERT_TRUE(client.greet().ok());
  const auto outcome = client.fetch(1, chunk(0, 0));
  EXPECT_FALSE(outcome.done || outcome.fail);
  EXPECT_EQ(outcome.bytes.size(), 10U);
}

TEST(ServerFaults, RefuseEverySecondRequestWithoutEnd) {
  const auto server = serve();
  server->set_faults({{.kind = FaultKind::kRefuse, .request = 1, .times = 0, .every = 2}});
  RawClient client(server->port());
  ASSERT_TRUE(client.greet().ok());
  for (std::uint64_t request = 0; request < 6; ++request) {
    const auto outcome = client.fetch(request + 1, chunk(0, 0));
    EXPECT_EQ(outcome.fail.has_value(), request % 2 == 1) << request;
  }
  EXPECT_EQ(server->fault_hits(), 3);
}

TEST(ServerFaults, AreReadFromTheirText) {
  const auto fault = parse_fault("stall:request=3,times=2,every=5,after=100kB,delay=2s");
  ASSERT_TRUE(fault.ok());
  EXPECT_EQ(fault->kind, FaultKind::kStall);
  EXPECT_EQ(fault->request, 3);
  EXPECT_EQ(fault->times, 2);
  EXPECT_EQ(fault->every, 5);
  EXPECT_EQ(fault->after, DataSize::bytes(100'000));
  EXPECT_EQ(fault->delay, std::chrono::seconds{2});
  EXPECT_EQ(parse_fault("reset")->kind, FaultKind::kReset);
  EXPECT_EQ(parse_fault("rest:request=1").error().fix, "did you mean `reset`?");
  EXPECT_EQ(parse_fault("reset:request").error().what, "`request` is no key=value");
  EXPECT_EQ(parse_fault("reset:every=0").error().what, "every = 0 is below 1");
}

TEST(ServerStorage, ThatShrinksIsSaidAndOthersAreServed) {
  auto spec = small_spec();
  spec.folder = temporary_folder() / "shrinks";
  auto made = make_contents(spec);
  ASSERT_TRUE(made.ok());
  auto contents = std::make_shared<Contents>();
  ASSERT_TRUE(contents->add(std::move(*made)).ok());
  const auto server = serve({}, contents);
  std::filesystem::resize_file(*spec.folder / "chunk-0.level-0.kvb", 10);
  RawClient client(server->port());
  ASSERT_TRUE(client.greet().ok());
  EXPECT_EQ(client.fetch(1, chunk(0, 0)).fail->code, FailCode::kStorage);
  EXPECT_TRUE(client.fetch(2, chunk(0, 1)).done);
}

}  // namespace
}  // namespace sluice
