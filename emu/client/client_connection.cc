#include "emu/client/client_connection.h"

#include <fmt/format.h>

#include <algorithm>

#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>

#include "base/assert.h"

namespace sluice {
namespace asio = boost::asio;
using Tcp = asio::ip::tcp;
using ErrorCode = boost::system::error_code;
namespace {

// Sent and not yet answered; servers hold a bounded number.
constexpr std::size_t kRequestsAhead = 64;
// Unsent answers to a server that asks and does not read.
constexpr std::size_t kToSendMax = std::size_t{256} << 10;

Error breach(const std::string& what) {
  return error_in("", what, "the server does not speak this protocol");
}

}  // namespace

ClientConnection::ClientConnection(RealClock& clock, ServerPlace server, PatienceLimits limits,
                                   ReplyReceiver& receiver)
    : clock_(clock), server_(std::move(server)), limits_(limits), receiver_(receiver) {}

void ClientConnection::ask(std::uint64_t request, const Get& get) {
  SLUICE_ASSERT(request > 0 && state_ != State::kClosed, "a request of an open connection");
  if (asked_.empty()) {
    attempts_ = 0;
    last_heard_ = last_progress_ = clock_.now();
  }
  asked_.push_back({.request = request, .get = get});
  if (state_ == State::kIdle) {
    connect();
  } else {
    send_requests();
  }
  watch();
}

void ClientConnection::cancel(std::uint64_t request) {
  const auto found = find(request);
  if (found == asked_.end()) return;
  const bool was_sent = found->sent;
  asked_.erase(found);
  if (!was_sent || !socket_) return;
  cancelled_.insert(request);
  writer_.write(FrameType::kCancel, request, {}, to_send_);
  flush();
}

void ClientConnection::close() {
  drop_socket();
  asked_.clear();
  if (watch_) clock_.cancel(*watch_);
  if (pause_) clock_.cancel(*pause_);
  state_ = State::kClosed;
}

std::optional<Duration> ClientConnection::round_trip() const {
  if (!socket_ || state_ == State::kConnecting) return std::nullopt;
  // native_handle() is not const in this Boost.
  return min_round_trip(const_cast<Tcp::socket&>(*socket_).native_handle());
}

void ClientConnection::connect() {
  state_ = State::kConnecting;
  const std::uint64_t generation = ++generation_;
  const auto fail_later = [&](TransferFailure why, const std::string& words) {
    clock_.schedule(clock_.now(), [self = shared_from_this(), generation, why, words] {
      if (self->generation_ == generation) self->break_off(why, words);
    });
  };
  Result<Descriptor> made = make_client_socket(server_);
  const Result<Bytes32> nonce = random_bytes();
  if (!made) return fail_later(TransferFailure::kLinkDown, made.error().to_line());
  if (!nonce) return fail_later(TransferFailure::kLinkDown, nonce.error().to_line());
  ErrorCode error;
  const auto address = asio::ip::make_address_v4(server_.address, error);
  if (error) return fail_later(TransferFailure::kLinkDown, server_.address + " is no address");
  socket_.emplace(clock_.io());
  socket_->assign(Tcp::v4(), made->get(), error);
  if (error) return fail_later(TransferFailure::kLinkDown, error.message());
  static_cast<void>(made->release());  // the socket's now
  reader_.emplace();
  writer_ = FrameWriter();
  handshake_.emplace(server_.key, *nonce);
  to_send_.clear();
  socket_->async_connect(Tcp::endpoint(address, server_.port),
                         [self = shared_from_this(), generation](const ErrorCode& failed) {
                           if (self->generation_ != generation) return;
                           if (failed) {
                             return self->break_off(TransferFailure::kLinkDown,
                                                    "no connection: " + failed.message());
                           }
                           self->on_connected();
                         });
}

// Without a key requests travel behind the Hello; with one they wait for the server's proof.
void ClientConnection::on_connected() {
  state_ = State::kGreeting;
  last_heard_ = clock_.now();
  to_send_ = handshake_->hello();
  send_requests();
  flush();
  receive();
}

void ClientConnection::send_requests() {
  const bool may_send = state_ == State::kOpen || (state_ == State::kGreeting && !server_.key);
  if (!may_send) return;
  std::size_t ahead = cancelled_.size();
  for (Asked& asked : asked_) {
    if (ahead++ >= kRequestsAhead) break;
    if (asked.sent) continue;
    Get get = asked.get;
    get.offset += asked.received;
    if (get.length != std::numeric_limits<std::uint64_t>::max()) get.length -= asked.received;
    writer_.write(FrameType::kGet, asked.request, to_bytes(get), to_send_);
    asked.sent = true;
  }
  flush();
}

void ClientConnection::flush() {
  if (!sending_.empty() || to_send_.empty() || !socket_ || state_ == State::kConnecting) return;
  sending_.swap(to_send_);
  asio::async_write(
      *socket_, asio::buffer(sending_),
      [self = shared_from_this(), generation = generation_](const ErrorCode& error, std::size_t) {
        self->sending_.clear();
        if (self->generation_ != generation) return self->flush();
        if (error) {
          return self->break_off(TransferFailure::kLinkDown, "sending failed: " + error.message());
        }
        self->flush();
      });
}

void ClientConnection::receive() {
  const auto space = reader_->space();
  socket_->async_read_some(asio::buffer(space.data(), space.size()),
                           [self = shared_from_this(), generation = generation_](
                               const ErrorCode& error, std::size_t count) {
                             if (self->generation_ != generation) return;
                             if (error) {
                               return self->break_off(TransferFailure::kLinkDown,
                                                      "the connection broke: " + error.message());
                             }
                             self->last_heard_ = self->clock_.now();
                             self->reader_->received(count);
                             self->handle_frames();
                             if (self->generation_ == generation && self->socket_) self->receive();
                           });
}

void ClientConnection::handle_frames() {
  const std::uint64_t generation = generation_;
  while (generation_ == generation && socket_) {
    const auto frame = reader_->next();
    if (!frame) return break_off(TransferFailure::kCorrupt, frame.error().what);
    if (!frame->has_value()) return;
    const Status handled = handle(**frame);
    if (generation_ != generation) return;
    if (!handled) return break_off(TransferFailure::kCorrupt, handled.error().what);
  }
}

Status ClientConnection::handle(const Frame& frame) {
  if (!handshake_->done()) {
    const Status greeted = handshake_->on_reply(frame, *reader_, writer_, to_send_);
    if (!greeted) {
      lose_all(TransferFailure::kRefused, greeted.error().to_line());
      return {};
    }
    state_ = State::kOpen;
    send_requests();
    flush();
    return {};
  }
  switch (frame.type) {
    case FrameType::kData:
      return on_data(frame);
    case FrameType::kDone:
      return on_done(frame);
    case FrameType::kFail:
      return on_fail(frame);
    case FrameType::kPing:
      return on_ping(frame);
    case FrameType::kPong: {
      const auto token = parse_ping(frame.payload);
      return token ? Status() : Status(token.error());
    }
    case FrameType::kClose:
      break_off(TransferFailure::kLinkDown, "the server closes");
      return {};
    default:
      return breach("a frame that servers do not send");
  }
}

Status ClientConnection::on_ping(const Frame& frame) {
  const auto token = parse_ping(frame.payload);
  if (!token) return token.error();
  if (to_send_.size() > kToSendMax) return breach("asks and does not read the answers");
  writer_.write(FrameType::kPong, 0, ping_bytes(*token), to_send_);
  flush();
  return {};
}

Status ClientConnection::on_data(const Frame& frame) {
  if (cancelled_.contains(frame.request)) return {};
  const auto asked = find(frame.request);
  if (asked == asked_.end() || !asked->sent) return breach("bytes that nobody asked for");
  const Result<Data> data = parse_data(frame.payload);
  if (!data) return data.error();
  if (data->offset != asked->get.offset + asked->received) return breach("bytes out of order");
  if (data->bytes.size() > asked->get.length - asked->received) return breach("bytes too many");
  asked->received += data->bytes.size();
  note_progress();
  receiver_.on_reply_bytes(frame.request, data->offset, data->bytes);
  return {};
}

Status ClientConnection::on_done(const Frame& frame) {
  const Result<Done> done = parse_done(frame.payload);
  if (!done) return done.error();
  note_progress();
  const bool was_cancelled = cancelled_.erase(frame.request) > 0;
  const auto asked = find(frame.request);
  if (asked == asked_.end()) return was_cancelled ? Status{} : breach("an end of nothing");
  asked_.erase(asked);
  send_requests();
  receiver_.on_reply_end(frame.request, done->selection_bytes);
  return {};
}

Status ClientConnection::on_fail(const Frame& frame) {
  const Result<Fail> fail = parse_fail(frame.payload);
  if (!fail) return fail.error();
  const std::string words = fmt::format("{}: {}", to_text(fail->code), fail->words);
  if (frame.request == 0) {
    const bool for_good = fail->code == FailCode::kVersion;
    if (for_good) {
      lose_all(TransferFailure::kRefused, words);
    } else {
      break_off(TransferFailure::kLinkDown, words);
    }
    return {};
  }
  note_progress();
  const bool was_cancelled = cancelled_.erase(frame.request) > 0;
  const auto asked = find(frame.request);
  if (asked == asked_.end()) return was_cancelled ? Status{} : breach("a failure of nothing");
  asked_.erase(asked);
  send_requests();
  receiver_.on_reply_lost(frame.request, TransferFailure::kRefused, words);
  return {};
}

void ClientConnection::note_progress() {
  attempts_ = 0;
  last_progress_ = clock_.now();
}

// One timer at a time looks whether the server has fallen silent.
void ClientConnection::watch() {
  if (watch_ || asked_.empty()) return;
  watch_ = clock_.schedule(last_heard_ + limits_.stall_time, [self = shared_from_this()] {
    self->watch_.reset();
    const bool waits = self->socket_ && !self->asked_.empty();
    if (waits && self->clock_.now() - self->last_heard_ >= self->limits_.stall_time) {
      self->break_off(TransferFailure::kStalled, "the server is silent");
    } else if (!self->socket_) {
      self->last_heard_ = self->clock_.now();  // between two attempts
    }
    self->watch();
  });
}

// The socket is of no more use; what is asked for goes on with another, unless patience has ended.
void ClientConnection::break_off(TransferFailure why, std::string words) {
  drop_socket();
  state_ = State::kIdle;
  if (asked_.empty()) return;
  ++attempts_;
  if (attempts_ >= limits_.attempts || clock_.now() - last_progress_ >= limits_.give_up_time)
    return lose_all(why, words);
  Duration pause = limits_.backoff_first;
  for (int i = 1; i < attempts_ && pause < limits_.backoff_max; ++i) pause *= 2;
  state_ = State::kPausing;
  pause_ = clock_.schedule_in(std::min(pause, limits_.backoff_max), [self = shared_from_this()] {
    self->pause_.reset();
    self->state_ = State::kIdle;
    self->last_heard_ = self->clock_.now();
    if (!self->asked_.empty()) self->connect();
  });
}

void ClientConnection::lose_all(TransferFailure why, const std::string& words) {
  drop_socket();
  state_ = State::kIdle;
  const std::deque<Asked> lost = std::exchange(asked_, {});
  const auto self = shared_from_this();  // a receiver may let go of this connection
  for (const Asked& asked : lost) {
    if (state_ == State::kClosed) return;
    receiver_.on_reply_lost(asked.request, why, words);
  }
}

void ClientConnection::drop_socket() {
  ++generation_;
  socket_.reset();
  to_send_.clear();
  cancelled_.clear();
  for (Asked& asked : asked_) asked.sent = false;
}

std::deque<ClientConnection::Asked>::iterator ClientConnection::find(std::uint64_t request) {
  return std::find_if(asked_.begin(), asked_.end(),
                      [request](const Asked& asked) { return asked.request == request; });
}

}  // namespace sluice
