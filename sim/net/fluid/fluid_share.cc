// Who gets what rate: those who share links with whatever changed are found, and share anew.
// Surprise: a channel alone on its links is not shared at all but planned (fluid_flow.cc).
#include <algorithm>

#include "sim/net/fluid/fluid_network.h"

namespace sluice {
void FluidNetwork::gather(FluidChannel& channel) {
  gathered_.clear();
  gathered_.push_back(&channel);
  gathered_on_ = channel.links();
  const std::size_t itself = channel.is_on_links ? 1 : 0;
  const bool shares = std::any_of(channel.links().begin(), channel.links().end(),
                                  [&](LinkId id) { return link(id).channels.size() > itself; });
  if (!shares) return;
  ++search_;
  gathered_links_.clear();
  channel.seen = search_;
  for (std::size_t i = 0; i < gathered_.size(); ++i) {
    for (const LinkId id : gathered_[i]->links()) {
      FluidLink& on = link(id);
      if (on.seen == search_) continue;
      on.seen = search_;
      gathered_links_.push_back(id);
      for (FluidChannel* other : on.channels) {
        if (other->seen == search_) continue;
        other->seen = search_;
        gathered_.push_back(other);
      }
    }
  }
  gathered_on_ = gathered_links_;
}

void FluidNetwork::join_or_leave(FluidChannel& channel) {
  if (channel.is_flowing() == channel.is_on_links) return;
  channel.is_on_links = !channel.is_on_links;
  for (const LinkId id : channel.links()) {
    std::vector<FluidChannel*>& on = link(id).channels;
    if (channel.is_on_links) {
      on.push_back(&channel);
    } else {
      *std::find(on.begin(), on.end(), &channel) = on.back();
      on.pop_back();
    }
  }
}

bool FluidNetwork::is_alone(const FluidChannel& channel) const {
  return std::all_of(channel.links().begin(), channel.links().end(), [this](LinkId id) {
    return links_[static_cast<std::size_t>(id.value)].channels.size() == 1;
  });
}

void FluidNetwork::reshare(Instant now) {
  for (FluidChannel* channel : gathered_) join_or_leave(*channel);
  shared_.clear();
  for (FluidChannel* channel : gathered_) {
    channel->is_alone = channel->is_on_links && is_alone(*channel);
    if (channel->is_alone) {
      plan(*channel);
    } else if (channel->is_on_links) {
      shared_.push_back(channel);
    } else {
      rest(*channel);
    }
  }
  if (!shared_.empty()) share(now);
  draw_links(now);
  for (FluidChannel* channel : gathered_) set_event(*channel);
}

// Behind one queue everybody's rate is his part of what is in it, so shares go by windows; while
// all windows grow by what is sent, they keep their proportions. What is beyond the way and the
// queue of a link is lost: a window that fills them grows no further, and those behind catch up.
// Without windows a connection counts one.
std::int64_t FluidNetwork::weight_of(const FluidChannel& channel, Instant now) const {
  const WindowRules& rules = channel.path->window;
  if (!rules.limits) return channel.connections();
  Nanobits window = channel.now.window.whole(rules);
  const Duration round_trip = channel.path->round_trip(now);
  for (const LinkId id : channel.links()) {
    const auto at = static_cast<std::size_t>(id.value);
    if (capacity_now_[at] == kUnlimited) continue;
    window = std::min(window, Nanobits::flown(capacity_now_[at], round_trip) +
                                  Nanobits::of(topology_.links[at].queue.limit));
  }
  return std::max<std::int64_t>(1, window.whole_bytes().bytes());
}

void FluidNetwork::share(Instant now) {
  // Remainders of shares go to those that began last.
  std::sort(shared_.begin(), shared_.end(),
            [](const FluidChannel* a, const FluidChannel* b) { return a->order < b->order; });
  for (const LinkId id : gathered_on_) {
    FluidLink& on = link(id);
    capacity_now_[static_cast<std::size_t>(id.value)] =
        on.by_chunk() ? kUnlimited : on.available(now, std::nullopt).rate;
  }
  flows_.clear();
  for (const FluidChannel* channel : shared_) {
    flows_.push_back(
        {channel->links(), weight_of(*channel, now), own_limit(*channel, now), DataRate::zero()});
  }
  solver_.solve(capacity_now_, flows_);
  for (std::size_t i = 0; i < shared_.size(); ++i) flow_shared(*shared_[i], flows_[i].rate, now);
}

std::optional<DataRate> FluidNetwork::own_limit(const FluidChannel& channel, Instant now) {
  std::optional<DataRate> limit;
  if (const auto bound = channel.path->loss_bound)
    limit = DataRate::bits_per_sec(bound->bits_per_sec() * channel.connections());
  if (!channel.path->path->by_chunk) return limit;
  for (const LinkId id : channel.links()) {
    FluidLink& on = link(id);
    if (!on.by_chunk()) continue;
    std::int64_t weights = 0;
    for (const FluidChannel* other : on.channels) weights += other->connections();
    const DataRate whole = on.available(now, channel.head->transfer.chunk_index).rate;
    const DataRate part = DataRate::bits_per_sec(static_cast<std::int64_t>(
        detail::Wide{whole.bits_per_sec()} * channel.connections() / weights));
    limit = std::min(limit.value_or(part), part);
  }
  return limit;
}

void FluidNetwork::flow_shared(FluidChannel& channel, DataRate rate, Instant now) {
  FluidStream& stream = *channel.head;
  FluidChannel::Progress& progress = channel.now;
  DataRate line = kUnlimited;
  for (const LinkId id : channel.links())
    line = std::min(line, capacity_now_[static_cast<std::size_t>(id.value)]);
  progress.window.admit(channel.path->window, now, rate, channel.path->round_trip(now), line);
  channel.rate = rate;
  channel.limit = progress.window.in_round()
                      ? std::min(stream.total, progress.sent + progress.window.budget())
                      : stream.total;
  stream.curve.set({now, rate, progress.sent, channel.limit});
  channel.changes_at = progress.window.round_end();
  // Twice the window is twice the weight, beside those whose windows grow no further.
  const WindowRules& rules = channel.path->window;
  if (rules.limits && progress.window.whole(rules) < rules.max * channel.connections()) {
    if (const auto time = progress.window.until_doubled(rules).time_at(rate))
      channel.changes_at = std::min(channel.changes_at, now + *time);
  }
  if (const auto time = (channel.limit - progress.sent).time_at(rate))
    channel.changes_at = std::min(channel.changes_at, now + *time);
  for (const LinkId id : channel.links())
    channel.changes_at =
        std::min(channel.changes_at, link(id).available(now, stream.transfer.chunk_index).until);
}

void FluidNetwork::draw_links(Instant now) {
  for (const LinkId id : gathered_on_) {
    FluidLink& on = link(id);
    if (on.channels.size() == 1 && on.channels.front()->is_alone) continue;
    SentCurve::Piece piece{now, DataRate::zero(), on.sent, on.sent};
    for (const FluidChannel* channel : on.channels) {
      piece.rate = piece.rate + channel->rate;
      piece.limit += channel->limit - channel->now.sent;
    }
    on.curve.set(piece);
  }
}

void FluidNetwork::rest(FluidChannel& channel) {
  channel.rate = DataRate::zero();
  channel.changes_at = Instant::max();
  if (!channel.head) return;
  const Nanobits sent = channel.now.sent;
  channel.limit = sent;
  channel.head->curve.set({channel.now.at, DataRate::zero(), sent, sent});
  channel.changes_at = channel.now.window.round_end();
}

}  // namespace sluice
