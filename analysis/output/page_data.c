/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/output/page_timeline.h"
#include "base/arena.h"
#include "base/number_text.h"

#include <math.h>
#include <stdlib.h>

/* Bytes on their way to base64. */
struct bytes {
    FILE *out;
    uint32_t held;
    int count; /* of bytes held, 0 to 2 */
};

static void put_quantum(FILE *out, uint32_t bits, int letters)
{
    static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (int i = 0; i < 4; i++)
        putc(i < letters ? alphabet[bits >> (18 - 6 * i) & 63] : '=', out);
}

static void put_byte(struct bytes *bytes, unsigned byte)
{
    bytes->held = bytes->held << 8 | byte;
    if (++bytes->count < 3)
        return;
    put_quantum(bytes->out, bytes->held, 4);
    *bytes = (struct bytes){.out = bytes->out};
}

static void put_end(struct bytes *bytes)
{
    if (bytes->count)
        put_quantum(bytes->out, bytes->held << (8 * (3 - bytes->count)), bytes->count + 1);
    *bytes = (struct bytes){.out = bytes->out};
}

static void put_varint(struct bytes *bytes, uint64_t value)
{
    for (; value > 127; value >>= 7)
        put_byte(bytes, (unsigned)(value & 127) | 128);
    put_byte(bytes, (unsigned)value);
}

static void put_signed(struct bytes *bytes, int64_t value)
{
    put_varint(bytes, value < 0 ? ((uint64_t)(-(value + 1)) << 1) + 1 : (uint64_t)value << 1);
}

/* Kind, shade, half, lane, part, critical and tier in one number. */
static unsigned style_of(const struct gantt_box *box)
{
    return box->kind | (unsigned)box->shade << 3 | (unsigned)box->half << 6 | (unsigned)box->lane << 8 |
           (unsigned)box->part << 9 | (unsigned)box->critical << 11 | (unsigned)box->tier << 12;
}

static int64_t ticks_of(const struct gantt *gantt, double time)
{
    return gantt->end > 0 ? llround(time / gantt->end * 0x1p24) : 0;
}

static uint16_t *put_styles(FILE *out, const struct gantt *gantt)
{
    size_t none = 0, known = 0;
    uint16_t *number = array_grow(NULL, &none, 1 << 14, sizeof *number);
    for (size_t i = 0; i < 1 << 14; i++)
        number[i] = UINT16_MAX;
    for (size_t i = 0; i < gantt->box_count; i++) {
        unsigned style = style_of(&gantt->boxes[i]);
        if (number[style] != UINT16_MAX)
            continue;
        fprintf(out, "%s%u", known ? "," : "", style);
        number[style] = (uint16_t)known++;
    }
    return number;
}

static void put_boxes(FILE *out, const struct gantt *gantt, const uint16_t *styles)
{
    struct bytes bytes = {.out = out};
    size_t i = 0;
    for (uint32_t row = 0; row < gantt->row_count; row++) {
        size_t last = i;
        while (last < gantt->box_count && gantt->boxes[last].row == row)
            last++;
        put_varint(&bytes, last - i);
        int64_t before[GANTT_LANES] = {0}, number[GANTT_LANES] = {0};
        for (; i < last; i++) {
            const struct gantt_box *box = &gantt->boxes[i];
            int64_t start = ticks_of(gantt, box->start), end = ticks_of(gantt, box->end);
            int64_t of = box->number == GANTT_NO_NUMBER ? -1 : (int64_t)box->number;
            put_varint(&bytes, styles[style_of(box)]);
            put_signed(&bytes, start - before[box->lane]);
            put_varint(&bytes, (uint64_t)(end - start));
            put_signed(&bytes, of - number[box->lane]);
            before[box->lane] = end;
            number[box->lane] = of;
        }
    }
    put_end(&bytes);
}

static void put_arrows(FILE *out, const struct gantt *gantt)
{
    struct bytes bytes = {.out = out};
    int64_t before = 0;
    for (size_t i = 0; i < gantt->arrow_count; i++) {
        const struct gantt_arrow *arrow = &gantt->arrows[i];
        int64_t start = ticks_of(gantt, arrow->start);
        put_varint(&bytes, arrow->from);
        put_varint(&bytes, arrow->to);
        put_signed(&bytes, start - before);
        put_varint(&bytes, (uint64_t)(ticks_of(gantt, arrow->end) - start));
        before = start;
    }
    put_end(&bytes);
}

static void put_number(FILE *out, const char *key, double value)
{
    char text[NUMBER_TEXT_MAX];
    fprintf(out, "\"%s\":%.*s,", key, (int)number_write(text, isfinite(value) ? value : 0), text);
}

void page_data(FILE *out, const struct gantt *gantt)
{
    char text[NUMBER_TEXT_MAX];
    putc('{', out);
    put_number(out, "end", gantt->end);
    put_number(out, "window", gantt->window_start);
    put_number(out, "until", gantt->window_end);
    put_number(out, "iteration", gantt->iteration);
    put_number(out, "bubble", gantt->bubble);
    fprintf(out, "\"bare\":%d,\"shades\":%u,\"tiers\":%u,\"busy\":[", gantt->unit == GANTT_BARE, gantt->shades,
            gantt->tiers);
    for (size_t row = 0; row < gantt->row_count; row++)
        fprintf(out, "%s%.*s", row ? "," : "", (int)number_write(text, round(gantt->rows[row].busy * 1e6) / 1e6), text);
    fputs("],\"styles\":[", out);
    uint16_t *styles = put_styles(out, gantt);
    fputs("],\n\"boxes\":\"", out);
    put_boxes(out, gantt, styles);
    fputs("\",\n\"arrows\":\"", out);
    put_arrows(out, gantt);
    fputs("\"}", out);
    free(styles);
}
