// The process between a command's owner and the command: starts it, passes signals on, and ends
// what it leaves behind.
// Surprise: it runs in the fork of a program that may have threads, so it calls nothing but what is
// safe in signal handlers (POSIX.1-2017, XSH 2.4.3): no allocation, no locks.
#pragma once

#include <signal.h>

namespace sluice {

// Tells the supervisor to kill everything; also what the kernel sends it when its owner dies.
inline constexpr int kEndEverything = SIGUSR1;

struct SupervisedCommand {
  char* const* words;        // as of execvpe()
  char* const* environment;  // as of execvpe()
  int space;                 // descriptor of a network namespace, or -1
  int report;                // a pipe that takes the errno of a command that could not be started
  bool foreground;
  bool output_to_error;
  pid_t owner;
  sigset_t signals;  // the command's signal mask
};

// Leaves with the command's exit code, or 128 + signal. All signals must be blocked.
[[noreturn]] void supervise(const SupervisedCommand& command);

}  // namespace sluice
