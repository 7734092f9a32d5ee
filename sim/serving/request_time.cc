#include "sim/serving/request_time.h"

namespace sluice {

RequestTimeNetwork::~RequestTimeNetwork() {
  for (const auto& [id, flight] : flights_) {
    if (flight.departure) clock_.cancel(*flight.departure);
  }
}

TransferId RequestTimeNetwork::start(const Transfer& transfer, TransferListener& listener) {
  const TransferId id{next_id_++};
  const TimerId departure = clock_.schedule_in(request_time_, [this, id, transfer] {
    Flight& flight = flights_.at(id);
    flight.departure.reset();
    flight.inner = network_->start(transfer, *this);
    ids_.emplace(*flight.inner, id);
  });
  flights_.emplace(id, Flight{.listener = &listener,
                              .group = transfer.group,
                              .departure = departure,
                              .inner = std::nullopt});
  return id;
}

DataSize RequestTimeNetwork::cancel(TransferId id) {
  const auto found = flights_.find(id);
  if (found == flights_.end()) return DataSize::zero();
  const std::optional<TransferId> inner = found->second.inner;
  forget(id);
  return inner ? network_->cancel(*inner) : DataSize::zero();
}

DataSize RequestTimeNetwork::delivered(TransferId id) const {
  const auto found = flights_.find(id);
  if (found == flights_.end() || !found->second.inner) return DataSize::zero();
  return network_->delivered(*found->second.inner);
}

void RequestTimeNetwork::close(ConnectionGroup group) {
  for (auto flight = flights_.begin(); flight != flights_.end();) {
    const TransferId id = flight->first;
    const bool is_of_group = flight->second.group == group;
    ++flight;
    if (is_of_group) forget(id);
  }
  network_->close(group);
}

void RequestTimeNetwork::forget(TransferId id) {
  const auto found = flights_.find(id);
  if (found == flights_.end()) return;
  if (found->second.departure) clock_.cancel(*found->second.departure);
  if (found->second.inner) ids_.erase(*found->second.inner);
  flights_.erase(found);
}

void RequestTimeNetwork::on_first_byte(TransferId inner) {
  const auto id = ids_.find(inner);
  if (id != ids_.end()) flights_.at(id->second).listener->on_first_byte(id->second);
}

void RequestTimeNetwork::on_progress(TransferId inner, DataSize delivered) {
  const auto id = ids_.find(inner);
  if (id != ids_.end()) flights_.at(id->second).listener->on_progress(id->second, delivered);
}

// Until its listener was told, delivered() answers.
void RequestTimeNetwork::on_complete(TransferId inner) {
  const auto found = ids_.find(inner);
  if (found == ids_.end()) return;
  const TransferId id = found->second;
  flights_.at(id).listener->on_complete(id);
  forget(id);
}

void RequestTimeNetwork::on_failure(TransferId inner, TransferFailure why) {
  const auto found = ids_.find(inner);
  if (found == ids_.end()) return;
  const TransferId id = found->second;
  flights_.at(id).listener->on_failure(id, why);
  forget(id);
}

}  // namespace sluice
