#include "emu/client/run_load.h"

namespace sluice {

Result<LoadRecord> run_load(RunnableClock& clock, Network& network, Gpu& gpu,
                            const PolicySpec& policy, const LoadPlan& plan, Duration give_up) {
  Result<std::unique_ptr<Policy>> made = make_policy(policy, plan.levels.all());
  if (!made) return made.error();
  Session session(clock, network, gpu, **made, plan, [&clock] { clock.stop(); });
  const TimerId begin = clock.schedule(clock.now(), [&session] { session.begin(); });
  const TimerId end = clock.schedule_in(give_up, [&clock] { clock.stop(); });
  clock.run();
  clock.cancel(begin);
  clock.cancel(end);
  session.abandon();
  return session.record();
}

}  // namespace sluice
