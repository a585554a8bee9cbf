/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/search/search_output.h"

#include "analysis/band/band.h"
#include "base/arena.h"
#include "base/files/scratch.h"
#include "base/json_writer.h"
#include "base/quantity.h"
#include "base/table.h"
#include "base/text_writer.h"
#include "commands/search/search_view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const status_names[] = {
    [SEARCH_UNTRIED] = "not tried", [SEARCH_WAITS] = "not timed",           [SEARCH_PASSED] = "discarded",
    [SEARCH_FITS] = "fits",         [SEARCH_DOES_NOT_FIT] = "does not fit", [SEARCH_ILLEGAL] = "illegal"};

/* ---- table ---- */

static struct table *begin_table(const struct search *search, bool verified)
{
    struct table *table = table_create();
    table_column(table, "rank", '>');
    for (enum search_dimension i = 0; i < DIMENSIONS; i++)
        if (search->space.shown[i])
            table_column(table, search_dimension_name(i), search_dimension_is_number(search, i) ? '>' : '<');
    if (verified)
        table_column(table, "iteration", '>');
    table_column(table, verified ? "analytic" : "iteration", '>');
    if (search_counts_energy(search))
        table_column(table, "energy", '>');
    if (search_quantile_name(search))
        table_column(table, search_quantile_name(search), '>');
    if (search->objective >= OBJECTIVE_DAYS)
        table_columns(table, ">days", ">price", ">goodput", NULL);
    table_columns(table, ">samples/s", ">MFU", ">bubble", ">exposed", ">memory", NULL);
    if (search_outlook(search, search_best(search, 0)).jobs)
        table_column(table, "fits of 100", '>');
    return table;
}

/* Nothing where the training never ends. */
static void add_training(struct table *table, const struct search_training *training)
{
    char text[READABLE_MAX];
    bool known = training->seconds > 0;
    char days[32] = "", price[32] = "";
    if (known)
        snprintf(days, sizeof days, "%.4g", training->seconds / 86400);
    if (training->price > 0)
        snprintf(price, sizeof price, "%.4g", training->price);
    table_cell(table, "%s", days);
    table_cell(table, "%s", price);
    table_cell(table, "%s", known ? readable_percent(text, training->goodput) : "");
}

static void add_row(struct table *table, const struct search *search, uint32_t number, bool verified)
{
    const struct search_result *result = search_best(search, number);
    struct arena *arena = arena_create();
    const char *values[DIMENSIONS];
    char text[READABLE_MAX];
    search_space_values(&search->space, search->ranked[search->best[number]], values, arena);
    table_cell(table, "%u", number + 1);
    for (enum search_dimension i = 0; i < DIMENSIONS; i++)
        if (search->space.shown[i])
            table_cell(table, "%s", values[i] ? values[i] : "");
    if (verified)
        table_cell(table, "%s",
                   result->verified.iteration > 0 ? readable_seconds(text, result->verified.iteration) : "");
    table_cell(table, "%s", readable_seconds(text, result->iteration));
    if (search_counts_energy(search))
        table_cell(table, "%s",
                   readable_joules(text, result->verified.iteration > 0 ? result->verified.energy : result->energy));
    if (search_quantile_name(search))
        table_cell(table, "%s", readable_seconds(text, search_step_shown(result)));
    if (search->objective >= OBJECTIVE_DAYS)
        add_training(table, search_training_shown(result));
    table_cell(table, "%.4g", search_at_time(result, result->samples_per_s));
    table_cell(table, "%s", result->mfu > 0 ? readable_percent(text, search_at_time(result, result->mfu)) : "");
    table_cell(table, "%s", readable_percent(text, search_bubble(result)));
    table_cell(table, "%s",
               search_is_exposed_known(search, number) ? readable_percent(text, search->exposed[number]) : "");
    table_cell(table, "%s", readable_binary_bytes(text, result->peak_bytes));
    struct memory_outlook outlook = search_outlook(search, result);
    if (outlook.jobs && outlook.sure >= 0)
        table_cell(table, "%.0f", memory_band_hundredths(outlook.sure));
    else if (outlook.jobs)
        table_cell(table, "%s", "");
    arena_destroy(arena);
}

/* How many of the best were simulated. */
static uint64_t count_simulated(const struct search *search)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < search->best_count; i++)
        count += search_best(search, i)->verified.iteration > 0;
    return count;
}

static void print_counts(FILE *out, const struct search *search)
{
    typedef unsigned long long number;
    fprintf(out, "candidates %llu on %s GPUs: fit %llu, do not fit in memory %llu, illegal %llu\n",
            (number)search->space.count, search->space.gpus_text,
            (number)(search->ranked_count + search_passed(search)), (number)search->unfit, (number)search->illegal);
    if (search->ranked_count + search_passed(search)) {
        fprintf(out, "of those that fit: timed %llu (%llu like another", (number)search->ranked_count,
                (number)(search->ranked_count - search->different));
        if (search->same)
            fprintf(out, ", of which %llu are the same job", (number)search->same);
        putc(')', out);
        if (search_passed(search))
            fprintf(out, ", discarded by a bound %llu (own work %llu, order %llu)", (number)search_passed(search),
                    (number)search->passed[SEARCH_BY_WORK], (number)search->passed[SEARCH_BY_ORDER]);
        putc('\n', out);
    }
    if (search->objective != OBJECTIVE_TIME)
        fprintf(out, "no layout is discarded by a bound: bounds are of iteration times, the objective is %s\n",
                search_objective_names[search->objective]);
    if (search->untried || search->waiting)
        fprintf(out,
                "stopped early: %llu candidates were not looked at, %llu not timed; what is above is the best so far\n",
                (number)search->untried, (number)search->waiting);
    else if (search->stopped)
        fprintf(out, "stopped early: of the best, %llu were simulated with contention\n",
                (number)count_simulated(search));
    if (search->scenario->reserve > 0)
        fprintf(out, "%.4g %% of every GPU's memory is held back\n", 100 * search->scenario->reserve);
    for (size_t i = 0; i < search->reason_count; i++)
        fprintf(out, "%8llu  %s\n", (number)search->reasons[i].count, search->reasons[i].text);
}

static void warn(FILE *out, const struct search *search, uint32_t top)
{
    const char *name = search_asynchronous(search, top);
    if (name)
        fprintf(out, "%s is asynchronous: it trains on stale weights and is not equivalent to synchronous training\n",
                name);
}

/* Which of the times are not of one iteration, and which are although the next may take another time. */
static void print_settled(FILE *out, const struct search *search)
{
    unsigned settled = 0, unsettled = 0;
    for (uint32_t i = 0; i < search->best_count; i++) {
        settled += search_best(search, i)->verified.settled > 0;
        unsettled += search_best(search, i)->verified.unsettled;
    }
    if (settled)
        fprintf(out,
                "layouts with iterations that are not alike: %u; with contention they are run with `iterations: "
                "settled`\n",
                settled);
    if (unsettled)
        fprintf(out,
                "layouts whose next iteration may take another time: %u; with contention figures are of one, for "
                "`iterations: settled` failed or takes too long\n",
                unsettled);
}

static void print_remarks(FILE *out, const struct search *search, uint32_t top)
{
    if (search->best_count > 1) {
        fputs("the first is ", out);
        search_verdict(out, search);
        putc('\n', out);
    }
    if (search->best_count && search->scenario->calibration)
        fprintf(out, "calibrated with %s\n", search->scenario->calibration);
    if (search->best_count)
        band_say(out, &search->band);
    if (search->best_count && search_outlook(search, search_best(search, 0)).jobs)
        memory_band_say(out, &search->memory_band);
    print_settled(out, search);
    warn(out, search, top);
    print_counts(out, search);
}

static void print_table(FILE *out, const struct search *search, uint32_t top, enum table_format format)
{
    char *lines = NULL;
    size_t size = 0;
    bool verified = search->best_count && search_best(search, 0)->verified.iteration > 0;
    if (search->best_count) {
        struct table *table = begin_table(search, verified);
        for (uint32_t number = 0; number < top && number < search->best_count; number++)
            add_row(table, search, number, verified);
        table_finish(table, out, table_style_of(format, out));
        table_remarks(out, format, "\n");
    }
    FILE *remarks = table_remarks_begin(&lines, &size);
    print_remarks(remarks, search, top);
    table_remarks_end(out, format, remarks, &lines);
}

/* ---- csv ---- */

static void put_integer(struct text_writer *text, uint64_t value)
{
    text_integer(text, value);
    text_char(text, ',');
}

static void put_number(struct text_writer *text, double value, bool applies)
{
    if (applies)
        text_number(text, value);
    text_char(text, ',');
}

static void put_quoted(struct text_writer *text, const char *value)
{
    text_char(text, '"');
    for (; *value; value++) {
        if (*value == '"')
            text_char(text, '"');
        text_char(text, *value);
    }
    text_char(text, '"');
}

static void put_values(struct text_writer *text, const struct search *search, uint64_t index)
{
    struct arena *arena = arena_create();
    const char *values[DIMENSIONS];
    search_space_values(&search->space, index, values, arena);
    for (enum search_dimension i = 0; i < DIMENSIONS; i++)
        if (search->space.shown[i]) {
            if (values[i] && strchr(values[i], ','))
                put_quoted(text, values[i]);
            else
                text_string(text, values[i] ? values[i] : "");
            text_char(text, ',');
        }
    arena_destroy(arena);
}

static void put_training(struct text_writer *text, const struct search_training *training, bool timed)
{
    put_number(text, training->seconds, timed && training->seconds > 0);
    put_number(text, training->price, timed && training->price > 0);
    put_number(text, training->goodput, timed && training->seconds > 0);
}

static void put_outlook(struct text_writer *text, const struct search *search, const struct search_result *result,
                        bool known)
{
    struct memory_outlook outlook = search_outlook(search, result);
    known = known && outlook.jobs;
    put_number(text, outlook.low, known);
    put_number(text, outlook.high, known);
    put_number(text, outlook.sure, known && outlook.sure >= 0);
}

/* rank 0: none; exposed NAN: not known. */
static void put_row(struct text_writer *text, const struct search *search, uint64_t index, uint64_t rank,
                    double exposed)
{
    const struct search_result *result = &search->table.results[index];
    bool timed = result->status == SEARCH_FITS, known = result->peak_bytes > 0 && result->status != SEARCH_ILLEGAL;
    char reason[SEARCH_REASON_MAX];
    if (rank)
        text_integer(text, rank);
    text_char(text, ',');
    text_string(text, status_names[result->status]);
    text_char(text, ',');
    put_values(text, search, index);
    if (timed)
        put_integer(text, result->micro_batches);
    else
        text_char(text, ',');
    put_number(text, result->iteration, timed);
    put_number(text, result->verified.iteration, timed && result->verified.iteration > 0);
    put_number(text, search_time(result) * search->band.low, timed && search->band.rows);
    put_number(text, search_time(result) * search->band.high, timed && search->band.rows);
    put_outlook(text, search, result, known);
    if (search->objective >= OBJECTIVE_DAYS)
        put_training(text, search_training_shown(result), timed);
    if (search_counts_energy(search))
        put_number(text, result->verified.iteration > 0 ? result->verified.energy : result->energy, timed);
    if (search_quantile_name(search))
        put_number(text, search_step_shown(result), timed);
    put_number(text, search_time(result) / (double)search->scenario->global_batch, timed);
    put_number(text, search_at_time(result, result->samples_per_s), timed);
    put_number(text, search_at_time(result, result->mfu), timed && result->mfu > 0);
    put_number(text, search_bubble(result), timed);
    put_number(text, exposed, !isnan(exposed));
    put_number(text, result->peak_bytes, known);
    put_number(text, result->bound == SEARCH_BY_WORK ? result->work : result->order, result->bound);
    text_string(text, !timed ? "," : result->pareto ? "true," : "false,");
    if (result->status == SEARCH_ILLEGAL) {
        search_table_get_reason(&search->table, result, reason);
        put_quoted(text, reason);
    }
    text_char(text, '\n');
}

/* One of the ranking, and those like it. */
static void put_alike(struct text_writer *text, const struct search *search, uint64_t at, uint64_t rank, double exposed)
{
    put_row(text, search, search->ranked[at], rank, exposed);
    for (uint64_t next = at + 1; next < search->ranked_count && search_repeats(search, next); next++)
        put_row(text, search, search->ranked[next], rank, NAN);
}

/* The best in the order that SimGrid gave them, then all others. */
static void put_ranked(struct text_writer *text, const struct search *search)
{
    uint64_t rank = 0;
    for (uint32_t number = 0; number < search->best_count; number++)
        put_alike(text, search, search->best[number], ++rank, search->exposed ? search->exposed[number] : NAN);
    uint64_t different = 0;
    for (uint64_t at = 0; at < search->ranked_count; at++) {
        if (search_repeats(search, at))
            continue;
        if (++different > search->best_count)
            put_alike(text, search, at, ++rank, NAN);
    }
}

static void print_csv(FILE *out, const struct search *search)
{
    enum { RELEASE_EVERY = 4096 }; /* memory does not grow with the candidates */
    static const enum search_status others[] = {SEARCH_PASSED, SEARCH_DOES_NOT_FIT, SEARCH_WAITS, SEARCH_UNTRIED,
                                                SEARCH_ILLEGAL};
    struct text_writer *text = text_writer_create(out);
    text_string(text, "rank,status,");
    for (enum search_dimension i = 0; i < DIMENSIONS; i++)
        if (search->space.shown[i]) {
            text_string(text, search_dimension_name(i));
            text_char(text, ',');
        }
    text_string(text, "micro_batches,iteration_s,verified_iteration_s,iteration_low_s,iteration_high_s,"
                      "memory_low_bytes,memory_high_bytes,fits_share,");
    if (search->objective >= OBJECTIVE_DAYS)
        text_string(text, "training_s,price,goodput,");
    if (search_counts_energy(search))
        text_string(text, "energy_j,");
    if (search_quantile_name(search)) {
        text_string(text, "step_");
        text_string(text, search_quantile_name(search));
        text_string(text, "_s,");
    }
    text_string(text, "seconds_per_sample,samples_per_s,mfu,"
                      "bubble_ratio,exposed_ratio,peak_bytes,bound_s,pareto,reason\n");
    put_ranked(text, search);
    for (size_t k = 0; k < sizeof others / sizeof *others; k++)
        for (uint64_t i = 0; i < search->space.count; i++) {
            if (search->table.results[i].status == others[k])
                put_row(text, search, i, 0, NAN);
            if (i % RELEASE_EVERY == RELEASE_EVERY - 1)
                scratch_release(search->table.results, search->table.count * sizeof *search->table.results);
        }
    text_writer_destroy(text);
}

/* ---- json ---- */

static void put_dimensions(struct json_writer *json, const struct search *search, uint64_t index)
{
    struct arena *arena = arena_create();
    const char *values[DIMENSIONS];
    search_space_values(&search->space, index, values, arena);
    for (enum search_dimension i = 0; i < DIMENSIONS; i++) {
        uint64_t number;
        struct quantity_reason reason;
        if (!search->space.shown[i] || !values[i])
            continue;
        if (search_dimension_is_number(search, i) && quantity_count(values[i], &number, &reason))
            json_integer(json, search_dimension_name(i), number);
        else
            json_text(json, search_dimension_name(i), values[i]);
    }
    arena_destroy(arena);
}

static void put_layout(struct json_writer *json, const struct search *search, uint64_t at, uint64_t rank)
{
    const struct search_result *result = search_result_at(search, at);
    json_object_begin(json, NULL, false);
    json_integer(json, "rank", rank);
    put_dimensions(json, search, search->ranked[at]);
    json_integer(json, "micro_batches", result->micro_batches);
    json_number(json, "iteration_s", result->iteration);
    if (result->verified.iteration > 0)
        json_number(json, "verified_iteration_s", result->verified.iteration);
    if (search->band.rows) {
        json_number(json, "iteration_low_s", search_time(result) * search->band.low);
        json_number(json, "iteration_high_s", search_time(result) * search->band.high);
    }
    if (search->objective >= OBJECTIVE_DAYS && search_training_shown(result)->seconds > 0) {
        json_number(json, "training_s", search_training_shown(result)->seconds);
        if (search_training_shown(result)->price > 0)
            json_number(json, "price", search_training_shown(result)->price);
        json_number(json, "goodput", search_training_shown(result)->goodput);
    }
    if (search_counts_energy(search))
        json_number(json, "energy_j", result->verified.iteration > 0 ? result->verified.energy : result->energy);
    if (search_quantile_name(search)) {
        char key[32];
        snprintf(key, sizeof key, "step_%s_s", search_quantile_name(search));
        json_number(json, key, search_step_shown(result));
    }
    json_number(json, "seconds_per_sample", search_time(result) / (double)search->scenario->global_batch);
    json_number(json, "samples_per_s", search_at_time(result, result->samples_per_s));
    if (result->mfu > 0)
        json_number(json, "mfu", search_at_time(result, result->mfu));
    json_number(json, "bubble_ratio", search_bubble(result));
    for (uint32_t number = 0; number < search->best_count; number++)
        if (search->best[number] == at && search_is_exposed_known(search, number))
            json_number(json, "exposed_ratio", search->exposed[number]);
    if (result->peak_bytes > 0)
        json_number(json, "peak_bytes", result->peak_bytes);
    struct memory_outlook outlook = search_outlook(search, result);
    if (outlook.jobs) {
        json_number(json, "memory_low_bytes", outlook.low);
        json_number(json, "memory_high_bytes", outlook.high);
        if (outlook.sure >= 0)
            json_number(json, "fits_share", outlook.sure);
    }
    json_flag(json, "pareto", result->pareto);
    json_object_end(json);
}

static void put_counts(struct json_writer *json, const struct search *search)
{
    json_integer(json, "gpus", search->space.gpus);
    if (strchr(search->space.gpus_text, ','))
        json_text(json, "all_gpus", search->space.gpus_text);
    json_integer(json, "candidates", search->space.count);
    json_integer(json, "fit", search->ranked_count + search_passed(search));
    json_integer(json, "timed", search->ranked_count);
    json_integer(json, "different", search->different);
    json_integer(json, "same_job", search->same);
    json_integer(json, "discarded_by_work", search->passed[SEARCH_BY_WORK]);
    json_integer(json, "discarded_by_order", search->passed[SEARCH_BY_ORDER]);
    json_integer(json, "do_not_fit", search->unfit);
    json_integer(json, "illegal", search->illegal);
    json_integer(json, "not_looked_at", search->untried);
    json_integer(json, "not_timed", search->waiting);
    json_array_begin(json, "reasons", true);
    for (size_t i = 0; i < search->reason_count; i++) {
        json_object_begin(json, NULL, false);
        json_integer(json, "count", search->reasons[i].count);
        json_text(json, "example", search->reasons[i].text);
        json_object_end(json);
    }
    json_array_end(json);
}

/* The rank of what is at a place of the ranking and no longer among the best where it was. */
static uint64_t rank_of(const struct search *search, uint64_t at, uint64_t analytic)
{
    for (uint32_t number = 0; number < search->best_count; number++)
        if (search->best[number] == at)
            return number + 1;
    return analytic;
}

static void print_json(FILE *out, const struct search *search, uint32_t top)
{
    struct json_writer json = json_writer_init(out);
    json_object_begin(&json, NULL, true);
    json_text(&json, "scenario", search->scenario->name);
    put_counts(&json, search);
    json_array_begin(&json, "best", true);
    for (uint32_t number = 0; number < top && number < search->best_count; number++)
        put_layout(&json, search, search->best[number], number + 1);
    json_array_end(&json);
    json_array_begin(&json, "pareto", true);
    for (uint64_t at = 0, rank = 0; at < search->ranked_count; at++) {
        rank += !search_repeats(search, at);
        if (search_result_at(search, at)->pareto)
            put_layout(&json, search, at, rank_of(search, at, rank));
    }
    json_array_end(&json);
    json_object_end(&json);
}

void search_print(FILE *out, const struct search *search, uint32_t top, enum table_format format)
{
    if (table_is_read(format))
        print_table(out, search, top, format);
    else if (format == TABLE_CSV)
        print_csv(out, search);
    else
        print_json(out, search, top);
}
