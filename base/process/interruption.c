/* SPDX-License-Identifier: Apache-2.0 */
#include "base/process/interruption.h"

#include <signal.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

enum { SIGNALS = 3, SECONDS_APART = 1 };

static const int signals[SIGNALS] = {SIGINT, SIGTERM, SIGHUP};

/* A signal's handler reaches nothing else. */
static struct {
    volatile sig_atomic_t noted;
    bool awaited;
    struct timespec when; /* of the first */
    pid_t owner;
    struct sigaction before[SIGNALS];
    double seconds;         /* that there are; 0: any number */
    struct timespec counts; /* from when on */
} interruption;

static double since(const struct timespec *begin)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)(time.tv_sec - begin->tv_sec) + 1e-9 * (double)(time.tv_nsec - begin->tv_nsec);
}

/* Delivered when the handler returns. */
static void end_by(int number)
{
    for (size_t i = 0; i < SIGNALS; i++)
        if (signals[i] == number)
            sigaction(number, &interruption.before[i], NULL);
    raise(number);
}

static void on_signal(int number)
{
    if (!interruption.noted)
        clock_gettime(CLOCK_MONOTONIC, &interruption.when);
    else if (getpid() == interruption.owner && since(&interruption.when) > SECONDS_APART)
        end_by(number);
    interruption.noted = number;
}

static void catch_all(void)
{
    for (size_t i = 0; i < SIGNALS; i++)
        if (interruption.before[i].sa_handler != SIG_IGN)
            sigaction(signals[i], &(struct sigaction){.sa_handler = on_signal, .sa_flags = (int)SA_RESTART}, NULL);
}

void interruption_await(void)
{
    if (interruption.awaited)
        return;
    interruption.owner = getpid();
    interruption.awaited = true;
    for (size_t i = 0; i < SIGNALS; i++)
        sigaction(signals[i], NULL, &interruption.before[i]);
    catch_all();
}

void interruption_renew(void)
{
    if (interruption.awaited)
        catch_all();
}

void interruption_forget(void)
{
    for (size_t i = 0; i < SIGNALS && interruption.awaited; i++)
        sigaction(signals[i], &interruption.before[i], NULL);
    interruption.awaited = false;
    interruption.seconds = 0;
}

void interruption_after(double seconds)
{
    interruption.seconds = seconds;
    clock_gettime(CLOCK_MONOTONIC, &interruption.counts);
}

bool interruption_is_awaited(void)
{
    return interruption.awaited;
}

int interruption_noted(void)
{
    if (interruption.noted)
        return interruption.noted;
    return interruption.seconds > 0 && since(&interruption.counts) > interruption.seconds ? SIGALRM : 0;
}

void interruption_end(void)
{
    if (!interruption.noted)
        return;
    interruption_forget();
    raise(interruption.noted);
}
