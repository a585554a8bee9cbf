/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/pictures/palette.h"

#include <assert.h>
#include <stdio.h>

/* Blue, orange and bluish green stay apart with all common kinds of colour blindness. */
static const struct palette_range ranges[PALETTE_ENTRIES] = {
    [STAGESIM_FORWARD] = {0xB5D8F7, 0x2E6FB7},
    [STAGESIM_BACKWARD] = {0xFFCB8E, 0xC05A00},
    [STAGESIM_WEIGHT] = {0xB3E2D2, 0x0B7A5B},
    [STAGESIM_BLOCK] = {0xB39E8C, 0xB39E8C},
    [STAGESIM_OPTIMIZER] = {0x4D4D4D, 0x4D4D4D},
    [STAGESIM_ACTIVATION] = {0x2E6FB7, 0x2E6FB7},
    [STAGESIM_GRADIENT] = {0xC05A00, 0xC05A00},
    [STAGESIM_GRADIENT_SYNC] = {0x9A5AA6, 0x9A5AA6},
    [STAGESIM_PARAMETER_GATHER] = {0xC78FD1, 0xC78FD1},
    [STAGESIM_TENSOR] = {0xD96699, 0xD96699},
    [STAGESIM_EXCHANGE] = {0x409999, 0x409999},
    [STAGESIM_OTHER] = {0xE6DFCF, 0x8C7B55},
    [STAGESIM_CONTEXT] = {0x8CB340, 0x8CB340},
    [STAGESIM_EXPERT] = {0xCC4D40, 0xCC4D40},
    [STAGESIM_WEIGHTS] = {0x1F8A8A, 0x1F8A8A},
    [STAGESIM_SHARE] = {0x8A5A1F, 0x8A5A1F},
    [STAGESIM_OFFLOAD] = {0x409999, 0x409999},
    [STAGESIM_LOAD] = {0x70BFBF, 0x70BFBF},
    [STAGESIM_INPUT] = {0x6B7FD1, 0x6B7FD1},
    [PALETTE_WAITING] = {0xDBDEE3, 0xDBDEE3},
};

struct palette_range palette_range(unsigned entry)
{
    assert(entry < PALETTE_ENTRIES);
    return ranges[entry];
}

/* Red, green or blue: component 0, 1 or 2. */
static int component(uint32_t colour, int which)
{
    return (int)(colour >> (16 - 8 * which) & 0xff);
}

uint32_t palette_single(unsigned entry)
{
    struct palette_range range = palette_range(entry);
    uint32_t colour = 0;
    for (int i = 0; i < 3; i++)
        colour = colour << 8 | (uint32_t)((component(range.light, i) + component(range.dark, i)) / 2);
    return colour;
}

/* Colours 16 to 255 of xterm and its like: a cube of 6 levels each, and 24 greys. */
static uint32_t terminal_colour(int number)
{
    static const uint32_t levels[] = {0, 95, 135, 175, 215, 255};
    if (number >= 232)
        return (uint32_t)(8 + 10 * (number - 232)) * 0x010101;
    number -= 16;
    return levels[number / 36] << 16 | levels[number / 6 % 6] << 8 | levels[number % 6];
}

static int distance(uint32_t a, uint32_t b)
{
    int sum = 0;
    for (int i = 0; i < 3; i++)
        sum += (component(a, i) - component(b, i)) * (component(a, i) - component(b, i));
    return sum;
}

const char *palette_terminal(unsigned entry, char text[PALETTE_ESCAPE_MAX])
{
    uint32_t colour = palette_single(entry);
    int nearest = 16;
    for (int number = 17; number < 256; number++)
        if (distance(terminal_colour(number), colour) < distance(terminal_colour(nearest), colour))
            nearest = number;
    /* Weights of the eye, as in Rec. 601. */
    int light = 299 * component(colour, 0) + 587 * component(colour, 1) + 114 * component(colour, 2);
    snprintf(text, PALETTE_ESCAPE_MAX, "\033[48;5;%d;%dm", nearest, light > 127500 ? 30 : 97);
    return text;
}
