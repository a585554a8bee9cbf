/* SPDX-License-Identifier: Apache-2.0 */
#include "base/process/crash.h"

#include "base/sanitized.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { EXIT_FAILED = 3, STACK_BYTES = 64 << 10 };

static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

/* What the handler must reach. */
static pid_t owner;
static void (*last_of_all)(void);
static char stack[STACK_BYTES]; /* the process's own may be full */

/* Only what a signal's handler may call. */
static void say(int number)
{
    char text[] = "stagesim: ended by signal ??, a mistake of stagesim or of a library that it uses; files that were "
                  "being written are removed\n";
    char *digits = strchr(text, '?');
    digits[0] = (char)(number < 10 ? ' ' : '0' + number / 10);
    digits[1] = (char)('0' + number % 10);
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0)
        return; /* nothing more can be done */
}

static void on_crash(int number)
{
    struct rlimit core;
    signal(number, SIG_DFL);
    if (getpid() == owner) {
        last_of_all();
        say(number);
        if (getrlimit(RLIMIT_CORE, &core) != 0 || core.rlim_cur == 0)
            _exit(EXIT_FAILED);
    }
    raise(number);
}

void crash_catch(void (*last)(void))
{
    stack_t own = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_handler = on_crash, .sa_flags = SA_ONSTACK | SA_NODEFER};
    owner = getpid();
    last_of_all = last;
    if (SANITIZED || sigaltstack(&own, NULL) != 0)
        return;
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++)
        sigaction(crashes[i], &action, NULL);
}
