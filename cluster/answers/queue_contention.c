/* SPDX-License-Identifier: Apache-2.0 */
/* What is said of jobs that slow each other down. */
#include "base/number_text.h"
#include "cluster/answers/queue_output.h"

static void put_errors(FILE *out, const struct set_errors *errors, const char *whose, const char *more)
{
    char error[READABLE_MAX], worst[READABLE_MAX];
    if (errors->checked)
        fprintf(out, "estimates of %llu %s that were simulated afterwards were off by %s in the mean, %s at most%s\n",
                (unsigned long long)errors->checked, whose, readable_percent(error, errors->error),
                readable_percent(worst, errors->worst), more);
}

void queue_contention_print(FILE *out, const struct queue_view *view)
{
    const struct set_counts *sets = &view->sets;
    if (!view->queue->contention)
        return;
    if (!sets->sets) {
        fputs("jobs never meet on a link that is too slow for them\n", out);
        return;
    }
    fprintf(out,
            "%llu sets of jobs that slow each other down: %llu simulated, %llu like one of those, %llu estimated; a "
            "job takes up to %.3f times as long\n",
            (unsigned long long)sets->sets, (unsigned long long)sets->simulated, (unsigned long long)sets->known,
            (unsigned long long)sets->estimated, sets->slowest);
    if (sets->estimated)
        fprintf(out,
                "%llu parts of sets simulated for estimates; the largest set has %llu jobs, the largest that was "
                "simulated %llu\n",
                (unsigned long long)sets->parts, (unsigned long long)sets->largest, (unsigned long long)sets->most);
    put_errors(out, &sets->all, "jobs", sets->largest > sets->most ? "; larger sets may be further off" : "");
    put_errors(out, &sets->larger, "jobs of larger sets than `together`", "");
    if (sets->uneven + sets->failed)
        fprintf(out,
                "%llu classes of sets estimated since iterations of one job are too many in one of another; %llu since "
                "simulations failed\n",
                (unsigned long long)sets->uneven, (unsigned long long)sets->failed);
    if (sets->guessed)
        fprintf(out, "%llu times a job was taken to be as fast as alone, since no set could be simulated\n",
                (unsigned long long)sets->guessed);
}

void queue_contention_json(struct json_writer *json, const struct queue_view *view)
{
    const struct set_counts *sets = &view->sets;
    if (!view->queue->contention)
        return;
    json_object_begin(json, "contention", true);
    json_integer(json, "sets", sets->sets);
    json_integer(json, "simulated", sets->simulated);
    json_integer(json, "known", sets->known);
    json_integer(json, "estimated", sets->estimated);
    json_integer(json, "parts_simulated", sets->parts);
    json_integer(json, "uneven", sets->uneven);
    json_integer(json, "failed", sets->failed);
    json_integer(json, "guessed", sets->guessed);
    json_integer(json, "largest_set", sets->largest);
    json_integer(json, "largest_simulated", sets->most);
    json_number(json, "largest_slow_down", sets->slowest);
    json_integer(json, "estimates_checked", sets->all.checked);
    json_number(json, "estimate_bias", sets->all.bias);
    json_number(json, "estimate_error", sets->all.error);
    json_number(json, "estimate_error_most", sets->all.worst);
    if (sets->larger.checked) {
        json_integer(json, "larger_checked", sets->larger.checked);
        json_number(json, "larger_bias", sets->larger.bias);
        json_number(json, "larger_error", sets->larger.error);
        json_number(json, "larger_error_most", sets->larger.worst);
    }
    json_object_end(json);
}
