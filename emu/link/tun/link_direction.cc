#include "emu/link/tun/link_direction.h"

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <ctime>

namespace sluice {
namespace {

using std::chrono::steady_clock;

// The largest segment, in link time: 93 KB at 3 Gbit/s, two packets at 0.1 Gbit/s.
constexpr Duration kSegmentSpan = std::chrono::microseconds{250};
constexpr Duration kLate = std::chrono::milliseconds{1};  // what LinkHealth calls late
constexpr int kReadsAtOnce = 32;                          // then look whether something is due

// Wakes at the instant asked for, before other work of this machine where it may.
void make_punctual() {
  ::prctl(PR_SET_TIMERSLACK, 1UL);
  sched_param priority{};
  priority.sched_priority = 1;
  ::pthread_setschedparam(::pthread_self(), SCHED_RR, &priority);
}

}  // namespace

LinkDirection::LinkDirection(const LinkSpec& link, LinkId id, std::uint64_t seed,
                             const TunDevice& from, const TunDevice& to, LinkStart& start)
    : from_(from),
      to_(to),
      start_(start),
      schedule_(link, id, seed),
      stop_event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      thread_([this] { run(); }) {}

LinkDirection::~LinkDirection() {
  is_stopping_ = true;
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(stop_event_.get(), &one, sizeof(one));
  thread_.join();
}

void LinkDirection::run() {
  make_punctual();
  while (!is_stopping_) {
    std::optional<Duration> time;
    {
      const std::lock_guard lock(mutex_);
      read_frames();
      send_due();
      time = time_to_next();
    }
    wait(time);
  }
}

void LinkDirection::read_frames() {
  for (int i = 0; i < kReadsAtOnce; ++i) {
    const std::span<std::byte> scratch = frames_.scratch();
    const ssize_t size = ::read(from_.descriptor(), scratch.data(), scratch.size());
    if (size <= 0) return;
    offer(static_cast<std::size_t>(size));
  }
}

void LinkDirection::offer(std::size_t size) {
  const std::optional<FrameLayout> layout = layout_of(frames_.scratch().first(size));
  if (!layout) return;  // not of the link: it carries IPv4 alone
  const Instant now = start_.instant_of_packet(steady_clock::now());
  bool is_kept = false;
  for (std::int32_t i = 0; i < layout->num_packets; ++i) {
    WirePacket packet{frames_.next_number(), i, layout->num_packets, layout->wire_size(i)};
    packet.can_be_marked = layout->can_be_marked;
    is_kept |= schedule_.offer(now, packet);
  }
  if (is_kept) frames_.keep(size, *layout);
}

void LinkDirection::send_due() {
  while (true) {
    const Instant now = start_.instant(steady_clock::now());
    schedule_.advance(now);
    if (schedule_.on_the_way().empty()) break;
    const DueRun run = schedule_.next_run(kSegmentSpan);
    if (run.at > now) return;
    send(run, now);
  }
  frames_.release_before(frames_.next_number());
}

void LinkDirection::send(const DueRun& run, Instant now) {
  const PacketOnWire first = schedule_.on_the_way().front();
  DataSize size;
  for (std::size_t i = 0; i < run.num_packets; ++i) size += schedule_.take().packet.wire;
  frames_.release_before(first.packet.frame);
  if (first.is_lost) return;
  const StoredFrame& frame = frames_.at(first.packet.frame);
  FramePiece piece = cut_piece(frame.span(), frame.layout, first.packet.index,
                               static_cast<std::int32_t>(run.num_packets), first.packet.is_marked);
  std::array<iovec, 2> parts{
      iovec{piece.headers.data(), piece.headers_size},
      iovec{const_cast<std::byte*>(piece.payload.data()), piece.payload.size()}};
  if (::writev(to_.descriptor(), parts.data(), parts.size()) < 0) ++health_.num_write_errors;
  health_.lateness.record(now - run.at);
  health_.released += size;
  if (now - run.at > kLate) health_.late += size;
}

std::optional<Duration> LinkDirection::time_to_next() const {
  if (schedule_.on_the_way().empty()) return std::nullopt;
  const Instant at = schedule_.next_run(kSegmentSpan).at;
  if (at == Instant::max()) return std::nullopt;
  return std::max(Duration::zero(), at - start_.instant(steady_clock::now()));
}

void LinkDirection::wait(std::optional<Duration> time) const {
  std::array<pollfd, 2> events{pollfd{from_.descriptor(), POLLIN, 0},
                               pollfd{stop_event_.get(), POLLIN, 0}};
  timespec until{};
  if (time) {
    const auto whole = std::chrono::duration_cast<std::chrono::seconds>(*time);
    until = {whole.count(), to_ns(*time - whole)};
  }
  ::ppoll(events.data(), events.size(), time ? &until : nullptr, nullptr);
}

LinkUsage LinkDirection::usage() const {
  const std::lock_guard lock(mutex_);
  return schedule_.usage(start_.instant(steady_clock::now()));
}

void LinkDirection::add_to(DirectionHealth& health) const {
  const std::lock_guard lock(mutex_);
  health.lateness.add(health_.lateness);
  health.released += health_.released;
  health.late += health_.late;
  health.num_write_errors += health_.num_write_errors;
}

}  // namespace sluice
