#include "emu/link/process/process_link.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <future>
#include <list>
#include <thread>

#include "emu/link/check_spec.h"
#include "emu/link/process/relay.h"

namespace sluice {
namespace {

// After a failed accept.
constexpr auto kAcceptPause = std::chrono::milliseconds{100};

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using SteadyClock = std::chrono::steady_clock;

Error cannot(const std::string& what) {
  return error_in("process", what, "use --emulator tun, which needs namespaces");
}

Status check_direction(const LinkSpec& link) {
  if (mean_loss(link.loss) > 0) return cannot("it relays bytes and loses none");
  if (link.jitter > Duration::zero() || link.delay_trace)
    return cannot("its delay is the same for all");
  if (!std::holds_alternative<DropTail>(link.queue.discipline))
    return cannot("it has no queue that drops");
  return {};
}

// An address of loopback that no other link of this host is likely to use.
std::string fresh_address() {
  static std::atomic<unsigned> count{0};
  const unsigned number = (static_cast<unsigned>(::getpid()) * 8 + count++) % 0xFFFE + 1;
  return fmt::format("127.77.{}.{}", number >> 8, number & 0xFF);
}

class ProcessLink final : public EmulatedLink {
 public:
  explicit ProcessLink(const EmulatedLinkSpec& spec)
      : near_{nullptr, "127.0.0.1"}, far_{nullptr, fresh_address()} {
    respecify(spec);
    thread_ = std::thread([this] { context_.run(); });
  }
  ~ProcessLink() override {
    on_thread([this] {
      acceptors_.clear();
      close_all(connections_);
    });
    work_.reset();
    context_.stop();
    thread_.join();
  }

  [[nodiscard]] const LinkEnd& near_end() const override { return near_; }
  [[nodiscard]] const LinkEnd& far_end() const override { return far_; }
  [[nodiscard]] Result<std::uint16_t> relay_to(std::uint16_t port) override;
  [[nodiscard]] Status rearm(const EmulatedLinkSpec& spec) override;
  [[nodiscard]] std::optional<SteadyClock::time_point> began_at() const override {
    return on_thread([this] { return began_; });
  }
  [[nodiscard]] LinkUsage usage_down() const override {
    return on_thread([this] { return down_->usage(); });
  }
  [[nodiscard]] LinkUsage usage_up() const override {
    return on_thread([this] { return up_->usage(); });
  }
  [[nodiscard]] LinkHealth health() const override;

 private:
  // Everything below belongs to the context's thread.
  template <typename Job>
  std::invoke_result_t<Job> on_thread(Job job) const {
    std::packaged_task<std::invoke_result_t<Job>()> task(std::move(job));
    auto done = task.get_future();
    asio::post(context_, [&task] { task(); });
    return done.get();
  }
  void respecify(const EmulatedLinkSpec& spec) {
    began_.reset();
    down_ = std::make_shared<RelayDirection>(spec.down, began_);
    up_ = std::make_shared<RelayDirection>(spec.up, began_);
  }
  void accept(tcp::acceptor& acceptor, std::uint16_t port);
  void accept_later(tcp::acceptor& acceptor, std::uint16_t port);
  void connect(tcp::socket near, std::uint16_t port);

  LinkEnd near_, far_;
  RelayBegin began_;
  std::shared_ptr<RelayDirection> down_, up_;
  mutable asio::io_context context_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_{context_.get_executor()};
  std::list<tcp::acceptor> acceptors_;
  std::vector<std::weak_ptr<RelayedConnection>> connections_;
  std::thread thread_;
};

Status ProcessLink::rearm(const EmulatedLinkSpec& spec) {
  if (Status able = check_process_link(spec); !able) return able;
  on_thread([&] {
    close_all(connections_);
    respecify(spec);
  });
  return {};
}

Result<std::uint16_t> ProcessLink::relay_to(std::uint16_t port) {
  return on_thread([&]() -> Result<std::uint16_t> {
    const auto address = asio::ip::make_address(far_.address);
    error_code code;
    // The same port where it is free there, as it is unless a server listens on all addresses.
    for (const std::uint16_t wanted : {port, std::uint16_t{0}}) {
      tcp::acceptor acceptor(context_);
      acceptor.open(tcp::v4(), code);
      if (!code) acceptor.bind({address, wanted}, code);
      if (!code) acceptor.listen(asio::socket_base::max_listen_connections, code);
      if (code) continue;
      acceptors_.push_back(std::move(acceptor));
      accept(acceptors_.back(), port);
      return acceptors_.back().local_endpoint().port();
    }
    return error_in("process", fmt::format("port {} cannot be relayed: {}", port, code.message()),
                    "use another port");
  });
}

void ProcessLink::accept(tcp::acceptor& acceptor, std::uint16_t port) {
  acceptor.async_accept([this, &acceptor, port](const error_code& error, tcp::socket near) {
    if (error == asio::error::operation_aborted) return;
    if (error) return accept_later(acceptor, port);
    connect(std::move(near), port);
    accept(acceptor, port);
  });
}

// No descriptors left, say: at once it would fail again.
void ProcessLink::accept_later(tcp::acceptor& acceptor, std::uint16_t port) {
  const auto pause = std::make_shared<asio::steady_timer>(context_, kAcceptPause);
  pause->async_wait([this, &acceptor, port, pause](const error_code& error) {
    if (!error) accept(acceptor, port);
  });
}

void ProcessLink::connect(tcp::socket near, std::uint16_t port) {
  auto client = std::make_shared<tcp::socket>(std::move(near));
  auto server = std::make_shared<tcp::socket>(context_);
  server->async_connect({asio::ip::address_v4::loopback(), port},
                        [this, client, server](const error_code& error) {
                          if (error) return;  // the client sees its connection closed
                          join(std::move(*client), std::move(*server), up_, down_, connections_);
                        });
}

LinkHealth ProcessLink::health() const {
  return on_thread([this] {
    LinkHealth health;
    DataSize delivered, on_time;
    for (const RelayDirection* direction : {down_.get(), up_.get()}) {
      const LatenessHistogram& late = direction->lateness();
      health.num_packets += late.count();
      health.lateness_p50 = std::max(health.lateness_p50, late.quantile(0.5));
      health.lateness_p99 = std::max(health.lateness_p99, late.quantile(0.99));
      health.lateness_max = std::max(health.lateness_max, late.max());
      delivered += direction->usage().wire_delivered;
      on_time += direction->on_time();
    }
    if (delivered > DataSize::zero())
      health.achieved_share =
          static_cast<double>(on_time.bytes()) / static_cast<double>(delivered.bytes());
    return health;
  });
}

}  // namespace

Status check_process_link(const EmulatedLinkSpec& spec) {
  if (Status sound = check_link_spec(spec); !sound) return sound;
  if (Status able = check_direction(spec.down); !able) return able;
  return check_direction(spec.up);
}

Result<std::unique_ptr<EmulatedLink>> open_process_link(const EmulatedLinkSpec& spec) {
  if (Status able = check_process_link(spec); !able) return able.error();
  return std::unique_ptr<EmulatedLink>(std::make_unique<ProcessLink>(spec));
}

}  // namespace sluice
