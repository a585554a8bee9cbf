/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/pictures/canvas.h"

#include <assert.h>
#include <string.h>

void canvas_set_font(cairo_t *cr, struct canvas_font font)
{
    cairo_select_font_face(cr, "DejaVu Sans", CAIRO_FONT_SLANT_NORMAL,
                           font.bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(cr, font.size);
}

static double clean_width(cairo_t *cr, const char *clean)
{
    cairo_text_extents_t extents;
    cairo_text_extents(cr, clean, &extents);
    return extents.x_advance;
}

double canvas_text_width(cairo_t *cr, struct canvas_font font, const char *text)
{
    char clean[512];
    text_clean(clean, sizeof clean, text);
    canvas_set_font(cr, font);
    return clean_width(cr, clean);
}

void canvas_text(cairo_t *cr, double x, double baseline, enum canvas_align align, struct canvas_font font,
                 struct colour colour, const char *text)
{
    char clean[512];
    text_clean(clean, sizeof clean, text);
    if (!*clean)
        return;
    canvas_set_font(cr, font);
    if (align != ALIGN_LEFT)
        x -= clean_width(cr, clean) * (align == ALIGN_CENTRE ? 0.5 : 1);
    canvas_set_colour(cr, colour);
    cairo_move_to(cr, canvas_snap(x), canvas_snap(baseline));
    cairo_show_text(cr, clean);
    cairo_new_path(cr);
}

/* Bytes of the text's words that fit into the width, at least one word. */
static size_t line_length(cairo_t *cr, const char *text, double width)
{
    char line[512];
    size_t fits = 0;
    for (size_t end = 0; text[end];) {
        end += strspn(text + end, " ");
        end += strcspn(text + end, " ");
        memcpy(line, text, end);
        line[end] = '\0';
        if (fits && clean_width(cr, line) > width)
            break;
        fits = end;
    }
    return fits;
}

unsigned canvas_text_lines(cairo_t *cr, double x, double baseline, double width, double line, struct canvas_font font,
                           struct colour colour, const char *text, bool draw)
{
    char clean[512], part[512];
    unsigned count = 0;
    text_clean(clean, sizeof clean, text);
    for (const char *rest = clean; *rest; count++) {
        canvas_set_font(cr, font);
        size_t length = line_length(cr, rest, width);
        memcpy(part, rest, length);
        part[length] = '\0';
        if (draw)
            canvas_text_within(cr, x, baseline + count * line, width, font, colour, part);
        rest += length;
        rest += strspn(rest, " ");
    }
    return count;
}

void canvas_text_within(cairo_t *cr, double x, double baseline, double width, struct canvas_font font,
                        struct colour colour, const char *text)
{
    static const char ellipsis[] = "\xe2\x80\xa6";
    char clean[512];
    text_clean(clean, sizeof clean - sizeof ellipsis, text);
    canvas_set_font(cr, font);
    size_t length = strlen(clean);
    while (length > 0 && clean_width(cr, clean) > width) {
        length -= length >= sizeof ellipsis && strcmp(clean + length - sizeof ellipsis + 1, ellipsis) == 0
                      ? sizeof ellipsis - 1
                      : 0;
        while (length > 0 && (clean[length - 1] & 0xc0) == 0x80)
            length--;
        length -= length > 0;
        memcpy(clean + length, ellipsis, sizeof ellipsis);
        length = length ? length + sizeof ellipsis - 1 : 0;
    }
    clean[length] = '\0';
    canvas_text(cr, x, baseline, ALIGN_LEFT, font, colour, clean);
}
