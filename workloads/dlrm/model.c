/* SPDX-License-Identifier: Apache-2.0 */
/* Tables with what was not given filled in, and where they lie. */
#include "base/arena.h"
#include "base/words/pattern.h"
#include "workloads/dlrm/dlrm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- tables ---- */

static bool is_table(const struct dlrm_parameters *p, const char *name)
{
    const struct dlrm_table *given = p->tables.rows;
    for (size_t i = 0; i < p->tables.count; i++)
        if (!strcmp(given[i].name, name))
            return true;
    return false;
}

/* Different rows over lookups of a table's histogram; 0: it has none. */
static double histogram_share(const struct dlrm_parameters *p, const char *name)
{
    const struct dlrm_occurrences *bins = p->histogram.rows;
    double rows = 0, lookups = 0;
    for (size_t i = 0; i < p->histogram.count; i++)
        if (pattern_means(bins[i].table, name, is_table(p, bins[i].table))) {
            rows += bins[i].rows;
            lookups += bins[i].rows * bins[i].occurrences;
        }
    return lookups > 0 ? rows / lookups : 0;
}

static bool check_table(const struct dlrm_job *j, uint32_t index)
{
    const struct dlrm_table *table = &j->tables[index];
    bool ok = true;
    if (table->zipf > 0 && table->unique > 0) {
        j->api->error(j->job, "model.tables", "table '%s' has two of zipf, unique and histogram; expected one",
                      table->name);
        ok = false;
    }
    if (table->rows != floor(table->rows)) {
        j->api->error(j->job, "model.tables", "table '%s' has %g rows; expected a whole number", table->name,
                      table->rows);
        ok = false;
    }
    if (j->parameters->interaction == DLRM_DOT && (double)table->width != j->width) {
        j->api->error(j->job, "model.tables",
                      "table '%s' has rows of %.0f numbers, the last bottom layer %.0f; products of pairs need as many",
                      table->name, (double)table->width, j->width);
        ok = false;
    }
    return ok;
}

struct dlrm_table dlrm_table_of(const struct dlrm_parameters *p, size_t index)
{
    struct dlrm_table table = ((const struct dlrm_table *)p->tables.rows)[index];
    double share = histogram_share(p, table.name);
    if (!table.width)
        table.width = (uint64_t)p->bottom.values[p->bottom.count - 1];
    if (share > 0)
        table.unique = share;
    return table;
}

static bool fill_tables(struct dlrm_job *j)
{
    const struct dlrm_parameters *p = j->parameters;
    const struct dlrm_table *given = p->tables.rows;
    bool ok = true;
    j->table_count = (uint32_t)p->tables.count;
    j->width = p->bottom.values[p->bottom.count - 1];
    j->tables = array_zeroed(j->table_count, sizeof *j->tables);
    for (uint32_t i = 0; i < j->table_count; i++) {
        struct dlrm_table *table = &j->tables[i];
        *table = dlrm_table_of(p, i);
        if (given[i].unique > 0 && histogram_share(p, table->name) > 0)
            table->zipf = 1; /* for the check */
        ok &= check_table(j, i);
    }
    return ok;
}

/* ---- where they lie ---- */

/* Gives all tables of a rule their place. */
static bool apply_rule(struct dlrm_job *j, const struct dlrm_rule *rule, uint32_t *ranks)
{
    struct fault fault = {""};
    uint32_t count = dlrm_ranks_parse(rule->ranks ? rule->ranks : "all", j->ranks, ranks, &fault), matches = 0;
    if (!count) {
        j->api->error(j->job, "sharding", "rule of '%s': %s", rule->table, fault.text);
        return false;
    }
    bool exact = is_table(j->parameters, rule->table);
    for (uint32_t i = 0; i < j->table_count; i++) {
        if (!pattern_means(rule->table, j->tables[i].name, exact))
            continue;
        if (rule->split == DLRM_WHOLE || rule->split == DLRM_HOST)
            dlrm_placement_set(&j->placement, i, (enum dlrm_split)rule->split, &ranks[matches % count], 1);
        else
            dlrm_placement_set(&j->placement, i, (enum dlrm_split)rule->split, ranks, count);
        matches++;
        if (rule->split == DLRM_COLUMNS && count > j->tables[i].width) {
            j->api->error(j->job, "sharding", "table '%s' has %llu columns, which cannot be cut into %u parts",
                          j->tables[i].name, (unsigned long long)j->tables[i].width, count);
            return false;
        }
    }
    if (!matches)
        j->api->error(j->job, "sharding", "no table is named '%s'", rule->table);
    return matches > 0;
}

bool dlrm_model_place(struct dlrm_job *j)
{
    const struct dlrm_rule *rules = j->parameters->rules.rows;
    uint32_t *ranks = array_zeroed(j->ranks, sizeof *ranks);
    bool ok = true;
    dlrm_placement_init(&j->placement, j->table_count, j->ranks);
    for (size_t i = 0; i < j->parameters->rules.count; i++)
        ok &= apply_rule(j, &rules[i], ranks);
    free(ranks);
    return ok;
}

static void count_unique(struct dlrm_job *j)
{
    for (int i = 0; i < 2; i++)
        j->unique[i] = array_zeroed(j->table_count, sizeof *j->unique[i]);
    for (uint32_t i = 0; i < j->table_count; i++) {
        j->unique[0][i] = dlrm_unique_rows(&j->tables[i], j->batch * j->tables[i].pooling);
        j->unique[1][i] = dlrm_unique_rows(&j->tables[i], j->samples * j->tables[i].pooling);
    }
}

bool dlrm_model_describe(struct dlrm_job *j)
{
    if (!fill_tables(j) || !dlrm_model_place(j))
        return false;
    count_unique(j);
    return true;
}

void dlrm_model_finish(struct dlrm_job *j)
{
    dlrm_placement_finish(&j->placement);
    free(j->tables);
    free(j->layers);
    free(j->unique[0]);
    free(j->unique[1]);
}

/* ---- published counts ---- */

static bool check_count(const struct dlrm_job *j, const char *key, const char *what, uint64_t published, double found)
{
    if (!published || (double)published == found)
        return true;
    j->api->error(j->job, key, "%s %.0f, not the %llu that are stated", what, found, (unsigned long long)published);
    return false;
}

bool dlrm_model_check_counts(const struct dlrm_job *j)
{
    const struct dlrm_parameters *p = j->parameters;
    double rows = 0;
    for (uint32_t i = 0; i < j->table_count; i++)
        rows += j->tables[i].rows;
    bool ok = check_count(j, "model.rows", "the tables' rows are", p->published_rows, rows);
    ok &= check_count(j, "model.parameters", "the dense layers' parameters are", p->published_parameters,
                      dlrm_dense_parameters(j));
    return check_count(j, "model.multiply_adds", "a sample's multiply-adds are", p->published_multiply_adds,
                       dlrm_dense_multiply_adds(j)) &&
           ok;
}
