// Whatever a worker process does, the command says so and ends.
#include "sim/cli/workers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <new>
#include <stdexcept>

namespace sluice {
namespace {

using ::testing::HasSubstr;

std::string error_of(const std::function<Status(WorkQueue&)>& work) {
  const Status done = run_workers(2, 4, work);
  return done ? "no error" : done.error().to_line();
}

TEST(Workers, AnErrorComesBackWithItsFileAndLine) {
  EXPECT_EQ(
      error_of([](WorkQueue&) -> Status { return error_at("a.csv", 7, "is bad", "mend it"); }),
      "error: a.csv:7: is bad; mend it");
}

TEST(Workers, AnExceptionIsAnErrorToo) {
  EXPECT_THAT(error_of([](WorkQueue&) -> Status { throw std::overflow_error("too long a time"); }),
              HasSubstr("too long a time"));
  EXPECT_THAT(error_of([](WorkQueue&) -> Status { throw std::bad_alloc(); }),
              HasSubstr("not enough memory"));
}

TEST(Workers, AWorkerThatIsKilledOrLeavesIsNotTakenForDone) {
  EXPECT_THAT(error_of([](WorkQueue&) -> Status {
                ::raise(SIGKILL);
                return {};
              }),
              HasSubstr("killed"));
  EXPECT_THAT(error_of([](WorkQueue&) -> Status { ::_exit(3); }),
              HasSubstr("start the command again"));
}

TEST(Workers, AllWorkIsHandedOutOnce) {
  EXPECT_EQ(error_of([](WorkQueue& queue) -> Status {
              while (queue.next()) {
              }
              return {};
            }),
            "no error");
}

}  // namespace
}  // namespace sluice
