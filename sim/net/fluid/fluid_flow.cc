// How data flow: integrate to the present, notice what was reached, share the links anew, wait for
// the next event.
#include <algorithm>
#include <limits>

#include "sim/net/fluid/fluid_network.h"
#include "sim/net/fluid/fluid_state.h"

namespace sluice {
namespace {

constexpr DataRate kUnlimited = DataRate::bits_per_sec(std::numeric_limits<std::int64_t>::max());

std::size_t index_of(LinkId link) {
  return static_cast<std::size_t>(link.value);
}

void keep_earliest(std::optional<Instant>& earliest, std::optional<Instant> candidate) {
  if (candidate && (!earliest || *candidate < *earliest)) earliest = candidate;
}

}  // namespace

void FluidNetwork::on_timer() {
  armed_.reset();
  settle();
  reshare_and_arm();
}

// Brings every transfer to the present and takes note of all that has been reached.
void FluidNetwork::settle() {
  const Instant now = clock_.now();
  for (Channel* channel : busy_) integrate(*channel, now);
  for (Channel* channel : busy_) {
    Stream& stream = *channel->head;
    pass_marks(stream, now);
    if (channel->window.round_end() && now >= *channel->window.round_end()) {
      channel->window.end_round();
      needs_sharing_ = true;
    } else if (channel->window.is_exhausted() && stream.rate > DataRate::zero()) {
      needs_sharing_ = true;
    }
    if (stream.sent < stream.total) continue;
    stream.state = Stream::State::kSent;
    channel->pop();
    const TransferId id = stream.id();
    clock_.schedule(now + stream.path->forward, [this, id] { on_last_byte_arrived(id); });
    serve_next(*channel, now);
  }
  std::erase_if(busy_, [](const Channel* channel) { return !channel->head; });
}

void FluidNetwork::integrate(Channel& channel, Instant now) {
  Stream& stream = *channel.head;
  const Nanobits delta = stream.curve.at(now) - stream.sent;
  if (delta == Nanobits{}) return;
  stream.sent += delta;
  channel.window.sent(now, delta);
  for (const LinkId link : stream.path->links) links_[index_of(link)].sent += delta;
}

// Somebody waits for the arrival of the marked byte: it has left now, and arrives after the path's
// delay.
void FluidNetwork::pass_marks(Stream& stream, Instant now) {
  while (stream.mark < stream.transfer.size && stream.sent >= stream.mark_at) {
    const TransferId id = stream.id();
    clock_.schedule(now + stream.path->forward, [this, id] { on_mark_arrived(id); });
    const DataSize step = stream.transfer.progress_every;
    if (step == DataSize::zero()) {
      stream.set_mark(stream.transfer.size);
    } else {  // the next whole multiple of the step
      stream.set_mark(step * (stream.mark.bytes() / step.bytes() + 1));
    }
  }
}

// The head of the channel, if any, begins to flow. An empty answer has no data: it is through at
// once.
void FluidNetwork::serve_next(Channel& channel, Instant now) {
  needs_sharing_ = true;
  while (channel.head && channel.head->total == Nanobits{}) {
    Stream& empty = *channel.head;
    empty.state = Stream::State::kSent;
    channel.pop();
    const TransferId id = empty.id();
    clock_.schedule(now + empty.path->forward, [this, id] { on_last_byte_arrived(id); });
  }
  if (!channel.head) return;
  channel.head->state = Stream::State::kFlowing;
  channel.window.begin(now, channel.head->transfer.connections);
}

void FluidNetwork::reshare_and_arm() {
  const Instant now = clock_.now();
  std::erase_if(busy_, [](const Channel* channel) { return !channel->head; });
  if (needs_sharing_ || (next_change_ && *next_change_ <= now)) {
    needs_sharing_ = false;
    collect_flows(now);
    solver_.solve(capacity_now_, flows_);
    apply_rates(now);
    update_links(now);
  }
  arm(next_event(now));
}

void FluidNetwork::collect_flows(Instant now) {
  flows_.clear();
  flowing_.clear();
  next_change_.reset();
  for (const LinkId id : links_in_use_) links_[index_of(id)].num_flows = 0;
  for (Channel* channel : busy_) {
    if (!channel->is_flowing()) continue;
    for (const LinkId id : channel->head->path->links) {
      const std::size_t link = index_of(id);
      if (links_[link].num_flows++ > 0) continue;
      if (!links_[link].is_listed) links_in_use_.push_back(id);
      links_[link].is_listed = true;
      capacity_now_[link] =
          capacity_[link].by_chunk() ? kUnlimited : capacity_[link].rate(now, std::nullopt);
      keep_earliest(next_change_, capacity_[link].next_change(now));
    }
    flowing_.push_back(channel);
  }
  for (const Channel* channel : flowing_) {
    const Stream& stream = *channel->head;
    flows_.push_back({stream.path->links, chunk_limit(stream), DataRate{}});
  }
}

// On a chunk-clocked link each of n transfers gets 1/n of the rate of its own chunk, whatever the
// others need.
std::optional<DataRate> FluidNetwork::chunk_limit(const Stream& stream) const {
  if (!stream.path->by_chunk) return std::nullopt;
  std::optional<DataRate> limit;
  for (const LinkId id : stream.path->links) {
    const std::size_t link = index_of(id);
    if (!capacity_[link].by_chunk()) continue;
    const DataRate whole = capacity_[link].rate(clock_.now(), stream.transfer.chunk_index);
    const DataRate share = DataRate::bits_per_sec(whole.bits_per_sec() / links_[link].num_flows);
    limit = std::min(limit.value_or(share), share);
  }
  return limit;
}

void FluidNetwork::apply_rates(Instant now) {
  for (std::size_t i = 0; i < flowing_.size(); ++i) {
    Channel& channel = *flowing_[i];
    Stream& stream = *channel.head;
    channel.window.admit(now, flows_[i].rate);
    const std::optional<Nanobits> budget = channel.window.budget();
    stream.flow(now, flows_[i].rate,
                budget ? std::min(stream.total, stream.sent + *budget) : stream.total);
  }
  for (Channel* channel : busy_) {
    if (!channel->is_flowing()) channel->head->flow(now, DataRate::zero(), channel->head->sent);
  }
}

void FluidNetwork::update_links(Instant now) {
  for (const LinkId id : links_in_use_) {
    LinkFlow& link = links_[index_of(id)];
    link.rate = DataRate::zero();
    link.limit = link.sent;
  }
  for (const Channel* channel : flowing_) {
    const Stream& stream = *channel->head;
    for (const LinkId id : stream.path->links) {
      LinkFlow& link = links_[index_of(id)];
      link.rate = link.rate + stream.rate;
      link.limit += stream.limit - stream.sent;
    }
  }
  for (const LinkId id : links_in_use_) {
    LinkFlow& link = links_[index_of(id)];
    link.curve.set(now, link.sent, link.rate, link.limit);
  }
  std::erase_if(links_in_use_, [this](LinkId id) {
    LinkFlow& link = links_[index_of(id)];
    link.is_listed = link.num_flows > 0;
    return !link.is_listed;
  });
}

std::optional<Instant> FluidNetwork::next_event(Instant now) const {
  std::optional<Instant> next = next_change_;
  for (const Channel* channel : busy_) {
    keep_earliest(next, channel->window.round_end());
    const Stream& stream = *channel->head;
    const auto time = (std::min(stream.mark_at, stream.limit) - stream.sent).time_at(stream.rate);
    if (stream.rate > DataRate::zero() && time) keep_earliest(next, now + *time);
  }
  return next;
}

void FluidNetwork::arm(std::optional<Instant> at) {
  if (at == armed_) return;
  if (armed_) clock_.cancel(timer_);
  armed_ = at;
  if (at) timer_ = clock_.schedule(*at, [this] { on_timer(); });
}

}  // namespace sluice
