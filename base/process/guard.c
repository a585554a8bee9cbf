/* SPDX-License-Identifier: Apache-2.0 */
#include "base/process/guard.h"

#include "base/sanitized.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { TEXT_SIZE = 240, TICK_MICROSECONDS = 100000 };
static const double first_seconds = 9, interval_seconds = 10, much_bytes = 0.9e9;

/* Shared with the children. */
struct shared {
    volatile pid_t pid;                 /* who does it */
    volatile double share, left, shown; /* shown: seconds of the monotonic clock */
    volatile bool least;                /* `left` is perhaps more */
    char text[TEXT_SIZE];
};

/* A signal's handler can reach nothing else. */
static struct {
    struct shared *shared;
    double started, said; /* seconds of the monotonic clock; 0: nothing said yet */
    bool said_much;
} guard;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* What the kernel counts as the process' own memory, in bytes; 0 when that cannot be found out. Calls only what a
 * handler may. */
static double resident_bytes(pid_t pid)
{
    char path[32] = "/proc/", text[128];
    size_t at = 6;
    for (pid_t unit = 1000000000; unit > 0; unit /= 10)
        if (pid >= unit)
            path[at++] = (char)('0' + pid / unit % 10);
    strcpy(path + at, "/statm");
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = descriptor < 0 ? 0 : read(descriptor, text, sizeof text - 1);
    double pages = 0;
    if (descriptor >= 0)
        close(descriptor);
    text[length < 0 ? 0 : length] = '\0';
    const char *resident = strchr(text, ' ');
    for (resident = resident ? resident + 1 : ""; *resident >= '0' && *resident <= '9'; resident++)
        pages = 10 * pages + (*resident - '0');
    return pages * (double)sysconf(_SC_PAGESIZE);
}

/* Appends a text, or a number with a digit behind the point; what a handler may not leave to printf. */
static void append(char *line, size_t *length, const char *text)
{
    while (*text && *length < 2 * TEXT_SIZE)
        line[(*length)++] = *text++;
}

static void append_number(char *line, size_t *length, double value, bool tenths)
{
    char digits[32];
    size_t at = sizeof digits - 1;
    unsigned long long rest = (unsigned long long)(value * (tenths ? 10 : 1) + 0.5);
    digits[at] = '\0';
    if (tenths) {
        digits[--at] = (char)('0' + rest % 10);
        digits[--at] = '.';
        rest /= 10;
    }
    do
        digits[--at] = (char)('0' + rest % 10);
    while (rest /= 10);
    append(line, length, digits + at);
}

static void say(double elapsed, double bytes)
{
    char line[2 * TEXT_SIZE];
    size_t length = 0;
    append(line, &length, "stagesim: ");
    append(line, &length, guard.shared->text);
    append(line, &length, ": ");
    if (guard.shared->share > 0) {
        append_number(line, &length, 100 * fmin(guard.shared->share, 1), false);
        append(line, &length, " % done, ");
    }
    append_number(line, &length, elapsed, false);
    append(line, &length, " s so far");
    if (guard.shared->left > 0) {
        append(line, &length, guard.shared->least ? ", at least " : ", about ");
        append_number(line, &length, fmax(guard.shared->left, 1), false);
        append(line, &length, " s left");
    }
    if (bytes > 0) {
        append(line, &length, ", ");
        append_number(line, &length, bytes / 1e9, true);
        append(line, &length, " GB of memory");
    }
    append(line, &length, "\n");
    if (write(STDERR_FILENO, line, length) < 0)
        return; /* nobody to tell */
}

static void on_tick(int number)
{
    (void)number;
    struct shared *shared = guard.shared;
    if (!shared || !shared->text[0])
        return;
    double time = now(), bytes = fmax(resident_bytes(shared->pid), resident_bytes(getpid()));
    double said = fmax(guard.said, shared->shown);
    bool late = said > 0 ? time - said >= interval_seconds : time - guard.started >= first_seconds;
    bool much = !guard.said_much && shared->shown <= 0 && bytes >= much_bytes && !SANITIZED;
    if (!late && !much)
        return;
    guard.said_much |= much;
    guard.said = time;
    int before = errno;
    say(time - guard.started, bytes);
    errno = before;
}

void guard_start(void)
{
    void *page = mmap(NULL, sizeof *guard.shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct itimerval ticks = {{0, TICK_MICROSECONDS}, {0, TICK_MICROSECONDS}};
    struct sigaction action = {.sa_handler = on_tick, .sa_flags = SA_RESTART};
    if (page == MAP_FAILED)
        return;
    guard.shared = page;
    guard.started = now();
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &ticks, NULL);
}

void guard_doing(const char *format, ...)
{
    char text[TEXT_SIZE];
    if (!guard.shared)
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    for (char *byte = text; *byte; byte++)
        if ((unsigned char)*byte < ' ' || *byte == 127)
            *byte = '?'; /* names of files reach the terminal */
    guard.shared->pid = getpid();
    guard.shared->share = guard.shared->left = 0;
    memcpy(guard.shared->text, text, sizeof text);
}

void guard_shown(void)
{
    if (guard.shared)
        guard.shared->shown = now();
}

void guard_left(double seconds, bool least)
{
    if (!guard.shared)
        return;
    guard.shared->least = least;
    guard.shared->left = seconds;
}

void guard_share(double share)
{
    if (guard.shared)
        guard.shared->share = share;
}
