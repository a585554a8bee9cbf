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

static void add_protocols(struct finding *finding, struct platform_protocol *protocols, uint32_t count,
                          const char *kind)
{
    for (uint32_t i = 0; i < count; i++) {
        char name[32];
        snprintf(name, sizeof name, "%s%s", kind, protocols[i].name);
        add(finding, &protocols[i].start, true, name, "_start");
        add(finding, &protocols[i].latency, false, name, "_latency");
        add(finding, &protocols[i].efficiency, false, name, "_efficiency");
    }
}

uint32_t settled_find(struct platform *platform, enum platform_scope scope, const struct measured *tables, size_t count,
                      struct arena *arena, struct settled *list)
{
    struct finding finding = {platform, scope, tables, count, arena, NULL, list, 0};
    struct platform_regime *regime = &platform->library.regimes[scope];
    finding.seconds = arena_array(arena, count, sizeof *finding.seconds);
    bool rings = false, messages = false;
    for (size_t i = 0; i < count; i++)
        if (fit_scope_of(platform, &tables[i], arena) == scope) {
            bool message = fit_is_message(tables[i].kind);
            messages |= message;
            rings |= !message;
            finding.seconds[i] = arena_array(arena, tables[i].count, sizeof(double));
            fit_predict(platform, &tables[i], arena, finding.seconds[i]);
        }
    if (regime->launch_default_given)
        add(&finding, &regime->launch_default, true, "launch", "");
    for (unsigned kind = 0; kind < PLATFORM_COLLECTIVES; kind++)
        if (regime->launch_given[kind])
            add(&finding, &regime->launch[kind], true, "launch_", library_kind_name(kind));
    add_protocols(&finding, regime->protocols, rings ? regime->protocol_count : 0, "");
    add_protocols(&finding, regime->direct, messages ? regime->direct_count : 0, "direct_");
    return finding.found;
}
