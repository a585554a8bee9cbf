/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/output/html.h"
#include "base/arena.h"
#include "base/table.h"
#include "cluster/idle/idle_output.h"

#include <math.h>

static void number_cell(FILE *out, double value)
{
    fprintf(out, "<td class=\"n\" data-v=\"%.9g\">%.4g</td>", value, value);
}

static void count_cell(FILE *out, uint64_t value)
{
    fprintf(out, "<td class=\"n\">%llu</td>", (unsigned long long)value);
}

static void percent_cell(FILE *out, double part, double whole)
{
    char text[READABLE_MAX];
    double value = whole > 0 ? part / whole : 0;
    fprintf(out, "<td class=\"n\" data-v=\"%.9g\">%s</td>", value, readable_percent(text, value));
}

static void seconds_cell(FILE *out, double seconds)
{
    char text[READABLE_MAX];
    if (isfinite(seconds))
        fprintf(out, "<td class=\"n\" data-v=\"%.9g\">%s</td>", seconds, readable_seconds(text, seconds));
    else
        fputs("<td class=\"n\">-</td>", out);
}

static size_t best_policy(const struct idle_study *study)
{
    size_t best = 0;
    for (size_t i = 1; i < study->nodes->policy_count; i++)
        if (study->replays[i]->work > study->replays[best]->work)
            best = i;
    return best;
}

static void verdict(FILE *out, const struct idle_study *study)
{
    char reached[READABLE_MAX], efficiency[READABLE_MAX], used[READABLE_MAX];
    size_t best = best_policy(study);
    const struct replay *replay = study->replays[best];
    struct arena *arena = arena_create();
    fputs("<p class=\"verdict\">", out);
    fprintf(out,
            "With %s the jobs do %.4g %s, %s of the most that the idle nodes could have done with these jobs, and %s "
            "of what "
            "as many nodes of their own would have. %s of the idle node time is used.",
            idle_policy_name(&study->nodes->policies[best], arena), replay->work, idle_work_unit(study),
            readable_percent(reached, replay_attainment(replay)),
            readable_percent(efficiency, replay_efficiency(replay)),
            readable_percent(used, replay->idle_time > 0 ? replay->used_time / replay->idle_time : 0));
    fputs("</p>\n", out);
    arena_destroy(arena);
}

static void policies(FILE *out, const struct idle_study *study)
{
    size_t best = best_policy(study);
    struct arena *arena = arena_create();
    fputs(
        "<h2>Ways to decide</h2>\n<div class=\"wide\"><table class=\"sort\"><thead><tr><th>method</th>"
        "<th class=\"n\">decisions</th><th class=\"n\"><dfn title=\"Sizes that decisions changed\">rescales</dfn></th>"
        "<th class=\"n\"><dfn title=\"Times that nodes left a job\">preemptions</dfn></th>"
        "<th class=\"n\">nodes used</th><th class=\"n\">work</th>"
        "<th class=\"n\"><dfn title=\"Work over that of as many nodes of their own\">efficiency</dfn></th>"
        "<th class=\"n\"><dfn title=\"Work over the most that the idle nodes could have done\">of the best</dfn></th>"
        "</tr></thead>\n",
        out);
    for (size_t i = 0; i < study->nodes->policy_count; i++) {
        const struct replay *replay = study->replays[i];
        fprintf(out, "<tr%s><td>%s</td>", i == best && study->nodes->policy_count > 1 ? " class=\"best\"" : "",
                idle_policy_name(&study->nodes->policies[i], arena));
        count_cell(out, replay->decision_count);
        count_cell(out, replay->rescales);
        count_cell(out, replay->preemptions);
        percent_cell(out, replay->used_time, replay->idle_time);
        number_cell(out, replay->work);
        percent_cell(out, replay->work, replay->dedicated);
        percent_cell(out, replay->work, replay->best);
        fputs("</tr>\n", out);
    }
    fputs("</table></div>\n", out);
    arena_destroy(arena);
}

static void jobs(FILE *out, const struct idle_study *study)
{
    fputs("<h2>Jobs</h2>\n<div class=\"wide\"><table class=\"sort\"><thead><tr><th>job</th><th class=\"n\">began</th>"
          "<th class=\"n\">ended</th><th class=\"n\">node hours</th><th class=\"n\">samples</th>"
          "<th class=\"n\"><dfn title=\"Samples over those of its even share of dedicated nodes\">efficiency</dfn></th>"
          "<th class=\"n\"><dfn title=\"Share of its samples that changes of size did not cost\">kept</dfn></th>"
          "<th class=\"n\">grown</th><th class=\"n\">shrunk</th><th class=\"n\">preempted</th></tr></thead>\n",
          out);
    for (size_t i = 0; i < study->job_count; i++) {
        const struct job_figures *figures = &study->replays[0]->jobs[i];
        fputs("<tr><td>", out);
        html_text(out, study->jobs[i].name);
        fputs("</td>", out);
        seconds_cell(out, figures->began);
        seconds_cell(out, figures->ended);
        number_cell(out, figures->node_time / 3600);
        number_cell(out, figures->samples);
        percent_cell(out, figures->samples, figures->dedicated);
        percent_cell(out, figures->samples, figures->gross);
        count_cell(out, figures->grown);
        count_cell(out, figures->shrunk);
        count_cell(out, figures->preempted);
        fputs("</tr>\n", out);
    }
    fputs("</table></div>\n", out);
}

struct drawn {
    const struct idle_study *study;
    const char *name;
};

static bool draw(FILE *out, const struct picture_form *form, void *user, struct fault *fault)
{
    const struct drawn *drawn = user;
    return idle_picture(drawn->study, drawn->name, CANVAS_SVG, form, out, fault);
}

bool idle_page_write(FILE *out, const struct idle_study *study, const char *name, struct fault *fault)
{
    const struct replay *first = study->replays[0];
    struct drawn drawn = {study, name};
    struct arena *arena = arena_create();
    html_begin(out, name,
               arena_print(arena, "%u nodes, %.2f of them idle on average in %s; %zu elastic job%s",
                           study->log->node_count, first->idle_time / first->duration,
                           idle_duration(first->duration, arena), study->job_count, readable_plural(study->job_count)));
    verdict(out, study);
    if (study->nodes->policy_count > 1)
        fprintf(out, "<p class=\"note\">Picture and jobs: %s.</p>\n",
                idle_policy_name(&study->nodes->policies[0], arena));
    bool done = html_chart(out, draw, &drawn, "i", "j", false, fault);
    policies(out, study);
    jobs(out, study);
    html_end(out);
    arena_destroy(arena);
    return done;
}
