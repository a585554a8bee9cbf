/* SPDX-License-Identifier: Apache-2.0 */
#include "platforms/soundness.h"

#include "platforms/device.h"
#include "platforms/platform_file.h"

#include <stdio.h>

/* What a number may be. */
struct bounds {
    const char *unit;
    double least, most;
    bool may_miss; /* 0 stands for not given */
};

static const struct bounds speeds = {"flop/s", 1, 1e27, false}, peaks = {"flop/s", 1, 1e27, true},
                           memories = {"B", 1, 1e24, true}, memory_rates = {"B/s", 1, 1e24, true},
                           powers = {"W", 0, 1e12, false}, bandwidths = {"B/s", 1, 1e24, false},
                           latencies = {"s", 0, 1e9, false};

/* The element whose numbers are looked at. */
struct element {
    const struct platform *platform;
    const char *kind, *name;
    struct arena *arena;
    struct fault *fault;
};

static bool is_within(double value, const struct bounds *bounds)
{
    return (value >= bounds->least && value <= bounds->most) || (bounds->may_miss && value == 0);
}

static bool check(const struct element *element, const char *what, double value, const struct bounds *bounds)
{
    if (is_within(value, bounds))
        return true;
    const char *place = platform_file_place(element->platform->file, element->name, element->arena);
    char otherwise[300] = "";
    if (!*place)
        snprintf(otherwise, sizeof otherwise, "%.290s: ", element->platform->file);
    return fault_set(element->fault, "%.300s%s%s '%.200s': its %s is %g %s; expected %g to %g", place, otherwise,
                     element->kind, element->name, what, value, bounds->unit, bounds->least, bounds->most);
}

static bool check_host(const struct element *element, const struct platform_host *host)
{
    bool sound = check(element, "speed", host->speed, &speeds) && check(element, "memory", host->memory, &memories) &&
                 check(element, "memory_bandwidth", host->memory_bandwidth, &memory_rates);
    for (unsigned i = 0; i < PRECISIONS && sound; i++) {
        if (is_within(host->peak[i], &peaks)) /* printing names of all takes longer than the rest */
            continue;
        char what[32];
        snprintf(what, sizeof what, "peak_%s", precision_name((enum precision)i));
        sound = check(element, what, host->peak[i], &peaks);
    }
    return sound && (!host->has_watts || (check(element, "idle power", host->idle_watts, &powers) &&
                                          check(element, "power under load", host->busy_watts, &powers)));
}

bool platform_sound(const struct platform *platform, struct arena *arena, struct fault *fault)
{
    for (uint32_t i = 0; i < platform->host_count; i++) {
        struct element element = {platform, "host", platform->hosts[i].name, arena, fault};
        if (!check_host(&element, &platform->hosts[i]))
            return false;
    }
    for (uint32_t i = 0; i < platform->link_count; i++) {
        const struct platform_link *link = &platform->links[i];
        struct element element = {platform, "link", link->name, arena, fault};
        if (!check(&element, "bandwidth", link->bandwidth, &bandwidths) ||
            !check(&element, "latency", link->latency, &latencies))
            return false;
    }
    return true;
}
