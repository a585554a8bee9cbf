/* SPDX-License-Identifier: Apache-2.0 */
/* All-to-alls in which each pair of members has its own bytes, on both engines. On a crossbar, where each rank has a
 * port of full duplex, they are compared with ordinary all-to-alls, with the busiest port and with max-min sharing that
 * is filled up step by step here. */
#include "simulator/program/pair_bytes.h"

#include "analysis/figures/traffic.h"
#include "base/arena.h"
#include "simulator/collectives/assignment.h"
#include "simulator/engines/engine.h"
#include "simulator/engines/simgrid/bridge.h"
#include "simulator/program/program_check.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MEMBERS_MAX = 8 };
static const double bandwidth = 1e9;

static const struct stagesim_identity plain = {
    .kind = STAGESIM_OTHER, .stage = STAGESIM_NONE, .micro_batch = STAGESIM_NONE};

/* One link out of each host and one into it; half of the latency each. */
static char *crossbar_write(uint32_t ranks, double latency)
{
    char *name = strdup("/tmp/stagesim-crossbar-XXXXXX");
    FILE *out = fdopen(mkstemp(name), "w");
    fprintf(out, "<?xml version=\"1.0\"?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
                 "<platform version=\"4.1\"><zone id=\"all\" routing=\"Full\">\n");
    for (uint32_t i = 0; i < ranks; i++)
        fprintf(out,
                "<host id=\"gpu-%u\" speed=\"1Gf\"/><link id=\"up-%u\" bandwidth=\"%gBps\" latency=\"%gs\"/>"
                "<link id=\"down-%u\" bandwidth=\"%gBps\" latency=\"%gs\"/>\n",
                i, i, bandwidth, latency / 2, i, bandwidth, latency / 2);
    for (uint32_t i = 0; i < ranks; i++)
        for (uint32_t j = 0; j < ranks; j++)
            if (i != j)
                fprintf(out,
                        "<route src=\"gpu-%u\" dst=\"gpu-%u\" symmetrical=\"NO\"><link_ctn id=\"up-%u\"/>"
                        "<link_ctn id=\"down-%u\"/></route>\n",
                        i, j, i, j);
    fprintf(out, "</zone></platform>\n");
    fclose(out);
    return name;
}

/* The same without SimGrid, of which a process can load one platform only. Links: up of each host, then down. */
struct crossbar {
    struct platform platform;
    uint32_t links[2];
    double latency;
};

static void crossbar_route(struct platform *platform, uint32_t from, uint32_t to, struct platform_route *route)
{
    struct crossbar *crossbar = (struct crossbar *)platform;
    crossbar->links[0] = from;
    crossbar->links[1] = platform->host_count + to;
    *route = (struct platform_route){crossbar->latency, bandwidth, 2, crossbar->links};
}

static struct platform *crossbar_create(uint32_t ranks, double latency, struct arena *arena)
{
    struct crossbar *crossbar = arena_alloc(arena, sizeof *crossbar);
    *crossbar = (struct crossbar){.latency = latency};
    struct platform *platform = &crossbar->platform;
    *platform =
        (struct platform){.file = "crossbar", .host_count = ranks, .link_count = 2 * ranks, .route = crossbar_route};
    platform->hosts = arena_array(arena, ranks, sizeof *platform->hosts);
    platform->links = arena_array(arena, 2 * (size_t)ranks, sizeof *platform->links);
    for (uint32_t i = 0; i < 2 * ranks; i++)
        platform->links[i] =
            (struct platform_link){.name = arena_print(arena, "%s-%u", i < ranks ? "up" : "down", i % ranks),
                                   .bandwidth = bandwidth,
                                   .latency = latency / 2};
    for (uint32_t rank = 0; rank < ranks; rank++)
        platform->hosts[rank] = (struct platform_host){.name = "gpu", .node = "node", .speed = 1e9};
    return platform;
}

static struct platform *crossbar_load(uint32_t ranks, double latency, struct arena *arena)
{
    struct fault fault = {""};
    char *file = crossbar_write(ranks, latency);
    struct platform *platform = bridge_configure(NULL, 0, &fault) ? bridge_load(file, arena, &fault) : NULL;
    cr_assert(platform, "%s", fault.text);
    unlink(file);
    free(file);
    return platform;
}

/* One all-to-all of ranks that are a position each. */
struct exchange {
    struct arena *arena;
    struct mesh mesh;
    struct program *program;
    struct platform *platform;
    uint32_t hosts[MEMBERS_MAX];
};

/* bytes: of the pairs, or NULL for an ordinary all-to-all of `size`. */
static struct exchange *exchange_create(uint32_t ranks, const double *bytes, double size, double latency, bool load)
{
    struct arena *arena = arena_create();
    struct exchange *exchange = arena_alloc(arena, sizeof *exchange);
    exchange->arena = arena;
    exchange->mesh = (struct mesh){.axis_count = 1, .axes = {{.name = "pipeline", .size = ranks, .distinct = true}}};
    mesh_finish(&exchange->mesh, arena);
    struct program_builder *builder = program_builder_create(&exchange->mesh);
    uint32_t positions[MEMBERS_MAX];
    for (uint32_t rank = 0; rank < ranks; rank++)
        positions[rank] = exchange->hosts[rank] = rank;
    uint32_t group = program_add_group(builder, 0, positions, ranks);
    struct stagesim_cost cost = {.bytes = size};
    uint32_t id = bytes ? program_add_pairs_cost(builder, &cost, ranks, bytes) : program_add_cost(builder, &cost);
    for (uint32_t rank = 0; rank < ranks; rank++)
        program_add_collective(builder, rank, group, STAGESIM_ALL_TO_ALL, plain, id);
    exchange->program = program_finish(builder, arena);
    program_builder_destroy(builder);
    assignment_create(exchange->program, arena);
    exchange->platform = load ? crossbar_load(ranks, latency, arena) : crossbar_create(ranks, latency, arena);
    struct collective_policy policy = {.algorithms[STAGESIM_ALL_TO_ALL] = &algorithm_direct};
    assignment_place(exchange->program->assignment, exchange->platform, exchange->hosts, &policy);
    return exchange;
}

static double seconds_on(struct exchange *exchange, const struct engine *engine)
{
    struct fault fault = {""};
    struct timeline *timeline = timeline_create(exchange->program);
    struct engine_job job = {
        .program = exchange->program, .platform = exchange->platform, .hosts = exchange->hosts, .timeline = timeline};
    cr_assert(engine->run(&job, &fault), "%s", fault.text);
    double end = timeline_rank(timeline, 0)[0].end;
    for (uint32_t rank = 0; rank < exchange->mesh.ranks; rank++)
        cr_assert_float_eq(timeline_rank(timeline, rank)[0].end, end, 1e-12);
    timeline_destroy(timeline);
    return end;
}

/* SimGrid is asked once in a test: Criterion gives each a process of its own. */
static double exchange_seconds(uint32_t ranks, const double *bytes, double size, double latency,
                               const struct engine *engine)
{
    struct exchange *exchange = exchange_create(ranks, bytes, size, latency, engine == &engine_simgrid);
    double seconds = seconds_on(exchange, engine);
    arena_destroy(exchange->arena);
    return seconds;
}

/* ---- rows: what a rank sends to each of the others ---- */

static void fill_rows(double *bytes, const double *rows, uint32_t ranks)
{
    for (uint32_t i = 0; i < ranks * ranks; i++)
        bytes[i] = rows[i / ranks];
}

static double busiest_port(const double *bytes, uint32_t ranks)
{
    double most = 0;
    for (uint32_t rank = 0; rank < ranks; rank++) {
        double out = 0, in = 0;
        for (uint32_t other = 0; other < ranks; other++) {
            out += other == rank ? 0 : bytes[rank * ranks + other];
            in += other == rank ? 0 : bytes[other * ranks + rank];
        }
        most = fmax(most, fmax(out, in));
    }
    return most;
}

#define close_to(actual, expected)                                                                                     \
    cr_assert(fabs((actual) - (expected)) <= 1e-9 * fabs(expected), "%s is %.12g, not %.12g", #actual,                 \
              (double)(actual), (double)(expected))

/* Ten units from rank 0 to each other, two from the others: the busiest port has max_i max(sum - s_i, s_i (n - 1)) =
 * 30 units to carry (Lin et al., arXiv 2404.12674, its cost of unequal all-to-alls). */
static void check_one_busy_rank(const struct engine *engine)
{
    double bytes[16];
    fill_rows(bytes, (const double[]){10e6, 2e6, 2e6, 2e6}, 4);
    cr_assert_float_eq(busiest_port(bytes, 4), 30e6, 1e-3);
    close_to(exchange_seconds(4, bytes, 0, 0, engine), 30e6 / bandwidth);
}

Test(pair_bytes, one_busy_rank_without_contention)
{
    check_one_busy_rank(&engine_analytic);
}

Test(pair_bytes, one_busy_rank_on_simgrid)
{
    check_one_busy_rank(&engine_simgrid);
}

/* 26 tables on 8 ranks as (4, 4, 3, 3, 3, 3, 3, 3), 128 columns in fp32, 65,536 samples: the busiest rank sends 4 x
 * 8192 x 128 x 4 x 7 = 117,440,512 bytes and receives those of 22 tables, 92,274,688; all send 763,363,328. */
static void tables_of_mlperf(double *bytes)
{
    double rows[8];
    for (int rank = 0; rank < 8; rank++)
        rows[rank] = (rank < 2 ? 4 : 3) * 65536.0 / 8 * 128 * 4;
    fill_rows(bytes, rows, 8);
}

static void check_tables(const struct engine *engine)
{
    double bytes[64];
    tables_of_mlperf(bytes);
    cr_assert_eq(busiest_port(bytes, 8), 117440512.0);
    close_to(exchange_seconds(8, bytes, 0, 0, engine), 117440512 / bandwidth);
}

Test(pair_bytes, tables_without_contention)
{
    check_tables(&engine_analytic);
}

Test(pair_bytes, tables_on_simgrid)
{
    check_tables(&engine_simgrid);
}

Test(pair_bytes, traffic_is_each_ranks_own)
{
    double bytes[64], received = 0;
    tables_of_mlperf(bytes);
    struct exchange *exchange = exchange_create(8, bytes, 0, 0, false);
    struct timeline *timeline = timeline_create(exchange->program);
    struct fault fault = {""};
    struct engine_job job = {
        .program = exchange->program, .platform = exchange->platform, .hosts = exchange->hosts, .timeline = timeline};
    cr_assert(engine_analytic.run(&job, &fault), "%s", fault.text);
    for (uint32_t rank = 0; rank < 8; rank++) {
        const struct position *position = &exchange->program->positions[rank];
        cr_assert_eq(traffic_sent(exchange->program, &position->operations[0], position),
                     rank < 2 ? 117440512.0 : 88080384.0);
    }
    struct frame *frame = frame_create(timeline, exchange->arena);
    close_to(traffic_total(frame), 763363328.0);
    double *links = traffic_links(frame, exchange->platform, exchange->hosts, exchange->arena);
    for (uint32_t link = 0; link < exchange->platform->link_count; link++) {
        unsigned rank = 0;
        const char *name = exchange->platform->links[link].name;
        if (sscanf(name, "down-%u", &rank) == 1) {
            close_to(links[link], (rank < 2 ? 22 : 23) * 4194304.0);
            received += links[link];
        } else if (sscanf(name, "up-%u", &rank) == 1) {
            close_to(links[link], rank < 2 ? 117440512.0 : 88080384.0);
        }
    }
    close_to(received, 763363328.0);
    timeline_destroy(timeline);
    arena_destroy(exchange->arena);
}

/* ---- equal bytes ---- */

static void check_equal(const struct engine *engine, uint32_t ranks, double latency)
{
    double bytes[MEMBERS_MAX * MEMBERS_MAX], size = 3e6 * ranks;
    for (uint32_t i = 0; i < ranks * ranks; i++)
        bytes[i] = 3e6;
    double seconds = exchange_seconds(ranks, bytes, 0, latency, engine);
    close_to(seconds, exchange_seconds(ranks, NULL, size, latency, &engine_analytic));
    close_to(seconds, (ranks - 1) * (latency + 3e6 / bandwidth));
}

Test(pair_bytes, equal_bytes_are_an_ordinary_all_to_all_without_contention)
{
    for (uint32_t ranks = 2; ranks <= MEMBERS_MAX; ranks++)
        check_equal(&engine_analytic, ranks, 1e-4);
}

Test(pair_bytes, equal_bytes_are_an_ordinary_all_to_all_on_simgrid)
{
    check_equal(&engine_simgrid, 5, 1e-4);
}

/* ---- any bytes: max-min sharing, filled up step by step ---- */

struct filling {
    uint32_t ranks;
    double left[MEMBERS_MAX * MEMBERS_MAX], rate[MEMBERS_MAX * MEMBERS_MAX];
};

static bool uses(const struct filling *filling, uint32_t flow, uint32_t port)
{
    return port < filling->ranks ? flow / filling->ranks == port : flow % filling->ranks == port - filling->ranks;
}

/* All rates rise together; those of a port that is full stay. */
static void fill(struct filling *filling)
{
    uint32_t flows = filling->ranks * filling->ranks;
    bool fixed[MEMBERS_MAX * MEMBERS_MAX];
    for (uint32_t flow = 0; flow < flows; flow++) {
        fixed[flow] = filling->left[flow] <= 0;
        filling->rate[flow] = 0;
    }
    for (;;) {
        double least = INFINITY;
        uint32_t full = 0;
        for (uint32_t port = 0; port < 2 * filling->ranks; port++) {
            double free = bandwidth;
            uint32_t open = 0;
            for (uint32_t flow = 0; flow < flows; flow++)
                if (uses(filling, flow, port)) {
                    free -= filling->rate[flow];
                    open += !fixed[flow];
                }
            if (open && free / open < least) {
                least = free / open;
                full = port;
            }
        }
        if (isinf(least))
            return;
        for (uint32_t flow = 0; flow < flows; flow++)
            if (!fixed[flow] && uses(filling, flow, full)) {
                filling->rate[flow] = least;
                fixed[flow] = true;
            }
    }
}

static double filled_seconds(const double *bytes, uint32_t ranks)
{
    struct filling filling = {.ranks = ranks};
    double now = 0;
    for (uint32_t i = 0; i < ranks * ranks; i++)
        filling.left[i] = i / ranks == i % ranks ? 0 : bytes[i];
    for (;;) {
        double step = INFINITY;
        fill(&filling);
        for (uint32_t i = 0; i < ranks * ranks; i++)
            if (filling.left[i] > 0)
                step = fmin(step, filling.left[i] / filling.rate[i]);
        if (isinf(step))
            return now;
        now += step;
        for (uint32_t i = 0; i < ranks * ranks; i++)
            filling.left[i] =
                filling.left[i] <= filling.rate[i] * step * (1 + 1e-12) ? 0 : filling.left[i] - filling.rate[i] * step;
    }
}

/* Some pairs have nothing, and what a rank keeps for itself moves nowhere. */
static void draw(double *bytes, uint32_t ranks, unsigned seed)
{
    srand(seed);
    for (uint32_t i = 0; i < ranks * ranks; i++)
        bytes[i] = rand() % 3 && i % ranks ? 1e5 * (1 + rand() % 50) : 0;
    bytes[0] = 7e8;
    bytes[1] += 1e5;
    bytes[(ranks - 1) * ranks] += 1e5;
}

Test(pair_bytes, any_bytes_take_the_busiest_port_without_contention)
{
    for (unsigned seed = 1; seed <= 50; seed++) {
        double bytes[MEMBERS_MAX * MEMBERS_MAX];
        uint32_t ranks = 2 + seed % 7;
        draw(bytes, ranks, seed);
        if (pair_bytes_find_idle(bytes, ranks) < ranks)
            continue;
        double seconds = exchange_seconds(ranks, bytes, 0, 0, &engine_analytic);
        close_to(seconds, busiest_port(bytes, ranks) / bandwidth);
        cr_assert(seconds <= filled_seconds(bytes, ranks) * (1 + 1e-9));
    }
}

static void check_filled(uint32_t ranks, unsigned seed)
{
    double bytes[MEMBERS_MAX * MEMBERS_MAX];
    draw(bytes, ranks, seed);
    double expected = filled_seconds(bytes, ranks), seconds = exchange_seconds(ranks, bytes, 0, 0, &engine_simgrid);
    cr_assert(fabs(seconds - expected) <= 1e-6 * expected, "%u ranks, seed %u: %g s, filled up %g s", ranks, seed,
              seconds, expected);
}

Test(pair_bytes, four_ranks_share_on_simgrid)
{
    check_filled(4, 11);
}

Test(pair_bytes, six_ranks_share_on_simgrid)
{
    check_filled(6, 12);
}

Test(pair_bytes, eight_ranks_share_on_simgrid)
{
    check_filled(8, 13);
}

/* ---- start-ups, sums, mistakes ---- */

/* A pair without bytes has no message: rank 0 sends to all others, which is three start-ups, whatever the others. */
Test(pair_bytes, start_ups_are_those_of_the_messages)
{
    double bytes[16] = {0, 1e6, 1e6, 1e6}, ring[16] = {[1] = 1e6, [6] = 1e6, [11] = 1e6, [12] = 1e6};
    close_to(exchange_seconds(4, bytes, 0, 1e-3, &engine_analytic), 3 * 1e-3 + 3e6 / bandwidth);
    close_to(exchange_seconds(4, ring, 0, 1e-3, &engine_analytic), 1e-3 + 1e6 / bandwidth);
}

Test(pair_bytes, size_is_the_mean)
{
    const double bytes[4] = {1, 2, 3, 6};
    cr_assert_float_eq(pair_bytes_size(bytes, 2), 6, 1e-12);
    struct pair_bytes pairs = pair_bytes_create(bytes, 2);
    cr_assert(pairs.sent[0] == 2 && pairs.sent[1] == 3);
    cr_assert_float_eq(pairs.shares[1], 2 / 6.0, 1e-12);
    pair_bytes_finish(&pairs);
    cr_assert_eq(pair_bytes_find_idle((const double[]){5, 0, 0, 5}, 2), 0);
    cr_assert_eq(pair_bytes_find_idle((const double[]){0, 0, 0, 0, 1, 1, 0, 0, 1}, 3), 0);
    cr_assert_eq(pair_bytes_find_idle((const double[]){0, 0, 0, 1, 1, 0, 0, 0, 1}, 3), 2);
    cr_assert_eq(pair_bytes_find_idle(bytes, 2), 2);
}

/* Two members that name different bytes for one collective, although their sums are equal. */
Test(pair_bytes, members_agree)
{
    struct arena *arena = arena_create();
    struct mesh mesh = {.axis_count = 1, .axes = {{.name = "pipeline", .size = 2, .distinct = true}}};
    mesh_finish(&mesh, arena);
    struct program_builder *builder = program_builder_create(&mesh);
    const double bytes[2][4] = {{0, 2, 3, 0}, {0, 3, 2, 0}};
    uint32_t positions[] = {0, 1}, group = program_add_group(builder, 0, positions, 2);
    for (uint32_t position = 0; position < 2; position++)
        program_add_collective(builder, position, group, STAGESIM_ALL_TO_ALL, plain,
                               program_add_pairs_cost(builder, &(struct stagesim_cost){0}, 2, bytes[position]));
    struct program *program = program_finish(builder, arena);
    program_builder_destroy(builder);
    struct fault fault = {""};
    cr_assert(!program_check(program, &fault));
    cr_assert_str_eq(fault.text,
                     "collective 0 of group 0 has other bytes for each pair of members for position 1 than for "
                     "position 0");
    arena_destroy(arena);
}
