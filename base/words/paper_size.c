/* SPDX-License-Identifier: Apache-2.0 */
#include "base/words/paper_size.h"

#include "base/quantity.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static const double points_per_metre = 72 / 0.0254, font_usual = 8, font_least = 4, font_most = 72;
static const double width_least = 0.02, width_most = 2; /* metres */
static const double ems_least = 20;                     /* narrower, words of a legend find no place */

__attribute__((format(printf, 3, 4))) static bool refuse(struct paper_mistake *mistake, bool font, const char *format,
                                                         ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(mistake->text, sizeof mistake->text, format, arguments);
    va_end(arguments);
    mistake->font = font;
    return false;
}

static bool read_font(const char *text, double *points, struct paper_mistake *mistake)
{
    struct quantity_reason reason;
    char *end;
    double metres;
    *points = strtod(text, &end);
    if (end == text || *text < '0' || *text > '9' || *end) {
        if (!quantity_parse(QUANTITY_LENGTH, text, &metres, &reason))
            return refuse(mistake, true, "%s, or points as a plain number such as 7", reason.text);
        *points = metres * points_per_metre;
    }
    if (*points >= font_least * (1 - 1e-9) && *points <= font_most * (1 + 1e-9))
        return true;
    return refuse(mistake, true, "'%.40s' is no size of text; expected %g to %g points such as 7", text, font_least,
                  font_most);
}

bool paper_size_read(const char *width, const char *font_size, struct paper_size *size, struct paper_mistake *mistake)
{
    struct quantity_reason reason;
    double metres = 0, font = font_usual;
    *size = (struct paper_size){0, 0};
    if (!width)
        return !font_size || refuse(mistake, true,
                                    "the size of text is for a picture of a given width; give the "
                                    "width, too, such as 84mm");
    if (!quantity_parse(QUANTITY_LENGTH, width, &metres, &reason))
        return refuse(mistake, false, "%s", reason.text);
    if (metres < width_least || metres > width_most)
        return refuse(mistake, false, "a picture is from 20mm to 2000mm wide, not '%.40s'", width);
    if (font_size && !read_font(font_size, &font, mistake))
        return false;
    if (metres * points_per_metre < ems_least * font)
        return refuse(mistake, false,
                      "'%.40s' is too narrow for text of %.4g points; expected at least %.0fmm, or "
                      "smaller text",
                      width, font, ems_least * font / points_per_metre * 1000 + 0.5);
    *size = (struct paper_size){metres * points_per_metre, font};
    return true;
}
