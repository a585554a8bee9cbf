/* SPDX-License-Identifier: Apache-2.0 */
/* Which hosts each job gets. Jobs with named hosts come first, the others in the order of the file. */
#include "cluster/jobs/jobs.h"

#include "base/arena.h"
#include "base/words/pattern.h"

#include <stdlib.h>
#include <string.h>

struct placing {
    const struct platform *platform;
    const struct cluster_job **taken_by; /* [host]: NULL: free */
    uint32_t *node_of;                   /* [host]: nodes by number, in the order of their first hosts */
    uint32_t *local_of;                  /* [host]: number within its node */
    uint32_t nodes, locals;              /* locals: hosts of the fullest node */
    uint32_t **of_node;                  /* [node][local]; UINT32_MAX: there is none */
    uint32_t free;
    struct diag *diag;
};

/* A job that is being placed: takes one host after the other. */
struct taking {
    struct placing *placing;
    const struct cluster_job *job;
    uint32_t *hosts, wanted, count;
};

struct named_node {
    const char *name;
    uint32_t host;
};

static int by_name(const void *left, const void *right)
{
    const struct named_node *a = left, *b = right;
    int order = strcmp(a->name, b->name);
    return order ? order : (a->host > b->host) - (a->host < b->host);
}

/* The first host of every host's node. */
static uint32_t *first_hosts(const struct platform *platform, struct arena *arena)
{
    uint32_t count = platform->host_count, *first = arena_array(arena, count + 1, sizeof *first);
    struct named_node *named = arena_array(arena, count + 1, sizeof *named);
    for (uint32_t i = 0; i < count; i++)
        named[i] = (struct named_node){platform->hosts[i].node, i};
    qsort(named, count, sizeof *named, by_name);
    for (uint32_t i = 0, begin = 0; i < count; i++) {
        begin = i && !strcmp(named[i].name, named[begin].name) ? begin : i;
        first[named[i].host] = named[begin].host;
    }
    return first;
}

static void find_nodes(struct placing *placing, struct arena *arena)
{
    uint32_t count = placing->platform->host_count, *first = first_hosts(placing->platform, arena);
    uint32_t *sizes = arena_array(arena, count + 1, sizeof *sizes);
    placing->node_of = arena_array(arena, count + 1, sizeof *placing->node_of);
    placing->local_of = arena_array(arena, count + 1, sizeof *placing->local_of);
    for (uint32_t i = 0; i < count; i++) {
        placing->node_of[i] = first[i] == i ? placing->nodes++ : placing->node_of[first[i]];
        placing->local_of[i] = sizes[placing->node_of[i]]++;
        placing->locals = placing->local_of[i] + 1 > placing->locals ? placing->local_of[i] + 1 : placing->locals;
    }
    placing->of_node = arena_array(arena, placing->nodes + 1, sizeof *placing->of_node);
    for (uint32_t node = 0; node < placing->nodes; node++) {
        placing->of_node[node] = arena_array(arena, placing->locals, sizeof **placing->of_node);
        memset(placing->of_node[node], 0xff, placing->locals * sizeof **placing->of_node);
    }
    for (uint32_t i = 0; i < count; i++)
        placing->of_node[placing->node_of[i]][placing->local_of[i]] = i;
}

static void take(struct taking *taking, uint32_t host)
{
    if (host == UINT32_MAX || taking->count == taking->wanted || taking->placing->taken_by[host])
        return;
    taking->placing->taken_by[host] = taking->job;
    taking->placing->free--;
    taking->hosts[taking->count++] = host;
}

static void take_packed(struct taking *taking)
{
    for (uint32_t host = 0; host < taking->placing->platform->host_count; host++)
        take(taking, host);
}

static void take_rails(struct taking *taking)
{
    for (uint32_t local = 0; local < taking->placing->locals; local++)
        for (uint32_t node = 0; node < taking->placing->nodes; node++)
            take(taking, taking->placing->of_node[node][local]);
}

/* One of every node, again and again; ranks are numbered node by node. */
static void take_spread(struct taking *taking, struct arena *arena)
{
    const struct placing *placing = taking->placing;
    uint32_t *given = arena_array(arena, placing->nodes + 1, sizeof *given);
    uint32_t *free = arena_array(arena, placing->nodes + 1, sizeof *free);
    for (uint32_t host = 0; host < placing->platform->host_count; host++)
        free[placing->node_of[host]] += !placing->taken_by[host];
    for (uint32_t left = taking->wanted, round = 0; left; round++)
        for (uint32_t node = 0; node < placing->nodes && left; node++)
            if (free[node] > round) {
                given[node]++;
                left--;
            }
    for (uint32_t node = 0; node < placing->nodes; node++)
        for (uint32_t local = 0; local < placing->locals && given[node]; local++) {
            uint32_t before = taking->count;
            take(taking, placing->of_node[node][local]);
            given[node] -= taking->count - before;
        }
}

/* SplitMix64 (Steele, Lea and Flood, OOPSLA 2014). */
static uint64_t draw(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static void take_random(struct taking *taking, struct arena *arena)
{
    const struct placing *placing = taking->placing;
    uint32_t *nodes = arena_array(arena, placing->nodes + 1, sizeof *nodes);
    uint64_t state = taking->job->seed;
    for (uint32_t i = 0; i < placing->nodes; i++)
        nodes[i] = i;
    for (uint32_t i = placing->nodes; i > 1; i--) {
        uint32_t other = (uint32_t)(draw(&state) % i), kept = nodes[i - 1];
        nodes[i - 1] = nodes[other];
        nodes[other] = kept;
    }
    for (uint32_t i = 0; i < placing->nodes; i++)
        for (uint32_t local = 0; local < placing->locals; local++)
            take(taking, placing->of_node[nodes[i]][local]);
}

/* ---- named hosts ---- */

static bool take_named(struct taking *taking, const char *pattern)
{
    struct placing *placing = taking->placing;
    bool found = false;
    for (uint32_t host = 0; host < placing->platform->host_count; host++) {
        const char *name = placing->platform->hosts[host].name;
        if (!pattern_matches(pattern, name))
            continue;
        found = true;
        if (placing->taken_by[host]) {
            diag_error(placing->diag, taking->job->placement_at, "host %.60s is %s's already; expected a free one",
                       name, placing->taken_by[host]->name);
            return false;
        }
        take(taking, host);
    }
    if (!found)
        diag_error(placing->diag, taking->job->placement_at,
                   "placement: '%.60s' is no host of the platform, nor a word; expected packed, spread, random, rail "
                   "or hosts such as [%s]",
                   pattern, placing->platform->hosts[0].name);
    return found;
}

static bool take_hosts(struct taking *taking)
{
    for (size_t i = 0; i < taking->job->hosts.count; i++)
        if (!take_named(taking, taking->job->hosts.texts[i]))
            return false;
    if (taking->count < taking->wanted)
        diag_error(taking->placing->diag, taking->job->placement_at,
                   "placement names %u host%s; expected one for each of the job's %u ranks", taking->count,
                   taking->count == 1 ? "" : "s", taking->wanted);
    return taking->count == taking->wanted;
}

static bool place_one(struct taking *taking, struct arena *arena)
{
    const struct placing *placing = taking->placing;
    const struct cluster_job *job = taking->job;
    if (job->placement == PLACE_HOSTS)
        return take_hosts(taking);
    if (taking->wanted > placing->free) {
        diag_error(placing->diag, job->at, "%s has %u ranks, but only %u of the platform's %u hosts are left",
                   job->name, taking->wanted, placing->free, placing->platform->host_count);
        return false;
    }
    if (job->placement == PLACE_SPREAD)
        take_spread(taking, arena);
    else if (job->placement == PLACE_RANDOM)
        take_random(taking, arena);
    else if (job->placement == PLACE_RAIL)
        take_rails(taking);
    else
        take_packed(taking);
    return true;
}

bool jobs_place(const struct jobs *jobs, const struct platform *platform, uint32_t ***hosts, struct arena *arena,
                struct diag *diag)
{
    struct placing placing = {.platform = platform, .free = platform->host_count, .diag = diag};
    placing.taken_by = arena_array(arena, platform->host_count + (size_t)1, sizeof(struct cluster_job *));
    find_nodes(&placing, arena);
    *hosts = arena_array(arena, jobs->count + (size_t)1, sizeof **hosts);
    bool ok = true;
    for (int named = 1; named >= 0; named--)
        for (uint32_t i = 0; i < jobs->count && ok; i++) {
            const struct cluster_job *job = &jobs->items[i];
            if ((job->placement == PLACE_HOSTS) != named)
                continue;
            (*hosts)[i] = arena_array(arena, job->scenario->mesh.ranks + (size_t)1, sizeof ***hosts);
            ok = place_one(&(struct taking){&placing, job, (*hosts)[i], job->scenario->mesh.ranks, 0}, arena);
        }
    return ok;
}
