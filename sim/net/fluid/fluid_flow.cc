// How data flow: a channel is settled at an event and drawn on to its next one; what has arrived is
// told. Who gets what rate: fluid_share.cc.
#include <algorithm>

#include "sim/net/fluid/fluid_network.h"

namespace sluice {
namespace {

// Over before any run began.
constexpr RateUntil kNotLookedUp{DataRate::zero(), kRunStart};

// Pieces that a channel alone is drawn ahead. When somebody joins, they are gone through once more.
constexpr int kPiecesAhead = 64;

}  // namespace

void FluidNetwork::on_timer() {
  armed_ = Instant::max();
  const Instant now = clock_.now();
  due_.clear();
  while (FluidChannel* channel = events_.first()) {
    if (channel->next_at > now) break;
    events_.remove(*channel);
    due_.push_back(channel);
  }
  for (FluidChannel* channel : due_) {
    if (channel->changes_at <= now) {
      gather(*channel);
      settle_gathered(now);
      reshare(now);
    } else if (channel->head) {  // otherwise it ended with one that was due before it
      note_marks(*channel, now);
      events_.set(*channel, std::min(channel->changes_at, channel->mark_arrives_at));
    }
  }
  finish_event();
}

void FluidNetwork::settle_gathered(Instant now) {
  for (FluidChannel* channel : gathered_) settle(*channel, now);
}

// `flow` is what holds at progress.at, and is looked up anew once that is over.
SentCurve::Piece FluidNetwork::step(const FluidChannel& channel, FluidChannel::Progress& progress,
                                    Instant until, RateUntil& flow) {
  const WindowRules& rules = channel.path->window;
  WindowRounds& window = progress.window;
  if (window.is_exhausted()) {
    progress.at = std::min(until, window.round_end());
    if (progress.at == window.round_end()) window.end_round(rules);
    if (progress.at == until) return {until, DataRate::zero(), progress.sent, progress.sent};
  }
  if (channel.is_alone) {
    if (progress.at >= flow.until) flow = path_rate(channel, progress.at);
    window.admit(rules, progress.at, flow.rate, channel.path->round_trip(progress.at),
                 std::nullopt);
  }
  Nanobits delta = channel.head->total - progress.sent;
  if (window.in_round()) delta = min(delta, window.budget());
  const SentCurve::Piece piece{progress.at, flow.rate, progress.sent, progress.sent + delta};
  Instant end = std::min(std::min(until, flow.until), window.round_end());
  if (const auto time = delta.time_at(flow.rate); time && *time <= end - progress.at) {
    end = progress.at + *time;
  } else {
    delta = min(delta, Nanobits::flown(flow.rate, end - progress.at));
  }
  progress.sent += delta;
  progress.at = end;
  const Duration alone = channel.is_alone ? end - piece.at : Duration::zero();
  if (delta > Nanobits{}) window.sent(rules, end, delta, alone);
  if (end >= window.round_end()) window.end_round(rules);
  return piece;
}

void FluidNetwork::settle(FluidChannel& channel, Instant now) {
  if (!channel.head) return;
  FluidStream& stream = *channel.head;
  const Nanobits before = channel.now.sent;
  if (channel.is_alone && channel.planned.at <= now) {
    channel.now = channel.planned;
  } else {
    RateUntil flow = channel.is_alone ? kNotLookedUp : RateUntil{channel.rate, Instant::max()};
    while (channel.now.at < now && channel.now.sent < stream.total)
      step(channel, channel.now, now, flow);
  }
  const Nanobits delta = channel.now.sent - before;
  for (const LinkId id : channel.links()) {
    link(id).sent += delta;
    link(id).curve.forget_before(now);
  }
  stream.curve.forget_before(now);
  note_marks(channel, now);
  if (channel.now.sent == stream.total) finish_head(channel, now);
}

RateUntil FluidNetwork::path_rate(const FluidChannel& channel, Instant at) {
  const Transfer& transfer = channel.head->transfer;
  RateUntil narrowest{kUnlimited, Instant::max()};
  for (const LinkId id : channel.links()) {
    const RateUntil one = link(id).available(at, transfer.chunk_index);
    narrowest.rate = std::min(narrowest.rate, one.rate);
    narrowest.until = std::min(narrowest.until, one.until);
  }
  if (const auto bound = channel.path->loss_bound) {
    narrowest.rate = std::min(narrowest.rate,
                              DataRate::bits_per_sec(bound->bits_per_sec() * transfer.connections));
  }
  return narrowest;
}

void FluidNetwork::finish_head(FluidChannel& channel, Instant now) {
  FluidStream& stream = *channel.head;
  const Instant left = channel.now.at;
  stream.state = FluidStream::State::kSent;
  while (stream.has_mark() && stream.listener) {
    tell(stream, stream.curve.reaches(stream.mark_at).value_or(left), false, now);
    stream.set_next_mark(*channel.path);
  }
  tell(stream, left, true, now);
  channel.pop();
  if (!channel.head) channel.now.window.end_data(channel.path->window);
  begin_head(channel, left);
}

void FluidNetwork::begin_head(FluidChannel& channel, Instant at) {
  while (channel.head && channel.head->total == Nanobits{}) {
    channel.head->state = FluidStream::State::kSent;
    tell(*channel.head, at, true, at);
    channel.pop();
  }
  channel.now.at = at;
  channel.now.sent = Nanobits{};
  if (channel.head)
    channel.now.window.begin(channel.path->window, at, channel.head->transfer.connections);
}

void FluidNetwork::plan(FluidChannel& channel) {
  FluidStream& stream = *channel.head;
  channel.planned = channel.now;
  FluidChannel::Progress& ahead = channel.planned;
  Instant last_change = ahead.at;
  RateUntil flow = kNotLookedUp;
  for (int n = 0; n < kPiecesAhead && ahead.sent < stream.total && ahead.at < Instant::max(); ++n) {
    const SentCurve::Piece piece = step(channel, ahead, Instant::max(), flow);
    last_change = piece.at;
    stream.curve.set(piece);
    for (const LinkId id : channel.links())
      link(id).curve.set(piece, link(id).sent - channel.now.sent);
  }
  channel.changes_at = ahead.at;
  // An outage for ever: the clock still comes to its beginning.
  if (ahead.at == Instant::max() && last_change > channel.now.at) channel.changes_at = last_change;
  // With nobody behind it in the queue its end means nothing to the links until it has arrived.
  if (ahead.sent == stream.total && !stream.next)
    channel.changes_at = channel.path->forward.arrival(ahead.at);
}

void FluidNetwork::set_event(FluidChannel& channel) {
  find_mark(channel);
  events_.set(channel, std::min(channel.changes_at, channel.mark_arrives_at));
}

void FluidNetwork::find_mark(FluidChannel& channel) {
  channel.mark_arrives_at = Instant::max();
  const FluidStream* stream = channel.head;
  if (!stream || !stream->listener || !stream->has_mark()) return;
  if (const auto left = stream->curve.reaches(stream->mark_at))
    channel.mark_arrives_at = channel.path->forward.arrival(*left);
}

// That the first one is due was found when its event was set, from the same curve.
void FluidNetwork::note_marks(FluidChannel& channel, Instant now) {
  FluidStream& stream = *channel.head;
  while (channel.mark_arrives_at <= now) {
    if (stream.listener) {
      arrivals_.push_back({stream.id, false});
      stream.set_next_mark(*channel.path);
    }
    find_mark(channel);
  }
}

void FluidNetwork::tell(const FluidStream& stream, Instant left, bool is_last, Instant now) {
  const TransferId id = stream.id;
  const Instant arrives = stream.channel->path->forward.arrival(left);
  if (arrives <= now) {
    arrivals_.push_back({id, is_last});
  } else if (is_last) {
    clock_.schedule(arrives, [this, id] { on_last_byte_arrived(id); });
  } else {
    clock_.schedule(arrives, [this, id] { on_mark_arrived(id); });
  }
}

void FluidNetwork::finish_event() {
  const FluidChannel* first = events_.first();
  const Instant next = first ? first->next_at : Instant::max();
  if (next != armed_) {
    if (armed_ != Instant::max()) clock_.cancel(timer_);
    armed_ = next;
    if (next != Instant::max()) timer_ = clock_.schedule(next, [this] { on_timer(); });
  }
  for (const Arrival& arrival : arrivals_) {
    arrival.is_last ? on_last_byte_arrived(arrival.id) : on_mark_arrived(arrival.id);
  }
  arrivals_.clear();
}

}  // namespace sluice
