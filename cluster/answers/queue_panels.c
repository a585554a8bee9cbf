/* SPDX-License-Identifier: Apache-2.0 */
/* A job of the picture leads to a panel with what is known of it: links and style, no script. */
#include "analysis/output/html.h"
#include "base/arena.h"
#include "base/bulk.h"
#include "cluster/answers/queue_page.h"

#include <stdlib.h>
#include <string.h>

enum { TIMES_MAX = 8 }; /* of a job that has its nodes so often; the rest are counted */

static const struct table *table_of(const struct queue_page *page, const char *heading)
{
    for (size_t i = 0; i < page->section_count; i++)
        if (!strcmp(page->sections[i].heading, heading))
            return page->sections[i].table;
    return NULL;
}

/* Jobs that have panels: those of the table, in its order, which is that of their numbers. */
static size_t panels_of(const struct queue_page *page)
{
    const struct table *jobs = table_of(page, QUEUE_JOBS);
    return jobs && page->drawing.draws ? table_row_count(jobs) : 0;
}

/* "": the table has no such column. */
static const char *cell_of(const struct table *table, size_t row, const char *title)
{
    for (size_t column = 0; column < table_column_count(table); column++)
        if (!strcmp(table_title(table, column), title))
            return table_text(table, row, column);
    return "";
}

/* What draws an iteration of a job; "": it has none. */
static const char *command_of(const struct queue_page *page, const struct table *jobs, size_t job)
{
    const struct table *kinds = table_of(page, QUEUE_ITERATIONS);
    for (size_t row = 0; kinds && row < table_row_count(kinds); row++)
        if (!strcmp(cell_of(kinds, row, "type"), cell_of(jobs, job, "type")) &&
            !strcmp(cell_of(kinds, row, "nodes"), cell_of(jobs, job, "nodes")))
            return cell_of(kinds, row, QUEUE_COMMAND);
    return "";
}

/* ---- links ---- */

/* Neighbouring nodes as words. */
static void put_nodes(FILE *out, const struct queue_box *box)
{
    if (box->count == 1)
        fprintf(out, "node %u", box->first);
    else
        fprintf(out, "nodes %u to %u", box->first, box->first + box->count - 1);
}

/* A key reaches each job once, at its first box; a pointer reaches all boxes. */
static void put_links(FILE *out, const struct queue_page *page, const struct picture_form *form)
{
    size_t panels = panels_of(page);
    bool *reached = array_zeroed(panels + 1, sizeof *reached);
    fputs("<g class=\"links\">\n", out);
    for (size_t i = 0; i < page->drawing.box_count; i++) {
        const struct queue_box *box = &page->drawing.boxes[i];
        double place[4];
        if (box->job >= panels)
            continue;
        queue_picture_place(&page->drawing, form, box, place);
        fprintf(out, "<a href=\"#job-%u\"%s><title>", box->job, reached[box->job] ? " tabindex=\"-1\"" : "");
        html_text(out, box->name);
        fputs(", ", out);
        put_nodes(out, box);
        fprintf(out, "</title><rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"/></a>\n", place[0], place[1],
                place[2], place[3]);
        reached[box->job] = true;
    }
    fputs("</g>\n", out);
    free(reached);
}

/* A picture that is an image hides its links from readers of screens, so that it becomes a group. */
static void put_picture(FILE *out, const char *svg, const struct queue_page *page, const struct picture_form *form)
{
    static const char image[] = "<svg role=\"img\"", group[] = "<svg role=\"group\"", last[] = "</svg>";
    bool is_image = !strncmp(svg, image, sizeof image - 1);
    const char *rest = is_image ? svg + sizeof image - 1 : svg, *end = rest + strlen(rest);
    for (const char *at = rest; (at = strstr(at, last)); at++)
        end = at;
    fputs(is_image ? group : "", out);
    fwrite(rest, 1, (size_t)(end - rest), out);
    put_links(out, page, form);
    fputs(end, out);
}

bool queue_panels_picture(FILE *out, const struct queue_page *page, const struct picture_form *form,
                          struct fault *fault)
{
    char *svg = NULL;
    size_t size = 0;
    FILE *drawn = panels_of(page) ? memory_stream_open(&svg, &size) : NULL;
    if (!drawn)
        return queue_picture(out, &page->drawing, CANVAS_SVG, form, fault);
    bool done = queue_picture(drawn, &page->drawing, CANVAS_SVG, form, fault);
    memory_stream_close(drawn);
    if (done && svg)
        put_picture(out, svg, page, form);
    free(svg);
    return done;
}

/* ---- panels ---- */

static void put_fact(FILE *out, const char *name, const char *value)
{
    fputs("<dt>", out);
    html_text(out, name);
    fputs("</dt><dd>", out);
    html_text(out, value);
    fputs("</dd>", out);
}

/* When the job had which nodes. */
static void put_times(FILE *out, const struct queue_drawing *drawing, size_t job)
{
    size_t count = 0;
    for (size_t i = 0; i < drawing->box_count; i++) {
        const struct queue_box *box = &drawing->boxes[i];
        char from[READABLE_MAX], to[READABLE_MAX];
        if (box->job != job || count++ >= TIMES_MAX)
            continue;
        fputs(count == 1 ? "<p class=\"note\">Has " : "; ", out);
        put_nodes(out, box);
        fprintf(out, " from %s to %s", readable_seconds(from, box->from), readable_seconds(to, box->to));
    }
    if (count > TIMES_MAX)
        fprintf(out, "; and %zu more", count - TIMES_MAX);
    if (count)
        fputs(".</p>\n", out);
}

static void put_panel(FILE *out, const struct queue_page *page, const struct table *jobs, size_t job)
{
    const char *command = command_of(page, jobs, job);
    fprintf(out, "<section class=\"panel\" id=\"job-%zu\">\n<h3>", job);
    html_text(out, cell_of(jobs, job, "job"));
    fputs("</h3>\n<dl>", out);
    for (size_t column = 1; column < table_column_count(jobs); column++) {
        fputs("<div>", out);
        put_fact(out, table_title(jobs, column), table_text(jobs, job, column));
        fputs("</div>", out);
    }
    fputs("</dl>\n", out);
    put_times(out, &page->drawing, job);
    if (*command) {
        fputs("<p>Draws one iteration of it, on nodes that are neighbours:<br><code>", out);
        html_text(out, command);
        fputs("</code></p>\n", out);
    } else {
        fputs("<p class=\"note\">No command draws an iteration of it: its type has no scenario, or is not among those "
              "with most jobs.</p>\n",
              out);
    }
    fputs("<a href=\"#nodes\">Close</a>\n</section>\n", out);
}

void queue_panels_write(FILE *out, const struct queue_page *page)
{
    const struct table *jobs = table_of(page, QUEUE_JOBS);
    size_t panels = panels_of(page);
    if (panels)
        fputs(
            "<p class=\"note\">Each job of the table of jobs is a link in the picture, with the mouse or with Tab and "
            "Enter: what is known of it opens here.</p>\n",
            out);
    for (size_t job = 0; job < panels; job++)
        put_panel(out, page, jobs, job);
}
