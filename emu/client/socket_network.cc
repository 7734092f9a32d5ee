#include "emu/client/socket_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "emu/client/assemble.h"

namespace sluice {

SocketNetwork::SocketNetwork(RealClock& clock, ReceivedChunks& received,
                             SocketNetworkOptions options)
    : clock_(clock), received_(received), options_(std::move(options)) {}

SocketNetwork::~SocketNetwork() {
  for (auto& [id, flight] : flights_) drop_parts(flight);
  while (!groups_.empty()) close(groups_.begin()->first);
}

// What the catalogue says that travels for it; nullopt: the server has no such thing.
std::optional<DataSize> SocketNetwork::size_of(const TransferContent& content) const {
  const Catalogue& catalogue = *options_.catalogue;
  if (!content.level) {
    const auto chunk = static_cast<std::size_t>(content.chunk);
    if (content.chunk < 0 || chunk >= catalogue.chunks.size()) return std::nullopt;
    return catalogue.chunks[chunk].text_size;
  }
  const ChunkVersion* version = catalogue.find(content.chunk, *content.level);
  if (!version) return std::nullopt;
  if (!content.beyond) return version->size;
  const ChunkVersion* lower = catalogue.find(content.chunk, *content.beyond);
  return lower ? version->size_beyond(*lower) : std::nullopt;
}

TransferId SocketNetwork::start(const Transfer& transfer, TransferListener& listener) {
  const TransferId id{next_transfer_++};
  Flight& flight = flights_[id];
  flight.transfer = transfer;
  flight.listener = &listener;
  flight.progress_at = transfer.progress_every;
  const std::optional<DataSize> size =
      transfer.content ? size_of(*transfer.content) : std::optional<DataSize>();
  if (!size) {
    refuse_later(id, "the server's catalogue has nothing like this");
    return id;
  }
  if (*size > options_.transfer_max) {
    refuse_later(id, fmt::format("the catalogue says {} bytes, which is more than the {} allowed",
                                 size->bytes(), options_.transfer_max.bytes()));
    return id;
  }
  // The header of a refinement travels with it, which plans may not count.
  flight.transfer.size = *size;
  flight.bytes = options_.memory->borrow(static_cast<std::size_t>(size->bytes()));
  ask_for_parts(id, flight);
  return id;
}

// start() tells its listener nothing before it has returned.
void SocketNetwork::refuse_later(TransferId id, std::string words) {
  flights_.at(id).refusal = clock_.schedule(clock_.now(), [this, id, words = std::move(words)] {
    flights_.at(id).refusal.reset();
    fail(id, TransferFailure::kRefused, words);
  });
}

void SocketNetwork::ask_for_parts(TransferId id, Flight& flight) {
  const TransferContent& content = *flight.transfer.content;
  const std::int64_t size = flight.transfer.size.bytes();
  const std::int64_t wanted = std::max(flight.transfer.connections, options_.connections_min);
  const std::int64_t num_parts = std::clamp<std::int64_t>(size, 1, wanted);
  Get get{.context = options_.catalogue->context.value,
          .what = content.level ? GetWhat::kChunk : GetWhat::kText,
          .chunk = static_cast<std::uint32_t>(content.chunk)};
  if (content.level) get.level = static_cast<std::uint32_t>(*content.level);
  if (content.level && content.beyond) get.beyond = static_cast<std::uint32_t>(*content.beyond);
  for (std::int64_t i = 0; i < num_parts; ++i) {
    const auto begin = static_cast<std::uint64_t>(size * i / num_parts);
    const auto end = static_cast<std::uint64_t>(size * (i + 1) / num_parts);
    get.offset = begin;
    get.length = end - begin;
    const std::uint64_t request = next_request_++;
    Part part{.transfer = id,
              .connection = connection(flight.transfer.group, static_cast<std::size_t>(i)),
              .end = end,
              .at = begin};
    flight.parts.insert(request);
    const auto asked = part.connection;
    parts_.emplace(request, std::move(part));
    asked->ask(request, get);
  }
}

std::shared_ptr<ClientConnection> SocketNetwork::connection(ConnectionGroup group,
                                                            std::size_t number) {
  auto& connections = groups_[group];
  while (connections.size() <= number) {
    connections.push_back(std::make_shared<ClientConnection>(
        clock_, options_.server, options_.patience, static_cast<ReplyReceiver&>(*this)));
  }
  return connections[number];
}

void SocketNetwork::on_reply_bytes(std::uint64_t request, std::uint64_t offset,
                                   std::span<const std::byte> bytes) {
  const auto found = parts_.find(request);
  if (found == parts_.end()) return;
  const TransferId id = found->second.transfer;
  Flight& flight = flights_.at(id);
  const auto room = flight.bytes->span();
  if (offset > room.size() || bytes.size() > room.size() - offset)
    return fail(id, TransferFailure::kCorrupt, "more bytes came than the chunk has");
  std::memcpy(room.data() + offset, bytes.data(), bytes.size());
  if (offset == flight.hash.num_bytes()) flight.hash.add(bytes);
  found->second.at += bytes.size();
  const bool is_first = flight.received == DataSize::zero();
  flight.received += DataSize::bytes(static_cast<std::int64_t>(bytes.size()));
  if (is_first) flight.listener->on_first_byte(id);
  // The listener may have cancelled it.
  const auto flying = flights_.find(id);
  if (flying == flights_.end()) return;
  const DataSize every = flying->second.transfer.progress_every;
  if (every == DataSize::zero() || flying->second.received < flying->second.progress_at) return;
  const DataSize received = flying->second.received;
  while (flying->second.progress_at <= received) flying->second.progress_at += every;
  flying->second.listener->on_progress(id, received);
}

void SocketNetwork::on_reply_end(std::uint64_t request, std::uint64_t selection_bytes) {
  const auto found = parts_.find(request);
  if (found == parts_.end()) return;
  const Part part = found->second;
  parts_.erase(found);
  Flight& flight = flights_.at(part.transfer);
  flight.parts.erase(request);
  const bool is_whole = part.at == part.end && selection_bytes == flight.bytes->span().size();
  if (!is_whole) {
    return fail(part.transfer, TransferFailure::kCorrupt,
                fmt::format("the server has {} bytes of it in the place of {}", selection_bytes,
                            flight.bytes->span().size()));
  }
  if (flight.parts.empty()) complete(part.transfer);
}

void SocketNetwork::on_reply_lost(std::uint64_t request, TransferFailure why,
                                  const std::string& words) {
  const auto found = parts_.find(request);
  if (found == parts_.end()) return;
  const TransferId id = found->second.transfer;
  parts_.erase(found);
  flights_.at(id).parts.erase(request);
  fail(id, why, words);
}

// Refinements alone have no hash: what they make with their base is verified by the decoder. What
// came in order was hashed as it came; parts that other connections brought are left.
bool SocketNetwork::is_as_stored(Flight& flight) const {
  const TransferContent& content = *flight.transfer.content;
  const auto bytes = std::as_const(*flight.bytes).span();
  flight.hash.add(bytes.subspan(flight.hash.num_bytes()));
  const std::uint64_t hash = flight.hash.digest();
  if (!content.level) {
    const ChunkEntry& chunk = options_.catalogue->chunks[static_cast<std::size_t>(content.chunk)];
    return chunk.text_size == DataSize::zero() || hash == chunk.text_hash;
  }
  if (content.beyond) return true;
  return hash == options_.catalogue->find(content.chunk, *content.level)->encoded_hash;
}

void SocketNetwork::keep(const Flight& flight) {
  const TransferContent& content = *flight.transfer.content;
  if (!content.level) return;  // nobody reads the text: prefill is a matter of time here
  received_.put(flight.transfer.group, content.chunk, *content.level,
                {.bytes = flight.bytes, .beyond = content.beyond});
}

void SocketNetwork::complete(TransferId id) {
  Flight& flight = flights_.at(id);
  if (!is_as_stored(flight))
    return fail(id, TransferFailure::kCorrupt, "its hash is not the catalogue's");
  keep(flight);
  flight.is_over = true;
  flight.listener->on_complete(id);
  flights_.erase(id);
}

void SocketNetwork::fail(TransferId id, TransferFailure why, std::string words) {
  const auto found = flights_.find(id);
  if (found == flights_.end() || found->second.is_over) return;
  last_failure_ = std::move(words);
  drop_parts(found->second);
  found->second.is_over = true;
  found->second.listener->on_failure(id, why);
  flights_.erase(id);
}

void SocketNetwork::drop_parts(Flight& flight) {
  if (flight.refusal) clock_.cancel(*flight.refusal);
  flight.refusal.reset();
  for (const std::uint64_t request : flight.parts) {
    parts_.at(request).connection->cancel(request);
    parts_.erase(request);
  }
  flight.parts.clear();
}

DataSize SocketNetwork::cancel(TransferId id) {
  const auto found = flights_.find(id);
  if (found == flights_.end() || found->second.is_over) return DataSize::zero();
  drop_parts(found->second);
  const DataSize received = found->second.received;
  flights_.erase(found);
  return received;
}

DataSize SocketNetwork::delivered(TransferId id) const {
  const auto found = flights_.find(id);
  return found == flights_.end() ? DataSize::zero() : found->second.received;
}

void SocketNetwork::close(ConnectionGroup group) {
  for (auto flight = flights_.begin(); flight != flights_.end();) {
    if (flight->second.transfer.group != group || flight->second.is_over) {
      ++flight;
      continue;
    }
    drop_parts(flight->second);
    flight = flights_.erase(flight);
  }
  const auto found = groups_.find(group);
  if (found == groups_.end()) return;
  round_trip_ = round_trip({}, {}, group);
  for (const auto& connection : found->second) connection->close();
  groups_.erase(found);
}

std::optional<Duration> SocketNetwork::round_trip(NodeId /*from*/, NodeId /*to*/,
                                                  ConnectionGroup group) const {
  const auto found = groups_.find(group);
  if (found != groups_.end()) {
    for (const auto& connection : found->second) {
      const std::optional<Duration> measured = connection->round_trip();
      if (measured) round_trip_ = std::min(round_trip_.value_or(*measured), *measured);
    }
  }
  return round_trip_ ? round_trip_ : options_.propagation;
}

DataRate SocketNetwork::capacity_ahead(NodeId /*from*/, NodeId /*to*/, ConnectionGroup /*group*/,
                                       std::optional<std::int64_t> chunk_index) const {
  return options_.capacity_ahead ? options_.capacity_ahead(chunk_index) : DataRate::zero();
}

LinkUsage SocketNetwork::usage(LinkId link) const {
  return options_.usage ? options_.usage(link) : LinkUsage{};
}

}  // namespace sluice
