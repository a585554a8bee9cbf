/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/output/html.h"
#include "base/table.h"
#include "cluster/rl/rl_output.h"

static void put_tiles(FILE *out, const struct rl_view *view)
{
    const struct rl_figures *f = view->figures;
    char text[READABLE_MAX + 16];
    fputs("<div class=\"tiles\">\n", out);
    html_tile(out, readable_seconds(text, f->step), "a step");
    snprintf(text, sizeof text, "%.6g", f->tokens_per_s);
    html_tile(out, text, "tokens a second");
    snprintf(text, sizeof text, "%.6g", f->tokens_per_s_per_gpu);
    html_tile(out, text, "tokens a second and GPU");
    html_tile(out, readable_percent(text, f->tail), "of generation for the last 5 % of samples");
    html_tile(out, readable_percent(text, f->generation.busy), "of their time engines are at work");
    html_tile(out, readable_percent(text, f->training.busy), "of its time the trainer is at work");
    fputs("</div>\n", out);
}

static void put_phases(FILE *out, const struct rl_view *view)
{
    struct rl_row rows[RL_PHASES];
    char text[READABLE_MAX];
    rl_list_phases(&view->figures->phases, rows);
    fputs("<h2>Phases</h2>\n<table>\n<thead><tr><th>phase</th><th class=\"n\">time</th><th class=\"n\">of a step</th>"
          "</tr></thead>\n<tbody>\n",
          out);
    for (int i = 0; i < RL_PHASES; i++) {
        if (!(rows[i].value > 0))
            continue;
        fprintf(out, "<tr><td>%s</td><td class=\"n\">%s</td>", rows[i].name, readable_seconds(text, rows[i].value));
        fprintf(out, "<td class=\"n\">%s</td></tr>\n", readable_percent(text, rows[i].value / view->figures->step));
    }
    fputs("</tbody>\n</table>\n", out);
}

static void put_pools(FILE *out, const struct rl_view *view)
{
    struct rl_row engines[RL_CAUSES], trainer[RL_CAUSES];
    bool together = view->rl->values.arrangement == RL_COLOCATED;
    char text[READABLE_MAX];
    rl_list_idle(&view->figures->generation, engines);
    rl_list_idle(&view->figures->training, trainer);
    fprintf(out,
            "<h2>What GPUs are at, or wait for</h2>\n<table>\n<thead><tr><th></th>%s<th class=\"n\">%s</th></tr>"
            "</thead>\n<tbody>\n",
            together ? "" : "<th class=\"n\">engines</th>", together ? "all" : "trainer");
    for (int i = 0; i < RL_CAUSES; i++) {
        if (!(engines[i].value > 0 || trainer[i].value > 0))
            continue;
        fprintf(out, "<tr><td>%s</td>", engines[i].name);
        if (!together)
            fprintf(out, "<td class=\"n\">%s</td>", readable_percent(text, engines[i].value));
        fprintf(out, "<td class=\"n\">%s</td></tr>\n", readable_percent(text, trainer[i].value));
    }
    fputs("</tbody>\n</table>\n", out);
}

static void put_levers(FILE *out, const struct rl_figures *f)
{
    struct rl_row rows[RL_LEVERS];
    char text[READABLE_MAX];
    rl_list_levers(f, rows);
    fputs("<h2>What a change would give</h2>\n<table>\n<thead><tr><th></th><th class=\"n\">a step</th><th class=\"n\">"
          "times as fast</th></tr></thead>\n<tbody>\n",
          out);
    for (int i = 0; i < RL_LEVERS; i++)
        if (rows[i].value > 0)
            fprintf(out, "<tr><td>%s</td><td class=\"n\">%s</td><td class=\"n\">%.3g</td></tr>\n", rows[i].name,
                    readable_seconds(text, rows[i].value), f->step / rows[i].value);
    fputs("</tbody>\n</table>\n", out);
}

static void put_memory(FILE *out, const struct rl_view *view)
{
    const struct rl_figures *f = view->figures;
    struct rl_row rows[RL_MEMORIES];
    char one[READABLE_MAX], two[READABLE_MAX];
    fprintf(out, "<h2>Memory of a GPU</h2>\n<p>Engines: weights %s, cache %s. ", readable_binary_bytes(one, f->weights),
            readable_binary_bytes(two, f->cache));
    fprintf(out,
            "Trainer: states %s. There are %s.</p>\n<table>\n<thead><tr><th>while</th><th class=\"n\">holds</th>"
            "</tr></thead>\n<tbody>\n",
            readable_binary_bytes(one, f->trainer_states), readable_binary_bytes(two, f->capacity));
    rl_list_memory(f, rows);
    for (int i = 0; i < RL_MEMORIES; i++)
        if (rows[i].value > 0)
            fprintf(out, "<tr><td>%s</td><td class=\"n\">%s</td></tr>\n", rows[i].name,
                    readable_binary_bytes(one, rows[i].value));
    fputs("</tbody>\n</table>\n", out);
    if (!f->fits)
        fputs("<p class=\"warn\">The trainer does not fit.</p>\n", out);
}

static bool draw(FILE *out, const struct picture_form *form, void *user, struct fault *fault)
{
    return rl_picture(out, user, CANVAS_SVG, form, fault);
}

bool rl_html(FILE *out, const struct rl_view *view, struct fault *fault)
{
    struct rl_view shown = *view;
    char line[400];
    snprintf(line, sizeof line, "%s, %u GPU%s of %.200s, a trainer of %u and %u engine%s",
             rl_arrangement_names[view->rl->values.arrangement], view->figures->gpus,
             readable_plural(view->figures->gpus), view->scenario->platform_name, view->rl->update->mesh.ranks,
             view->rl->engines, readable_plural(view->rl->engines));
    html_begin(out, view->scenario->name, line);
    put_tiles(out, view);
    if (view->scenario->imported) {
        fputs("<p>Imported from ", out);
        html_text(out, view->scenario->imported->summary);
        fputs("; <code>about.json</code> has all of it.</p>\n", out);
    }
    fputs("<h2>Steps over time</h2>\n", out);
    bool done = html_chart(out, draw, &shown, "rl", "slim", false, fault);
    put_phases(out, view);
    put_pools(out, view);
    put_levers(out, view->figures);
    put_memory(out, view);
    html_end(out);
    return done;
}
