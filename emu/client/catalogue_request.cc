#include "emu/client/catalogue_request.h"

#include <string_view>

namespace sluice {
namespace {

constexpr std::uint64_t kRequest = 1;

class CatalogueReceiver final : public ReplyReceiver {
 public:
  explicit CatalogueReceiver(RealClock& clock) : clock_(&clock) {}
  void on_reply_bytes(std::uint64_t /*request*/, std::uint64_t /*offset*/,
                      std::span<const std::byte> bytes) override {
    if (text.size() + bytes.size() > kCatalogueBytesMax) {
      failure = "it is too long for a catalogue";
      return clock_->stop();
    }
    text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  void on_reply_end(std::uint64_t /*request*/, std::uint64_t selection_bytes) override {
    if (selection_bytes != text.size()) failure = "it came in part";
    clock_->stop();
  }
  void on_reply_lost(std::uint64_t /*request*/, TransferFailure /*why*/,
                     const std::string& words) override {
    failure = words;
    clock_->stop();
  }

  std::string text, failure;

 private:
  RealClock* clock_;
};

}  // namespace

Result<Catalogue> fetch_catalogue(const ServerPlace& server, ContextId context,
                                  const PatienceLimits& patience) {
  RealClock clock;
  CatalogueReceiver receiver(clock);
  const auto connection = std::make_shared<ClientConnection>(clock, server, patience, receiver);
  clock.schedule(kRunStart, [&] {
    connection->ask(kRequest, {.context = context.value, .what = GetWhat::kCatalogue});
  });
  clock.run();
  connection->close();
  if (!receiver.failure.empty()) {
    return error_in(server.name(), "gave no catalogue: " + receiver.failure,
                    "is `./sluice emu serve` running there, with this context and this key?");
  }
  return parse_catalogue(receiver.text, "the catalogue of " + server.name());
}

}  // namespace sluice
