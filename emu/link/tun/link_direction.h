// One direction of the TUN link: a thread that reads frames from one interface, schedules their
// packets, and writes them to the other interface at their instants.
// Surprise: packets of one frame that arrive within a quarter of a millisecond leave as one segment
// when the last of them is due: kernel TCP handles a segment far faster than its packets.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <thread>

#include "emu/host/descriptor.h"
#include "emu/host/lateness.h"
#include "emu/link/emulated_link.h"
#include "emu/link/engine/link_schedule.h"
#include "emu/link/tun/frame_store.h"
#include "emu/link/tun/link_start.h"
#include "emu/link/tun/tun_device.h"

namespace sluice {

// How well one direction kept up.
struct DirectionHealth {
  LatenessHistogram lateness;  // of each segment
  DataSize released, late;     // wire bytes that left, and those later than LinkHealth allows
  std::int64_t num_write_errors = 0;
};

class LinkDirection {
 public:
  // All but `id` and `seed` must outlive it. Its thread runs until it is destroyed.
  LinkDirection(const LinkSpec& link, LinkId id, std::uint64_t seed, const TunDevice& from,
                const TunDevice& to, LinkStart& start);
  ~LinkDirection();
  LinkDirection(const LinkDirection&) = delete;
  LinkDirection& operator=(const LinkDirection&) = delete;

  [[nodiscard]] LinkUsage usage() const;
  void add_to(DirectionHealth& health) const;

 private:
  void run();
  void read_frames();
  void offer(std::size_t size);
  void send_due();
  void send(const DueRun& run, Instant now);
  // Until the next segment is due; nullopt: until something comes.
  [[nodiscard]] std::optional<Duration> time_to_next() const;
  void wait(std::optional<Duration> time) const;

  const TunDevice& from_;
  const TunDevice& to_;
  LinkStart& start_;
  mutable std::mutex mutex_;  // of what follows
  LinkSchedule schedule_;
  FrameStore frames_;
  DirectionHealth health_;
  Descriptor stop_event_;
  std::atomic<bool> is_stopping_ = false;
  std::thread thread_;
};

}  // namespace sluice
