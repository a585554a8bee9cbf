/* SPDX-License-Identifier: Apache-2.0 */
/* preload.so, put before a program by LD_PRELOAD: tells inject when main begins, so that the loader's calls do not
 * count, and fails the N-th allocation from there on, or kills the process at it. Environment: FAULT_MALLOC=N (0:
 * none), FAULT_ACTION=error|kill, FAULT_COUNT=FILE of 8 bytes, which holds the count and is shared with children. */
#include "test/faults/mark.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { EARLY_BYTES = 65536 };

static void *(*next_malloc)(size_t), *(*next_calloc)(size_t, size_t), *(*next_realloc)(void *, size_t);
static void (*next_free)(void *);
static int (*program)(int, char **, char **);
static _Atomic uint64_t *count; /* NULL: main has not begun */
static uint64_t at;
static bool kills;
static pid_t owner;

/* dlsym allocates; nothing of this is freed. */
static _Alignas(16) char early[EARLY_BYTES];
static size_t early_used;
static bool is_finding;

static void *allocate_early(size_t bytes)
{
    size_t from = early_used;
    early_used += (bytes + 15) / 16 * 16;
    return early_used <= sizeof early ? early + from : NULL;
}

static bool is_early(const void *memory)
{
    return (const char *)memory >= early && (const char *)memory < early + sizeof early;
}

static void find_next(void)
{
    is_finding = true;
    *(void **)&next_malloc = dlsym(RTLD_NEXT, "malloc");
    *(void **)&next_calloc = dlsym(RTLD_NEXT, "calloc");
    *(void **)&next_realloc = dlsym(RTLD_NEXT, "realloc");
    *(void **)&next_free = dlsym(RTLD_NEXT, "free");
    is_finding = false;
}

static bool fails(void)
{
    if (!count || atomic_fetch_add(count, 1) + 1 != at)
        return false;
    if (kills)
        kill(owner, SIGKILL);
    errno = ENOMEM;
    return true;
}

__attribute__((visibility("default"))) void *malloc(size_t bytes)
{
    if (is_finding)
        return allocate_early(bytes);
    if (!next_malloc)
        find_next();
    return fails() ? NULL : next_malloc(bytes);
}

__attribute__((visibility("default"))) void *calloc(size_t items, size_t bytes)
{
    if (is_finding)
        return allocate_early(items * bytes);
    if (!next_calloc)
        find_next();
    return fails() ? NULL : next_calloc(items, bytes);
}

__attribute__((visibility("default"))) void *realloc(void *memory, size_t bytes)
{
    if (!next_realloc)
        find_next();
    if (is_early(memory)) {
        void *copy = next_malloc(bytes);
        return copy ? memcpy(copy, memory, bytes < 256 ? bytes : 256) : NULL;
    }
    return fails() ? NULL : next_realloc(memory, bytes);
}

__attribute__((visibility("default"))) void free(void *memory)
{
    if (!is_early(memory) && next_free)
        next_free(memory);
}

static void begin(void)
{
    const char *number = getenv("FAULT_MALLOC"), *action = getenv("FAULT_ACTION"), *file = getenv("FAULT_COUNT");
    int descriptor = number && file ? open(file, O_RDWR | O_CLOEXEC) : -1;
    if (descriptor >= 0) {
        at = strtoull(number, NULL, 10);
        kills = action && !strcmp(action, "kill");
        owner = getpid();
        void *shared = mmap(NULL, sizeof *count, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
        close(descriptor);
        count = shared == MAP_FAILED ? NULL : shared;
    }
    prctl(MARK_OF_MAIN, 0, 0, 0, 0);
}

static int main_begins(int argc, char **argv, char **environment)
{
    begin();
    return program(argc, argv, environment);
}

__attribute__((visibility("default"))) int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv,
                                                             void (*init)(void), void (*finish)(void),
                                                             void (*finish_loader)(void), void *stack);

int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void),
                      void (*finish)(void), void (*finish_loader)(void), void *stack)
{
    int (*next)(int (*)(int, char **, char **), int, char **, void (*)(void), void (*)(void), void (*)(void), void *);
    *(void **)&next = dlsym(RTLD_NEXT, "__libc_start_main");
    program = main;
    return next(main_begins, argc, argv, init, finish, finish_loader, stack);
}
