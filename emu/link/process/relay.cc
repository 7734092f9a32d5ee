#include "emu/link/process/relay.h"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>

namespace sluice {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using SteadyClock = std::chrono::steady_clock;

namespace {

constexpr Duration kQuantum = std::chrono::milliseconds{1};
constexpr Duration kAhead = std::chrono::milliseconds{5};  // bytes are taken so long before they go
constexpr std::int64_t kHeaders = 52;                      // of each packet, as in simulation
constexpr std::size_t kMostAtOnce = 64 << 10;
constexpr std::size_t kMostHeld = 64 << 20;  // of one way of a connection, on the wire

}  // namespace

Instant RelayDirection::now() const {
  return kRunStart + std::chrono::duration_cast<Duration>(SteadyClock::now() - **began_);
}

DataSize RelayDirection::on_wire(std::int64_t payload) const {
  const std::int64_t room = spec_.mtu.bytes() - kHeaders;
  return DataSize::bytes(payload + (payload + room - 1) / room * kHeaders);
}

std::optional<SteadyClock::time_point> RelayDirection::depart(std::int64_t payload) {
  if (!*began_) *began_ = SteadyClock::now();
  const DataSize wire = on_wire(payload);
  // Within kAhead of the last departure the bytes count as having waited for it.
  const Instant start = now() <= last_departure_ + kAhead ? last_departure_ : now();
  const auto end = capacity_.finish(start, Nanobits::of(wire), std::nullopt);
  if (!end) return std::nullopt;
  last_departure_ = *end;
  sent_ += wire;
  return **began_ + end->time_since_epoch();
}

void RelayDirection::arrived(std::int64_t payload, Duration late) {
  delivered_ += on_wire(payload);
  lateness_.record(late);
  if (late <= std::chrono::milliseconds{1}) on_time_ += on_wire(payload);
}

std::size_t RelayDirection::quantum() const {
  const Instant at = *began_ ? now() : kRunStart;
  const std::int64_t bytes = (capacity_.rate(at, std::nullopt) * kQuantum).bytes();
  const std::int64_t least = spec_.mtu.bytes() - kHeaders;
  return std::min(static_cast<std::size_t>(std::max(bytes, least)), kMostAtOnce);
}

LinkUsage RelayDirection::usage() const {
  LinkUsage usage;
  usage.wire_sent = sent_;
  usage.wire_delivered = delivered_;
  usage.wire_in_flight = sent_ - delivered_;
  if (*began_) usage.capacity = capacity_.offered_until(now()).value_or(DataSize::zero());
  return usage;
}

// Two sockets, and one way of bytes in each direction between them.
class RelayedConnection : public std::enable_shared_from_this<RelayedConnection> {
 public:
  RelayedConnection(tcp::socket near, tcp::socket far, std::shared_ptr<RelayDirection> up,
                    std::shared_ptr<RelayDirection> down)
      : near_(std::move(near)),
        far_(std::move(far)),
        up_(near_, far_, std::move(up)),
        down_(far_, near_, std::move(down)) {
    error_code ignored;
    near_.set_option(tcp::no_delay(true), ignored);
    far_.set_option(tcp::no_delay(true), ignored);
  }
  void start() {
    read(up_);
    read(down_);
  }
  void close() {
    error_code ignored;
    near_.close(ignored);
    far_.close(ignored);
    for (Way* way : {&up_, &down_}) {
      way->read_timer.cancel();
      way->write_timer.cancel();
    }
  }

 private:
  // What travels: bytes, or with none of them the end of the stream.
  struct Piece {
    std::vector<char> bytes;
    SteadyClock::time_point arrival;
  };
  struct Way {
    Way(tcp::socket& source, tcp::socket& sink, std::shared_ptr<RelayDirection> shared)
        : from(source),
          to(sink),
          direction(std::move(shared)),
          read_timer(source.get_executor()),
          write_timer(source.get_executor()) {}
    tcp::socket& from;
    tcp::socket& to;
    std::shared_ptr<RelayDirection> direction;
    asio::steady_timer read_timer, write_timer;
    std::deque<Piece> pieces;
    std::size_t held = 0;  // bytes in `pieces`
    bool writing = false, full = false;
  };

  void read(Way& way) {
    if (way.held > kMostHeld) {
      way.full = true;
      return;
    }
    auto buffer = std::make_shared<std::vector<char>>(way.direction->quantum());
    way.from.async_read_some(asio::buffer(*buffer), [self = shared_from_this(), &way, buffer](
                                                        const error_code& error, std::size_t n) {
      if (error && error != asio::error::eof) return self->close();
      buffer->resize(n);
      self->take(way, std::move(*buffer));
    });
  }

  void take(Way& way, std::vector<char> bytes) {
    const bool end = bytes.empty();
    const auto departure = way.direction->depart(static_cast<std::int64_t>(bytes.size()));
    if (!departure) return;  // held until the connection is closed
    way.held += bytes.size();
    way.pieces.push_back({std::move(bytes), *departure + way.direction->delay()});
    if (!way.writing) write(way);
    if (end) return;
    way.read_timer.expires_at(*departure - kAhead);
    way.read_timer.async_wait([self = shared_from_this(), &way](const error_code& error) {
      if (!error) self->read(way);
    });
  }

  void write(Way& way) {
    way.writing = !way.pieces.empty();
    if (!way.writing) return;
    way.write_timer.expires_at(way.pieces.front().arrival);
    way.write_timer.async_wait([self = shared_from_this(), &way](const error_code& error) {
      if (!error) self->deliver(way);
    });
  }

  void deliver(Way& way) {
    Piece& piece = way.pieces.front();
    if (piece.bytes.empty()) {
      error_code ignored;
      way.to.shutdown(tcp::socket::shutdown_send, ignored);
      return;
    }
    way.direction->arrived(static_cast<std::int64_t>(piece.bytes.size()),
                           SteadyClock::now() - piece.arrival);
    asio::async_write(way.to, asio::buffer(piece.bytes),
                      [self = shared_from_this(), &way](const error_code& error, std::size_t n) {
                        if (error) return self->close();
                        self->delivered(way, n);
                      });
  }

  void delivered(Way& way, std::size_t size) {
    way.pieces.pop_front();
    way.held -= size;
    if (std::exchange(way.full, false)) read(way);
    write(way);
  }

  tcp::socket near_, far_;
  Way up_, down_;
};

void join(tcp::socket near, tcp::socket far, std::shared_ptr<RelayDirection> up,
          std::shared_ptr<RelayDirection> down,
          std::vector<std::weak_ptr<RelayedConnection>>& all) {
  std::erase_if(all, [](const auto& connection) { return connection.expired(); });
  const auto connection = std::make_shared<RelayedConnection>(std::move(near), std::move(far),
                                                              std::move(up), std::move(down));
  all.push_back(connection);
  connection->start();
}

void close_all(std::vector<std::weak_ptr<RelayedConnection>>& all) {
  for (const auto& weak : all) {
    if (const auto connection = weak.lock()) connection->close();
  }
  all.clear();
}

}  // namespace sluice
