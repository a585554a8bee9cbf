/* SPDX-License-Identifier: Apache-2.0 */
#include "base/room.h"

#include "base/memory/spare.h"
#include "base/sanitized.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/resource.h>

static const double share = 0.8; /* of what is left; the rest is for others */

/* /proc/meminfo, in KiB. */
static double available(void)
{
    FILE *in = fopen("/proc/meminfo", "r");
    char line[256];
    double kibibytes = INFINITY;
    while (in && fgets(line, sizeof line, in))
        if (sscanf(line, "MemAvailable: %lg kB", &kibibytes) == 1)
            break;
    if (in)
        fclose(in);
    return 1024 * kibibytes;
}

/* A file with one number; `otherwise` where there is no such file or the number is "max". */
static double number_in(const char *path, double otherwise)
{
    FILE *in = fopen(path, "r");
    double number = otherwise;
    if (in && fscanf(in, "%lg", &number) != 1)
        number = otherwise;
    if (in)
        fclose(in);
    return number;
}

/* In a container its own group is the root. */
static double left_in_group(void)
{
    return number_in("/sys/fs/cgroup/memory.max", INFINITY) - number_in("/sys/fs/cgroup/memory.current", 0);
}

static double limit_of(int resource)
{
    struct rlimit limit;
    return getrlimit(resource, &limit) || limit.rlim_cur == RLIM_INFINITY ? INFINITY : (double)limit.rlim_cur;
}

double room_bytes(void)
{
    double left = fmin(available(), left_in_group()) + (double)spare_bytes();
    return fmin(share * left, fmin(limit_of(RLIMIT_DATA), limit_of(RLIMIT_AS)));
}

void room_set_limit(void)
{
    struct rlimit limit;
    double bytes = room_bytes();
    if (SANITIZED || isinf(bytes) || getrlimit(RLIMIT_DATA, &limit))
        return;
    limit.rlim_cur = (rlim_t)bytes;
    setrlimit(RLIMIT_DATA, &limit);
}
