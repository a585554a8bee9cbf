/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/search/floors.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/files/scratch.h"
#include "schedules/schedule.h"
#include "studies/search/lock.h"
#include "studies/search/table.h"
#include "workloads/transformer/transformer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Keys are kept as texts, so that no two are taken for one. */
enum { KEY_MAX = 184, ENTRIES = 1 << 15, ENTRIES_USED_MAX = ENTRIES / 4 * 3 };

struct floor_entry {
    double seconds;
    char key[KEY_MAX]; /* "": there is none */
};

struct floor_table {
    atomic_flag lock;
    uint32_t used;
    struct floor_entry entries[ENTRIES];
};

/* ---- the table ---- */

static struct floor_entry *entry_of(struct floor_table *table, const char *key)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (const char *c = key; *c; c++)
        hash = (hash ^ (unsigned char)*c) * UINT64_C(1099511628211);
    size_t at = (hash ^ hash >> 32) % ENTRIES;
    while (table->entries[at].key[0] && strcmp(table->entries[at].key, key) != 0)
        at = (at + 1) % ENTRIES;
    return &table->entries[at];
}

static void put(struct floor_table *table, const char *key, double seconds)
{
    if (!*key || !(seconds > 0))
        return;
    search_lock(&table->lock);
    struct floor_entry *entry = entry_of(table, key);
    if (!entry->key[0] && table->used < ENTRIES_USED_MAX) {
        memcpy(entry->key, key, strlen(key) + 1);
        entry->seconds = seconds;
        table->used++;
    }
    search_unlock(&table->lock);
}

static double get(struct floor_table *table, const char *key)
{
    search_lock(&table->lock);
    const struct floor_entry *entry = entry_of(table, key);
    double seconds = *key && entry->key[0] ? entry->seconds : 0;
    search_unlock(&table->lock);
    return seconds;
}

/* ---- keys ---- */

enum family { BY_COMPUTING, BY_WORK };

/* Whether what a micro-batch computes is the same on any stages: where stages differ in what is computed again, it
 * matters which layers they hold. */
static bool computes_alike(const char *const values[DIMENSIONS])
{
    const struct schedule *schedule = values[DIMENSION_schedules] ? schedule_find(values[DIMENSION_schedules]) : NULL;
    const char *recompute = values[DIMENSION_recompute];
    return schedule && schedule->plain && !(recompute && recompute[0] == '[');
}

static bool is_in_key(enum family family, enum search_dimension dimension)
{
    if (dimension == DIMENSION_zero)
        return false;
    return family == BY_WORK || (dimension != DIMENSION_data && dimension != DIMENSION_pipeline &&
                                 dimension != DIMENSION_schedules && dimension != DIMENSION_chunks);
}

/* All values but those that the family does not depend on; "": nothing is known of such candidates. */
static void write_key(char key[KEY_MAX], enum family family, const char *const values[DIMENSIONS])
{
    size_t length = 0;
    key[length++] = family == BY_WORK ? 'w' : 'c';
    key[length] = '\0';
    if (family == BY_COMPUTING && !computes_alike(values)) {
        key[0] = '\0';
        return;
    }
    for (enum search_dimension i = 0; i < DIMENSIONS; i++) {
        if (!is_in_key(family, i))
            continue;
        const char *text = values[i] ? values[i] : "-";
        size_t more = strlen(text);
        if (length + more + 2 > KEY_MAX) {
            key[0] = '\0';
            return;
        }
        key[length++] = ' ';
        memcpy(key + length, text, more + 1);
        length += more;
    }
}

/* ---- numbers ---- */

static uint64_t number(const char *text, uint64_t otherwise)
{
    return text ? strtoull(text, NULL, 10) : otherwise;
}

struct sizes {
    uint64_t data, tensor, pipeline, micro;
};

static struct sizes sizes_of(const struct search_floors *floors, const char *const values[DIMENSIONS])
{
    return (struct sizes){number(values[DIMENSION_data], 1), number(values[DIMENSION_tensor], 1),
                          number(values[DIMENSION_pipeline], 1),
                          number(values[DIMENSION_micro], floors->scenario->micro_batch_size)};
}

static bool goes_together(const struct search_floors *floors, const struct sizes *sizes,
                          const char *const values[DIMENSIONS])
{
    const struct transformer_parameters *p = floors->scenario->parameters;
    bool assigned = p->pipeline_layout || p->layers_per_stage.count || values[DIMENSION_layers_per_stage];
    return floors->scenario->global_batch % (sizes->micro * sizes->data) == 0 && p->model.heads % sizes->tensor == 0 &&
           (assigned || p->model.layers >= sizes->pipeline);
}

/* ---- floors ---- */

bool search_floors_create(struct search_floors *floors, const struct scenario *scenario,
                          const struct search_space *space, struct fault *fault)
{
    const struct transformer_parameters *p = scenario->parameters;
    *floors = (struct search_floors){scenario, space, NULL};
    if (scenario->workload != &transformer_workload || scenario->platform.file || scenario->what_if_count ||
        scenario->link_count || scenario->iterations > 1 || p->model.experts || p->profile || !scenario->global_batch ||
        !p->model.heads || !p->model.layers)
        return true;
    floors->table = scratch_map(sizeof *floors->table, fault);
    return floors->table != NULL;
}

void search_floors_finish(struct search_floors *floors)
{
    scratch_unmap(floors->table, sizeof *floors->table);
    floors->table = NULL;
}

void search_floors_note(const struct search_floors *floors, uint64_t index, const struct job_outline *outline)
{
    const char *values[DIMENSIONS];
    char key[KEY_MAX];
    if (!floors->table || !outline->known)
        return;
    struct arena *arena = arena_create();
    search_space_values(floors->space, index, values, arena);
    write_key(key, BY_WORK, values);
    put(floors->table, key, outline->bare);
    write_key(key, BY_COMPUTING, values);
    put(floors->table, key, outline->computing);
    arena_destroy(arena);
}

double search_floors_bound(const struct search_floors *floors, uint64_t index)
{
    static const double rounded = 1 - 1e-9;
    const char *values[DIMENSIONS];
    char key[KEY_MAX];
    double bound = INFINITY;
    if (!floors->table)
        return 0;
    struct arena *arena = arena_create();
    search_space_values(floors->space, index, values, arena);
    struct sizes sizes = sizes_of(floors, values);
    if (goes_together(floors, &sizes, values)) {
        double micro_batches = (double)floors->scenario->global_batch / (double)(sizes.micro * sizes.data);
        write_key(key, BY_COMPUTING, values);
        bound = get(floors->table, key) * micro_batches / (double)sizes.pipeline;
        write_key(key, BY_WORK, values);
        bound = fmax(bound, get(floors->table, key)) * rounded;
    }
    arena_destroy(arena);
    return bound;
}
