/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/output/html.h"
#include "analysis/output/page_timeline.h"
#include "base/arena.h"
#include "commands/explain/page_cells.h"
#include "commands/explain/profile_parts.h"
#include "studies/explain/pictures.h"
#include "studies/profile/picture.h"

#include <math.h>
#include <string.h>

enum { KERNELS_SHOWN = 20, TIMELINES = 2, NAME_COLUMNS = 64 };

static void put_parts(const struct profile_explanation *e, FILE *out)
{
    fputs("<h2>What a step's time is made of</h2>\n<div class=\"wide\"><table class=\"sort\">\n<thead><tr><th>part</th>"
          "<th>seconds</th><th>share</th>",
          out);
    fputs(e->predicted ? "<th>predicted</th><th>difference</th></tr></thead>\n<tbody>\n" : "</tr></thead>\n<tbody>\n",
          out);
    for (int part = 0; part < PROFILE_PARTS; part++) {
        if (!profile_shown(e, part))
            continue;
        page_cell_name(out, profile_names[part]);
        page_cell_seconds(out, e->profile.parts[part]);
        page_cell_share(out, e->profile.parts[part] / e->profile.seconds);
        if (e->predicted) {
            page_cell_seconds(out, e->expected.parts[part]);
            page_cell_seconds(out, e->profile.parts[part] - e->expected.parts[part]);
        }
        fputs("</tr>\n", out);
    }
    fputs("</tbody>\n</table></div>\n<p>The rows add up to the step.</p>\n", out);
}

static void put_replay(const struct profile_explanation *e, FILE *out)
{
    if (!e->replay.done)
        return;
    fputs("<h2>What each thing costs, by replay</h2>\n<div class=\"wide\"><table class=\"sort\">\n<thead><tr><th>taken "
          "away, one after the other</th><th>seconds</th><th>share</th></tr></thead>\n<tbody>\n",
          out);
    for (int part = 0; part < KERNEL_PARTS; part++) {
        if (!kernel_part_shown(&e->replay, part))
            continue;
        page_cell_name(out, kernel_part_names[part]);
        page_cell_seconds(out, e->replay.parts[part]);
        page_cell_share(out, e->replay.parts[part] / e->replay.seconds);
        fputs("</tr>\n", out);
    }
    fputs("</tbody>\n</table></div>\n", out);
}

/* Names of templates are long: the whole one is shown when somebody points at it. */
static void put_kernel_name(FILE *out, const char *name, struct arena *arena)
{
    size_t length = strlen(name), shown = length < NAME_COLUMNS ? length : NAME_COLUMNS;
    while (shown < length && shown && ((unsigned char)name[shown] & 0xc0) == 0x80) /* inside a character */
        shown--;
    fputs("<tr><td title=\"", out);
    html_text(out, name);
    fputs("\">", out);
    html_text(out, arena_copy_part(arena, name, shown));
    fputs(shown < length ? "&hellip;</td>" : "</td>", out);
}

static void put_kernels(const struct profile_explanation *e, FILE *out)
{
    fputs("<h2>What takes most on the device</h2>\n<div class=\"wide\"><table class=\"sort\">\n<thead><tr><th>name</th>"
          "<th>calls</th><th>a step</th><th>share</th></tr></thead>\n<tbody>\n",
          out);
    for (size_t i = 0; i < e->profile.kernel_count && i < KERNELS_SHOWN; i++) {
        const struct profile_kernel *kernel = &e->profile.kernels[i];
        put_kernel_name(out, e->recorded->names[kernel->name], e->arena);
        fprintf(out, "<td class=\"n\">%u</td>", kernel->calls);
        page_cell_seconds(out, kernel->seconds);
        page_cell_share(out, kernel->seconds / e->profile.seconds);
        fputs("</tr>\n", out);
    }
    fputs("</tbody>\n</table></div>\n", out);
}

static void put_timelines(const struct profile_explanation *e, FILE *out)
{
    struct gantt *gantts[TIMELINES] = {picture_profile(e->recorded), NULL};
    size_t count = 1;
    double end = gantts[0]->end;
    if (e->predicted) {
        uint32_t ranks[PICTURES_RANKS_MAX];
        size_t shown = pictures_ranks(e->predicted, RECORDED_NONE, ranks);
        gantts[count++] =
            pictures_recorded(e->predicted, e->predicted->operations[0].step, ranks, shown, "the scenario");
        end = fmax(end, gantts[1]->end);
    }
    const struct gantt *const shown[TIMELINES] = {gantts[0], gantts[1]};
    fputs("<h2>Timelines on one axis</h2>\n<div class=\"timelines\">\n", out);
    page_timeline_styles(out, shown, count);
    for (size_t i = 0; i < count; i++)
        page_timeline(out, gantts[i], end, NULL);
    fputs("</div>\n", out);
    page_timeline_legend(out, shown, count);
    for (size_t i = 0; i < count; i++)
        gantt_destroy(gantts[i]);
}

/* Nothing without a text. */
static void put_line(FILE *out, const char *head, const char *text)
{
    if (!text)
        return;
    fprintf(out, "<p>%s", head);
    html_text(out, text);
    fputs("</p>\n", out);
}

void profile_page(const struct profile_explanation *e, FILE *out)
{
    html_begin(out, e->name, e->recorded->format);
    fputs("<p class=\"verdict\">", out);
    html_text(out, e->verdict);
    fputs("</p>\n", out);
    put_line(out, "Mesh: ", axes_text(&e->axes, e->recorded->world, e->arena));
    put_line(out, "Layers: ", layer_rows_text(e->recorded, &e->layers, e->arena));
    for (size_t i = 0; i < e->recorded->note_count; i++) {
        fputs("<p class=\"note\">", out);
        html_text(out, e->recorded->notes[i]);
        fputs("</p>\n", out);
    }
    put_parts(e, out);
    put_replay(e, out);
    operators_page(e, out);
    put_kernels(e, out);
    put_timelines(e, out);
    html_end(out);
}
