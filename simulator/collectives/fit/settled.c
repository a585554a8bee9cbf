/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/collectives/fit/settled.h"

#include "base/arena.h"
#include "platforms/library.h"
#include "simulator/collectives/fit/fit.h"

#include <math.h>
#include <stdio.h>

#define GROWTH 1.1
#define MOVES 0.01

struct finding {
    struct platform *platform;
    enum platform_scope scope;
    const struct measured *tables; /* count of them */
    size_t count;
    struct arena *arena;
    double **seconds; /* [table][row]: as fitted; NULL: of the other scope */
    struct settled *list;
    uint32_t found;
};

static void count_rows(const struct finding *finding, struct settled *settled)
{
    for (size_t i = 0; i < finding->count; i++) {
        const struct measured *table = &finding->tables[i];
        double *moved = arena_array(finding->arena, table->count, sizeof *moved);
        if (!finding->seconds[i])
            continue;
        fit_predict(finding->platform, table, finding->arena, moved);
        for (size_t row = 0; row < table->count; row++) {
            double bytes = table->rows[row].bytes;
            if (fabs(moved[row] / finding->seconds[i][row] - 1) < MOVES)
                continue;
            settled->least = settled->rows ? fmin(settled->least, bytes) : bytes;
            settled->most = fmax(settled->most, bytes);
            settled->rows++;
        }
    }
}

static void add(struct finding *finding, double *value, bool seconds, const char *name, const char *more)
{
    struct platform_library *library = &finding->platform->library;
    struct platform_library before = *library;
    if (*value <= 0)
        return;
    struct settled *settled = &finding->list[finding->found++];
    *settled = (struct settled){.value = *value, .seconds = seconds};
    snprintf(settled->name, sizeof settled->name, "collective_%s%s%s", name, more,
             finding->scope == SCOPE_NETWORK ? "_network" : "");
    *value *= GROWTH;
    library_complete_launches(library);
    count_rows(finding, settled);
    *library = before;
}

uint32_t settled_find(struct platform *platform, enum platform_scope scope, const struct measured *tables, size_t count,
                      struct arena *arena, struct settled *list)
{
    struct finding finding = {platform, scope, tables, count, arena, NULL, list, 0};
    struct platform_regime *regime = &platform->library.regimes[scope];
    finding.seconds = arena_array(arena, count, sizeof *finding.seconds);
    for (size_t i = 0; i < count; i++)
        if (fit_scope_of(platform, &tables[i], arena) == scope) {
            finding.seconds[i] = arena_array(arena, tables[i].count, sizeof(double));
            fit_predict(platform, &tables[i], arena, finding.seconds[i]);
        }
    if (regime->launch_default_given)
        add(&finding, &regime->launch_default, true, "launch", "");
    for (unsigned kind = 0; kind < PLATFORM_COLLECTIVES; kind++)
        if (regime->launch_given[kind])
            add(&finding, &regime->launch[kind], true, "launch_", library_kind_name(kind));
    for (uint32_t i = 0; i < regime->protocol_count; i++) {
        struct platform_protocol *protocol = &regime->protocols[i];
        add(&finding, &protocol->start, true, protocol->name, "_start");
        add(&finding, &protocol->latency, false, protocol->name, "_latency");
        add(&finding, &protocol->efficiency, false, protocol->name, "_efficiency");
    }
    return finding.found;
}
