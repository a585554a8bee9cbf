/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/output/summary_others.h"

void summary_steady_write(struct json_writer *json, const struct steady *steady)
{
    if (!steady->micro_batches && !steady->reason[0])
        return;
    json_object_begin(json, "steady", false);
    if (steady->micro_batches) {
        json_integer(json, "micro_batches_run", steady->micro_batches);
        if (steady->period) {
            json_integer(json, "period", steady->period);
            json_number(json, "start_s", steady->start);
            json_number(json, "length_s", steady->length);
        } else {
            json_flag(json, "linear", true);
        }
    } else {
        json_text(json, "reason", steady->reason);
    }
    json_object_end(json);
}

void summary_nearest_write(struct json_writer *json, const struct nearest *nearest)
{
    if (!nearest->layouts)
        return;
    json_object_begin(json, "nearest", true);
    json_integer(json, "layouts", nearest->layouts);
    json_integer(json, "of", nearest->of);
    json_number(json, "own_s", nearest->own);
    json_number(json, "best_s", nearest->best);
    json_number(json, "distance", nearest_distance(nearest));
    json_text(json, "layout", nearest->layout);
    json_text(json, "command", nearest->command);
    json_object_end(json);
}

void summary_towers_write(struct json_writer *json, const struct report *report)
{
    const struct stagesim_figures *figures = &report->run.figures;
    double waits;
    if (!(figures->tower_seconds > 0))
        return;
    const struct worker_report *waiting = report_longest_waiting(report, &waits);
    json_object_begin(json, "towers", false);
    json_number(json, "mean_s", figures->tower_seconds);
    json_number(json, "most_s", figures->tower_most);
    if (waiting) {
        json_integer(json, "waiting_worker", waiting->position);
        json_number(json, "waits_s", waits);
    }
    json_object_end(json);
}

void summary_limits_write(struct json_writer *json, const struct report *report)
{
    if (!report->limits.known)
        return;
    json_object_begin(json, "limits", false);
    json_text(json, "by", limit_names[limits_by(&report->limits)]);
    for (int i = 0; i < LIMITS; i++)
        json_number(json, limit_names[i], report->limits.shares[i]);
    json_object_end(json);
}
