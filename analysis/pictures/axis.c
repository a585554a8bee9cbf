/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/pictures/axis.h"

#include "analysis/pictures/canvas.h"
#include "analysis/pictures/gantt_style.h"
#include "base/rounded/rounded.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const double axis_height = 34;
static const double points_per_tick = 78;

struct axis_unit axis_unit_of(double largest, enum gantt_unit unit)
{
    static const struct axis_unit units[] = {{1e-12, "ps"}, {1e-9, "ns"}, {1e-6, "\xc2\xb5s"}, {1e-3, "ms"}, {1, "s"}};
    if (unit == GANTT_BARE)
        return (struct axis_unit){1, ""};
    size_t best = 0;
    for (size_t i = 1; i < sizeof units / sizeof *units; i++) {
        if (largest >= units[i].scale * (1 - 1e-6)) /* the margin keeps 0.9999999 s seconds */
            best = i;
    }
    return largest > 0 ? units[best] : (struct axis_unit){1, "s"};
}

/* Puts a comma between each three digits of the integer at the start of text. */
static void group_digits(char *text, size_t size)
{
    size_t digits = strspn(text + (*text == '-'), "0123456789"), first = *text == '-';
    for (size_t left = digits; left > 3;) {
        left -= 3;
        size_t length = strlen(text);
        if (length + 2 > size)
            return;
        memmove(text + first + left + 1, text + first + left, length - first - left + 1);
        text[first + left] = ',';
    }
}

const char *axis_quantity(char *text, size_t size, double value, enum gantt_unit unit)
{
    struct axis_unit chosen = axis_unit_of(fabs(value), unit);
    double shown = value / chosen.scale;
    snprintf(text, size, fabs(shown) >= 1000 && fabs(shown) < 1e9 ? "%.0f" : "%.4g", shown);
    if (!strchr(text, 'e'))
        group_digits(text, size);
    size_t length = strlen(text);
    if (*chosen.name)
        snprintf(text + length, size - length, " %s", chosen.name);
    return text;
}

const char *axis_percent(char *text, size_t size, double share)
{
    snprintf(text, size, "%.1f %%", 100 * share);
    return text;
}

double axis_step(double range, unsigned most)
{
    if (!(range > 0) || most < 1)
        return 1;
    double raw = range / most, power = rounded_pow(10, floor(rounded_log10(raw)));
    static const double factors[] = {1, 2, 5, 10};
    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++) {
        if (factors[i] * power >= raw * (1 - 1e-9))
            return factors[i] * power;
    }
    return 10 * power;
}

static unsigned ticks_that_fit(double width)
{
    return width > 2 * points_per_tick ? (unsigned)(width / points_per_tick) : 2;
}

void axis_draw_grid(cairo_t *cr, double x, double width, double top, double bottom, double end, enum gantt_unit unit)
{
    struct axis_unit shown = axis_unit_of(end, unit);
    double range = end / shown.scale, step = axis_step(range, ticks_that_fit(width));
    for (unsigned i = 0; i * step <= range * (1 + 1e-9) && range > 0; i++) {
        double at = canvas_snap(x + width * i * step / range);
        cairo_move_to(cr, at, top);
        cairo_line_to(cr, at, bottom);
    }
    canvas_set_colour(cr, style_grid);
    cairo_set_line_width(cr, 0.5);
    cairo_stroke(cr);
}

static void draw_tick(cairo_t *cr, double at, double y, double value)
{
    char text[32];
    snprintf(text, sizeof text, fabs(value) >= 1e9 ? "%.6g" : "%.9g", value);
    if (!strchr(text, 'e'))
        group_digits(text, sizeof text);
    cairo_move_to(cr, canvas_snap(at), y);
    cairo_line_to(cr, canvas_snap(at), y + 4);
    canvas_set_colour(cr, style_faint);
    cairo_set_line_width(cr, 0.8);
    cairo_stroke(cr);
    canvas_text(cr, at, y + 15, ALIGN_CENTRE, (struct canvas_font){9.5, false}, style_text, text);
}

void axis_draw_time(cairo_t *cr, double x, double y, double width, double end, enum gantt_unit unit)
{
    struct axis_unit shown = axis_unit_of(end, unit);
    double range = end / shown.scale, step = axis_step(range, ticks_that_fit(width));
    cairo_move_to(cr, x, y);
    cairo_line_to(cr, x + width, y);
    canvas_set_colour(cr, style_faint);
    cairo_set_line_width(cr, 0.8);
    cairo_stroke(cr);
    draw_tick(cr, x, y, 0);
    for (unsigned i = 1; i * step <= range * (1 + 1e-9) && range > 0; i++)
        draw_tick(cr, x + width * i * step / range, y, i * step);
    char name[40];
    if (*shown.name)
        snprintf(name, sizeof name, "time (%s)", shown.name);
    else
        snprintf(name, sizeof name, "time");
    canvas_text(cr, x + width / 2, y + 30, ALIGN_CENTRE, (struct canvas_font){9.5, false}, style_faint, name);
}
