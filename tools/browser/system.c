/* SPDX-License-Identifier: Apache-2.0 */
/* What emscripten's C library lacks or does otherwise. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>

/* ---- sorting as glibc does it: items that compare equal stay in their order; smoothsort leaves them in another ----
 */

struct sorting {
    size_t size;
    int (*compare)(const void *a, const void *b, void *user);
    void *user;
    unsigned char *scratch;
};

/* Merge sort; runs of one item are sorted. */
static void sort(const struct sorting *s, unsigned char *items, size_t count)
{
    if (count < 2)
        return;
    size_t half = count / 2, left = 0, right = half, used = 0;
    sort(s, items, half);
    sort(s, items + half * s->size, count - half);
    while (left < half && right < count) {
        bool first = s->compare(items + left * s->size, items + right * s->size, s->user) <= 0;
        memcpy(s->scratch + used++ * s->size, items + (first ? left++ : right++) * s->size, s->size);
    }
    memcpy(s->scratch + used * s->size, items + left * s->size, (half - left) * s->size);
    memcpy(items, s->scratch, (used + half - left) * s->size);
}

void qsort_r(void *items, size_t count, size_t size, int (*compare)(const void *a, const void *b, void *user),
             void *user)
{
    struct sorting sorting = {size, compare, user, malloc(count * size ? count * size : 1)};
    if (!sorting.scratch)
        abort();
    sort(&sorting, items, count);
    free(sorting.scratch);
}

static int compare_alone(const void *a, const void *b, void *user)
{
    int (*const *compare)(const void *, const void *) = user;
    return (*compare)(a, b);
}

void qsort(void *items, size_t count, size_t size, int (*compare)(const void *a, const void *b))
{
    qsort_r(items, count, size, compare_alone, &compare);
}

/* ---- names with numbers, as glibc orders them; emscripten's holds "a-1" for larger than "a-b" ---- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static size_t digits(const char *text)
{
    size_t count = 0;
    while (is_digit(text[count]))
        count++;
    return count;
}

/* Numbers are compared as numbers, those that begin with 0 as fractions: the more zeros in front, the smaller. */
int strverscmp(const char *left, const char *right)
{
    size_t same = 0, number = 0; /* what both begin with, and where the digits at its end begin */
    bool zeros = true;           /* they are zeros only */
    for (; left[same] == right[same]; same++) {
        if (!left[same])
            return 0;
        number = is_digit(left[same]) ? number : same + 1;
        zeros = !is_digit(left[same]) || (zeros && left[same] == '0');
    }
    size_t a = digits(left + number), b = digits(right + number);
    if (a && b && left[number] != '0' && right[number] != '0' && a != b)
        return a > b ? 1 : -1;
    bool fraction = zeros && number < same; /* "00" and "001": what has another digit is smaller */
    if (fraction && is_digit(left[same]) != is_digit(right[same]))
        return is_digit(left[same]) ? -1 : 1;
    return (unsigned char)left[same] - (unsigned char)right[same];
}

/* ---- calls of a system that is not there ---- */

#pragma clang diagnostic ignored "-Wunused-parameter"

static int absent(void)
{
    errno = ENOSYS;
    return -1;
}

/* All that is there may be read and written. emscripten's own ends the program where there are flags. */
int faccessat(int folder, const char *path, int mode, int flags)
{
    struct stat status;
    return fstatat(folder, path, &status, flags & AT_SYMLINK_NOFOLLOW);
}

int prctl(int option, ...)
{
    return absent();
}

int sigaltstack(const stack_t *restrict stack, stack_t *restrict old)
{
    return absent();
}

int getrlimit(int resource, struct rlimit *limit)
{
    return absent();
}

int setrlimit(int resource, const struct rlimit *limit)
{
    return absent();
}

/* Nothing is known of it. */
int getrusage(int who, struct rusage *usage)
{
    *usage = (struct rusage){0};
    return 0;
}

int setitimer(int which, const struct itimerval *restrict wanted, struct itimerval *restrict old)
{
    return absent();
}

int timer_create(clockid_t clock, struct sigevent *restrict event, timer_t *restrict timer)
{
    return absent();
}

int timer_delete(timer_t timer)
{
    return absent();
}

int timer_settime(timer_t timer, int flags, const struct itimerspec *restrict wanted, struct itimerspec *restrict old)
{
    return absent();
}

/* Advice that nobody takes; the loader's own says so on the console each time. */
int madvise(void *address, size_t length, int advice)
{
    return 0;
}

int memfd_create(const char *name, unsigned flags)
{
    return absent();
}

pid_t wait4(pid_t process, int *status, int options, struct rusage *usage)
{
    return absent();
}

ssize_t flistxattr(int descriptor, char *list, size_t size)
{
    return absent();
}

ssize_t fgetxattr(int descriptor, const char *name, void *value, size_t size)
{
    return absent();
}

int fsetxattr(int descriptor, const char *name, const void *value, size_t size, int flags)
{
    return absent();
}
