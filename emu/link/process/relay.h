// The TCP relay behind the emulator `process`: both directions of a link as schedules that all its
// connections share, and connections that pass bytes on by them.
// Where in the flow: emu/link/process/process_link.cc owns them; they live on its io_context's
// thread, which is the only one that touches them.
// Surprise: bytes that were there in time are scheduled from when the bytes before them left, not
// from when a timer woke us up, so that lateness never adds up.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "emu/host/lateness.h"
#include "sim/net/capacity.h"
#include "sim/net/network.h"

namespace sluice {

// When the schedule of a link began; of both directions.
using RelayBegin = std::optional<std::chrono::steady_clock::time_point>;

class RelayDirection {
 public:
  RelayDirection(const LinkSpec& link, RelayBegin& began)
      : spec_(link), capacity_(spec_), began_(&began) {}
  RelayDirection(const RelayDirection&) = delete;
  RelayDirection& operator=(const RelayDirection&) = delete;

  // Takes `payload` bytes that had come by now; when the last of them has left the link's start.
  // nullopt: never, the link is down for good.
  [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> depart(std::int64_t payload);
  void arrived(std::int64_t payload, Duration late);
  // How much to take at once: a millisecond at the rate of now.
  [[nodiscard]] std::size_t quantum() const;
  [[nodiscard]] Duration delay() const { return spec_.delay; }
  [[nodiscard]] LinkUsage usage() const;
  [[nodiscard]] const LatenessHistogram& lateness() const { return lateness_; }
  [[nodiscard]] DataSize on_time() const { return on_time_; }

 private:
  [[nodiscard]] Instant now() const;
  [[nodiscard]] DataSize on_wire(std::int64_t payload) const;

  LinkSpec spec_;
  LinkCapacity capacity_;
  RelayBegin* began_;
  Instant last_departure_{};
  DataSize sent_, delivered_, on_time_;
  LatenessHistogram lateness_;
};

class RelayedConnection;

// Joins the two sockets until both ways have ended or one broke; adds itself to `all`.
void join(boost::asio::ip::tcp::socket near, boost::asio::ip::tcp::socket far,
          std::shared_ptr<RelayDirection> up, std::shared_ptr<RelayDirection> down,
          std::vector<std::weak_ptr<RelayedConnection>>& all);
void close_all(std::vector<std::weak_ptr<RelayedConnection>>& all);

}  // namespace sluice
