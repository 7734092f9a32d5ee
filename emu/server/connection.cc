#include "emu/server/connection.h"

#include <algorithm>

namespace sluice {
namespace asio = boost::asio;
namespace {

// How often a connection looks whether anything moved.
constexpr int kWatchesPerPatience = 4;

}  // namespace

Connection::Connection(asio::ip::tcp::socket socket, std::shared_ptr<const Contents> contents,
                       const ServerLimits& limits, std::optional<SealKey> key, const Bytes32& nonce,
                       FaultSchedule& faults, ServerTotals& totals)
    : socket_(std::move(socket)),
      watchdog_(socket_.get_executor()),
      pause_(socket_.get_executor()),
      contents_(std::move(contents)),
      limits_(limits),
      conversation_(*contents_, limits, std::move(key), nonce, faults),
      totals_(totals) {
  ++totals_.open;
}

Connection::~Connection() {
  --totals_.open;
}

void Connection::start() {
  asio::dispatch(socket_.get_executor(), [self = shared_from_this()] {
    self->read();
    self->watch();
  });
}

void Connection::read() {
  reading_ = true;
  const auto space = conversation_.space();
  socket_.async_read_some(asio::buffer(space.data(), space.size()),
                          [self = shared_from_this()](const auto& error, std::size_t count) {
                            self->on_read(error, count);
                          });
}

void Connection::on_read(const boost::system::error_code& error, std::size_t count) {
  reading_ = false;
  if (closed_ || half_open_) return;
  if (leaving_) return drain();
  if (error && error != asio::error::eof) return close();
  active_at_ = std::chrono::steady_clock::now();
  if (error) {
    conversation_.input_ended();
  } else {
    const std::int64_t before = conversation_.requests_seen();
    if (!conversation_.received(count)) ++totals_.protocol_errors;
    totals_.requests += conversation_.requests_seen() - before;
  }
  pump();
  if (conversation_.wants_input() && !closed_ && !half_open_ && !leaving_) read();
}

void Connection::pump() {
  if (sending_ || closed_ || half_open_ || leaving_) return;
  out_.clear();
  sent_ = 0;
  switch (conversation_.produce(out_)) {
    case NextStep::kRead:
      return;
    case NextStep::kSend:
      return send();
    case NextStep::kWait:
      return wait(conversation_.wait_time());
    case NextStep::kClose:
      return leave();
    case NextStep::kReset:
      return reset();
    case NextStep::kHalfOpen:
      half_open_ = true;
      active_at_ = std::chrono::steady_clock::now();
      return;
  }
}

void Connection::send() {
  sending_ = true;
  socket_.async_write_some(asio::buffer(out_.data() + sent_, out_.size() - sent_),
                           [self = shared_from_this()](const auto& error, std::size_t count) {
                             self->on_sent(error, count);
                           });
}

void Connection::on_sent(const boost::system::error_code& error, std::size_t count) {
  sending_ = false;
  if (closed_) return;
  if (error) return close();
  active_at_ = std::chrono::steady_clock::now();
  sent_ += count;
  totals_.bytes_sent += static_cast<std::int64_t>(count);
  if (sent_ < out_.size()) return send();
  pump();
}

void Connection::wait(Duration time) {
  pause_.expires_after(time);
  pause_.async_wait([self = shared_from_this()](const auto& error) {
    if (error || self->closed_) return;
    self->conversation_.stall_over();
    self->active_at_ = std::chrono::steady_clock::now();
    self->pump();
  });
}

// How long nothing may move as things stand.
Duration Connection::patience() const {
  if (leaving_ || !conversation_.greeted()) return limits_.handshake_time;
  if (sending_) return limits_.stall_time;
  return limits_.idle_time;
}

void Connection::watch() {
  const auto idle = std::chrono::steady_clock::now() - active_at_;
  if (!conversation_.is_stalled() && idle >= patience()) return close();
  const Duration least = std::min({limits_.handshake_time, limits_.stall_time, limits_.idle_time});
  watchdog_.expires_after(least / kWatchesPerPatience);
  watchdog_.async_wait([self = shared_from_this()](const auto& error) {
    if (!error && !self->closed_) self->watch();
  });
}

// The last bytes are on their way. Closing with unread input would reset the connection and might
// take them back, so what still comes is read and thrown away until the client closes too.
void Connection::leave() {
  leaving_ = true;
  boost::system::error_code ignored;
  socket_.shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  if (!reading_) drain();
}

void Connection::drain() {
  socket_.async_read_some(asio::buffer(discarded_),
                          [self = shared_from_this()](const auto& error, std::size_t /*count*/) {
                            if (self->closed_) return;
                            if (error) return self->close();
                            self->drain();
                          });
}

void Connection::reset() {
  boost::system::error_code ignored;
  socket_.set_option(asio::socket_base::linger(true, 0), ignored);
  close();
}

void Connection::close() {
  if (closed_) return;
  closed_ = true;
  boost::system::error_code ignored;
  watchdog_.cancel(ignored);
  pause_.cancel(ignored);
  socket_.close(ignored);
}

}  // namespace sluice
