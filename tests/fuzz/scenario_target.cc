// A scenario file: YAML with quantities, nodes, links, cross traffic, a workload and a matrix.
// What is accepted must be good for a run: a network that passes check_topology().
#include "base/random.h"
#include "sim/scenario/scenario.h"
#include "sim/serving/topology.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/target.h"

namespace sluice::fuzz {
namespace {

constexpr std::int64_t kLoadsDrawn = 1000;
constexpr std::size_t kCablesDrawn = 600, kVariantsDrawn = 4;

Finding check_network(const Scenario& s) {
  if (s.sha256.size() != 64) return "a scenario without a hash";
  if (s.workload.loads > kLoadsDrawn || s.topology.cables.size() > kCablesDrawn)
    return std::nullopt;
  const Result<ReplicateDraws> draws = draw_replicate(s, 0);
  if (!draws) return "an accepted scenario draws nothing: " + draws.error().to_line();
  for (const LoadDraw& load : draws->loads) {
    if (load.source >= s.topology.nodes.size() || load.destination >= s.topology.nodes.size() ||
        load.source == load.destination)
      return "a load that leads nowhere";
  }
  const TopologySpec topology = make_topology(s, *draws, {.replicate = 0, .first_load = 0});
  const Status sound = check_topology(topology, s.transport);
  if (!sound) return "an accepted scenario has a bad network: " + sound.error().to_line();
  return std::nullopt;
}

Finding run(std::span<const std::byte> input) {
  const MemoryFile file(input);
  const Result<std::vector<Scenario>> all = read_scenarios(file.path(), {});
  if (!all) {
    const std::string line = all.error().to_line();
    if (all.error().what.empty() || all.error().fix.empty()) return "an error without a word";
    if (line.find('\n') != std::string::npos) return "an error of more than one line";
    return std::nullopt;
  }
  for (std::size_t i = 0; i < std::min(all->size(), kVariantsDrawn); ++i) {
    if (Finding finding = check_network((*all)[i])) return finding;
  }
  return std::nullopt;
}

// What every scenario needs besides its network and workload.
constexpr std::string_view kHead = R"(name: fuzzed
question: Does it hold?
seed: 7
replicates: 3
tier: [fluid, burst]
model: mistral-7b
compute: {device: a40}
codec: {profile: cachegen-mistral-7b-published, chunk_tokens: 1500}
slo: 2s
policies: [recompute, "fixed:level=int8@token"]
workload: {arrivals: {every: 1s}, loads: 2, context_tokens: {low: 1000, high: 4000}}
)";

constexpr std::string_view kNetworks[] = {
    "link: {capacity: 1Gbit/s, delay: 10ms, loss: 0.01, jitter: 1ms, mtu: 9000B}\n",
    R"(link:
  capacity: {generator: markov, states: ["1Gbit/s:1s", "10Mbit/s:1s"]}
  trace_length: 60s
  delay: 10ms
  queue: {discipline: red, limit: 1MB, low: 100kB, high: 300kB}
matrix: {link.delay: [1ms, 2ms], slo: [2s, 3s]}
transport: {initial_window_segments: 20, pacing: true, congestion: cubic}
)",
    R"(topology:
  nodes: [store, switch, gpu]
  links:
    - {from: store, to: switch, capacity: 1Gbit/s, delay: 5ms, back: {capacity: 1Mbit/s, delay: 7ms}}
    - {name: last, from: switch, to: gpu, capacity: 10Gbit/s, delay: 1ms,
       queue: {discipline: codel, target: 5ms}, loss: {mean_good: 1s, mean_bad: 10ms}}
  sources: {store: 0.5}
  destinations: [gpu]
cross_traffic:
  - {kind: steady, from: store, to: gpu, rate: 10Mbit/s, packet: 500B}
  - {kind: transfers, mean_gap: 50ms, size: {low: 1kB, high: 1MB}, flows: 2}
  - {kind: tcp, from: gpu, to: store, connections: 2}
warm_up: 1s
)",
    R"(topology:
  preset: dc-leaf-spine
  leaves: 2
  spines: 2
  hosts_per_leaf: 2
  link: {capacity: 25Gbit/s, delay: 1us}
  fabric_link: {capacity: 100Gbit/s, delay: 1us}
)",
    R"(topology:
  preset: tiered
  tiers:
    - {name: host, share: 0.25, capacity: 100Gbit/s, delay: 1us}
    - {name: remote, share: 0.75, capacity: 1Gbit/s, delay: 20ms}
)",
    "topology: {preset: edge-shared, users: 3, link: {capacity: 1Gbit/s, delay: 10ms}}\n",
};

std::vector<Bytes> seeds() {
  std::vector<Bytes> inputs;
  for (const std::string_view network : kNetworks) {
    const std::string text = std::string(kHead) + std::string(network);
    const auto bytes = std::as_bytes(std::span(text));
    inputs.emplace_back(bytes.begin(), bytes.end());
  }
  return inputs;
}

// One word of the text becomes another that the parser knows or must refuse.
void swap_word(std::string& text, RandomStream& random) {
  static constexpr std::string_view kWords[] = {
      "0",      "-1",    "1e9",  "10ms",  "0s",    "1Gbit/s", "0bit/s", "9999999999999999999",
      "nan",    "any",   "gpu",  "store", "{}",    "[]",      "~",      "1B",
      "1GB",    "trace", "link", "loss",  "delay", "codel",   "0.5",    "2",
      "packet", "users", "null"};
  std::vector<std::pair<std::size_t, std::size_t>> words;  // begin, length
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = text.find_first_not_of(" \n:,{}[]\"", at);
    if (begin == std::string::npos) break;
    const std::size_t end = std::min(text.find_first_of(" \n:,{}[]\"", begin), text.size());
    words.emplace_back(begin, end - begin);
    at = end;
  }
  if (words.empty()) return;
  const auto [begin, length] = words[static_cast<std::size_t>(random.below(words.size()))];
  text.replace(begin, length, kWords[static_cast<std::size_t>(random.below(std::size(kWords)))]);
}

void mutate(Bytes& input, std::size_t bytes_max, std::uint64_t seed, const MutateBytes& change) {
  RandomStream random(seed);
  if (random.bernoulli(0.3)) return change(input, bytes_max);
  std::string text(reinterpret_cast<const char*>(input.data()), input.size());
  swap_word(text, random);
  if (text.size() > bytes_max) return change(input, bytes_max);
  const auto bytes = std::as_bytes(std::span(text));
  input.assign(bytes.begin(), bytes.end());
}

}  // namespace

Target scenario_target() {
  return {.name = "scenario", .run = run, .seeds = seeds, .mutate = mutate};
}

}  // namespace sluice::fuzz
