/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of any schedule: their defaults, whether they fit, and why not. */
#include "schedules/kit/schedule.h"

#include "base/quantity.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const struct schedule_option *schedule_find_option(const struct schedule *schedule, const char *key)
{
    for (const struct schedule_option *option = schedule->options; option && option->key; option++)
        if (strcmp(option->key, key) == 0)
            return option;
    return NULL;
}

bool schedule_option_is_word(const struct schedule_option *option, int64_t value)
{
    int64_t index = 0;
    while (option->names && option->names[index] && index < value)
        index++;
    return option->names && value >= 0 && option->names[index] && index == value;
}

/* Digits with at most one point. */
static bool read_decimal(const char **at, double *value)
{
    char *end;
    const char *text = *at;
    if (strspn(text, "0123456789.") == 0 || *text == '.')
        return false;
    *value = strtod(text, &end);
    *at = end;
    return (size_t)(end - text) == strspn(text, "0123456789.");
}

bool schedule_stashes_read(const char *text, int64_t *parts)
{
    double value = 0, divisor = 1;
    bool good = read_decimal(&text, &value);
    if (good && *text == '/') {
        text++;
        good = read_decimal(&text, &divisor) && divisor > 0;
    }
    if (!good || *text || value / divisor > 0x1p40)
        return false;
    /* 0.7 of a stash is 3528 parts, whatever its double is. */
    *parts = (int64_t)(value * SCHEDULE_STASH / divisor * (1 + 1e-14));
    return true;
}

int64_t schedule_stashes_of(const struct schedule_request *request, uint32_t option, uint32_t worker)
{
    int64_t value = request->options[option];
    if (value != SCHEDULE_STASHES_EACH)
        return value;
    return worker < request->stashes.count ? request->stashes.parts[worker] : 0;
}

bool schedule_option_takes(const struct schedule_option *option, const char *text)
{
    struct quantity_reason reason;
    uint64_t count;
    for (const char *const *name = option->names; name && *name; name++)
        if (!strcmp(*name, text))
            return true;
    int64_t parts;
    if (option->stashes)
        return schedule_stashes_read(text, &parts);
    return !option->names && quantity_count(text, &count, &reason);
}

struct schedule_request schedule_request_default(const struct schedule *schedule, uint32_t workers,
                                                 uint32_t micro_batches)
{
    struct schedule_request request = {
        .workers = workers, .micro_batches = micro_batches, .iterations = 1, .forward = 1, .backward = 2, .weight = 1};
    for (unsigned i = 0; schedule->options && schedule->options[i].key; i++)
        request.options[i] = schedule->options[i].initial;
    return request;
}

bool schedule_refuse(struct schedule_refusal *refusal, int about, const char *option, const char *format, ...)
{
    refusal->about = about;
    refusal->option = option;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(refusal->text, sizeof refusal->text, format, arguments);
    va_end(arguments);
    return false;
}

static bool option_fits(const struct schedule *schedule, const struct schedule_option *option, int64_t value,
                        struct schedule_refusal *refusal)
{
    int64_t least = option->least, most = option->most;
    if (option->names) {
        least = 0;
        for (most = -1; option->names[most + 1];)
            most++;
    }
    if (value >= least && value <= most)
        return true;
    return schedule_refuse(refusal, REFUSED_OPTION, option->key, "%s takes %s from %lld to %lld, not %lld",
                           schedule->name, option->key, (long long)least, (long long)most, (long long)value);
}

/* A limit of stashes is a word, a number, or one for each worker. */
static bool stashes_fit(const struct schedule *schedule, const struct schedule_option *option,
                        const struct schedule_request *request, int64_t value, struct schedule_refusal *refusal)
{
    if (value != SCHEDULE_STASHES_EACH) {
        if (schedule_option_is_word(option, value) || (value >= 0 && value / SCHEDULE_STASH <= option->most))
            return true;
        return schedule_refuse(refusal, REFUSED_OPTION, option->key, "%s takes at most %lld stashes as %s",
                               schedule->name, (long long)option->most, option->key);
    }
    if (request->stashes.count == request->workers)
        return true;
    return schedule_refuse(refusal, REFUSED_OPTION, option->key, "%s: %u values for %u workers; expected one for each",
                           option->key, request->stashes.count, request->workers);
}

/* Numbers that the plan's fields can hold and memory can bear; what a schedule itself wants comes after. */
static bool size_fits(const struct schedule *schedule, const struct schedule_request *request,
                      struct schedule_refusal *refusal)
{
    if (request->workers < 1 || request->workers > SCHEDULE_STAGES_MAX)
        return schedule_refuse(refusal, REFUSED_WORKERS, NULL, "%s takes 1 to %d workers, not %u", schedule->name,
                               SCHEDULE_STAGES_MAX, request->workers);
    if (request->micro_batches < 1 || request->iterations < 1)
        return schedule_refuse(refusal, REFUSED_MICRO_BATCHES, NULL, "%s needs at least 1 micro-batch", schedule->name);
    for (unsigned i = 0; schedule->options && schedule->options[i].key; i++)
        if (schedule->options[i].stashes
                ? !stashes_fit(schedule, &schedule->options[i], request, request->options[i], refusal)
                : !option_fits(schedule, &schedule->options[i], request->options[i], refusal))
            return false;
    uint64_t stages = schedule->stages(request);
    if (stages > SCHEDULE_STAGES_MAX)
        return schedule_refuse(refusal, REFUSED_WORKERS, NULL,
                               "%s would cut the model into %llu stages; at most %d are possible", schedule->name,
                               (unsigned long long)stages, SCHEDULE_STAGES_MAX);
    uint64_t most = SCHEDULE_FORWARDS_MAX / stages / request->iterations;
    if (request->micro_batches > most)
        return schedule_refuse(refusal, REFUSED_MICRO_BATCHES, NULL,
                               "%u micro-batches through %llu stages are too many to plan; at most %llu are possible",
                               request->micro_batches, (unsigned long long)stages, (unsigned long long)most);
    return true;
}

bool schedule_fits(const struct schedule *schedule, const struct schedule_request *request,
                   struct schedule_refusal *refusal)
{
    return size_fits(schedule, request, refusal) && (!schedule->fits || schedule->fits(request, refusal));
}
