#include "emu/client/decode_worker.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "codec/container/decode.h"
#include "emu/client/assemble.h"
#include "emu/contents/content_hash.h"

namespace sluice {
namespace {

std::string name_of(const DecodeInput& input) {
  return fmt::format("chunk {} level {}", input.chunk, input.level);
}

std::int64_t bytes_of(const std::optional<TensorShape>& tensor) {
  return tensor ? tensor->elements() * bytes_per_element(tensor->dtype) : 0;
}

// Of what is allocated for this shape. parse_header() keeps the sum within int64.
DataSize decoded_size_of(const KvShape& shape) {
  std::int64_t sum = 0;
  for (const auto& layer : shape.layers)
    sum += bytes_of(layer.key) + bytes_of(layer.value) + bytes_of(layer.latent);
  return DataSize::bytes(sum);
}

}  // namespace

DecodeWorker::DecodeWorker(RealClock& clock, ReceivedChunks& received, DecodeWorkerOptions options)
    : clock_(clock),
      received_(received),
      options_(std::move(options)),
      alive_(std::make_shared<DecodeWorker*>(this)),
      thread_([this] { work(); }) {}

DecodeWorker::~DecodeWorker() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

GpuJobId DecodeWorker::submit(GpuJob job) {
  const GpuJobId id{next_id_++};
  Queued queued{.id = id,
                .kind = job.kind,
                .time = job.time,
                .input = job.input,
                .submitted_at = std::chrono::steady_clock::now()};
  waiting_.emplace(id, Waiting{std::move(job), clock_.hold()});
  {
    const std::scoped_lock lock(mutex_);
    queue_.push_back(std::move(queued));
  }
  changed_.notify_all();
  return id;
}

void DecodeWorker::cancel(GpuJobId id) {
  waiting_.erase(id);
  const std::scoped_lock lock(mutex_);
  std::erase_if(queue_, [id](const Queued& queued) { return queued.id == id; });
}

Duration DecodeWorker::wait() const {
  const auto now = std::chrono::steady_clock::now();
  const std::scoped_lock lock(mutex_);
  Duration sum{};
  if (running_) sum += std::max(Duration::zero(), Duration(running_since_ + running_->time - now));
  for (const Queued& queued : queue_) sum += queued.time;
  return sum;
}

Duration DecodeWorker::busy_time() const {
  const auto now = std::chrono::steady_clock::now();
  const std::scoped_lock lock(mutex_);
  return running_ ? finished_busy_ + (now - running_since_) : finished_busy_;
}

std::shared_ptr<const KvCache> DecodeWorker::find(ConnectionGroup load, std::int32_t chunk) const {
  const std::scoped_lock lock(mutex_);
  const auto found = decoded_.find({load, chunk});
  return found == decoded_.end() ? nullptr : found->second;
}

std::int64_t DecodeWorker::num_verified(ConnectionGroup load) const {
  const std::scoped_lock lock(mutex_);
  const auto found = verified_.find(load);
  return found == verified_.end() ? 0 : found->second;
}

void DecodeWorker::release(ConnectionGroup load) {
  received_.forget(load);
  const std::scoped_lock lock(mutex_);
  if (running_ && running_->input && running_->input->load == load) discards_running_ = true;
  verified_.erase(load);
  for (auto entry = decoded_.begin(); entry != decoded_.end();) {
    if (entry->first.first != load) {
      ++entry;
      continue;
    }
    entry = decoded_.erase(entry);
  }
}

void DecodeWorker::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    if (stopping_) return;
    const Queued job = queue_.front();
    queue_.pop_front();
    // A job that waited begins when the one before it ended, however late this thread is.
    running_since_ = std::max(job.submitted_at, free_since_);
    running_ = job;
    lock.unlock();
    run(job, running_since_);
    lock.lock();
  }
}

void DecodeWorker::run(const Queued& job, TimePoint began) {
  tell_begun(job.id);
  TimePoint end = began + job.time;
  Status status;
  if (job.kind == GpuJobKind::kDecode && job.input) {
    try {
      status = decode(*job.input);
    } catch (const std::bad_alloc&) {
      status = error_in(name_of(*job.input), "does not fit in this machine's memory",
                        "allow less memory for decoded tensors or load less at once");
    }
    end = std::chrono::steady_clock::now();
  } else {
    sleep_until(end);
  }
  {
    const std::scoped_lock lock(mutex_);
    finished_busy_ += end - began;
    free_since_ = end;
    running_.reset();
    discards_running_ = false;
  }
  tell_done(job.id, status);
}

void DecodeWorker::sleep_until(TimePoint end) {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, end,
                      [this, end] { return stopping_ || std::chrono::steady_clock::now() >= end; });
}

void DecodeWorker::tell_begun(GpuJobId id) {
  clock_.post([this, id, alive = std::weak_ptr(alive_)] {
    if (alive.expired()) return;
    const auto found = waiting_.find(id);
    if (found == waiting_.end() || !found->second.job.on_begin) return;
    const std::function<void()> on_begin = found->second.job.on_begin;
    on_begin();
  });
}

void DecodeWorker::tell_done(GpuJobId id, const Status& status) {
  std::string failure = status ? "" : status.error().to_line();
  clock_.post([this, id, failure = std::move(failure), alive = std::weak_ptr(alive_)] {
    if (alive.expired()) return;
    const auto found = waiting_.find(id);
    if (found == waiting_.end()) return;  // cancelled
    const Waiting waiting = std::move(found->second);
    waiting_.erase(found);
    if (failure.empty()) {
      if (waiting.job.on_done) waiting.job.on_done();
    } else if (waiting.job.on_failed) {
      waiting.job.on_failed(failure);
    }
  });
}

Status DecodeWorker::decode(const DecodeInput& input) {
  const std::string name = name_of(input);
  const ChunkVersion* version = options_.catalogue->find(input.chunk, input.level);
  const auto container = whole_container(input);
  if (!container) return container.error();
  if (!version) return error_in(name, "is not in the catalogue", "ask for what the server has");
  const auto bytes = std::as_const(**container).span();
  const Result<ContainerHeader> header = parse_header(bytes, name);
  if (!header) return header.error();
  const ChunkEntry& entry = options_.catalogue->chunks[static_cast<std::size_t>(input.chunk)];
  if (num_elements(header->shape) != entry.elements)
    return error_in(name, "has not as many elements as the catalogue says", "fetch it again");
  // The memory's limit counts what is allocated, whatever the server says of it.
  if (decoded_size_of(header->shape) != entry.decoded_size)
    return error_in(name, "has not as many decoded bytes as the catalogue says", "fetch it again");
  Result<std::shared_ptr<KvCache>> cache =
      options_.memory->borrow(header->shape, entry.decoded_size);
  if (!cache) return error_in(name, cache.error().what, cache.error().fix);
  DecodeOptions how;
  how.threads = options_.threads;
  how.seal_key = options_.seal_key ? &*options_.seal_key : nullptr;
  Status status = decode_container_into(bytes, *header, **cache, name, how);
  if (status && hash_tensors((*cache)->view(), options_.threads) != version->tensor_hash)
    status = error_in(name, "decodes to other tensors than were encoded", "fetch it again");
  const std::scoped_lock lock(mutex_);
  if (!status || discards_running_) return status;
  keep(input, std::move(*cache));
  return {};
}

// As it arrived, or put together with the level below it.
Result<std::shared_ptr<const ChunkBuffer>> DecodeWorker::whole_container(
    const DecodeInput& input) const {
  const std::string name = name_of(input);
  const auto received = received_.find(input.load, input.chunk, input.level);
  if (!received) return error_in(name, "has not arrived", "fetch it");
  if (!received->beyond) return received->bytes;
  const DecodeInput below{.load = input.load, .chunk = input.chunk, .level = *received->beyond};
  const auto lower = whole_container(below);
  if (!lower) return lower.error();
  const auto whole = assemble_container((*lower)->span(), received->bytes->span(), name);
  if (!whole) return whole.error();
  const ChunkVersion* version = options_.catalogue->find(input.chunk, input.level);
  if (!version || hash_bytes(*whole) != version->encoded_hash)
    return error_in(name, "is not what the server stored", "fetch it again");
  auto buffer = std::make_shared<ChunkBuffer>(whole->size());
  std::copy(whole->begin(), whole->end(), buffer->span().begin());
  return std::shared_ptr<const ChunkBuffer>(std::move(buffer));
}

void DecodeWorker::keep(const DecodeInput& input, std::shared_ptr<KvCache> cache) {
  decoded_[{input.load, input.chunk}] = std::move(cache);
  ++verified_[input.load];
  if (!may_be_refined(input)) received_.forget(input.load, input.chunk, input.level);
}

bool DecodeWorker::may_be_refined(const DecodeInput& input) const {
  const ChunkEntry& chunk = options_.catalogue->chunks[static_cast<std::size_t>(input.chunk)];
  const ChunkVersion& here = chunk.versions[static_cast<std::size_t>(input.level)];
  return std::any_of(chunk.versions.begin(), chunk.versions.end(), [&](const ChunkVersion& other) {
    return other.size_beyond(here).has_value();
  });
}

}  // namespace sluice
