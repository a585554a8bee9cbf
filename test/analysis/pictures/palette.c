/* SPDX-License-Identifier: Apache-2.0 */
/* A kind of operation has the same hue in pictures, traces and on the terminal, and kinds that stand side by side are
 * told apart. */
#include "analysis/pictures/palette.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>

/* Degrees: red 0, green 120, blue 240; NAN for greys. */
static double hue_of(uint32_t colour)
{
    double r = colour >> 16, g = colour >> 8 & 0xff, b = colour & 0xff;
    if (fmax(r, fmax(g, b)) - fmin(r, fmin(g, b)) < 16)
        return NAN;
    double hue = atan2(sqrt(3) * (g - b), 2 * r - g - b) * 180 / acos(-1);
    return hue < 0 ? hue + 360 : hue;
}

/* At most 180; 0 between greys. */
static double turn(double a, double b)
{
    if (isnan(a) || isnan(b))
        return isnan(a) && isnan(b) ? 0 : 180;
    return fmin(fabs(a - b), 360 - fabs(a - b));
}

/* xterm's colours 16 to 255, by their definition. */
static uint32_t xterm(unsigned number)
{
    cr_assert(number >= 16 && number <= 255);
    if (number >= 232)
        return (8 + (number - 232) * 10) * 0x10101u;
    uint32_t colour = 0;
    for (unsigned i = 0, digits = number - 16, unit = 36; i < 3; i++, digits %= unit, unit /= 6)
        colour = colour << 8 | (digits / unit ? 55 + 40 * (digits / unit) : 0);
    return colour;
}

static uint32_t terminal(unsigned entry)
{
    char text[PALETTE_ESCAPE_MAX], end;
    unsigned background, ink;
    int count = sscanf(palette_terminal(entry, text), "\033[48;5;%u;%u%c", &background, &ink, &end);
    cr_assert(count == 3 && end == 'm' && (ink == 30 || ink == 97), "entry %u: %d fields, ink %u", entry, count, ink);
    return xterm(background);
}

Test(palette, one_hue_everywhere)
{
    for (unsigned entry = 0; entry < PALETTE_ENTRIES; entry++) {
        struct palette_range range = palette_range(entry);
        double hue = hue_of(palette_single(entry));
        cr_expect(turn(hue, hue_of(range.light)) < 20, "entry %u: light %06x", entry, range.light);
        cr_expect(turn(hue, hue_of(range.dark)) < 20, "entry %u: dark %06x", entry, range.dark);
        if (entry <= STAGESIM_WEIGHT)
            cr_expect(turn(hue, hue_of(terminal(entry))) < 20, "entry %u: terminal %06x", entry, terminal(entry));
    }
}

Test(palette, forward_blue_backward_orange_weight_green)
{
    static const double hues[] = {[STAGESIM_FORWARD] = 210, [STAGESIM_BACKWARD] = 30, [STAGESIM_WEIGHT] = 160};
    for (unsigned entry = 0; entry <= STAGESIM_WEIGHT; entry++)
        cr_expect(turn(hue_of(palette_single(entry)), hues[entry]) < 15, "entry %u: %06x", entry,
                  palette_single(entry));
}

Test(palette, the_nearest_of_the_terminal)
{
    for (unsigned entry = 0; entry < PALETTE_ENTRIES; entry++) {
        uint32_t colour = palette_single(entry), taken = terminal(entry);
        for (int shift = 0; shift <= 16; shift += 8)
            cr_expect(abs((int)(colour >> shift & 0xff) - (int)(taken >> shift & 0xff)) <= 48, "entry %u: %06x is %06x",
                      entry, colour, taken);
    }
}
