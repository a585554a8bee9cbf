/* SPDX-License-Identifier: Apache-2.0 */
/* A month of a simulated training: a row a day. */
#include "analysis/pictures/gantt_style.h"
#include "base/arena.h"
#include "commands/train/train_output.h"
#include "training/forecast_text.h"

#include <math.h>

#define DAY 86400.0

const double train_month_seconds = 30 * DAY;

static const double usual_width = 900, margin = 18, left = 62, right = 92, row = 15, gap = 3, legend_line = 16;
static const struct canvas_font title_font = {13, true}, text_font = {9.5, false};

/* Paul Tol's muted scheme (personal.sron.nl/~pault, "Colour schemes", 2021), steps in a pale blue. */
uint32_t train_colour(enum training_part part)
{
    static const uint32_t colours[TRAINING_PARTS] = {
        [PART_STEPS] = 0xC9DFEF,      [PART_START] = 0x332288,       [PART_EVALUATION] = 0x999933,
        [PART_CHECKPOINT] = 0x88CCEE, [PART_LOST] = 0x000000,        [PART_DETECTION] = 0xCC6677,
        [PART_WAITING] = 0x882255,    [PART_REPLACEMENT] = 0xAA4499, [PART_RESTART] = 0xDDAA33,
        [PART_LOAD] = 0x44AA99,       [PART_SLOW] = 0xEE8866,        [PART_REPLICAS] = 0x7A93B0};
    return colours[part];
}

struct page {
    const struct train_view *view;
    double width, height, plot_width, top;
    unsigned days;
    bool used[TRAINING_PARTS];
};

/* What would be too narrow to be seen counts as what is around it. */
static bool is_seen(const struct page *page, const struct training_span *span)
{
    return (span->to - span->from) * page->plot_width / DAY >= 0.3;
}

/* The next stretch from `*index` on: steps with what is not seen between them, or something else. */
static struct training_span next_stretch(const struct page *page, size_t *index)
{
    const struct training_diary *diary = page->view->diary;
    struct training_span stretch = diary->spans[*index];
    bool steps = stretch.part == PART_STEPS || !is_seen(page, &stretch);
    stretch.part = steps ? PART_STEPS : stretch.part;
    for (++*index; steps && *index < diary->count; ++*index) {
        const struct training_span *span = &diary->spans[*index];
        if (span->part != PART_STEPS && is_seen(page, span))
            break;
        stretch.to = span->to;
    }
    return stretch;
}

static void draw_span(cairo_t *cr, const struct page *page, const struct training_span *span)
{
    double hours = page->plot_width / DAY;
    for (double day = floor(span->from / DAY); day * DAY < span->to && day < page->days; day++) {
        double from = fmax(span->from - day * DAY, 0), to = fmin(span->to - day * DAY, DAY);
        struct rectangle box = {left + from * hours, page->top + day * (row + gap), (to - from) * hours, row};
        box.width = fmax(box.width, 0.4);
        style_add_rectangle(cr, box);
        style_paint(cr, colour_hex(train_colour(span->part)), HATCH_NONE, 0, box);
    }
}

/* What stopped the job on each day: how often. */
static unsigned count_stops(const struct page *page, unsigned day)
{
    const struct training_diary *diary = page->view->diary;
    unsigned stops = 0;
    for (size_t i = 0; i < diary->count; i++) {
        const struct training_span *span = &diary->spans[i];
        bool begins = span->part >= PART_DETECTION && span->part <= PART_LOAD && span->cause &&
                      (!i || span[-1].cause != span->cause || span[-1].part < PART_DETECTION);
        stops += begins && span->from >= day * DAY && span->from < (day + 1) * DAY;
    }
    return stops;
}

static void draw_days(cairo_t *cr, const struct page *page)
{
    char text[32];
    for (unsigned day = 0; day < page->days; day++) {
        double y = page->top + day * (row + gap) + row - 4;
        unsigned stops = count_stops(page, day);
        snprintf(text, sizeof text, "day %u", day + 1);
        canvas_text(cr, left - 6, y, ALIGN_RIGHT, text_font, style_text, text);
        snprintf(text, sizeof text, "%u stop%s", stops, stops == 1 ? "" : "s");
        if (stops)
            canvas_text(cr, left + page->plot_width + 6, y, ALIGN_LEFT, text_font, style_faint, text);
    }
    for (int hour = 0; hour <= 24; hour += 3) {
        snprintf(text, sizeof text, "%d h", hour);
        canvas_text(cr, left + page->plot_width * hour / 24, page->top + page->days * (row + gap) + 12, ALIGN_CENTRE,
                    text_font, style_text, text);
    }
}

/* Where the next entry begins; the line below when there is no room. */
static void draw_legend(cairo_t *cr, const struct page *page, double y, bool draw, double *bottom)
{
    double x = left;
    for (int part = 0; part < TRAINING_PARTS; part++) {
        const char *words = forecast_part_words((enum training_part)part);
        double needed = 16 + canvas_text_width(cr, text_font, words) + 14;
        if (!page->used[part])
            continue;
        if (x + needed > page->width - margin) {
            x = left;
            y += legend_line;
        }
        if (draw) {
            struct rectangle box = {x, y - 9, 11, 11};
            style_add_rectangle(cr, box);
            style_paint(cr, colour_hex(train_colour((enum training_part)part)), HATCH_NONE, 0, box);
            canvas_text(cr, x + 16, y, ALIGN_LEFT, text_font, style_text, words);
        }
        x += needed;
    }
    *bottom = y;
}

static struct page lay_out(const struct train_view *view, const struct picture_form *form)
{
    struct page page = {.view = view, .width = picture_page_width(form, usual_width)};
    const struct training_diary *diary = view->diary;
    double end = diary->count ? fmin(diary->spans[diary->count - 1].to, train_month_seconds) : 0;
    page.plot_width = page.width - left - right;
    page.days = (unsigned)fmax(1, ceil(end / DAY));
    for (size_t i = 0; i < diary->count;)
        page.used[next_stretch(&page, &i).part] = true;
    struct canvas *measuring = canvas_create_measuring();
    draw_legend(canvas_context(measuring), &page, 66, false, &page.top);
    canvas_destroy(measuring);
    page.top += 16;
    page.height = page.top + page.days * (row + gap) + 12 + margin;
    return page;
}

bool train_month(FILE *out, const struct train_view *view, enum canvas_format format, const struct picture_form *form,
                 struct fault *fault)
{
    double bottom;
    struct arena *arena = arena_create();
    struct page page = lay_out(view, form);
    const char *title =
        arena_print(arena, "%s: the first %u days of one simulated training", view->scenario->name, page.days);
    const char *sentence = forecast_sentence(view->forecast, view->currency, arena);
    struct canvas_caption caption = {
        .title = title, .description = sentence, .prefix = picture_prefix(form), .scale = picture_scale(form)};
    struct canvas *canvas = canvas_create(format, page.width, page.height, &caption);
    cairo_t *cr = canvas_context(canvas);
    canvas_text_within(cr, margin, 28, page.width - 2 * margin, title_font, style_text, title);
    canvas_text_within(cr, margin, 45, page.width - 2 * margin, text_font, style_faint, sentence);
    draw_legend(cr, &page, 66, true, &bottom);
    draw_days(cr, &page);
    for (size_t i = 0; i < view->diary->count;) {
        struct training_span stretch = next_stretch(&page, &i);
        draw_span(cr, &page, &stretch);
    }
    bool drawn = canvas_finish(canvas, out, fault);
    arena_destroy(arena);
    return drawn;
}
