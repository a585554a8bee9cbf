/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/explain/explain_parts.h"
#include "commands/explain/json_parts.h"
#include "studies/explain/verdict.h"

#include <math.h>

static void put_found(struct json_writer *json, const struct recognised *found)
{
    json_object_begin(json, "pipeline", true);
    json_integer(json, "workers", found->workers);
    json_integer(json, "stages", found->stages);
    json_integer(json, "replicas", found->replicas);
    json_integer(json, "micro_batches", found->micro_batches);
    if (found->slices > 1)
        json_integer(json, "slices", found->slices);
    if (found->schedule)
        json_text(json, "schedule", found->schedule);
    if (*found->options)
        json_text(json, "schedule_options", found->options);
    if (*found->alike)
        json_text(json, "schedule_alike", found->alike);
    if (found->closest) {
        json_text(json, "schedule_closest", found->closest);
        json_integer(json, "schedule_apart", (long long)found->apart);
        json_integer(json, "schedule_operations", (long long)found->of);
    }
    json_integer(json, "schedule_followed", found->followed);
    json_integer(json, "schedule_compared", found->compared);
    json_object_end(json);
}

static void put_parts(struct json_writer *json, const struct losses *losses)
{
    json_array_begin(json, "parts", true);
    for (int kind = 0; kind < LOSS_KINDS; kind++) {
        const struct loss_part *part = &losses->parts[kind];
        if (!loss_shown(losses, (enum loss_kind)kind))
            continue;
        json_object_begin(json, NULL, false);
        json_text(json, "part", loss_keys[kind]);
        json_number(json, "seconds", part->seconds);
        json_number(json, "mended_alone_s", part->who_seconds);
        if (part->who)
            json_text(json, "worst", part->who);
        json_object_end(json);
    }
    json_array_end(json);
}

static void put_spans(struct json_writer *json, const struct spans *spans)
{
    json_object_begin(json, "forwards_and_backwards_alone", true);
    json_integer(json, "compared", (long long)spans->count);
    json_number(json, "measured_s", spans->measured);
    json_number(json, "replayed_s", spans->replayed);
    json_number(json, "median_error", spans->error);
    json_object_end(json);
}

void explain_json(const struct explanation *e, FILE *out)
{
    struct json_writer json = json_writer_init(out);
    const struct losses *losses = &e->losses;
    explain_json_begin(&json, e->files, e->file_count, e->recorded);
    json_integer(&json, "ranks", e->recorded->rank_count);
    json_integer(&json, "steps", e->step_count);
    put_found(&json, &e->found);
    json_number(&json, "measured_s", losses->measured);
    json_number(&json, "without_gaps_s", losses->busy);
    json_number(&json, "ideal_s", losses->ideal);
    json_number(&json, "even_s", losses->even);
    json_number(&json, "predicted_s", losses->predicted);
    json_number(&json, "network_alone_s", losses->network_alone);
    json_number(&json, "network_shared_s", losses->network_shared);
    put_spans(&json, &losses->spans);
    put_parts(&json, losses);
    explain_json_end(&json, e->verdict, e->recorded, out);
}
