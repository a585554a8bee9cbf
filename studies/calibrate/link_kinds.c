/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/calibrate/link_kinds.h"

#include "base/arena.h"
#include "base/exit_code.h"
#include "platforms/presets/presets.h"
#include "platforms/view.h"
#include "studies/simulation.h"

#include <math.h>
#include <string.h>

enum { NAME_BYTES = 96 };

static int list_kinds(void *user, struct platform *platform, FILE *results, struct diag *diag)
{
    (void)user;
    (void)diag;
    char kinds[LINK_KINDS_MAX][NAME_BYTES] = {{0}};
    size_t count = 0;
    for (uint32_t i = 0; i < platform->link_count && count < LINK_KINDS_MAX && what_if_can_change(platform); i++) {
        view_link_class(platform->links[i].name, kinds[count], NAME_BYTES);
        bool known = strpbrk(kinds[count], "_#") == kinds[count];
        for (size_t k = 0; k < count; k++)
            known |= !strcmp(kinds[k], kinds[count]);
        count += !known;
    }
    fwrite(kinds, NAME_BYTES, count, results);
    return EXIT_DONE;
}

int link_kinds_list(const struct scenario *scenario, const char *names[LINK_KINDS_MAX], size_t *count,
                    struct arena *arena)
{
    FILE *results;
    char kind[NAME_BYTES];
    int code = simulation_visit(&(struct simulation_visit){scenario, list_kinds, NULL}, &results);
    *count = 0;
    if (code != EXIT_DONE || !results)
        return code == EXIT_DONE ? EXIT_FAILED : code;
    while (*count < LINK_KINDS_MAX && fread(kind, sizeof kind, 1, results) == 1)
        names[(*count)++] = arena_copy(arena, kind);
    fclose(results);
    return EXIT_DONE;
}

double link_kinds_most(const struct scenario *scenario, const char *kind, struct arena *arena)
{
    struct fault fault = {.text = ""};
    struct design design;
    double most = 0;
    if (scenario->platform.file || !preset_design(&scenario->platform.request, arena, &design, &fault))
        return scenario_link_bounds.rate_most;
    for (uint32_t i = 0; i < design.node->cable_count; i++) {
        const struct wire *wire = design.node->cables[i].wire;
        if (!strcmp(wire->name, kind) && wire->raw > 0 && wire->effective > 0)
            most = fmax(most, wire->raw / wire->effective);
    }
    return most > 0 ? fmin(most, scenario_link_bounds.rate_most) : scenario_link_bounds.rate_most;
}

double link_kinds_factor(const struct scenario *scenario, const char *kind, enum what_if_figure figure)
{
    double factor = 1;
    for (size_t i = 0; i < scenario->link_count; i++)
        if (scenario->links[i].figure == figure && !strcmp(scenario->links[i].target, kind))
            factor *= scenario->links[i].factor;
    return factor;
}
