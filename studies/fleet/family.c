/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/fleet/family.h"

#include "base/arena.h"
#include "base/bulk.h"
#include "base/document.h"
#include "base/paths.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the jobs ---- */

/* NULL with the mistakes reported. */
static const struct scenario *load(const struct fleet *fleet, const struct plan_job *job, struct place at,
                                   struct arena *arena, struct diag *diag)
{
    struct scenario_request request = {.file = path_of_file(fleet->scenario->directory, job->job, at.line == 0, arena),
                                       .study = true};
    struct fault fault = {""};
    if (!path_check_readable(request.file, &fault)) {
        diag_error(diag, at, "jobs: %s; expected the scenario of another job", fault.text);
        return NULL;
    }
    const struct scenario *scenario = scenario_load(&request, arena, diag);
    if (scenario && (scenario->kind || !scenario->workload)) {
        diag_error(diag, at, "jobs: %s is no job that can be laid out; expected a transformer or layers", job->job);
        return NULL;
    }
    if (scenario && !fleet_check_job(scenario, diag))
        return NULL;
    return scenario;
}

static void multiply(struct fleet *fleet, struct arena *arena)
{
    struct fleet_questions *questions = &fleet->questions;
    size_t count = questions->count;
    struct fleet_question *list = arena_array(arena, count * fleet->member_count, sizeof *list);
    for (size_t k = 0; k < fleet->member_count; k++) {
        memcpy(list + k * count, questions->list, count * sizeof *list);
        for (size_t i = 0; i < count; i++)
            list[k * count + i].scenario = fleet->members[k].scenario;
    }
    questions->list = list;
    questions->count = count * fleet->member_count;
}

static bool refuse_others(const struct fleet *fleet, struct diag *diag)
{
    const struct plan_settings *settings = &fleet->scenario->plan;
    if (settings->what_if.count)
        diag_error(diag, scenario_place(fleet->scenario, "plan.what_if"),
                   "what_if is of one job; leave it out, or jobs");
    if (settings->law.count)
        diag_error(diag, scenario_place(fleet->scenario, "plan.law"), "law is of one job; leave it out, or jobs");
    return !settings->what_if.count && !settings->law.count;
}

bool fleet_family_create(struct fleet *fleet, struct arena *arena, struct diag *diag)
{
    const struct plan_settings *settings = &fleet->scenario->plan;
    const struct plan_job *jobs = settings->jobs.rows;
    unsigned errors = diag->errors;
    if (!settings->jobs.count || !refuse_others(fleet, diag))
        return diag->errors == errors;
    fleet->members = arena_array(arena, settings->jobs.count + 1, sizeof *fleet->members);
    fleet->members[0] =
        (struct fleet_member){.scenario = fleet->scenario, .name = fleet->scenario->name, .weight = settings->weight};
    for (size_t i = 0; i < settings->jobs.count; i++) {
        struct place at = node_entry_place(fleet->scenario->root, "plan.jobs", i);
        const struct scenario *scenario = load(fleet, &jobs[i], at, arena, diag);
        fleet->members[i + 1] = (struct fleet_member){.scenario = scenario,
                                                      .name = jobs[i].name ? jobs[i].name
                                                              : scenario   ? scenario->name
                                                                           : "",
                                                      .weight = jobs[i].weight};
        for (size_t k = 0; k <= i && scenario; k++)
            if (!strcmp(fleet->members[k].name, fleet->members[i + 1].name))
                diag_error(diag, at, "jobs: two are called '%.60s'; expected a name for one of them",
                           fleet->members[k].name);
    }
    fleet->member_count = settings->jobs.count + 1;
    if (diag->errors == errors)
        multiply(fleet, arena);
    return diag->errors == errors;
}

/* ---- from jobs to all of them ---- */

static void add_course(struct fleet_course *sum, const struct fleet_course *one, double weight, bool first)
{
    sum->joules = (first || sum->joules > 0) && one->joules > 0 ? sum->joules + weight * one->joules : 0;
    sum->seconds += weight * one->seconds;
    sum->nodes = sum->nodes > one->nodes ? sum->nodes : one->nodes;
    sum->stuck |= one->stuck;
}

static struct fleet_found fold(const struct fleet *fleet, const struct fleet_question *question, size_t cluster)
{
    struct fleet_found sum = {.status = FLEET_FOUND};
    for (size_t k = 0; k < fleet->member_count; k++) {
        const struct fleet_found *found = &fleet->members[k].found[cluster];
        if (found->status != FLEET_FOUND) {
            sum = *found;
            snprintf(sum.name, sizeof sum.name, "%.*s", FLEET_NAME_MAX - 1, fleet->members[k].name);
            return sum;
        }
        for (size_t i = 0; i < question->offer_count; i++)
            add_course(&sum.courses[i], &found->courses[i], fleet->members[k].weight, k == 0);
    }
    sum.joules = sum.courses[0].joules;
    return sum;
}

void fleet_family_fold(struct fleet *fleet, struct arena *arena)
{
    size_t clusters = fleet->member_count ? fleet->questions.count / fleet->member_count : 0;
    if (!clusters)
        return;
    struct fleet_found *all = arena_array(arena, fleet->questions.count, sizeof *all);
    memcpy(all, fleet->found, fleet->questions.count * sizeof *all);
    for (size_t k = 0; k < fleet->member_count; k++)
        fleet->members[k].found = all + k * clusters;
    for (size_t i = 0; i < clusters; i++)
        fleet->found[i] = fold(fleet, &fleet->questions.list[i], i);
    fleet->questions.count = clusters;
}

/* ---- what each loses ---- */

/* All trainings of a job. */
static struct fleet_way way_of(const struct fleet *fleet, const struct fleet_member *member, uint32_t cluster,
                               uint32_t offer)
{
    struct fleet_course all = member->found[cluster].courses[offer];
    all.seconds *= member->weight;
    all.joules *= member->weight;
    return fleet_way_of(fleet, cluster, offer, &all);
}

/* By the rule of all jobs. It runs on `shared`, too. */
static struct fleet_way find_alone(const struct fleet *fleet, const struct fleet_member *member,
                                   const struct fleet_way *shared)
{
    struct fleet_way best = *shared;
    for (uint32_t i = 0; i < fleet->questions.count; i++)
        for (uint32_t k = 0; member->found[i].status == FLEET_FOUND && k < fleet->questions.list[i].offer_count; k++) {
            struct fleet_way way = way_of(fleet, member, i, k);
            if (!member->found[i].courses[k].stuck && fleet_is_better(fleet, &way, &best))
                best = way;
        }
    return best;
}

void fleet_family_weigh(struct fleet *fleet)
{
    const struct fleet_way *best = fleet->best;
    for (size_t k = 0; k < fleet->member_count && best; k++) {
        struct fleet_member *member = &fleet->members[k];
        member->shared = way_of(fleet, member, best->question, best->offer);
        member->alone = find_alone(fleet, member, &member->shared);
        member->shared.money = best->money * (member->shared.seconds / best->seconds);
    }
}
