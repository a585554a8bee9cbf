/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/jobs/job_platform.h"

#include "base/arena.h"

struct job_platform {
    struct platform platform; /* first: a platform's functions are given it */
    struct platform *whole;
    const uint32_t *hosts;
};

static void route(struct platform *platform, uint32_t from, uint32_t to, struct platform_route *route)
{
    const struct job_platform *part = (const struct job_platform *)platform;
    part->whole->route(part->whole, part->hosts[from], part->hosts[to], route);
}

static bool reaches(struct platform *platform, uint32_t from, uint32_t to)
{
    const struct job_platform *part = (const struct job_platform *)platform;
    return part->whole->reaches(part->whole, part->hosts[from], part->hosts[to]);
}

static void bundle(struct platform *platform, uint32_t host, struct platform_bundle *bundle)
{
    const struct job_platform *part = (const struct job_platform *)platform;
    part->whole->bundle(part->whole, part->hosts[host], bundle);
}

struct platform *job_platform_create(struct platform *whole, const uint32_t *hosts, uint32_t count, struct arena *arena)
{
    struct job_platform *part = arena_alloc(arena, sizeof *part);
    *part = (struct job_platform){.platform = *whole, .whole = whole, .hosts = hosts};
    part->platform.host_count = count;
    part->platform.hosts = arena_array(arena, count, sizeof *part->platform.hosts);
    for (uint32_t i = 0; i < count; i++)
        part->platform.hosts[i] = whole->hosts[hosts[i]];
    part->platform.route = route;
    part->platform.reaches = whole->reaches ? reaches : NULL;
    part->platform.bundle = whole->bundle ? bundle : NULL;
    if (count < whole->host_count)
        part->platform.library.torus[0] = part->platform.library.torus[1] = part->platform.library.torus[2] = 0;
    return &part->platform;
}
