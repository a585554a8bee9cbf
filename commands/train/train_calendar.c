/* SPDX-License-Identifier: Apache-2.0 */
/* The calendar of a simulated training for other programs. */
#include "analysis/output/traces/paje_format.h"
#include "base/arena.h"
#include "base/csv.h"
#include "base/number_text.h"
#include "base/text_writer.h"
#include "commands/train/train_output.h"

static void put_number(FILE *out, double value)
{
    char text[NUMBER_TEXT_MAX];
    fprintf(out, "%.*s", (int)number_write(text, value), text);
}

void train_calendar_csv(FILE *out, const struct train_view *view)
{
    struct arena *arena = arena_create();
    fputs("start_s,end_s,part,cause\n", out);
    for (size_t i = 0; i < view->diary->count; i++) {
        const struct training_span *span = &view->diary->spans[i];
        put_number(out, span->from);
        fputc(',', out);
        put_number(out, span->to);
        fprintf(out, ",%s,%s\n", training_part_names[span->part],
                span->cause ? csv_cell(span->cause->name, arena) : "");
    }
    arena_destroy(arena);
}

/* A share of 255 as Paje has it. */
static double shade(enum training_part part, unsigned shift)
{
    return (train_colour(part) >> shift & 255) / 255.0;
}

static void define(FILE *out, const struct train_view *view)
{
    fprintf(out, "%s0 J 0 \"training\"\n1 S J \"what it does\"\n", paje_events);
    for (int part = 0; part < TRAINING_PARTS; part++)
        if (part != PART_LOST)
            fprintf(out, "4 %s S \"%s\" \"%.3f %.3f %.3f\"\n", training_part_names[part], training_part_names[part],
                    shade((enum training_part)part, 16), shade((enum training_part)part, 8),
                    shade((enum training_part)part, 0));
    struct text_writer *text = text_writer_create(out);
    paje_begin(text, PAJE_CREATE, 0);
    text_string(text, "j J 0");
    paje_name(text, view->scenario->name);
    text_char(text, '\n');
    text_writer_destroy(text);
}

/* A calendar has no gaps: each state ends where the next begins. */
void train_calendar_paje(FILE *out, const struct train_view *view)
{
    double end = 0;
    define(out, view);
    struct text_writer *text = text_writer_create(out);
    for (size_t i = 0; i < view->diary->count; i++) {
        const struct training_span *span = &view->diary->spans[i];
        paje_begin(text, PAJE_PUSH, span->from);
        text_string(text, "S j ");
        text_string(text, training_part_names[span->part]);
        text_char(text, '\n');
        paje_begin(text, PAJE_POP, end = span->to);
        text_string(text, "S j\n");
    }
    paje_begin(text, PAJE_DESTROY, end);
    text_string(text, "J j\n");
    text_writer_destroy(text);
}
