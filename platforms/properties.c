/* SPDX-License-Identifier: Apache-2.0 */
#include "platforms/properties.h"

#include "base/arena.h"
#include "base/rounded/rounded.h"
#include "platforms/device.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WATTS_MOST 1e12

const char *const properties_host_keys[] = {
    "model",    "node",     "nic",    "peak_fp32",        "peak_tf32",         "peak_fp16", "peak_bf16",
    "peak_fp8", "peak_fp4", "memory", "memory_bandwidth", "wattage_per_state", NULL};

/* "80GiB", "2039GBps", "312Tf": a number and a unit with a decimal or binary prefix. NaN when it is neither. */
static double parse_amount(const char *text)
{
    static const char prefixes[] = "kMGTPE";
    static const char *const units[] = {"", "B", "Bps", "f", "flops"};
    char *rest = NULL;
    double value = strtod(text, &rest);
    if (rest == text || !isfinite(value) || value < 0)
        return NAN;
    const char *prefix = *rest ? strchr(prefixes, *rest == 'K' ? 'k' : *rest) : NULL;
    if (prefix) {
        bool binary = rest[1] == 'i';
        value *= rounded_pow(binary ? 1024.0 : 1000.0, (double)(prefix - prefixes + 1));
        rest += binary ? 2 : 1;
    }
    if (!strcmp(rest, "bps"))
        return value / 8;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (!strcmp(rest, units[i]))
            return value;
    return NAN;
}

static bool set_amount(const struct platform_host *host, double *to, const char *key, const char *value,
                       const char *example, struct fault *fault)
{
    double amount = parse_amount(value);
    if (isnan(amount))
        return fault_set(fault, "host '%s': property %s=\"%s\" is no amount; expected one like %s", host->name, key,
                         value, example);
    *to = amount;
    return true;
}

/* wattage_per_state is "Idle:AllCores" or "Idle:Epsilon:AllCores" for each state, states separated by commas. That of
 * the host's state counts. */
static bool set_watts(struct platform_host *host, const char *value, struct fault *fault)
{
    char state[128] = "", *rest = NULL;
    const char *own = value;
    for (uint32_t i = 0; i < host->state; i++) {
        own += strcspn(own, ",");
        if (!*own++)
            return fault_set(fault,
                             "host '%s': property wattage_per_state=\"%s\" has no watts of state %u, in which the host "
                             "starts; expected some for each state",
                             host->name, value, host->state);
    }
    size_t length = strcspn(own, ",");
    if (length < sizeof state)
        memcpy(state, own, length);
    double idle = strtod(state, &rest);
    const char *last = strrchr(state, ':');
    double busy = last ? strtod(last + 1, &rest) : NAN;
    if (!last || *rest || !(idle >= 0) || !(busy >= 0))
        return fault_set(fault, "host '%s': property wattage_per_state=\"%s\" is none; expected one like 50:400",
                         host->name, value);
    host->has_watts = true;
    host->idle_watts = idle;
    host->busy_watts = busy;
    return true;
}

bool properties_set(struct platform_host *host, const char *key, const char *value, struct arena *arena,
                    struct fault *fault)
{
    const char **texts[] = {&host->model, &host->node, &host->nic};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (!strcmp(key, properties_host_keys[i])) {
            *texts[i] = arena_copy(arena, value);
            return true;
        }
    for (unsigned i = 0; i < PRECISIONS && !strncmp(key, "peak_", 5); i++)
        if (!strcmp(key + 5, precision_name(i)))
            return set_amount(host, &host->peak[i], key, value, "312Tf", fault);
    if (!strcmp(key, "memory"))
        return set_amount(host, &host->memory, key, value, "80GiB", fault);
    if (!strcmp(key, "memory_bandwidth"))
        return set_amount(host, &host->memory_bandwidth, key, value, "2039GBps", fault);
    if (!strcmp(key, "wattage_per_state"))
        return set_watts(host, value, fault);
    return true;
}

bool properties_link_watts(struct platform_link_watts *watts, const char *link, const char *value, struct fault *fault)
{
    char *rest = NULL;
    double idle = strtod(value, &rest), busy = *rest == ':' && rest > value ? strtod(rest + 1, &rest) : NAN;
    if (*rest || !(idle >= 0 && idle <= WATTS_MOST) || !(busy >= idle && busy <= WATTS_MOST))
        return fault_set(fault, "link '%s': property wattage_range=\"%s\" is none; expected one like 10:25", link,
                         value);
    *watts = (struct platform_link_watts){idle, busy};
    return true;
}
