/* SPDX-License-Identifier: Apache-2.0 */
/* Included before every source of the WebAssembly build: what Linux has and emscripten's C library does not. What asks
 * the system for more than there is gets the answer of a system that is too old for it, which stagesim knows. */
#ifndef ABSENT_SYSTEM_H
#define ABSENT_SYSTEM_H

#include <errno.h>
#include <stddef.h>

enum { STATX_ATTR_MOUNT_ROOT = 1, RENAME_NOREPLACE = 1, RENAME_EXCHANGE = 2, SYS_pidfd_open = 0 };

struct statx {
    unsigned long long stx_attributes;
};

static inline int statx(int folder, const char *path, int flags, unsigned mask, struct statx *status)
{
    (void)folder, (void)path, (void)flags, (void)mask, (void)status;
    errno = ENOSYS;
    return -1;
}

static inline int renameat2(int from, const char *old, int to, const char *name, unsigned flags)
{
    (void)from, (void)old, (void)to, (void)name, (void)flags;
    errno = EINVAL; /* a file system that knows no flags */
    return -1;
}

static inline long syscall(long number, ...)
{
    (void)number;
    errno = ENOSYS;
    return -1;
}

/* system.c. */
void qsort_r(void *items, size_t count, size_t size, int (*compare)(const void *a, const void *b, void *user),
             void *user);

#endif
