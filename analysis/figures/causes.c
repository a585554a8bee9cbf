/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/figures/causes.h"

#include <math.h>

const char *const cause_names[CAUSES] = {
    [CAUSE_FILL] = "fill",
    [CAUSE_DRAIN] = "drain",
    [CAUSE_RECEIVE] = "receive",
    [CAUSE_COLLECTIVE] = "collective",
    [CAUSE_DEPENDENCY] = "dependency",
    [CAUSE_INPUT] = "input",
};

static enum cause cause_of(const struct operation *awaited)
{
    unsigned type = awaited->type;
    if (awaited->kind == STAGESIM_INPUT)
        return CAUSE_INPUT;
    if (type == OPERATION_RECEIVE || type == OPERATION_SEND)
        return CAUSE_RECEIVE;
    return type == OPERATION_COLLECTIVE ? CAUSE_COLLECTIVE : CAUSE_DEPENDENCY;
}

/* enum cause lists receive, collective, dependency, input in the order in which they win a tie. */
enum cause cause_before(const struct position *position, const struct moment *moments, uint32_t id, double rounding)
{
    const struct operation *operation = &position->operations[id];
    enum cause cause = CAUSE_DEPENDENCY;
    double latest = -1;
    for (uint32_t i = 0; i < operation_wait_count(operation); i++) {
        uint32_t awaited = operation_wait(position, operation, i);
        if (position->operations[awaited].type == OPERATION_COMPUTE)
            continue;
        enum cause other = cause_of(&position->operations[awaited]);
        double end = moments[awaited].end, apart = end - latest, least = rounding * fmax(end, latest);
        if (apart > least || (apart >= -least && other < cause))
            cause = other;
        latest = fmax(latest, end);
    }
    return cause;
}

/* The first operation of a stream that does not start before then; each starts after the one before it has ended. */
static uint32_t first_from(const struct moment *moments, const struct stream *stream, double time)
{
    uint32_t low = stream->first, high = stream->first + stream->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (moments[middle].start < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

double cause_collective_after(const struct position *position, const struct moment *moments, struct interval idle,
                              struct interval *scratch)
{
    size_t count = 0;
    for (uint32_t i = 1; i < position->stream_count; i++) {
        const struct stream *stream = &position->streams[i];
        if (stream->type != OPERATION_COLLECTIVE)
            continue;
        for (uint32_t id = first_from(moments, stream, idle.end); id-- > stream->first && moments[id].end > idle.start;)
            scratch[count++] = (struct interval){fmax(moments[id].start, idle.start), fmin(moments[id].end, idle.end)};
    }
    count = intervals_unite(scratch, count);
    return intervals_length(scratch, count);
}
