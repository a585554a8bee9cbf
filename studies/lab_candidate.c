/* SPDX-License-Identifier: Apache-2.0 */
/* One candidate of the laboratory: its scenario, its order, how long it takes. */
#include "studies/lab_parts.h"

#include "base/arena.h"
#include "base/exit_code.h"
#include "base/process/clock.h"
#include "base/process/guard.h"
#include "base/process/interruption.h"
#include "schedules/plan/plan_check.h"
#include "schedules/plan/plan_file.h"
#include "schedules/plan/plan_rows.h"
#include "schedules/schedule.h"
#include "studies/evaluate.h"
#include "studies/simulation.h"
#include "workloads/transformer/pipeline_layout.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { OPERATIONS_MAX = 20000000 };

bool lab_is_over(struct session *session)
{
    double limit = session->request->time_limit;
    if (interruption_noted() || (limit > 0 && clock_now() - session->began >= limit) ||
        session->lab->count == LAB_CANDIDATES)
        session->lab->stopped = true;
    return session->lab->stopped;
}

/* Sets a key; a later value of the same key takes the place of the earlier one. */
__attribute__((format(printf, 2, 3))) void lab_add_set(struct lab_candidate *candidate, const char *format, ...)
{
    char text[LAB_TEXT_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    uint32_t at = 0;
    size_t key = strcspn(text, "=") + 1;
    while (at < candidate->set_count && strncmp(candidate->sets[at], text, key) != 0)
        at++;
    if (at < LAB_SETS)
        memcpy(candidate->sets[at], text, sizeof text);
    candidate->set_count += at == candidate->set_count && at < LAB_SETS;
}

const char *lab_file_of(const struct session *session, uint32_t number, const char *ending, struct arena *arena)
{
    return arena_print(arena, "%s/%u.%s", session->request->folder, number, ending);
}

struct scenario_request lab_scenario_of(const struct lab_request *request, const struct lab_candidate *candidate,
                                        const char *order, struct arena *arena)
{
    struct scenario_set *sets = arena_array(arena, LAB_SETS + 1, sizeof *sets);
    for (uint32_t i = 0; i < candidate->set_count; i++)
        sets[i].text = candidate->sets[i];
    struct scenario_request changed =
        scenario_request_with(&request->scenario->request, sets, candidate->set_count, arena);
    changed.study = true;
    changed.schedule = order ? order : candidate->schedule;
    return changed;
}

static bool write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    bool good = file && fputs(text, file) >= 0;
    return file && fclose(file) == 0 && good;
}

static bool write_times(const char *path, const struct job_order *order)
{
    FILE *file = fopen(path, "w");
    if (!file)
        return false;
    fprintf(file, "%.17g", order->message);
    for (uint32_t stage = 0; stage < order->stages; stage++)
        fprintf(file, " %.17g %.17g %.17g", order->forward[stage], order->backward[stage], order->weight[stage]);
    return fclose(file) == 0;
}

/* Times a candidate, by its order's file if it has one. False where it is not possible. */
bool lab_judge(struct session *session, struct lab_candidate *candidate, uint32_t number, const char *order)
{
    struct arena *arena = arena_create();
    struct diag silent = {0};
    struct evaluation evaluation;
    struct evaluation_request request = {.scenario = lab_scenario_of(session->request, candidate, order, arena),
                                         .operations_max = OPERATIONS_MAX,
                                         .order = true};
    bool possible = evaluate(&request, session->platform, arena, &silent, &evaluation) && evaluation.job->order &&
                    !evaluation.job->asynchronous;
    if (possible) {
        const struct job *job = evaluation.job;
        const char *layout = job->figures.pipeline_layout;
        candidate->number = number;
        candidate->analytic = evaluation.report->iteration;
        candidate->bound = job->bound;
        candidate->peak_bytes = evaluation.report->peak_bytes;
        candidate->fits = evaluation.report->fits || evaluation.report->capacity_bytes <= 0;
        snprintf(candidate->layout, sizeof candidate->layout, "%s", layout ? layout : "");
        possible = write_text(lab_file_of(session, candidate->number, "csv", arena), job->order->rows) &&
                   write_times(lab_file_of(session, candidate->number, "times", arena), job->order);
    }
    arena_destroy(arena);
    return possible;
}

/* What fits comes first, then the fastest. */
bool lab_is_better(const struct lab_candidate *a, const struct lab_candidate *b)
{
    return a->fits != b->fits ? a->fits : a->analytic < b->analytic * (1 - 1e-12);
}

/* Times a candidate and keeps it; false where it is not possible or the search is over. */
bool lab_try(struct session *session, struct lab_candidate *candidate, const char *order)
{
    struct lab *lab = session->lab;
    if (lab_is_over(session) || !lab_judge(session, candidate, lab->count, order))
        return false;
    lab->candidates[lab->count++] = *candidate;
    guard_doing("timing schedules: %u so far", lab->count);
    return true;
}

const struct lab_candidate *lab_best(const struct lab *lab)
{
    const struct lab_candidate *best = NULL;
    for (uint32_t i = 0; i < lab->count; i++)
        if (!best || lab_is_better(&lab->candidates[i], best))
            best = &lab->candidates[i];
    return best;
}
