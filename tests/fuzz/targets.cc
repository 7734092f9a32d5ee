#include "tests/fuzz/target.h"

namespace sluice::fuzz {

const std::vector<Target>& all_targets() {
  static const std::vector<Target> targets = [] {
    std::vector<Target> list{container_target()};
    for (Target& target : codec_targets()) list.push_back(std::move(target));
    list.push_back(capture_target());
    list.push_back(model_profile_target());
    list.push_back(profile_target());
    list.push_back(scenario_target());
    list.push_back(emu_protocol_target());
    for (Target& target : trace_targets()) list.push_back(std::move(target));
    for (Target& target : workload_targets()) list.push_back(std::move(target));
    return list;
  }();
  return targets;
}

}  // namespace sluice::fuzz
