/* SPDX-License-Identifier: Apache-2.0 */
#include "base/process/limit.h"

#include "base/exit_code.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SECONDS = 60, SECONDS_MAX = 1000000 };

/* A signal's handler reaches nothing else. */
static struct {
    uint64_t (*done)(const void *context);
    const void *context;
    uint64_t before;
    char message[400];
    size_t length;
    timer_t timer;
    volatile sig_atomic_t running, paused;
    uint64_t open; /* descriptors, a bit each */
} limit;

static void on_tick(int number)
{
    (void)number;
    uint64_t now = limit.done(limit.context);
    bool moves = limit.paused || now != limit.before;
    limit.before = now;
    if (moves || !limit.running)
        return;
    ssize_t unused = write(STDERR_FILENO, limit.message, limit.length);
    (void)unused;
    _exit(EXIT_FAILED);
}

static uint64_t open_descriptors(void)
{
    uint64_t open = 0;
    for (int descriptor = 0; descriptor < 64; descriptor++)
        open |= (uint64_t)(fcntl(descriptor, F_GETFD) >= 0) << descriptor;
    return open;
}

unsigned limit_seconds(void)
{
    const char *text = getenv("STAGESIM_PLUGIN_SECONDS");
    char *end = NULL;
    unsigned long seconds = text ? strtoul(text, &end, 10) : 0;
    return text && *text && !*end && seconds && seconds <= SECONDS_MAX ? (unsigned)seconds : SECONDS;
}

void limit_begin(const char *what, unsigned seconds, uint64_t (*done)(const void *context), const void *context)
{
    struct sigaction action = {.sa_handler = on_tick, .sa_flags = SA_RESTART};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGVTALRM};
    const struct itimerspec ticks = {.it_interval.tv_sec = seconds, .it_value.tv_sec = seconds};
    limit.done = done;
    limit.context = context;
    limit.before = done(context);
    limit.open = open_descriptors();
    limit.paused = 0;
    int length = snprintf(limit.message, sizeof limit.message,
                          "stagesim: error: %.300s has done nothing for %u s: it does not return\n", what, seconds);
    limit.length = (size_t)length;
    sigaction(SIGVTALRM, &action, NULL);
    if (timer_create(CLOCK_MONOTONIC, &event, &limit.timer) != 0)
        return;
    limit.running = 1;
    timer_settime(limit.timer, 0, &ticks, NULL);
}

void limit_end(void)
{
    if (limit.running)
        timer_delete(limit.timer);
    limit.running = 0;
    if (limit.open & ~open_descriptors())
        _exit(EXIT_CLOSED);
}

void limit_pause(void)
{
    limit.paused = 1;
}

void limit_go_on(void)
{
    limit.before = limit.running ? limit.done(limit.context) : 0;
    limit.paused = 0;
}
