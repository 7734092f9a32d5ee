#include "emu/host/supervisor.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>

namespace sluice {
namespace {

constexpr int kFailed = 127;  // what shells leave with when a command cannot be started

[[noreturn]] void give_up(int report) {
  const int code = errno;
  (void)!::write(report, &code, sizeof code);
  ::_exit(kFailed);
}

void take_terminal() {
  // A background process that touches the terminal is stopped, unless it ignores that.
  struct sigaction ignore {};
  struct sigaction before {};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGTTOU, &ignore, &before);
  (void)::tcsetpgrp(STDIN_FILENO, ::getpid());
  ::sigaction(SIGTTOU, &before, nullptr);
}

[[noreturn]] void become(const SupervisedCommand& command) {
  ::setpgid(0, 0);
  if (command.foreground) {
    if (::isatty(STDIN_FILENO) == 1) take_terminal();
  } else {
    const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (nothing < 0 || ::dup2(nothing, STDIN_FILENO) < 0) give_up(command.report);
  }
  if (command.output_to_error && ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) give_up(command.report);
  ::sigprocmask(SIG_SETMASK, &command.signals, nullptr);
  ::execvpe(command.words[0], command.words, command.environment);
  give_up(command.report);
}

// Kills the children that the kernel lists for us; their own children become ours.
void kill_children() {
  const int list = ::open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
  if (list < 0) return;
  char text[512];
  pid_t number = 0;
  for (ssize_t n = 0; (n = ::read(list, text, sizeof text)) > 0;) {
    for (ssize_t i = 0; i < n; ++i) {
      if (text[i] >= '0' && text[i] <= '9') {
        number = number * 10 + (text[i] - '0');
      } else if (number > 0) {
        ::kill(number, SIGKILL);
        number = 0;
      }
    }
  }
  ::close(list);
}

// Until no child is left: whoever is born meanwhile has a parent that is about to die.
void kill_descendants() {
  while (true) {
    kill_children();
    if (::waitpid(-1, nullptr, __WALL) < 0 && errno == ECHILD) return;
  }
}

int code_of(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

// Reaps what has ended. True once the command has, with its code. A command cannot be suspended,
// because its link would go on without it.
bool reap(pid_t command, int& code) {
  int status = 0;
  bool over = false;
  for (pid_t who = 0; (who = ::waitpid(-1, &status, WNOHANG | WUNTRACED | __WALL)) > 0;) {
    if (WIFSTOPPED(status)) {
      ::kill(who, SIGCONT);
    } else if (who == command) {
      code = code_of(status);
      over = true;
    }
  }
  return over;
}

int watch(pid_t command) {
  sigset_t all;
  ::sigfillset(&all);
  int code = 128 + SIGKILL;
  while (true) {
    const int signal = ::sigwaitinfo(&all, nullptr);
    if (signal == kEndEverything) return code;
    if (signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT)
      ::kill(-command, signal);
    if (signal == SIGCHLD && reap(command, code)) return code;
  }
}

}  // namespace

void supervise(const SupervisedCommand& command) {
  struct sigaction usual {};
  usual.sa_handler = SIG_DFL;
  ::sigaction(SIGCHLD, &usual, nullptr);
  ::sigaction(kEndEverything, &usual, nullptr);
  ::setpgid(0, 0);
  if (::prctl(PR_SET_PDEATHSIG, kEndEverything) != 0 || ::prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
    give_up(command.report);
  if (::getppid() != command.owner) ::_exit(kFailed);  // it died before we asked to be told
  if (command.space >= 0 && ::setns(command.space, CLONE_NEWNET) != 0) give_up(command.report);
  // Keeps nothing of the owner alive: neither namespaces nor sockets nor pipes.
  if (command.report > STDERR_FILENO + 1)
    ::close_range(STDERR_FILENO + 1, static_cast<unsigned>(command.report) - 1, 0);
  ::close_range(static_cast<unsigned>(command.report) + 1, UINT_MAX, 0);
  const pid_t child = ::fork();
  if (child < 0) give_up(command.report);
  if (child == 0) become(command);
  ::setpgid(child, child);
  ::close(command.report);
  const int code = watch(child);
  kill_descendants();
  ::_exit(code);
}

}  // namespace sluice
