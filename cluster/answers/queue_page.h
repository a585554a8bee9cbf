/* SPDX-License-Identifier: Apache-2.0 */
/* What the page and the picture of a queue show, as plain data: written beside them, so that `report` draws them again.
 */
#ifndef STAGESIM_QUEUE_PAGE_H
#define STAGESIM_QUEUE_PAGE_H

#include "analysis/output/run_files.h"
#include "base/table.h"
#include "cluster/scheduling/figures.h"

#define QUEUE_SAVED "queue.json"

enum { QUEUE_TILES_MAX = 16, QUEUE_SECTIONS_MAX = 10 };
/* Headings of sections, and titles of their columns, from which panels of jobs are made. */
#define QUEUE_JOBS "Jobs"
#define QUEUE_ITERATIONS "One iteration"
#define QUEUE_COMMAND "the picture of an iteration"
/* What pictures say in place of their nodes. */
#define QUEUE_NOT_DRAWN "nodes are not drawn: that would take more than 20,000 boxes"

struct queue_view;

struct queue_tile {
    const char *value, *name;
};

struct queue_section {
    const char *heading;
    struct table *table;
    bool sorts;
    const char *items, *notes; /* below it, one a line; "": none */
};

/* Neighbouring nodes that a job has. */
struct queue_box {
    uint32_t job, first, count;
    const char *name;
    double from, to, stalled; /* seconds at its beginning in which nothing is done */
};

struct queue_drawing {
    const char *title, *description;
    uint32_t nodes, longest;
    double begin, span;      /* seconds */
    bool draws;              /* nodes; otherwise there are too many boxes */
    struct queue_box *boxes; /* [box_count] */
    size_t box_count;
    const struct queue_away *away; /* [away_count] */
    size_t away_count;
    const struct queue_level *levels; /* [level_count] */
    size_t level_count;
};

struct queue_page {
    const char *line, *verdict, *notes, *chart_notes; /* notes: one a line */
    struct queue_tile tiles[QUEUE_TILES_MAX];
    size_t tile_count;
    struct queue_section sections[QUEUE_SECTIONS_MAX];
    size_t section_count;
    struct queue_drawing drawing;
};

/* Texts and lists from the arena, or the view's. queue_page_finish frees the tables. */
struct queue_page queue_page_create(const struct queue_view *view, struct arena *arena);
void queue_page_finish(struct queue_page *page);

/* For those that fill it. */
void queue_page_tile(struct queue_page *page, const char *value, const char *name, struct arena *arena);
/* Takes over the table. */
struct queue_section *queue_page_table(struct queue_page *page, const char *heading, struct table *table);

/* queue.json. */
void queue_page_write(FILE *out, const struct queue_page *page);
/* False after mistakes were reported; then there is nothing to finish. */
bool queue_page_read(const char *path, struct queue_page *page, struct arena *arena, struct diag *diag);

/* Nodes over time, and below jobs that wait and nodes in use. False with the fault filled. */
bool queue_picture(FILE *out, const struct queue_drawing *drawing, enum canvas_format format,
                   const struct picture_form *form, struct fault *fault);
/* Where that picture has a box: x, y, width and height, in units of the drawing. */
void queue_picture_place(const struct queue_drawing *drawing, const struct picture_form *form,
                         const struct queue_box *shown, double place[4]);
/* The picture for a page, in which each box of a job that has a panel is a link to it. False with the fault filled. */
bool queue_panels_picture(FILE *out, const struct queue_page *page, const struct picture_form *form,
                          struct fault *fault);
/* A panel for each job of the table of jobs, as long as nodes are drawn: what is known of it, and what draws one
 * iteration of it. A panel is seen when the address of the page ends with its name. */
void queue_panels_write(FILE *out, const struct queue_page *page);
bool queue_html(FILE *out, const struct queue_page *page, struct fault *fault);
/* The pictures and report.html, those that are open. */
bool queue_page_draw(const struct run_files *files, const struct queue_page *page, struct fault *fault);

#endif
