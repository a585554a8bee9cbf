/* SPDX-License-Identifier: Apache-2.0 */
/* A drawing surface: one drawing code gives SVG, PNG and PDF. Lengths are in points of 1/72 inch in PDF, in CSS pixels
 * in SVG, and in half pixels in PNG (so that it is sharp on dense screens). A picture for paper has a scale: SVG says
 * millimetres, PNG has 600 dots an inch. y grows downwards. The bytes that come out
 * depend on nothing but what was drawn and the installed fonts: no date, no counter that goes on from an earlier
 * picture. */
#ifndef STAGESIM_CANVAS_H
#define STAGESIM_CANVAS_H

#include "base/diagnostics.h"

#include <cairo.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum canvas_format { CANVAS_SVG, CANVAS_PNG, CANVAS_PDF };

/* The format of that name ("svg", "png", "pdf"); false when there is none. */
bool canvas_format_of(const char *name, enum canvas_format *format);
/* "svg", "png", "pdf"; also the ending of the file's name. */
const char *canvas_format_name(enum canvas_format format);

/* What a picture says of itself: SVG <title> and <desc>, PDF and PNG metadata. Borrowed until canvas_finish. */
struct canvas_caption {
    const char *title;
    const char *description; /* a sentence for those who do not see the picture; NULL: none */
    const char *prefix; /* SVG to be put into an HTML page: starts all its ids, which must differ between the pictures
                           of a page, and leaves the XML declaration out. NULL: a file of its own */
    double scale;       /* points on paper that a unit takes; 0: on screen, the units said above */
};

struct canvas;

/* The caller owns the canvas and ends it with canvas_finish or canvas_destroy. */
struct canvas *canvas_create(enum canvas_format format, double width, double height,
                             const struct canvas_caption *caption);
void canvas_destroy(struct canvas *canvas); /* NULL is fine */
/* What to draw with; the canvas owns it. */
cairo_t *canvas_context(struct canvas *canvas);
/* Writes the whole picture to `out` and destroys the canvas, in any case. False with the fault filled when the picture
 * could not be drawn; then `out` holds a part of it or nothing. Errors of writing stay on the stream. A picture too
 * long for PNG or PDF comes out smaller. */
bool canvas_finish(struct canvas *canvas, FILE *out, struct fault *fault);

/* A context to measure text with before the size of a picture is known; nothing drawn on it is kept. */
struct canvas *canvas_create_measuring(void);

/* ---- colours and text ---- */

struct colour {
    double red, green, blue;
};

static inline struct colour colour_hex(uint32_t rgb)
{
    return (struct colour){(rgb >> 16 & 255) / 255.0, (rgb >> 8 & 255) / 255.0, (rgb & 255) / 255.0};
}
/* share 0: a, share 1: b. */
struct colour colour_mix(struct colour a, struct colour b, double share);
/* 0 black .. 1 white, as a grey print shows it. */
double colour_lightness(struct colour colour);
static inline void canvas_set_colour(cairo_t *cr, struct colour colour)
{
    cairo_set_source_rgb(cr, colour.red, colour.green, colour.blue);
}

enum canvas_align { ALIGN_LEFT, ALIGN_CENTRE, ALIGN_RIGHT };

struct canvas_font {
    double size;
    bool bold;
};

void canvas_set_font(cairo_t *cr, struct canvas_font font);
/* Text drawing ends the current path. Bytes that are no UTF-8 and control characters come out as question marks. */
double canvas_text_width(cairo_t *cr, struct canvas_font font, const char *text);
void canvas_text(cairo_t *cr, double x, double baseline, enum canvas_align align, struct canvas_font font,
                 struct colour colour, const char *text);
/* Over as many lines as it takes, broken at blanks; the first has that baseline. Returns how many lines there are. cr
 * draws only where `draw`. */
unsigned canvas_text_lines(cairo_t *cr, double x, double baseline, double width, double line, struct canvas_font font,
                           struct colour colour, const char *text, bool draw);
/* The same cut to `width`, with an ellipsis where something was left out. */
void canvas_text_within(cairo_t *cr, double x, double baseline, double width, struct canvas_font font,
                        struct colour colour, const char *text);

/* To 1/8: keeps vector files small and edges of neighbours together. */
static inline double canvas_snap(double length)
{
    return round(length * 8) / 8;
}

/* Copies text into size bytes (at least 4), always terminated, cut between characters; what is no printable UTF-8
 * becomes '?'. */
void text_clean(char *to, size_t size, const char *text);

#endif
