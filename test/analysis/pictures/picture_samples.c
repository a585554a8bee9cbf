/* SPDX-License-Identifier: Apache-2.0 */
/* Draws the sample pictures and pages that pictures.py examines: picture_samples DIRECTORY. */
#include "analysis/output/comparison_output.h"
#include "analysis/output/report_html.h"
#include "analysis/pictures/gantt_collect.h"
#include "analysis/pictures/picture_chart.h"
#include "analysis/pictures/picture_comparison.h"
#include "analysis/pictures/picture_schedule.h"
#include "analysis/pictures/picture_timeline.h"
#include "base/arena.h"
#include "test/support/hand_made.h"
#include "test/support/worked_example.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *directory;

static FILE *open_file(const char *name, const char *ending)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s.%s", directory, name, ending);
    FILE *out = fopen(path, "wb");
    if (!out) {
        perror(path);
        exit(1);
    }
    return out;
}

static void check(bool done, const struct fault *fault, FILE *out)
{
    if (!done || fclose(out) != 0) {
        fprintf(stderr, "%s\n", fault->text);
        exit(1);
    }
}

/* In all formats; frees the gantt. */
static void timeline(struct gantt *gantt, const char *name)
{
    for (enum canvas_format format = CANVAS_SVG; format <= CANVAS_PDF; format++) {
        struct fault fault = {{0}};
        FILE *out = open_file(name, canvas_format_name(format));
        check(picture_timeline(gantt, format, NULL, out, &fault), &fault, out);
    }
    gantt_destroy(gantt);
}

static struct gantt *scaled(struct gantt *gantt, double factor)
{
    for (size_t i = 0; i < gantt->box_count; i++) {
        gantt->boxes[i].start *= factor;
        gantt->boxes[i].end *= factor;
    }
    gantt->end *= factor;
    gantt->iteration *= factor;
    return gantt;
}

static void timelines(void)
{
    timeline(hand_made_gpipe(4, 6), "gpipe");
    timeline(hand_made_chimera(), "chimera");
    timeline(scaled(hand_made_gpipe(4, 6), 1e-12 / 27), "picosecond");
    timeline(scaled(hand_made_gpipe(4, 6), 1e6), "megasecond");
    timeline(gantt_create("empty", "", GANTT_SECONDS), "empty");
    timeline(hand_made_1f1b(64, 4096), "large");
    timeline(hand_made_gpipe(2000, 2), "wide");
    struct gantt *nothing = gantt_create("zero & <duration>", "\xff\xfe invalid \x01 text", GANTT_SECONDS);
    gantt_add_row(nothing, "0", 0);
    gantt_add_box(nothing, &(struct gantt_box){.kind = GANTT_FORWARD});
    gantt_finish(nothing);
    timeline(nothing, "zero");
}

static void comparisons(void)
{
    struct gantt *gantts[3] = {hand_made_gpipe(4, 4), hand_made_1f1b(4, 4), hand_made_chimera()};
    struct comparison_row rows[3];
    memset(rows, 0, sizeof rows);
    for (size_t i = 0; i < 3; i++) {
        snprintf(rows[i].scenario, sizeof rows[i].scenario, "sample");
        snprintf(rows[i].schedule, sizeof rows[i].schedule, "%s", gantts[i]->title);
        rows[i].iteration = gantts[i]->iteration;
        rows[i].bubble = gantts[i]->bubble;
        memcpy(rows[i].causes, gantts[i]->causes, sizeof rows[i].causes);
        rows[i].peak_in_flight = 4;
    }
    for (enum canvas_format format = CANVAS_SVG; format <= CANVAS_PDF; format++) {
        struct fault fault = {{0}};
        FILE *out = open_file("comparison", canvas_format_name(format));
        check(picture_comparison((const struct gantt *const *)gantts, 3, "Three schedules", format, NULL, out, &fault),
              &fault, out);
    }
    struct fault fault = {{0}};
    FILE *out = open_file("comparison", "html");
    const char *links[] = {"sample-gpipe/report.html", NULL, "sample-chimera/report.html"};
    struct comparison_view view = {
        "Three <schedules> & \"more\"", (const struct gantt *const *)gantts, rows, links, NULL, 3};
    check(report_html_comparison(out, &view, &fault) && !ferror(out), &fault, out);
    for (size_t i = 0; i < 3; i++)
        gantt_destroy(gantts[i]);
}

/* A run five times as long as the others, the second of `count`. */
static void outlier(const char *name, size_t count)
{
    struct gantt *gantts[5] = {hand_made_gpipe(4, 4), scaled(hand_made_gpipe(4, 4), 5), hand_made_gpipe(4, 4),
                               hand_made_gpipe(4, 4), hand_made_gpipe(4, 4)};
    for (enum canvas_format format = CANVAS_SVG; format <= CANVAS_PDF; format++) {
        struct fault fault = {{0}};
        FILE *out = open_file(name, canvas_format_name(format));
        check(
            picture_comparison((const struct gantt *const *)gantts, count, "One takes long", format, NULL, out, &fault),
            &fault, out);
    }
    for (size_t i = 0; i < 5; i++)
        gantt_destroy(gantts[i]);
}

/* Without a bubble there is no bar. */
static void idle_free(void)
{
    const struct gantt *gantts[2] = {hand_made_gpipe(1, 4), hand_made_1f1b(1, 4)};
    for (enum canvas_format format = CANVAS_SVG; format <= CANVAS_PDF; format++) {
        struct fault fault = {{0}};
        FILE *out = open_file("idle-free", canvas_format_name(format));
        check(picture_comparison(gantts, 2, "Always busy", format, NULL, out, &fault), &fault, out);
    }
    for (size_t i = 0; i < 2; i++)
        gantt_destroy((struct gantt *)gantts[i]);
}

static void run(void)
{
    struct worked_example *example = worked_example_create(1, 1000);
    const struct report *report = report_create(&example->run, example->timeline, &example->platform, example->arena);
    const struct critical_path *path =
        critical_path_create(frame_create(example->timeline, example->arena), example->arena);
    struct gantt *gantt = gantt_of_run(report, example->timeline,
                                       &(struct gantt_choice){.messages = true, .levels = true, .critical = path});
    struct fault fault = {{0}};
    FILE *out = open_file("report", "html");
    check(report_html(out, report, gantt, &fault), &fault, out);
    timeline(gantt, "worked");
    worked_example_destroy(example);
}

static void draw_chart(const struct chart *chart, const char *name)
{
    for (enum canvas_format format = CANVAS_SVG; format <= CANVAS_PDF; format++) {
        struct fault fault = {{0}};
        FILE *out = open_file(name, canvas_format_name(format));
        check(picture_chart(chart, format, NULL, out, &fault), &fault, out);
    }
}

static void charts(void)
{
    double x[21], fast[21], slow[21];
    for (int i = 0; i < 21; i++) {
        x[i] = exp2(10 + i);
        fast[i] = 1e-5 + x[i] / 2e11;
        slow[i] = 5e-5 + x[i] / 4e11;
    }
    struct chart_series series[] = {{"ring", CHART_LINE, x, slow, 21}, {"tree", CHART_LINE, x, fast, 21}};
    struct chart chart = {.title = "all-reduce",
                          .subtitle = "16 ranks",
                          .x = {"size", CHART_BYTES, true},
                          .y = {"time", CHART_SECONDS, true},
                          .series = series,
                          .series_count = 2};
    draw_chart(&chart, "chart");
    memset(fast, 0, sizeof fast);
    memset(slow, 0, sizeof slow);
    draw_chart(&chart, "nothing");
}

/* A front with names over a cloud: 30 of the points fall together, and there is room for the name of few of them. */
static void front(void)
{
    enum { POINTS = 60, NAMED = 40 };
    double x[POINTS], y[POINTS];
    const char *names[POINTS] = {NULL};
    for (int i = 0; i < POINTS; i++) {
        x[i] = i < 30 ? 2.3 + 0.0001 * i : 2.3 + 0.03 * (i - 29);
        y[i] = (i < 30 ? 60 : 60 - 0.5 * (i - 30)) * 0x1p30;
        names[i] = i == 0 ? "first" : i < NAMED ? "crowd" : i == POINTS - 1 ? "smallest" : NULL;
    }
    struct chart_series series[] = {
        {.name = "front", .form = CHART_STEPS, .x = x, .y = y, .count = POINTS, .labels = names, .faint = true},
        {.name = "1f1b", .form = CHART_POINTS, .x = x, .y = y, .count = 40},
        {.name = "zb-h1", .form = CHART_POINTS, .x = x + 40, .y = y + 40, .count = POINTS - 40}};
    struct chart chart = {.title = "layouts",
                          .x = {"iteration", CHART_SECONDS, .fitted = true},
                          .y = {"memory", CHART_BYTES, .fitted = true},
                          .series = series,
                          .series_count = 3};
    draw_chart(&chart, "front");
}

int main(int count, char **arguments)
{
    if (count != 2)
        return 2;
    directory = arguments[1];
    timelines();
    comparisons();
    outlier("outlier", 5);
    outlier("pair", 2);
    idle_free();
    run();
    charts();
    front();
    return 0;
}
