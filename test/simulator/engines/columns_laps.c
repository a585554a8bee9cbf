/* SPDX-License-Identifier: Apache-2.0 */
/* Programs drawn from a seed that repeat in their middle, on hosts of two speeds: what columns say of a few beats and
 * of those that are put in is what they say of the program with all of them, to the last bit: the last end and
 * those of all streams; and the last end is that of the engine that goes through every rank. Operations wait for ones
 * that are several beats old, for ones before the beats, and, behind the beats, for ones that a short program has only
 * before them. Beats are found in the short program alone, and by comparison with one that has a beat more. Arguments:
 * cases [seed]; a failure names the seed of its case. */
#include "base/arena.h"
#include "simulator/collectives/assignment.h"
#include "simulator/engines/analytic/columns.h"
#include "simulator/program/extension.h"
#include "test/support/random_job.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { POSITIONS_MAX = 4, EVENTS_MAX = 16, WAITS_MAX = 3, AGO_MAX = 4, BEATS_MAX = 24, LANE = 1 };

enum event_type { COMPUTE, MESSAGE, REPLICAS, NEIGHBOURS, LANE_DELAY, EVENT_TYPES };

/* What an event waits for: an event of the same part of the program before it, or of a beat before its own; of the part
 * in front of the beats where `ago` is ANCIENT. */
struct reference {
    uint32_t event, ago;
};

static const uint32_t ANCIENT = UINT32_MAX;

struct event {
    enum event_type type;
    uint32_t position, peer; /* MESSAGE: to; NEIGHBOURS: the other one */
    double size;
    struct reference waits[WAITS_MAX + EVENTS_MAX];
    uint32_t wait_count;
};

/* Events in front of the beats, of a beat, and behind them. */
enum part { FRONT, BEAT, BACK, PARTS };

struct drawing {
    struct random random;
    struct arena *arena;
    struct mesh mesh;
    struct event events[PARTS][EVENTS_MAX];
    uint32_t counts[PARTS];
    struct platform platform;
    uint32_t links[2];
    uint32_t *hosts;
};

/* ---- drawing ---- */

static void find_route(struct platform *platform, uint32_t from, uint32_t to, struct platform_route *route)
{
    struct drawing *drawing = platform->handle;
    drawing->links[0] = from;
    drawing->links[1] = platform->host_count + to;
    *route = (struct platform_route){1e-4, 1e9, 2, drawing->links};
}

static void draw_platform(struct drawing *drawing)
{
    uint32_t hosts = drawing->mesh.ranks;
    drawing->platform = (struct platform){
        .file = "laps", .host_count = hosts, .link_count = 2 * hosts, .route = find_route, .handle = drawing};
    drawing->platform.hosts = arena_array(drawing->arena, hosts, sizeof *drawing->platform.hosts);
    drawing->platform.links = arena_array(drawing->arena, 2 * (size_t)hosts, sizeof *drawing->platform.links);
    drawing->hosts = arena_array(drawing->arena, hosts, sizeof *drawing->hosts);
    for (uint32_t i = 0; i < 2 * hosts; i++)
        drawing->platform.links[i] = (struct platform_link){
            .name = arena_print(drawing->arena, "link-%u", i), .bandwidth = 1e9, .latency = 5e-5};
    for (uint32_t rank = 0; rank < hosts; rank++) {
        drawing->hosts[rank] = rank;
        drawing->platform.hosts[rank] = (struct platform_host){
            .name = "gpu", .node = "node", .speed = random_chance(&drawing->random, 0.2) ? 7e8 : 1e9};
    }
}

static void draw_mesh(struct drawing *drawing)
{
    struct random *random = &drawing->random;
    drawing->mesh = (struct mesh){
        .axis_count = 3,
        .axes = {{.name = "data", .size = random_between(random, 1, 2)},
                 {.name = "context", .size = random_between(random, 1, 2)},
                 {.name = "pipeline", .size = random_between(random, 2, POSITIONS_MAX), .distinct = true}}};
    mesh_finish(&drawing->mesh, drawing->arena);
}

/* What an event of the part may wait for, by numbers; whether it is of one of the same positions is seen later. */
static void draw_waits(struct drawing *drawing, enum part part, uint32_t number, struct event *event)
{
    struct random *random = &drawing->random;
    event->wait_count = random_below(random, WAITS_MAX + 1);
    for (uint32_t i = 0; i < event->wait_count; i++) {
        struct reference *wait = &event->waits[i];
        bool ancient = part != FRONT && drawing->counts[FRONT] && random_chance(random, 0.05);
        uint32_t ago = part == FRONT || random_chance(random, 0.5) ? 0 : random_between(random, 1, AGO_MAX);
        uint32_t below = ancient ? drawing->counts[FRONT] : ago ? drawing->counts[BEAT] : number;
        *wait = below ? (struct reference){random_below(random, below), ancient ? ANCIENT : ago}
                      : (struct reference){UINT32_MAX, 0};
    }
}

/* Each position computes in a beat. Other operations wait for that, and it waits for what comes from other positions,
 * some beats later, most of the time. */
static void connect(struct drawing *drawing, uint32_t number)
{
    struct random *random = &drawing->random;
    struct event *event = &drawing->events[BEAT][number], *peer = &drawing->events[BEAT][event->peer];
    if (event->type == COMPUTE || random_chance(random, 0.03))
        return;
    event->waits[event->wait_count++] = event->waits[0];
    event->waits[0] = (struct reference){event->position, 0};
    if (event->type == MESSAGE || event->type == NEIGHBOURS)
        peer->waits[peer->wait_count++] = (struct reference){number, random_between(random, 1, AGO_MAX)};
}

/* In front of the beats and behind them there is mostly what is in a beat, too. */
static void draw_event(struct drawing *drawing, enum part part, uint32_t number)
{
    struct random *random = &drawing->random;
    uint32_t positions = drawing->mesh.positions;
    struct event *event = &drawing->events[part][number];
    bool first = part == BEAT && number < positions;
    *event = (struct event){.type = first ? COMPUTE : (enum event_type)random_below(random, EVENT_TYPES),
                            .position = first ? number : random_below(random, positions)};
    event->peer = (event->position + 1 + random_below(random, positions - 1)) % positions;
    if (event->type == LANE_DELAY && part == BEAT)
        event->type = COMPUTE;
    if (part != BEAT && random_chance(random, 0.9)) {
        *event = drawing->events[BEAT][random_below(random, drawing->counts[BEAT])];
        event->wait_count = 0;
    }
    event->size = 1e-3 * (1 + random_unit(random));
    if (event->type != LANE_DELAY || part != FRONT)
        draw_waits(drawing, part, number, event);
}

static void draw_events(struct drawing *drawing)
{
    static const enum part order[] = {BEAT, FRONT, BACK};
    struct random *random = &drawing->random;
    drawing->counts[FRONT] = random_below(random, 8);
    drawing->counts[BEAT] = random_between(random, drawing->mesh.positions, EVENTS_MAX);
    drawing->counts[BACK] = random_below(random, 8);
    for (int part = 0; part < PARTS; part++)
        for (uint32_t i = 0; i < drawing->counts[order[part]]; i++)
            draw_event(drawing, order[part], i);
    for (uint32_t i = 0; i < drawing->counts[BEAT]; i++)
        connect(drawing, i);
}

/* ---- building ---- */

/* The operations of one event: ids at the positions that have one, others UINT32_MAX. */
struct done {
    uint32_t ids[POSITIONS_MAX];
};

struct building {
    const struct drawing *drawing;
    struct program_builder *builder;
    uint32_t beats;
    struct done done[PARTS][BEATS_MAX][EVENTS_MAX];
    uint32_t replicas[POSITIONS_MAX], neighbours[POSITIONS_MAX][POSITIONS_MAX]; /* groups */
};

/* The event that another one waits for; NULL: there is none. */
static const struct done *find_done(const struct building *building, enum part part, uint32_t beat,
                                    struct reference wait)
{
    if (wait.event == UINT32_MAX)
        return NULL;
    if (wait.ago == ANCIENT)
        return &building->done[FRONT][0][wait.event];
    if (wait.ago == 0)
        return &building->done[part][beat][wait.event];
    uint32_t end = part == BACK ? building->beats : beat;
    return wait.ago > end ? NULL : &building->done[BEAT][end - wait.ago][wait.event];
}

static void add_waits(struct building *building, enum part part, uint32_t beat, uint32_t number, uint32_t position)
{
    const struct event *event = &building->drawing->events[part][number];
    uint32_t id = building->done[part][beat][number].ids[position];
    for (uint32_t i = 0; i < event->wait_count; i++) {
        const struct done *done = find_done(building, part, beat, event->waits[i]);
        if (done && done->ids[position] != UINT32_MAX)
            program_add_wait(building->builder, position, id, done->ids[position]);
    }
}

static void add_event(struct building *building, enum part part, uint32_t beat, uint32_t number)
{
    const struct event *event = &building->drawing->events[part][number];
    struct program_builder *builder = building->builder;
    struct done *done = &building->done[part][beat][number];
    uint32_t own = event->position, peer = event->peer;
    bool moves = event->type != COMPUTE && event->type != LANE_DELAY;
    struct stagesim_identity identity = {
        .kind = STAGESIM_OTHER, .stage = (uint32_t)part, .layer = number, .micro_batch = beat};
    struct stagesim_cost cost = {.seconds = moves ? 0 : event->size, .bytes = moves ? 1e9 * event->size : 0};
    uint32_t id = program_add_cost(builder, &cost);
    for (uint32_t position = 0; position < POSITIONS_MAX; position++)
        done->ids[position] = UINT32_MAX;
    switch (event->type) {
    case MESSAGE:
        program_add_message(builder, own, peer, identity, id, &done->ids[own], &done->ids[peer]);
        add_waits(building, part, beat, number, own);
        return;
    case NEIGHBOURS:
        done->ids[peer] =
            program_add_collective(builder, peer, building->neighbours[own][peer], STAGESIM_ALL_REDUCE, identity, id);
        add_waits(building, part, beat, number, peer);
        done->ids[own] =
            program_add_collective(builder, own, building->neighbours[own][peer], STAGESIM_ALL_REDUCE, identity, id);
        break;
    case REPLICAS:
        done->ids[own] =
            program_add_collective(builder, own, building->replicas[own], STAGESIM_ALL_REDUCE, identity, id);
        break;
    case LANE_DELAY:
        done->ids[own] = program_add_delay(builder, own, LANE, identity, id);
        break;
    default:
        done->ids[own] = program_add_compute(builder, own, identity, id);
    }
    add_waits(building, part, beat, number, own);
}

static void add_groups(struct building *building)
{
    uint32_t positions = building->drawing->mesh.positions;
    for (uint32_t own = 0; own < positions; own++)
        building->replicas[own] = program_add_group(building->builder, 1, &own, 1);
    for (uint32_t own = 0; own < positions; own++)
        for (uint32_t peer = own + 1; peer < positions; peer++)
            building->neighbours[own][peer] = building->neighbours[peer][own] =
                program_add_group(building->builder, 0, (const uint32_t[]){own, peer}, 2);
}

/* The program with so many beats. */
static struct program *build(struct drawing *drawing, uint32_t beats)
{
    struct building *building = arena_alloc(drawing->arena, sizeof *building);
    *building =
        (struct building){.drawing = drawing, .builder = program_builder_create(&drawing->mesh), .beats = beats};
    add_groups(building);
    for (uint32_t i = 0; i < drawing->counts[FRONT]; i++)
        add_event(building, FRONT, 0, i);
    for (uint32_t beat = 0; beat < beats; beat++)
        for (uint32_t i = 0; i < drawing->counts[BEAT]; i++)
            add_event(building, BEAT, beat, i);
    for (uint32_t i = 0; i < drawing->counts[BACK]; i++)
        add_event(building, BACK, 0, i);
    struct program *program = program_finish(building->builder, drawing->arena);
    program_builder_destroy(building->builder);
    program->iterations = program->period = 1;
    assignment_create(program, drawing->arena);
    struct collective_policy policy = {.stepwise = false};
    assignment_place(program->assignment, &drawing->platform, drawing->hosts, &policy);
    return program;
}

/* ---- comparing ---- */

static uint32_t find_computation(const struct position *position, uint32_t beat, uint32_t event)
{
    for (uint32_t id = 0; id < position->operation_count; id++) {
        const struct operation *operation = &position->operations[id];
        if (operation->type == OPERATION_COMPUTE && operation->stage == BEAT && operation->micro_batch == beat &&
            operation->layer == event)
            return id;
    }
    return UINT32_MAX;
}

static struct beats *find_beats(const struct drawing *drawing, const struct program *program, uint32_t beats)
{
    struct beat_pair pairs[POSITIONS_MAX];
    for (uint32_t index = 0; index < drawing->mesh.positions; index++)
        pairs[index] = (struct beat_pair){find_computation(&program->positions[index], beats - 2, index),
                                          find_computation(&program->positions[index], beats - 1, index)};
    return beats_around(program, pairs, drawing->arena);
}

struct counts {
    unsigned alone, compared, wrong, several;
};

/* Whether columns say something of the part that goes through its beats, and if so, that it is right. */
static unsigned compare(struct drawing *drawing, const struct program *part, const struct beats *beats, uint32_t more,
                        const struct columns_time *whole, struct counts *counts, const char *found, uint64_t seed)
{
    struct columns_time time;
    struct engine_job job = {.program = part, .platform = &drawing->platform, .hosts = drawing->hosts};
    if (!beats || !columns_run_repeating(&job, beats, more, drawing->arena, &time))
        return 0;
    bool same = time.iteration <= whole->iteration && time.iteration >= whole->iteration && time.busy <= whole->busy &&
                time.busy >= whole->busy && time.busy_max <= whole->busy_max && time.busy_max >= whole->busy_max &&
                time.stream_ends <= whole->stream_ends && time.stream_ends >= whole->stream_ends;
    counts->wrong += !same;
    if (!same)
        fprintf(stderr,
                "seed %llu, beats %s: %.17g s, busy %.17g s, streams %.17g s; %u beats put in: %.17g s, busy %.17g s, "
                "streams %.17g s\n",
                (unsigned long long)seed, found, whole->iteration, whole->busy, whole->stream_ends, more,
                time.iteration, time.busy, time.stream_ends);
    return 1;
}

/* The last end by the engine that goes through every rank by itself. */
static double last_end_of_ranks(const struct engine_job *job)
{
    struct fault fault = {""};
    struct engine_job alone = *job;
    struct timeline *timeline = alone.timeline = timeline_create(job->program);
    double last = engine_analytic.run(&alone, &fault) ? 0 : NAN;
    for (uint32_t entry = 0; entry < timeline->rank_count; entry++) {
        uint32_t position = job->program->mesh->position_of[timeline->ranks[entry]];
        for (uint32_t id = 0; id < job->program->positions[position].operation_count; id++)
            last = fmax(last, timeline->moments[entry][id].end);
    }
    timeline_destroy(timeline);
    return last;
}

/* Columns of the whole program against all ranks; times begin at 0. */
static void compare_ranks(const struct engine_job *job, const struct columns_time *time, struct counts *counts,
                          uint64_t seed)
{
    double last = last_end_of_ranks(job);
    if (fabs(last - time->iteration) <= 1e-12 * time->iteration)
        return;
    counts->wrong++;
    fprintf(stderr, "seed %llu: columns %.17g s, all ranks %.17g s\n", (unsigned long long)seed, time->iteration, last);
}

static void check_case(uint64_t seed, struct counts *counts)
{
    struct drawing *drawing = calloc(1, sizeof *drawing);
    if (!drawing)
        abort();
    struct columns_time time;
    *drawing = (struct drawing){.random = {seed}, .arena = arena_create()};
    draw_mesh(drawing);
    draw_platform(drawing);
    draw_events(drawing);
    uint32_t beats = random_between(&drawing->random, 3, 9), more = random_between(&drawing->random, 1, 12);
    const struct program *part = build(drawing, beats), *longer = build(drawing, beats + 1),
                         *whole = build(drawing, beats + more);
    struct engine_job job = {.program = whole, .platform = &drawing->platform, .hosts = drawing->hosts};
    if (columns_run(&job, drawing->arena, &time)) {
        compare_ranks(&job, &time, counts, seed);
        /* All waits are seen from some number of beats on. */
        if (beats >= AGO_MAX + 2)
            counts->alone +=
                compare(drawing, part, find_beats(drawing, part, beats), more, &time, counts, "alone", seed);
        unsigned compared = 0;
        if (beats >= AGO_MAX + 1)
            compared = compare(drawing, part, extension_beats(longer, part, 1, drawing->arena), more, &time, counts,
                               "compared", seed);
        counts->compared += compared;
        counts->several += compared && drawing->mesh.replicas > 1;
    }
    arena_destroy(drawing->arena);
    free(drawing);
}

int main(int argc, char **argv)
{
    uint64_t cases = argc > 1 ? strtoull(argv[1], NULL, 10) : 10000, first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    struct counts counts = {0};
    printf("1..2\n");
    for (uint64_t seed = first; seed < first + cases; seed++)
        check_case(seed, &counts);
    printf("%sok 1 - %u are wrong\n", counts.wrong ? "not " : "", counts.wrong);
    bool many = 10 * counts.alone > cases && 4 * counts.compared > cases && 8 * counts.several > cases;
    printf("%sok 2 - of %u programs the beats are found alone, of %u by comparison, of %u with several replicas\n",
           cases >= 1000 && !many ? "not " : "", counts.alone, counts.compared, counts.several);
    return counts.wrong > 0;
}
