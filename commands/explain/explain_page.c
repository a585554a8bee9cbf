/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/output/html.h"
#include "analysis/output/page_timeline.h"
#include "base/arena.h"
#include "commands/explain/explain_parts.h"
#include "commands/explain/page_cells.h"
#include "studies/explain/pictures.h"
#include "studies/explain/verdict.h"

#include <math.h>
#include <stdlib.h>

enum { TIMELINES = 2 };

static void put_row(FILE *out, const char *name, double seconds, double whole, const struct loss_part *part)
{
    page_cell_name(out, name);
    page_cell_seconds(out, seconds);
    page_cell_share(out, seconds / whole);
    page_cell_seconds(out, part ? part->who_seconds : NAN);
    fputs("<td>", out);
    html_text(out, part && part->who ? part->who : "");
    fputs("</td></tr>\n", out);
}

static void put_table(const struct explanation *e, FILE *out)
{
    const struct losses *losses = &e->losses;
    bool model = !isnan(losses->predicted);
    fputs("<h2>What a step's time is made of</h2>\n<div class=\"wide\"><table class=\"sort\">\n<thead><tr><th>part</th>"
          "<th>seconds</th><th>share</th><th>mended alone</th><th>worst</th></tr></thead>\n<tbody>\n",
          out);
    for (int kind = 0; kind < LOSS_KINDS; kind++)
        if (loss_shown(losses, (enum loss_kind)kind))
            put_row(out, loss_names[kind], losses->parts[kind].seconds, losses->measured, &losses->parts[kind]);
    put_row(out, model ? "what the scenario says" : "what is left", model ? losses->predicted : losses->even,
            losses->measured, NULL);
    fputs("</tbody>\n</table></div>\n<p>The rows add up to the step as it was recorded.</p>\n", out);
}

/* The step whose time is nearest to the mean. */
static bool typical_step(const struct explanation *e, uint32_t *step, struct fault *fault)
{
    double best = INFINITY;
    for (size_t i = 0; i < e->step_count; i++) {
        struct replay *replay = replay_create(e->recorded, e->steps[i], fault);
        if (!replay)
            return false;
        double off = fabs(replay->measured - e->losses.measured);
        if (off < best) {
            best = off;
            *step = e->steps[i];
        }
        replay_finish(replay);
    }
    return true;
}

static bool put_timelines(const struct explanation *e, FILE *out, struct fault *fault)
{
    uint32_t ranks[PICTURES_RANKS_MAX], step = e->steps[0];
    size_t count = pictures_ranks(e->recorded, e->losses.slow_rank, ranks);
    if (!typical_step(e, &step, fault))
        return false;
    char title[64];
    snprintf(title, sizeof title, "recorded, step %u", step);
    struct gantt *gantts[TIMELINES] = {pictures_recorded(e->recorded, step, ranks, count, title), NULL};
    if (e->model) {
        uint32_t own[PICTURES_RANKS_MAX];
        size_t own_count = pictures_ranks(e->model->recorded, RECORDED_NONE, own), steps;
        uint32_t *all = replay_steps(e->model->recorded, &steps);
        gantts[1] = pictures_recorded(e->model->recorded, all[0], own, own_count, "the scenario");
        free(all);
    } else {
        gantts[1] = pictures_replayed(e->recorded, step, e->losses.last, ranks, count, "all as its like", fault);
    }
    if (!gantts[1]) {
        gantt_destroy(gantts[0]);
        return false;
    }
    const struct gantt *const shown[TIMELINES] = {gantts[0], gantts[1]};
    fputs("<h2>Timelines on one axis</h2>\n<div class=\"timelines\">\n", out);
    page_timeline_styles(out, shown, TIMELINES);
    for (int i = 0; i < TIMELINES; i++)
        page_timeline(out, gantts[i], fmax(gantts[0]->end, gantts[1]->end), NULL);
    fputs("</div>\n", out);
    page_timeline_legend(out, shown, TIMELINES);
    gantt_destroy(gantts[0]);
    gantt_destroy(gantts[1]);
    return true;
}

bool explain_page(const struct explanation *e, FILE *out, struct fault *fault)
{
    html_begin(out, e->scenario ? e->scenario->name : e->files[0], e->recorded->format);
    fputs("<p class=\"verdict\">", out);
    html_text(out, e->verdict);
    fputs("</p>\n<p>", out);
    const struct recognised *found = &e->found;
    fprintf(out,
            "%zu rank%s, %zu step%s; %u worker%s, %u stage%s, %u micro-batch%s%s; schedule: ", e->recorded->rank_count,
            readable_plural(e->recorded->rank_count), e->step_count, readable_plural(e->step_count), found->workers,
            readable_plural(found->workers), found->stages, readable_plural(found->stages), found->micro_batches,
            found->micro_batches == 1 ? "" : "es",
            found->slices > 1 ? arena_print(e->arena, " of %u slices", found->slices) : "");
    html_text(out, explain_schedule_text(found, e->arena));
    fputs("</p>\n", out);
    for (size_t i = 0; i < e->recorded->note_count; i++) {
        fputs("<p class=\"note\">", out);
        html_text(out, e->recorded->notes[i]);
        fputs("</p>\n", out);
    }
    put_table(e, out);
    bool good = put_timelines(e, out, fault);
    html_end(out);
    return good;
}
