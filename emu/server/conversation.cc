#include "emu/server/conversation.h"

#include <algorithm>
#include <variant>

#include "base/assert.h"

namespace sluice {
namespace {

Error broken(const char* what) {
  return error_in("", what, "the client does not keep to the protocol");
}

}  // namespace

Conversation::Conversation(const Contents& contents, const ServerLimits& limits,
                           std::optional<SealKey> key, const Bytes32& nonce, FaultSchedule& faults)
    : contents_(contents),
      limits_(limits),
      faults_(faults),
      handshake_(std::move(key), nonce),
      reader_(kRequestPayloadMax) {
  SLUICE_ASSERT(limits.data_bytes > 0 && limits.data_bytes <= kDataBytesMax,
                "Data frames of an impossible size");
}

Status Conversation::received(std::size_t count) {
  reader_.received(count);
  while (!failed_ && !input_ended_) {
    const auto frame = reader_.next();
    if (frame && !*frame) return {};
    const Status handled = frame ? on_frame(**frame) : Status(frame.error());
    if (handled) continue;
    failed_ = true;
    // Words only for a client whose right to them is proven, or needs no proof.
    if (handshake_.done()) {
      writer_.write(FrameType::kFail, 0,
                    to_bytes(Fail{.code = FailCode::kProtocol, .words = handled.error().what}),
                    control_);
    }
    return handled;
  }
  return {};
}

Status Conversation::on_frame(const Frame& frame) {
  if (!handshake_.done()) return handshake_.on_frame(frame, reader_, writer_, control_);
  if (control_.size() > limits_.control_bytes) return broken("asks and does not read the answers");
  if (frame.type == FrameType::kGet) return on_get(frame);
  if (frame.type == FrameType::kCancel) return on_cancel(frame);
  if (frame.request != 0) return broken("a frame for a request that belongs to none");
  switch (frame.type) {
    case FrameType::kPing: {
      const auto token = parse_ping(frame.payload);
      if (!token) return token.error();
      writer_.write(FrameType::kPong, 0, ping_bytes(*token), control_);
      return {};
    }
    case FrameType::kPong: {
      const auto token = parse_ping(frame.payload);
      return token ? Status() : Status(token.error());
    }
    case FrameType::kClose:
      if (!frame.payload.empty()) return broken("a Close with a payload");
      input_ended_ = true;
      return {};
    default:
      return broken("a frame that only servers send, or only before the handshake is over");
  }
}

Status Conversation::on_get(const Frame& frame) {
  if (frame.request == 0) return broken("a Get without a number");
  const auto get = parse_get(frame.payload);
  if (!get) return get.error();
  for (const Request& request : requests_) {
    if (request.id == frame.request) return broken("two requests of one number");
  }
  ++requests_seen_;
  if (requests_.size() >= limits_.requests_per_connection) {
    say_fail(frame.request, {.code = FailCode::kTooMany, .words = "ask again later"}, control_);
    return {};
  }
  Request& request = requests_.emplace_back(Request{.id = frame.request, .get = *get});
  if (get->what != GetWhat::kCatalogue) request.fault = faults_.next_request();
  return {};
}

Status Conversation::on_cancel(const Frame& frame) {
  if (frame.request == 0 || !frame.payload.empty()) return broken("a Cancel of a wrong form");
  for (Request& request : requests_) {
    if (request.id == frame.request) request.cancelled = true;
  }
  return {};
}

void Conversation::say_fail(std::uint64_t request, const Fail& fail, std::vector<std::byte>& out) {
  writer_.write(FrameType::kFail, request, to_bytes(fail), out);
}

void Conversation::finish_request(FrameType type, const MessageBytes& message,
                                  std::vector<std::byte>& out) {
  writer_.write(type, requests_.front().id, message, out);
  requests_.pop_front();
  reply_.reset();
  stall_ = Stall::kNone;
}

NextStep Conversation::produce(std::vector<std::byte>& out) {
  const std::size_t began = out.size();
  out.insert(out.end(), control_.begin(), control_.end());
  control_.clear();
  while (!failed_ && !requests_.empty() && out.size() - began < limits_.bytes_ahead) {
    const auto step = answer(out);
    if (!step) continue;
    // What stands before the fault is sent first; then it is met again.
    if (out.size() > began) return NextStep::kSend;
    if (*step == NextStep::kWait) {
      stall_ = Stall::kUnderWay;
      wait_time_ = requests_.front().fault->delay;
    }
    return *step;
  }
  if (out.size() > began) return NextStep::kSend;
  const bool all_said = failed_ || (input_ended_ && requests_.empty());
  return all_said ? NextStep::kClose : NextStep::kRead;
}

void Conversation::stall_over() {
  if (is_stalled()) stall_ = Stall::kOver;
}

// Answers a piece of the first request, or meets its fault.
std::optional<NextStep> Conversation::answer(std::vector<std::byte>& out) {
  const Request& request = requests_.front();
  if (request.cancelled) {
    finish_request(FrameType::kFail, to_bytes(Fail{.code = FailCode::kCancelled}), out);
    return std::nullopt;
  }
  if (request.fault && request.fault->kind == FaultKind::kRefuse) {
    finish_request(FrameType::kFail, to_bytes(Fail{.code = FailCode::kRefused, .words = "a fault"}),
                   out);
    return std::nullopt;
  }
  if (!reply_) {
    auto opened = Reply::open(contents_, request.get);
    if (const auto* const fail = std::get_if<Fail>(&opened)) {
      finish_request(FrameType::kFail, to_bytes(*fail), out);
      return std::nullopt;
    }
    reply_ = std::get<Reply>(std::move(opened));
  }
  if (const auto step = commit_fault()) return step;
  if (reply_->left() == 0) {
    const Done done{.selection_bytes = static_cast<std::uint64_t>(reply_->selection_bytes())};
    finish_request(FrameType::kDone, to_bytes(done), out);
    return std::nullopt;
  }
  send_data(out);
  return std::nullopt;
}

std::optional<NextStep> Conversation::commit_fault() const {
  const auto& fault = requests_.front().fault;
  // A reply that is shorter than `after` meets its fault at its end.
  if (!fault || (reply_->done() < fault->after.bytes() && reply_->left() > 0)) return std::nullopt;
  switch (fault->kind) {
    case FaultKind::kReset:
      return NextStep::kReset;
    case FaultKind::kHalfOpen:
      return NextStep::kHalfOpen;
    case FaultKind::kStall:
      if (stall_ == Stall::kOver) return std::nullopt;
      return stall_ == Stall::kNone ? NextStep::kWait : NextStep::kRead;
    default:
      return std::nullopt;
  }
}

// Whether the fault's byte is among the `bytes` that begin at the reply's place; of a reply that is
// shorter than `after`, its last byte is.
bool Conversation::reaches_fault(FaultKind kind, std::int64_t bytes) const {
  const auto& fault = requests_.front().fault;
  if (!fault || fault->kind != kind) return false;
  const std::int64_t at = std::min(fault->after.bytes(), reply_->done() + reply_->left() - 1);
  return at >= reply_->done() && at < reply_->done() + bytes;
}

void Conversation::send_data(std::vector<std::byte>& out) {
  const auto& fault = requests_.front().fault;
  const std::size_t frame_max =
      reply_->done() == 0 ? std::min(kFirstDataBytes, limits_.data_bytes) : limits_.data_bytes;
  std::int64_t bytes = std::min<std::int64_t>(reply_->left(), static_cast<std::int64_t>(frame_max));
  if (fault && fault->after.bytes() > reply_->done() && fault->kind != FaultKind::kCorruptDisk &&
      fault->kind != FaultKind::kCorruptFrame)
    bytes = std::min(bytes, fault->after.bytes() - reply_->done());
  const bool spoils_bytes = reaches_fault(FaultKind::kCorruptDisk, bytes);
  const bool spoils_frame = reaches_fault(FaultKind::kCorruptFrame, bytes);
  const std::int64_t spoiled_at =
      fault ? std::clamp<std::int64_t>(fault->after.bytes() - reply_->done(), 0, bytes - 1) : 0;
  const std::size_t frame_at = out.size();
  const auto payload = writer_.begin(FrameType::kData, requests_.front().id,
                                     kDataPrefixBytes + static_cast<std::size_t>(bytes), out);
  write_data_prefix(static_cast<std::uint64_t>(reply_->at()), payload);
  const auto data = payload.subspan(kDataPrefixBytes);
  if (const Status read = reply_->read(data); !read) {
    out.resize(frame_at);
    const Fail fail{.code = FailCode::kStorage, .words = "the chunk cannot be read"};
    return finish_request(FrameType::kFail, to_bytes(fail), out);
  }
  if (spoils_bytes) data[static_cast<std::size_t>(spoiled_at)] ^= std::byte{1};
  writer_.finish(out);
  if (spoils_frame) data[static_cast<std::size_t>(spoiled_at)] ^= std::byte{1};
}

}  // namespace sluice
