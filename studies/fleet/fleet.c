/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/fleet/fleet.h"

#include "base/arena.h"
#include "base/bulk.h"
#include "base/diagnostics.h"
#include "base/exit_code.h"
#include "base/files/journal.h"
#include "base/process/interruption.h"
#include "job/write/scenario_write.h"
#include "studies/fleet/crew.h"
#include "studies/fleet/family.h"
#include "studies/fleet/law.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const fleet_status_names[FLEET_STATUSES] = {"not asked", "found", "cut", "does not fit", "illegal"};

/* ---- the beginning ---- */

/* Of all that answers depend on. */
static uint64_t fingerprint(const struct fleet *fleet, const struct fleet_request *request)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = memory_stream_open(&text, &size);
    fprintf(out, "%s %d %zu\n", STAGESIM_VERSION, request->exhaustive || fleet->scenario->plan.carbon > 0,
            sizeof(struct fleet_found));
    for (size_t i = 0; i < fleet->questions.count; i++) {
        const struct fleet_question *question = &fleet->questions.list[i];
        fprintf(out, "%s %s\n", question->changes[0], question->changes[1]);
        for (size_t k = 0; k < question->offer_count; k++) {
            const struct plan_offer *offer = question->offers[k];
            fprintf(out, "%.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g\n", offer->gpu_hour, offer->node_hour,
                    offer->minimum, offer->commitment, offer->interrupted_every, offer->purchase, offer->years,
                    offer->electricity, offer->cooling);
        }
    }
    for (enum search_dimension i = 0; i < DIMENSIONS; i++)
        for (size_t k = 0; k < fleet->scenario->search.values[i].count; k++)
            fprintf(out, "%s %s\n", search_dimensions[i].key, fleet->scenario->search.values[i].texts[k]);
    scenario_write(out, fleet->scenario, ".", false);
    for (size_t i = 1; i < fleet->member_count; i++)
        scenario_write(out, fleet->members[i].scenario, ".", false);
    memory_stream_close(out);
    uint64_t sum = journal_fingerprint(JOURNAL_FINGERPRINT, text, size);
    free(text);
    return sum;
}

int fleet_create(struct fleet *fleet, const struct scenario *scenario, const struct fleet_request *request,
                 struct arena *arena, struct diag *diag)
{
    *fleet = (struct fleet){.scenario = scenario};
    fleet_check_job(scenario, diag);
    struct fleet_law law;
    if (scenario->plan.law.count && !fleet_law_read(&scenario->plan.law, &law))
        diag_error(diag, scenario_place(scenario, "plan.law"),
                   "law: expected hoffmann, besiroglu, or the five numbers [E, A, alpha, B, beta]");
    if (!fleet_questions_create(&fleet->questions, scenario, arena, diag) || !fleet_family_create(fleet, arena, diag) ||
        diag->errors)
        return EXIT_BAD_INPUT;
    fleet->found = array_zeroed(fleet->questions.count, sizeof *fleet->found);
    fleet->fingerprint = fingerprint(fleet, request);
    return EXIT_DONE;
}

void fleet_finish(struct fleet *fleet)
{
    free(fleet->found);
    fleet->found = NULL;
}

/* ---- bounds ---- */

/* What a training takes with an offer at the least, if an iteration takes `iteration`. Other clusters' numbers of steps
 * differ by one at the most, where their quotients are rounded. */
static struct fleet_point least_point(const struct fleet_question *question, size_t offer, double steps,
                                      double iteration)
{
    static const double rounded = 1 - 1e-9;
    double seconds = fmax(0, steps - 1) * iteration * rounded;
    struct fleet_use use = {seconds, 0, question->gpus, question->nodes};
    return (struct fleet_point){seconds, fleet_money(question->offers[offer], &use) * rounded};
}

static bool is_beaten(const struct fleet_front *front, const struct fleet_question *question, double steps,
                      double iteration)
{
    for (size_t i = 0; i < question->offer_count; i++)
        if (!fleet_front_beats(front, least_point(question, i, steps, iteration)))
            return false;
    return true;
}

/* The longest iteration with which the cluster is not beaten with every offer: what is beaten with one is with all
 * longer ones. INFINITY: none is beaten. */
static double ceiling_of(const struct fleet_front *front, const struct fleet_question *question, double steps)
{
    enum { HALVINGS = 200 };
    double low = 0, high = 1e12;
    if (!front->count || !(steps > 0) || !is_beaten(front, question, steps, high))
        return INFINITY;
    for (int i = 0; i < HALVINGS; i++) {
        double middle = low + (high - low) / 2;
        if (middle <= low || middle >= high)
            break;
        if (is_beaten(front, question, steps, middle))
            high = middle;
        else
            low = middle;
    }
    return low;
}

/* ---- answers so far ---- */

struct standing {
    struct fleet_front front;
    double steps; /* 0: no question is answered yet */
};

static void note_answer(struct standing *standing, const struct fleet_question *question,
                        const struct fleet_found *found)
{
    if (found->status != FLEET_FOUND)
        return;
    standing->steps = standing->steps > 0 ? fmin(standing->steps, found->steps) : found->steps;
    for (size_t i = 0; i < question->offer_count; i++)
        if (!found->courses[i].stuck)
            fleet_front_add(
                &standing->front,
                (struct fleet_point){found->courses[i].seconds, fleet_course_money(question, i, &found->courses[i])});
}

/* Whether clusters are cut: of carbon a bound knows nothing, and of several jobs the cluster that is worst for one may
 * be best for all. */
static bool cuts(const struct fleet *fleet, const struct fleet_request *request)
{
    return !request->exhaustive && !fleet->member_count && !(fleet->scenario->plan.carbon > 0);
}

/* ---- the journal ---- */

struct entry {
    uint64_t question;
    struct fleet_found found;
};

static void take(void *user, const void *record, size_t size)
{
    struct fleet *fleet = user;
    struct entry entry;
    if (size != sizeof entry)
        return;
    memcpy(&entry, record, sizeof entry);
    if (entry.question < fleet->questions.count)
        fleet->found[entry.question] = entry.found;
}

static struct journal_identity identity_of(const struct fleet *fleet, const struct fleet_request *request)
{
    return (struct journal_identity){.kind = "plan",
                                     .title = "stagesim plan journal 1\n",
                                     .fingerprint = fleet->fingerprint,
                                     .count = fleet->questions.count,
                                     .shard = request->shard,
                                     .shards = request->shards};
}

static int refuse(const struct fault *fault)
{
    diag_print(stderr, "stagesim: %s\n", fault->text);
    return EXIT_BAD_INPUT;
}

int fleet_merge(struct fleet *fleet, const char *const *files, size_t count)
{
    struct fault fault = {""};
    struct fleet_request any = {.shard = 1, .shards = 1};
    struct journal_identity identity = identity_of(fleet, &any);
    for (size_t i = 0; i < count; i++) {
        uint32_t shards = 1;
        if (!journal_read(files[i], &identity, &shards, take, fleet, &fault))
            return refuse(&fault);
        fleet->merged_shards = shards > fleet->merged_shards ? shards : fleet->merged_shards;
    }
    return EXIT_DONE;
}

/* ---- asking ---- */

static bool write_down(int journal, uint64_t question, const struct fleet_found *found)
{
    struct entry entry;
    memset(&entry, 0, sizeof entry); /* padding, too */
    entry.question = question;
    memcpy(&entry.found, found, sizeof *found);
    return journal < 0 || journal_append(journal, &entry, sizeof entry);
}

/* What a crew asks, and what it has found. */
struct round {
    struct fleet *fleet;
    const struct fleet_request *request;
    struct standing standing;
    int journal; /* -1: none */
};

static double begin_question(void *user, uint32_t i)
{
    const struct round *round = user;
    const struct fleet *fleet = round->fleet;
    const struct fleet_question *question = &fleet->questions.list[i];
    double ceiling =
        cuts(fleet, round->request) ? ceiling_of(&round->standing.front, question, round->standing.steps) : INFINITY;
    if (!round->request->quiet)
        diag_print(stderr, "%u of %zu: %s, %u GPUs\n", i + 1, fleet->questions.count, question->text, question->gpus);
    return isfinite(ceiling) ? ceiling : 0;
}

static int take_answer(void *user, uint32_t i, const struct fleet_found *found)
{
    struct round *round = user;
    round->fleet->found[i] = *found;
    if (found->status == FLEET_UNASKED) {
        round->fleet->stopped = true;
        return EXIT_DONE;
    }
    note_answer(&round->standing, &round->fleet->questions.list[i], found);
    if (write_down(round->journal, i, found))
        return EXIT_DONE;
    diag_print(stderr, "stagesim: %s: cannot be written: %s\n", round->request->journal, strerror(errno));
    return EXIT_FAILED;
}

/* Whether a question of the shard has no answer. */
static bool is_open(const struct fleet *fleet, const struct fleet_request *request)
{
    for (uint32_t i = request->shard - 1; i < fleet->questions.count; i += request->shards)
        if (fleet->found[i].status == FLEET_UNASKED)
            return true;
    return false;
}

int fleet_run(struct fleet *fleet, const struct fleet_request *request)
{
    struct fault fault = {""};
    struct round round = {.fleet = fleet, .request = request, .journal = -1};
    struct journal_identity identity = identity_of(fleet, request);
    if (request->journal) {
        round.journal = journal_open(request->journal, &identity, request->resume, take, fleet, &fault);
        if (round.journal < 0)
            return refuse(&fault);
    }
    uint32_t *open = array_zeroed(fleet->questions.count, sizeof *open);
    size_t count = 0;
    for (uint32_t i = request->shard - 1; i < fleet->questions.count; i += request->shards) {
        if (fleet->found[i].status == FLEET_UNASKED)
            open[count++] = i;
        else
            note_answer(&round.standing, &fleet->questions.list[i], &fleet->found[i]);
    }
    struct fleet_crew crew = {.fleet = fleet,
                              .request = request,
                              .questions = open,
                              .count = count,
                              .begin = begin_question,
                              .take = take_answer,
                              .user = &round};
    interruption_await();
    int code = fleet_crew_ask(&crew);
    fleet->stopped |= interruption_noted() != 0 && is_open(fleet, request);
    free(open);
    fleet_front_finish(&round.standing.front);
    if (round.journal >= 0)
        close(round.journal);
    return code;
}

/* ---- the judgement ---- */

/* What another order of asking would have cut is cut. */
static void settle(struct fleet *fleet, const struct fleet_request *request)
{
    struct standing standing = {0};
    for (size_t i = 0; i < fleet->questions.count; i++) {
        struct fleet_found *found = &fleet->found[i];
        const struct fleet_question *question = &fleet->questions.list[i];
        double ceiling = cuts(fleet, request) ? ceiling_of(&standing.front, question, standing.steps) : INFINITY;
        /* A cluster that is cut has no layout that is as fast as that. */
        if (found->status == FLEET_CUT || (found->status == FLEET_FOUND && found->iteration > ceiling))
            *found = (struct fleet_found){.status = FLEET_CUT, .bound = ceiling};
        note_answer(&standing, question, found);
        fleet->counts[found->status]++;
    }
    fleet_front_finish(&standing.front);
}

static int soonest_first(const void *left, const void *right)
{
    const struct fleet_way *a = left, *b = right;
    if (a->seconds < b->seconds || b->seconds < a->seconds)
        return a->seconds < b->seconds ? -1 : 1;
    if (a->money < b->money || b->money < a->money)
        return a->money < b->money ? -1 : 1;
    if (a->question != b->question)
        return a->question < b->question ? -1 : 1;
    return (a->offer > b->offer) - (a->offer < b->offer);
}

static void add_ways(struct fleet *fleet, uint32_t i)
{
    const struct fleet_found *found = &fleet->found[i];
    for (uint32_t k = 0; k < fleet->questions.list[i].offer_count; k++)
        if (!found->courses[k].stuck)
            fleet->ways[fleet->way_count++] = fleet_way_of(fleet, i, k, &found->courses[k]);
}

static void choose(struct fleet *fleet)
{
    for (size_t i = 0; i < fleet->way_count; i++) {
        const struct fleet_way *way = &fleet->ways[i];
        if (way->allowed && (!fleet->best || fleet_is_better(fleet, way, fleet->best)))
            fleet->best = way;
        if (!fleet->cheapest || way->money < fleet->cheapest->money)
            fleet->cheapest = way;
    }
    fleet->soonest = fleet->way_count ? fleet->ways : NULL;
}

void fleet_judge(struct fleet *fleet, const struct fleet_request *request, struct arena *arena)
{
    fleet_family_fold(fleet, arena);
    settle(fleet, request);
    fleet->ways = arena_array(arena, fleet->questions.count * FLEET_OFFERS_MAX + 1, sizeof *fleet->ways);
    for (uint32_t i = 0; i < fleet->questions.count; i++)
        if (fleet->found[i].status == FLEET_FOUND)
            add_ways(fleet, i);
    if (fleet->way_count)
        qsort(fleet->ways, fleet->way_count, sizeof *fleet->ways, soonest_first);
    double least = INFINITY;
    for (size_t i = 0; i < fleet->way_count; i++) {
        fleet->ways[i].front = fleet->ways[i].money < least;
        least = fmin(least, fleet->ways[i].money);
        fleet->front_count += fleet->ways[i].front;
        fleet->allowed_count += fleet->ways[i].allowed;
    }
    choose(fleet);
    fleet_family_weigh(fleet);
}
