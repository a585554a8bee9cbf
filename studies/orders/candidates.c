/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/orders/candidates.h"

#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

enum { VALUES_MAX = 24, REQUESTS_MAX = 256 };

/* ---- what the order says ---- */

static int by_key(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* The backwards of a part whose weight gradients come later, sorted; the caller frees them. */
static uint64_t *list_split(const struct order *order, const struct order_part *part, size_t *count)
{
    uint64_t *split = array_zeroed(part->count + 1, sizeof *split);
    *count = 0;
    for (size_t i = part->first; i < part->first + part->count; i++)
        if (order_kind(order->keys[i]) == SLOT_WEIGHT)
            split[(*count)++] =
                order_key(SLOT_BACKWARD, order_stage(order->keys[i]), order_micro_batch(order->keys[i]));
    if (*count)
        qsort(split, *count, sizeof *split, by_key);
    return split;
}

/* The most halves of a stage's stash that a worker holds; `share`: those that a backward gives back if its weight
 * gradient comes later. */
static int64_t peak_of(const struct order *order, const struct order_part *part, int64_t share)
{
    size_t count;
    uint64_t *split = list_split(order, part, &count);
    int64_t held = 0, most = 0;
    for (size_t i = part->first; i < part->first + part->count; i++) {
        const uint64_t *key = &order->keys[i];
        bool later = count && bsearch(key, split, count, sizeof *split, by_key);
        held += order_kind(*key) == SLOT_FORWARD  ? 2
                : order_kind(*key) == SLOT_WEIGHT ? share - 2
                : later                           ? -share
                                                  : -2;
        most = held > most ? held : most;
    }
    free(split);
    return most;
}

static void find_stashes(struct order_options *options, struct arena *arena)
{
    const struct order *order = options->order;
    for (int half = 0; half < 2; half++) {
        int64_t *parts = arena_array(arena, order->workers, sizeof *parts);
        options->most_stashes[half] = 0;
        for (size_t i = 0; i < order->part_count && order->parts[i].step == order->parts[0].step &&
                           order->parts[i].replica == order->parts[0].replica;
             i++) {
            int64_t own = peak_of(order, &order->parts[i], half) * SCHEDULE_STASH * order->workers / order->stages / 2;
            parts[order->parts[i].worker] = own;
            options->most_stashes[half] = own > options->most_stashes[half] ? own : options->most_stashes[half];
        }
        options->stashes[half] = (struct schedule_stashes){parts, order->workers};
    }
}

/* Forwards at the beginning of a part: all, or those of its first stage. */
static uint32_t begins_with(const struct order *order, const struct order_part *part, bool one_stage)
{
    const uint64_t *keys = &order->keys[part->first];
    uint32_t count = 0;
    for (size_t i = 0; i < part->count; i++) {
        if (one_stage ? order_kind(keys[i]) == SLOT_FORWARD && order_stage(keys[i]) != order_stage(keys[0])
                      : order_kind(keys[i]) != SLOT_FORWARD)
            break;
        count += order_kind(keys[i]) == SLOT_FORWARD;
    }
    return count;
}

void order_options_find(const struct order *order, const struct order_times *times, struct arena *arena,
                        struct order_options *options)
{
    *options = (struct order_options){.order = order, .times = times, .loop = true, .wave = true};
    for (size_t i = 0; i < order->part_count; i++) {
        const struct order_part *part = &order->parts[i];
        for (size_t k = part->first; k < part->first + part->count; k++) {
            uint32_t stage = order_stage(order->keys[k]), at = stage % order->workers;
            options->loop &= part->worker == at;
            options->wave &= part->worker == (stage / order->workers % 2 ? order->workers - 1 - at : at);
        }
        if (part->worker == 0 && !options->group) {
            options->group = begins_with(order, part, true);
            options->ahead = begins_with(order, part, false);
        }
        bool last = part->count && order_stage(order->keys[part->first]) % order->workers == order->workers - 1;
        for (size_t k = part->first; last && !options->slices && k < part->first + part->count; k++)
            if (order_kind(order->keys[k]) == SLOT_BACKWARD) /* slices of a sequence go back from the last one */
                options->slices = order_micro_batch(order->keys[k]) + 1;
    }
    find_stashes(options, arena);
}

/* ---- requests ---- */

struct value {
    int64_t value;
    const struct schedule_stashes *stashes; /* of SCHEDULE_STASHES_EACH */
};

struct values {
    struct value list[VALUES_MAX];
    size_t count;
};

static void add(struct values *values, int64_t value)
{
    for (size_t i = 0; i < values->count; i++)
        if (values->list[i].value == value)
            return;
    if (values->count < VALUES_MAX)
        values->list[values->count++] = (struct value){value, NULL};
}

static void add_stashes(const struct order_options *options, bool searches, struct values *values)
{
    for (int half = 0; half < 2; half++)
        add(values, options->most_stashes[half]);
    for (int half = 0; half < 2 && !searches; half++)
        values->list[values->count++] = (struct value){SCHEDULE_STASHES_EACH, &options->stashes[half]};
}

/* The one word that the order says of a schedule that is searched for. */
static void add_seen(const struct schedule_option *option, const struct order_options *options, struct values *values)
{
    const char *word = !strcmp(option->key, "placement") ? options->wave && !options->loop ? "wave" : "loop"
                       : options->order->weights         ? "split"
                                                         : "whole";
    for (int64_t i = 0; option->names[i]; i++)
        if (!strcmp(option->names[i], word))
            add(values, i);
}

static void list_values(const struct schedule *schedule, const struct schedule_option *option,
                        const struct order_options *options, struct values *values)
{
    const struct order *order = options->order;
    const char *key = option->key;
    *values = (struct values){.count = 0};
    if (!strcmp(key, "chunks") || !strcmp(key, "waves")) {
        add(values, order->stages / order->workers / (*key == 'w' ? 2 : 1));
    } else if (!strcmp(key, "slices")) {
        if (options->slices > 1 && order->micro_batches % options->slices == 0)
            add(values, options->slices);
    } else if (option->names && schedule->searches) {
        add_seen(option, options, values);
    } else {
        add(values, option->initial);
        for (int64_t i = 0; option->names && option->names[i]; i++)
            add(values, i);
    }
    if (option->stashes)
        add_stashes(options, schedule->searches, values);
    if (!strcmp(key, "group"))
        add(values, options->group);
    if (!strcmp(key, "ahead") && options->ahead >= order->workers)
        add(values, options->ahead - order->workers);
    for (int64_t i = 1; i <= VALUES_MAX && (!strcmp(key, "pairs") || !strcmp(key, "offload")); i++)
        add(values, i);
}

static void set_times(const struct schedule *schedule, const struct order_times *times,
                      struct schedule_request *request)
{
    if (!times->known)
        return;
    request->forward = times->forward;
    request->backward = times->backward;
    request->weight = times->weight;
    if (schedule->adapts)
        request->costs = &times->costs;
}

void candidates_each(const struct schedule *schedule, const struct order_options *options,
                     bool (*each)(void *user, const struct schedule *schedule, const struct schedule_request *request),
                     void *user)
{
    const struct order *order = options->order;
    struct values values[SCHEDULE_OPTIONS_MAX];
    size_t count = 1;
    bool goes_on = true;
    for (size_t i = 0; schedule->options && schedule->options[i].key; i++) {
        list_values(schedule, &schedule->options[i], options, &values[i]);
        count *= values[i].count;
    }
    for (size_t number = 0; number < count && number < REQUESTS_MAX && goes_on; number++) {
        uint32_t micro_batches = order->micro_batches / (schedule->slices ? options->slices : 1);
        struct schedule_request request = schedule_request_default(schedule, order->workers, micro_batches);
        size_t rest = number;
        for (size_t i = 0; schedule->options && schedule->options[i].key; i++) {
            const struct value *value = &values[i].list[rest % values[i].count];
            rest /= values[i].count;
            request.options[i] = value->value;
            if (value->stashes)
                request.stashes = *value->stashes;
        }
        struct schedule_refusal refusal;
        set_times(schedule, options->times, &request);
        if (schedule_fits(schedule, &request, &refusal) && schedule->stages(&request) == order->stages)
            goes_on = each(user, schedule, &request);
    }
}

const char *candidate_text(const struct schedule *schedule, const struct schedule_request *request, struct arena *arena)
{
    const char *text = "";
    for (size_t i = 0; schedule->options && schedule->options[i].key; i++) {
        const struct schedule_option *option = &schedule->options[i];
        int64_t value = request->options[i];
        if (value == option->initial || !strcmp(option->key, "chunks") || !strcmp(option->key, "waves"))
            continue;
        const char *before = arena_print(arena, "%s%s%s", text, *text ? ", " : "", option->key);
        if (schedule_option_is_word(option, value))
            text = arena_print(arena, "%s %s", before, option->names[value]);
        else if (value == SCHEDULE_STASHES_EACH)
            text = arena_print(arena, "%s of each worker", before);
        else
            text =
                arena_print(arena, "%s %.4g", before, option->stashes ? (double)value / SCHEDULE_STASH : (double)value);
    }
    return text;
}
