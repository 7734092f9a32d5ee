// One thread of a block as a Boost.Context fiber whose switches the address sanitizer knows.
// Where in the flow: under machine.cc.
#pragma once

#include <boost/context/fiber.hpp>
#include <cstddef>
#include <functional>
#include <memory>

namespace sluice::simt {

// Runs a function on a stack of its own, in turns with the code that calls resume().
class ThreadFiber {
 public:
  // `body` runs at the first resume(). It must not throw except Abandoned.
  void start(const std::function<void()>& body);
  // Until body() calls wait() or ends. True while it has not ended.
  bool resume();
  // From within body(): back to the caller of resume(). Throws Abandoned after abandon().
  void wait();
  // Ends a body that waits, by an exception out of its wait().
  void abandon();

 private:
  struct Abandoned {};
  // A stack that outlives its fiber, for the next block's thread.
  struct KeptStack {
    ThreadFiber* owner;
    boost::context::stack_context allocate();
    void deallocate(boost::context::stack_context&) {}
  };
  boost::context::fiber run(boost::context::fiber&& caller);

  std::unique_ptr<std::byte[]> stack_;
  boost::context::fiber fiber_, caller_;
  const std::function<void()>* body_ = nullptr;
  bool is_abandoned_ = false, has_ended_ = true;
  const void* caller_stack_ = nullptr;  // what the sanitizer must know to follow a switch back
  std::size_t caller_stack_bytes_ = 0;
  void* caller_frames_ = nullptr;
  void* fiber_frames_ = nullptr;
};

}  // namespace sluice::simt
