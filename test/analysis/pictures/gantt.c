/* SPDX-License-Identifier: Apache-2.0 */
/* The plain data behind pictures, how it comes out of a run and a plan, and the arithmetic of axes. */
#include "analysis/pictures/axis.h"
#include "analysis/pictures/canvas.h"
#include "analysis/pictures/chart_scale.h"
#include "analysis/pictures/gantt_collect.h"
#include "analysis/pictures/gantt_draw.h"
#include "analysis/pictures/picture_schedule.h"
#include "analysis/pictures/picture_timeline.h"
#include "base/arena.h"
#include "test/support/hand_made.h"
#include "test/support/worked_example.h"

#include <criterion/criterion.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* ---- what comes out of a run ---- */

Test(gantt, of_the_worked_example)
{
    struct worked_example *example = worked_example_create(1, 0);
    const struct report *report = report_create(&example->run, example->timeline, &example->platform, example->arena);
    const struct critical_path *path =
        critical_path_create(frame_create(example->timeline, example->arena), example->arena);
    struct gantt *gantt = gantt_of_run(report, example->timeline,
                                       &(struct gantt_choice){.messages = true, .levels = true, .critical = path});
    /* DESIGN's table, row by row, and its critical path: F0, B0, F1, B1 of worker 1 between F0 and B1 of worker 0 */
    static const struct {
        double start, end;
        uint32_t row, number;
        int kind;
        bool critical;
    } expected[] = {
        {0, 1, 0, 0, GANTT_FORWARD, true},       {1, 2, 0, 1, GANTT_FORWARD, false},
        {4.2, 6.2, 0, 0, GANTT_BACKWARD, false}, {7.2, 9.2, 0, 1, GANTT_BACKWARD, true},
        {1.1, 2.1, 1, 0, GANTT_FORWARD, true},   {2.1, 4.1, 1, 0, GANTT_BACKWARD, true},
        {4.1, 5.1, 1, 1, GANTT_FORWARD, true},   {5.1, 7.1, 1, 1, GANTT_BACKWARD, true},
    };
    cr_assert_eq(gantt->box_count, 8);
    for (size_t i = 0; i < 8; i++) {
        const struct gantt_box *box = &gantt->boxes[i];
        cr_assert_float_eq(box->start, expected[i].start, 1e-12);
        cr_assert_float_eq(box->end, expected[i].end, 1e-12);
        cr_assert_eq(box->row, expected[i].row);
        cr_assert_eq(box->number, expected[i].number);
        cr_assert_eq(box->kind, expected[i].kind);
        cr_assert_eq(box->critical, expected[i].critical, "box %zu", i);
    }
    cr_assert_eq(gantt->arrow_count, 4);
    cr_assert_float_eq(gantt->arrows[0].start, 1, 1e-12);
    cr_assert_float_eq(gantt->arrows[3].end, 7.2, 1e-12);
    cr_assert_eq(gantt->arrows[3].from, 1);
    cr_assert_float_eq(gantt->iteration, 9.2, 1e-12);
    cr_assert_float_eq(gantt->rows[0].busy, 6 / 9.2, 1e-12);
    gantt_destroy(gantt);
    worked_example_destroy(example);
}

Test(gantt, levels_reach_the_reported_peaks)
{
    struct worked_example *example = worked_example_create(1, 0);
    const struct report *report = report_create(&example->run, example->timeline, &example->platform, example->arena);
    struct gantt *gantt = gantt_of_run(report, example->timeline, &(struct gantt_choice){.levels = true});
    double bytes[2] = {0, 0}, in_flight[2] = {0, 0};
    for (size_t i = 0; i < gantt->level_count; i++) {
        const struct gantt_level *level = &gantt->levels[i];
        bytes[level->row] = fmax(bytes[level->row], level->bytes);
        in_flight[level->row] = fmax(in_flight[level->row], level->in_flight);
    }
    for (int row = 0; row < 2; row++) {
        cr_assert_float_eq(bytes[row], report->workers[row].peak_bytes, 1e-9);
        cr_assert_float_eq(in_flight[row], report->workers[row].peak_in_flight, 1e-9);
    }
    gantt_destroy(gantt);
    worked_example_destroy(example);
}

/* ---- plans ---- */

Test(gantt, of_a_plan_with_blocks_and_directions)
{
    static const struct timed_slot slots[] = {
        {.start = 0, .end = 1, .worker = 0, .kind = 'F', .stage = 0, .pipeline = 0, .micro_batch = 3},
        {.start = 1, .end = 4, .worker = 0, .kind = 'F', .stage = 0, .pipeline = 0, .micro_batch = 4, .block = 1},
        {.start = 1, .end = 4, .worker = 0, .kind = 'B', .stage = 1, .pipeline = 1, .micro_batch = 5, .block = 2},
        {.start = 4, .end = 5, .worker = 1, .kind = 'W', .stage = 1, .pipeline = 0, .micro_batch = 4, .part = 1},
        {.start = 5, .end = 5, .worker = 1, .kind = 'E', .stage = 1, .pipeline = 0, .micro_batch = 4},
    };
    struct timed_plan plan = {"sample", 2, 2, 2, 6, 5, 0.5, slots, 5};
    struct gantt *gantt = gantt_of_plan(&plan);
    cr_assert_eq(gantt->box_count, 4);
    cr_assert_eq(gantt->shades, 2);
    cr_assert_eq(gantt->boxes[1].half, GANTT_UPPER);
    cr_assert_eq(gantt->boxes[2].half, GANTT_LOWER);
    cr_assert_eq(gantt->boxes[1].shade, 0);
    cr_assert_eq(gantt->boxes[2].shade, 1);
    cr_assert_eq(gantt->boxes[3].kind, GANTT_WEIGHT);
    cr_assert_eq(gantt->boxes[3].part, 1);
    cr_assert_float_eq(gantt->rows[0].busy, 0.8, 1e-12);
    cr_assert_float_eq(gantt->rows[1].busy, 0.2, 1e-12);
    gantt_destroy(gantt);
}

Test(gantt, shades_of_chunks)
{
    struct gantt *gantt = gantt_create("", "", GANTT_BARE);
    gantt_set_shades(gantt, false, 32);
    cr_assert_eq(gantt->shades, GANTT_SHADES_MAX);
    for (uint32_t chunk = 0; chunk < 32; chunk++)
        cr_assert_eq(gantt_shade_of(gantt, false, 32, 0, chunk), chunk / 4);
    cr_assert_eq(gantt_shade_of(gantt, false, 32, 0, 32), 0);
    cr_assert_str_eq(gantt->shade_names[7], "chunk 31");
    gantt_destroy(gantt);
}

/* ---- save and load ---- */

static char *saved(const struct gantt *gantt, size_t *size)
{
    char *bytes = NULL;
    FILE *out = open_memstream(&bytes, size);
    gantt_save(gantt, out);
    fclose(out);
    return bytes;
}

static char *drawn(const struct gantt *gantt, size_t *size)
{
    char *bytes = NULL;
    struct fault fault = {{0}};
    FILE *out = open_memstream(&bytes, size);
    cr_assert(picture_timeline(gantt, CANVAS_SVG, NULL, out, &fault), "%s", fault.text);
    fclose(out);
    return bytes;
}

Test(gantt, saved_and_loaded_draws_the_same)
{
    struct gantt *gantt = hand_made_chimera();
    gantt_add_arrow(gantt, &(struct gantt_arrow){1, 2, 0, 1});
    gantt_add_level(gantt, &(struct gantt_level){1, 2, 3, 0});
    size_t size, first_size, second_size;
    char *bytes = saved(gantt, &size);
    FILE *in = fmemopen(bytes, size, "rb");
    struct gantt *loaded = gantt_load(in);
    fclose(in);
    cr_assert_not_null(loaded);
    char *first = drawn(gantt, &first_size), *second = drawn(loaded, &second_size);
    cr_assert_eq(first_size, second_size);
    cr_assert_eq(memcmp(first, second, first_size), 0);
    cr_assert_eq(loaded->level_count, 1);
    cr_assert_float_eq(loaded->levels[0].in_flight, 3, 0);
    free(first);
    free(second);
    free(bytes);
    gantt_destroy(gantt);
    gantt_destroy(loaded);
}

Test(gantt, what_is_cut_or_damaged_is_refused)
{
    struct gantt *gantt = hand_made_gpipe(2, 2);
    size_t size;
    char *bytes = saved(gantt, &size);
    for (size_t length = 0; length < size; length += 7) {
        FILE *in = length ? fmemopen(bytes, length, "rb") : tmpfile();
        cr_assert_null(gantt_load(in), "%zu of %zu bytes", length, size);
        fclose(in);
    }
    gantt->boxes[1].row = 99;
    free(bytes);
    bytes = saved(gantt, &size);
    FILE *in = fmemopen(bytes, size, "rb");
    cr_assert_null(gantt_load(in));
    fclose(in);
    free(bytes);
    gantt_destroy(gantt);
}

Test(gantt, one_iteration_is_cut_out)
{
    struct gantt *gantt = gantt_create("sample", "", GANTT_SECONDS);
    gantt_add_row(gantt, "0", 0.5);
    for (uint32_t i = 0; i < 4; i++)
        gantt_add_box(gantt, &(struct gantt_box){.start = 10 * i, .end = 10 * i + 6, .number = i});
    gantt_add_arrow(gantt, &(struct gantt_arrow){12, 13, 0, 0});
    gantt_add_arrow(gantt, &(struct gantt_arrow){22, 24, 0, 0});
    gantt->iteration = 10;
    gantt_finish(gantt);
    struct gantt *whole = gantt_one_iteration(gantt);
    cr_assert_eq(whole->box_count, 4);
    cr_assert_float_eq(whole->end, 36, 0);
    gantt->window_start = 13;
    gantt->window_end = 23;
    struct gantt *cut = gantt_one_iteration(gantt);
    cr_assert_eq(cut->box_count, 2);
    cr_assert_float_eq(cut->end, 10, 0);
    cr_assert_float_eq(cut->boxes[0].start, 0, 0);
    cr_assert_float_eq(cut->boxes[0].end, 3, 0);
    cr_assert_float_eq(cut->boxes[1].start, 7, 0);
    cr_assert_float_eq(cut->boxes[1].end, 10, 0);
    cr_assert_eq(cut->boxes[1].number, 2);
    cr_assert_eq(cut->arrow_count, 0);
    cr_assert_float_eq(cut->iteration, 10, 0);
    struct gantt *two = gantt_some_iterations(gantt, 2); /* 3 to 23, T at its end */
    cr_assert_float_eq(two->end, 20, 0);
    cr_assert_float_eq(two->window_start, 10, 0);
    cr_assert_float_eq(two->window_end, 20, 0);
    cr_assert_eq(gantt_iteration_count(gantt), 3);
    cr_assert_eq(gantt_iteration_count(whole), 1);
    struct gantt *all = gantt_some_iterations(gantt, 3); /* more than there are before the window's end */
    cr_assert_float_eq(all->end, 36, 0);
    cr_assert_eq(all->box_count, 4);
    gantt_destroy(two);
    gantt_destroy(all);
    gantt_destroy(whole);
    gantt_destroy(cut);
    gantt_destroy(gantt);
}

Test(gantt, overlapping_collectives_lie_in_tiers)
{
    struct gantt *gantt = gantt_create("", "", GANTT_SECONDS);
    gantt_add_row(gantt, "0", 0);
    static const struct {
        double start, end;
        int tier;
    } cases[] = {{0, 4, 0}, {1, 3, 1}, {2, 9, 2}, {3, 5, 1}, {4, 6, 0}, {5, 8, 1}, {5.5, 7, 3}, {5.6, 7, 3}, {9, 9, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gantt_box box = {
            .start = cases[i].start, .end = cases[i].end, .kind = GANTT_COLLECTIVE, .lane = GANTT_LANE_COLLECTIVE};
        gantt_add_box(gantt, &box);
    }
    gantt_finish(gantt);
    cr_assert_eq(gantt->tiers, 4);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_assert_eq(gantt->boxes[i].tier, cases[i].tier, "box %zu", i);
    gantt_destroy(gantt);
}

/* ---- layout ---- */

Test(gantt, boxes_become_strips_where_they_are_too_narrow)
{
    struct gantt_wish wish = {.width = 900, .box_height = 28, .most_height = 660, .most_rows = 96};
    struct gantt *few = hand_made_1f1b(4, 8), *many = hand_made_1f1b(4, 1000), *tall = hand_made_gpipe(200, 1);
    wish.end = few->end;
    struct gantt_layout layout = gantt_lay_out(few, &wish);
    cr_assert(!layout.strips && layout.label_size >= 4.5 && layout.group == 1 && layout.rows == 4);
    wish.end = many->end;
    layout = gantt_lay_out(many, &wish);
    cr_assert(layout.strips && layout.label_size == 0);
    wish.end = tall->end;
    layout = gantt_lay_out(tall, &wish);
    cr_assert(layout.strips && layout.group == 3 && layout.rows == 67);
    cr_assert_leq(layout.height, 700);
    char text[64];
    cr_assert_str_eq(gantt_group_label(text, sizeof text, tall, &layout, 0), "0 \xe2\x80\x93 2");
    cr_assert_str_eq(gantt_group_label(text, sizeof text, tall, &layout, 66), "198 \xe2\x80\x93 199");
    gantt_destroy(few);
    gantt_destroy(many);
    gantt_destroy(tall);
}

Test(gantt, critical_path_is_drawn_where_it_can_be_read)
{
    struct gantt_wish wish = {.width = 900, .box_height = 28, .most_height = 660, .most_rows = 96};
    struct gantt *gantt = hand_made_1f1b(4, 8);
    wish.end = gantt->end;
    struct gantt_layout layout = gantt_lay_out(gantt, &wish);
    cr_assert(!gantt_shows_critical(gantt, &layout));
    for (size_t i = 0; i < gantt->box_count; i++)
        gantt->boxes[i].critical = true; /* 64 boxes that change rows less than 64 times */
    cr_assert(gantt_shows_critical(gantt, &layout));
    layout.strips = true;
    cr_assert(!gantt_shows_critical(gantt, &layout));
    layout.strips = false;
    layout.wish.plain = true;
    cr_assert(!gantt_shows_critical(gantt, &layout));
    gantt_destroy(gantt);
}

#ifndef NDEBUG
Test(gantt, not_a_number_is_our_mistake, .signal = SIGABRT)
{
    struct gantt *gantt = gantt_create("", "", GANTT_SECONDS);
    gantt_add_row(gantt, "0", 0);
    gantt_add_box(gantt, &(struct gantt_box){.start = NAN, .end = NAN});
}
#endif

/* ---- numbers and texts ---- */

Test(axis, quantities)
{
    static const struct {
        double value;
        enum gantt_unit unit;
        const char *text;
    } cases[] = {
        {9.2, GANTT_SECONDS, "9.2 s"},        {0.8125, GANTT_SECONDS, "812.5 ms"},      {1e-12, GANTT_SECONDS, "1 ps"},
        {12480, GANTT_SECONDS, "12,480 s"},   {1e6, GANTT_SECONDS, "1,000,000 s"},      {0, GANTT_SECONDS, "0 s"},
        {0.99999999, GANTT_SECONDS, "1 s"},   {1.5e-6, GANTT_SECONDS, "1.5 \xc2\xb5s"}, {36, GANTT_BARE, "36"},
        {1e-300, GANTT_SECONDS, "1e-288 ps"}, {1e300, GANTT_SECONDS, "1e+300 s"},       {1234.4, GANTT_BARE, "1,234"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[64];
        cr_assert_str_eq(axis_quantity(text, sizeof text, cases[i].value, cases[i].unit), cases[i].text);
    }
}

Test(axis, steps_are_round_and_few)
{
    for (double range = 1e-12; range < 1e12; range *= 1.7) {
        double step = axis_step(range, 10), power = pow(10, floor(log10(step * 1.0001)));
        double factor = round(step / power * 1e6) / 1e6;
        cr_assert(factor == 1 || factor == 2 || factor == 5, "%g: %g", range, step);
        cr_assert(range / step <= 10.0001 && range / step > 3.99, "%g: %g", range, step);
    }
    cr_assert_eq(axis_step(0, 10), 1);
    cr_assert_eq(axis_step(NAN, 10), 1);
}

Test(chart, ticks_of_logarithmic_axes)
{
    struct chart_axis seconds = {"time", CHART_SECONDS, true}, bytes = {"size", CHART_BYTES, true};
    char text[48];
    struct chart_scale scale = chart_scale_of(&seconds, 1.1, 5.3, 8);
    cr_assert_eq(scale.ticks, 4);
    cr_assert_str_eq(chart_tick_text(text, sizeof text, &scale, 0), "1 s");
    cr_assert_str_eq(chart_tick_text(text, sizeof text, &scale, 1), "2 s");
    cr_assert_str_eq(chart_tick_text(text, sizeof text, &scale, 3), "10 s");
    scale = chart_scale_of(&bytes, 1024, 1024 * 1024 * 1024.0, 8);
    scale.from = 0;
    scale.to = 100;
    cr_assert_str_eq(chart_tick_text(text, sizeof text, &scale, 0), "1 KiB");
    cr_assert_str_eq(chart_tick_text(text, sizeof text, &scale, 1), "8 KiB");
    cr_assert_float_eq(chart_place(&scale, 1024 * 1024), 50, 1e-9);
    scale = chart_scale_of(&seconds, 7, 7, 8);
    cr_assert(scale.low < log10(7) && scale.high > log10(7));
}

Test(canvas, text_is_made_printable)
{
    static const struct {
        const char *raw, *clean;
    } cases[] = {{"plain", "plain"},
                 {"\xc2\xb5s", "\xc2\xb5s"},
                 {"a\x01z\x7f", "a?z?"},
                 {"\xff\xc2", "??"},
                 {"\xed\xa0\x80", "???"},
                 {"\xc0\x80", "??"},
                 {"0123456789", "0123456"},
                 {"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"},
                 {"12345\xe2\x80\x93", "12345"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[8];
        text_clean(text, sizeof text, cases[i].raw);
        cr_assert_str_eq(text, cases[i].clean, "case %zu: %s", i, text);
    }
}

Test(canvas, a_full_disk_stays_on_the_stream)
{
    FILE *out = fopen("/dev/full", "wb");
    if (!out)
        cr_skip("needs /dev/full");
    setvbuf(out, NULL, _IONBF, 0);
    struct gantt *gantt = hand_made_gpipe(2, 2);
    for (enum canvas_format format = CANVAS_SVG; format <= CANVAS_PDF; format++) {
        struct fault fault = {{0}};
        cr_assert(picture_timeline(gantt, format, NULL, out, &fault), "%s", fault.text);
        cr_assert(ferror(out), "whoever owns the file has to see that it is not whole");
        clearerr(out);
    }
    gantt_destroy(gantt);
    fclose(out);
}
