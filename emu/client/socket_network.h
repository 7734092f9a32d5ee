// The network contract over real TCP: the chunks of one context, from one server.
// Where in the flow: step 2' of emulation, in the place of a simulated tier; the session does not
// see the difference.
// Surprises: connections are made at a load's first transfer and belong to the load; a transfer
// over n connections asks for n ranges; what arrived is verified against the catalogue before
// on_complete; topology and link are the caller's business.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "emu/client/client_connection.h"
#include "emu/client/encoded_memory.h"
#include "emu/client/received_chunks.h"
#include "emu/contents/catalogue.h"
#include "emu/contents/content_hash.h"

namespace sluice {

struct SocketNetworkOptions {
  ServerPlace server;
  PatienceLimits patience;
  std::shared_ptr<const Catalogue> catalogue;  // of the context that is loaded
  std::int32_t connections_min = 1;            // of each transfer, whatever a policy says
  // Of one transfer: a larger one, which only a server that lies has, fails as refused.
  DataSize transfer_max = DataSize::bytes(std::int64_t{8} << 30);
  // Of chunks that arrive; several networks may share it.
  std::shared_ptr<EncodedMemory> memory = EncodedMemory::of(DataSize::bytes(std::int64_t{1} << 30));
  // round_trip() before the kernel has measured one.
  std::optional<Duration> propagation;
  // From the link's schedule, where there is one; else zero.
  std::function<DataRate(std::optional<std::int64_t> chunk_index)> capacity_ahead;
  std::function<LinkUsage(LinkId)> usage;
};

class SocketNetwork final : public Network, private ReplyReceiver {
 public:
  // `clock` and `received` outlive the network.
  SocketNetwork(RealClock& clock, ReceivedChunks& received, SocketNetworkOptions options);
  ~SocketNetwork() override;
  SocketNetwork(const SocketNetwork&) = delete;
  SocketNetwork& operator=(const SocketNetwork&) = delete;

  // Nodes are not looked at. A transfer without content, or of a size that the catalogue does not
  // have, fails as refused.
  TransferId start(const Transfer& transfer, TransferListener& listener) override;
  DataSize cancel(TransferId id) override;
  [[nodiscard]] DataSize delivered(TransferId id) const override;
  void close(ConnectionGroup group) override;
  [[nodiscard]] std::optional<Duration> round_trip(NodeId from, NodeId to,
                                                   ConnectionGroup group) const override;
  [[nodiscard]] DataRate capacity_ahead(NodeId from, NodeId to, ConnectionGroup group,
                                        std::optional<std::int64_t> chunk_index) const override;
  [[nodiscard]] LinkUsage usage(LinkId link) const override;

  // Why the last transfer failed, as server or kernel put it; empty when none did.
  [[nodiscard]] const std::string& last_failure() const { return last_failure_; }

 private:
  struct Flight {
    Transfer transfer;
    TransferListener* listener = nullptr;
    std::shared_ptr<ChunkBuffer> bytes;
    BytesHash hash;  // of the bytes that came in order, from the first on
    DataSize received;
    DataSize progress_at;            // the next on_progress; zero: none
    std::set<std::uint64_t> parts;   // requests not answered yet
    std::optional<TimerId> refusal;  // of one that nothing is asked for
    bool is_over = false;            // its listener is being told
  };
  struct Part {
    TransferId transfer;
    std::shared_ptr<ClientConnection> connection;
    std::uint64_t end = 0;  // of its range, in the selection
    std::uint64_t at = 0;   // what has come of it
  };

  void on_reply_bytes(std::uint64_t request, std::uint64_t offset,
                      std::span<const std::byte> bytes) override;
  void on_reply_end(std::uint64_t request, std::uint64_t selection_bytes) override;
  void on_reply_lost(std::uint64_t request, TransferFailure why, const std::string& words) override;

  [[nodiscard]] std::optional<DataSize> size_of(const TransferContent& content) const;
  [[nodiscard]] bool is_as_stored(Flight& flight) const;
  void ask_for_parts(TransferId id, Flight& flight);
  void keep(const Flight& flight);
  void refuse_later(TransferId id, std::string words);
  void complete(TransferId id);
  void fail(TransferId id, TransferFailure why, std::string words);
  void drop_parts(Flight& flight);
  [[nodiscard]] std::shared_ptr<ClientConnection> connection(ConnectionGroup group,
                                                             std::size_t number);

  RealClock& clock_;
  ReceivedChunks& received_;
  SocketNetworkOptions options_;
  std::map<TransferId, Flight> flights_;
  std::map<std::uint64_t, Part> parts_;  // by request
  std::map<ConnectionGroup, std::vector<std::shared_ptr<ClientConnection>>> groups_;
  std::uint64_t next_transfer_ = 1, next_request_ = 1;
  mutable std::optional<Duration> round_trip_;  // the shortest that was measured
  std::string last_failure_;
};

}  // namespace sluice
