/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/serve/clean.h"

#include "base/figure.h"
#include "base/paths.h"
#include "base/process/interruption.h"
#include "platforms/hardware/hardware.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

enum { KILOBYTES_MAX = 100000, SIGNALS = sizeof((struct clean *)0)->handlers / sizeof(void (*)(int)) };

static int note_libraries(struct dl_phdr_info *info, size_t size, void *user)
{
    (void)size;
    *(unsigned long long *)user = info->dlpi_adds;
    return 1; /* each of them says the same */
}

struct clean clean_state(void)
{
    struct clean state = {0};
    struct sigaction action;
    for (int descriptor = 0; descriptor < 64; descriptor++)
        state.descriptors |= (uint64_t)(fcntl(descriptor, F_GETFD) >= 0) << descriptor;
    dl_iterate_phdr(note_libraries, &state.libraries);
    for (int number = 1; number < SIGNALS; number++)
        state.handlers[number] = sigaction(number, NULL, &action) == 0 ? action.sa_handler : SIG_DFL;
    sigprocmask(SIG_SETMASK, NULL, &state.blocked);
    return state;
}

static bool same(const struct clean *a, const struct clean *b)
{
    bool alike = a->descriptors == b->descriptors && a->libraries == b->libraries;
    for (int number = 1; number < SIGNALS; number++)
        alike &= a->handlers[number] == b->handlers[number] &&
                 sigismember(&a->blocked, number) == sigismember(&b->blocked, number);
    return alike;
}

static bool has_processes(void)
{
    return waitpid(-1, NULL, WNOHANG) >= 0 || errno != ECHILD;
}

bool clean_again(const struct clean *before)
{
    struct fault fault = {""};
    struct rusage used;
    struct clean now = clean_state();
    hardware_forget();
    path_forget_read();
    return same(before, &now) && !has_processes() && !interruption_noted() && figures_finite(&fault) &&
           getrusage(RUSAGE_SELF, &used) == 0 && used.ru_maxrss < KILOBYTES_MAX;
}
