/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/wanted.h"

#include "job/scenario/scenario_kind.h"

_Static_assert((int)RUN_TABLES_MAX == (int)KIND_TABLES_MAX, "a run has room for the tables of every kind of scenario");

struct picture_form wanted_form(const struct scenario *scenario)
{
    return (struct picture_form){.width = scenario->paper.width,
                                 .font_size = scenario->paper.font_size,
                                 .iterations = scenario->drawn_iterations};
}

struct run_wanted wanted_files(const struct scenario *scenario)
{
    return (struct run_wanted){.traces = scenario->traces,
                               .pictures = scenario->pictures,
                               .report = scenario->report,
                               .form = wanted_form(scenario),
                               .tables = scenario->kind ? scenario->kind->tables : NULL,
                               .saved = scenario->kind ? scenario->kind->saved : NULL};
}

bool wanted_pictures(const struct scenario *scenario, struct output *output, const char *name, wanted_draw *draw,
                     const void *found, struct fault *fault)
{
    struct picture_form form = wanted_form(scenario);
    unsigned pictures = scenario->pictures ? scenario->pictures : PICTURE_SVG;
    for (int format = 0; format < PICTURE_FORMATS; format++) {
        char file[64];
        snprintf(file, sizeof file, "%s.%s", name, canvas_format_name((enum canvas_format)format));
        if (!picture_wanted(pictures, (enum canvas_format)format))
            continue;
        FILE *out = output_open(output, file, fault);
        if (!out || !draw(out, found, (enum canvas_format)format, &form, fault))
            return false;
    }
    return true;
}
