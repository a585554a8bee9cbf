/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers, JSON and tables as text. */
#include "analysis/output/comparison.h"
#include "base/bulk.h"
#include "base/figure.h"
#include "base/json_writer.h"
#include "base/number_text.h"
#include "base/table.h"
#include "base/text_writer.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char *written(double value)
{
    static char text[NUMBER_TEXT_MAX];
    text[number_write(text, value)] = '\0';
    return text;
}

Test(numbers, are_short)
{
    static const struct {
        double value;
        const char *text;
    } cases[] = {{0, "0"},
                 {-0.0, "0"},
                 {1, "1"},
                 {-1.5, "-1.5"},
                 {0.1, "0.1"},
                 {9.2, "9.2"},
                 {1e15, "1e+15"},
                 {123456789, "123456789"},
                 {0.00001234, "0.00001234"},
                 {1e-5, "0.00001"},
                 {0.1 + 0.2, "0.30000000000000004"},
                 {1e300, "1e+300"},
                 {5e-324, "4.94065645841247e-324"},
                 {999999999999999, "999999999999999"},
                 {1.0 / 3, "0.3333333333333333"},
                 {100, "100"},
                 {0.5, "0.5"},
                 {20480, "20480"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_assert_str_eq(written(cases[i].value), cases[i].text);
}

/* Against the C library: every text reads back, and none is longer than the shortest of %.15g, %.16g, %.17g allows. */
Test(numbers, read_back)
{
    uint64_t state = 12345;
    struct number_cache *cache = number_cache_create();
    for (int i = 0; i < 200000; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        double value = (double)(state >> 11) / (double)(1u << (state >> 59)) / (i % 3 ? 1e12 : 1);
        if (i % 5 == 0)
            value = nearbyint(value * 1e6) / 1e6;
        char text[NUMBER_TEXT_MAX], again[NUMBER_TEXT_MAX], shortest[NUMBER_TEXT_MAX];
        text[number_write(text, value)] = '\0';
        again[number_write_cached(cache, again, value)] = '\0';
        int precision = 15;
        do
            snprintf(shortest, sizeof shortest, "%.*g", precision, value);
        while (strtod(shortest, NULL) != value && precision++ < 17);
        cr_assert_eq(strtod(text, NULL), value, "%s is not %.17g", text, value);
        cr_assert_str_eq(text, again);
        cr_assert(strlen(text) <= strlen(shortest) + 4, "%s for %s", text, shortest); /* 0.00001234 for 1.234e-05 */
    }
    number_cache_destroy(cache);
}

static const char *contents(FILE *file)
{
    static char text[1024];
    rewind(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

Test(json, layout_and_escapes)
{
    FILE *file = tmpfile();
    struct json_writer json = json_writer_init(file);
    json_object_begin(&json, NULL, true);
    json_text(&json, "text", "a\"b\\c\n\x01 \xc3\xa9 \xff \xe2\x82");
    json_number(&json, "nan", NAN);
    json_array_begin(&json, "empty", true);
    json_array_end(&json);
    json_object_begin(&json, "inline", false);
    json_integer(&json, "big", UINT64_MAX);
    json_flag(&json, "flag", true);
    json_object_end(&json);
    json_object_end(&json);
    cr_assert_str_eq(contents(file),
                     "{\n  \"text\": \"a\\\"b\\\\c\\u000a\\u0001 \xc3\xa9 \\ufffd \\ufffd\\ufffd\",\n  \"empty\": [],\n"
                     "  \"inline\": {\"big\": 18446744073709551615, \"flag\": true}\n}\n");
}

/* Criterion runs each test in a process of its own: what one notes no other one sees. */
static void expect_named(const char *name)
{
    struct fault fault = {""};
    cr_assert(!figures_finite(&fault));
    cr_assert_eq(strncmp(fault.text, name, strlen(name)), 0, "%s", fault.text);
}

Test(figures, finite_ones_are_fine)
{
    struct fault fault = {""};
    cr_assert_eq(figure("time", 1e308), 1e308);
    cr_assert(figures_finite(&fault) && !*fault.text);
}

Test(figures, the_first_that_is_not_finite_is_named)
{
    cr_assert(isinf(figure("time", INFINITY)));
    figure("bubble", NAN);
    expect_named("time is infinite");
}

Test(figures, of_json)
{
    FILE *file = tmpfile();
    struct json_writer json = json_writer_init(file);
    json_object_begin(&json, NULL, true);
    json_number(&json, "iteration_s", -INFINITY);
    json_object_end(&json);
    fclose(file);
    expect_named("iteration_s is infinite");
}

Test(figures, of_cells)
{
    struct table *table = table_create();
    table_columns(table, "<name", ">seconds", NULL);
    table_cell(table, "%s", "inf"); /* a name */
    table_cell(table, "%.4g", -NAN);
    table_destroy(table);
    expect_named("seconds is not a number");
}

Test(figures, of_quantities)
{
    char text[READABLE_MAX];
    readable_percent(text, NAN);
    expect_named("a share is not a number");
}

Test(figures, of_numbers_in_texts)
{
    struct text_writer *writer = text_writer_create(tmpfile());
    text_number(writer, INFINITY);
    text_writer_destroy(writer);
    expect_named("a number is infinite");
}

Test(table, aligns)
{
    struct table *table = table_create();
    table_columns(table, "<name", ">value", NULL);
    table_cell(table, "%s", "a");
    table_cell(table, "%d", 1);
    table_cell(table, "%s", "caf\xc3\xa9 noir");
    table_cell(table, "%d", 1234567);
    table_cell(table, "%s", "last");
    FILE *file = tmpfile();
    table_print_within(table, file, 2, 0);
    table_destroy(table);
    cr_assert_str_eq(
        contents(file),
        "  name         value\n  ---------  -------\n  a                1\n  caf\xc3\xa9 noir  1234567\n  last\n");
}

Test(table, wide_tables_go_on_below)
{
    struct table *table = table_create();
    table_columns(table, "<name", "<kind", ">first", ">second", "<third", NULL);
    for (int row = 0; row < 2; row++) {
        table_cell(table, "row %d", row);
        table_cell(table, "x");
        for (int i = 0; i < 3; i++)
            table_cell(table, "%d", 10 * row + i);
    }
    FILE *file = tmpfile();
    table_print_within(table, file, 0, 26);
    cr_assert_str_eq(contents(file), "name   kind  first  second\n-----  ----  -----  ------\nrow 0  x         0       "
                                     "1\nrow 1  x        10      11\n"
                                     "\nname   kind  third\n-----  ----  -----\nrow 0  x     2\nrow 1  x     12\n");
    table_destroy(table);
}

Test(table, quantities)
{
    char text[READABLE_MAX];
    cr_assert_str_eq(readable_seconds(text, 9.2), "9.200 s");
    cr_assert_str_eq(readable_seconds(text, 0.012345), "12.35 ms");
    cr_assert_str_eq(readable_seconds(text, 0), "0 s");
    cr_assert_str_eq(readable_seconds(text, 1.5e-6), "1.500 us");
    cr_assert_str_eq(readable_seconds(text, 0.99999999), "1.000 s");
    cr_assert_str_eq(readable_binary_bytes(text, 80.0 * (1 << 30)), "80.00 GiB");
    cr_assert_str_eq(readable_decimal_bytes(text, 1.2e9), "1.200 GB");
    cr_assert_str_eq(readable_flops(text, 312e12), "312.0 Tflop/s");
    cr_assert_str_eq(readable_joules(text, 141.631), "141.6 J");
    cr_assert_str_eq(readable_joules(text, 10468.7), "10.47 kJ");
    cr_assert_str_eq(readable_joules(text, 2.5e7), "25.00 MJ");
    cr_assert_str_eq(readable_watt_hours(text, 3.6e6), "1.000 kWh");
    cr_assert_str_eq(readable_watt_hours(text, 9e3), "2.500 Wh");
    cr_assert_str_eq(readable_watts(text, 12800), "12.80 kW");
    cr_assert_str_eq(readable_percent(text, 0.347826), "34.78 %");
}

static struct comparison_row sample(const char *schedule, double iteration)
{
    struct comparison_row row = {
        .scenario = "a, b", .engine = "simgrid", .iteration = iteration, .bubble = 0.25, .peak_in_flight = 2};
    snprintf(row.schedule, sizeof row.schedule, "%s", schedule);
    row.causes[CAUSE_FILL] = 0.25;
    return row;
}

Test(comparison, csv)
{
    struct comparison_row rows[] = {sample("1f1b", 2), sample("chimera", 1.5)};
    rows[1].capacity_known = rows[1].fits = true;
    rows[1].peak_bytes = 5;
    rows[1].limits = (struct limits){true, {0.2, 0.1, 0.4, 0.3}};
    rows[0].settled = 4;
    rows[1].unsettled = true;
    FILE *file = tmpfile();
    comparison_print(file, rows, 2, TABLE_CSV);
    cr_assert_str_eq(
        contents(file),
        "scenario,schedule,engine,iteration_s,samples_per_s,bubble_ratio,fill,drain,receive,collective,dependency,"
        "input,peak_in_flight,peak_bytes,fits,relative_time,limited_by,order,imbalance,transfer,contention,"
        "bound_s,above_bound,iteration_low_s,iteration_high_s,memory_low_bytes,memory_high_bytes,"
        "fits_share,step_p50_s,step_p95_s,step_p99_s,settled_iterations,unsettled,reason\n"
        "\"a, b\",1f1b,simgrid,2,,0.25,0.25,0,0,0,0,0,2,,,1,,,,,,,,,,,,,,,,4,,\n"
        "\"a, b\",chimera,simgrid,1.5,,0.25,0.25,0,0,0,0,0,2,5,true,0.75,network,,,,,,,,,,,,,,,,true,\n");
}

Test(comparison, table)
{
    struct comparison_row rows[] = {sample("1f1b", 2), sample("pipedream", 1.5)};
    rows[1].asynchronous = true;
    FILE *file = tmpfile();
    comparison_print(file, rows, 2, TABLE_TEXT);
    cr_assert_str_eq(
        contents(file),
        "scenario  schedule     iteration  relative   bubble     fill  in flight\n"
        "--------  -----------  ---------  --------  -------  -------  ---------\n"
        "a, b      1f1b           2.000 s     1.000  25.00 %  25.00 %          2\n"
        "a, b      pipedream *    1.500 s     0.750  25.00 %  25.00 %          2\n"
        "* asynchronous: the time between updates in steady state; not equivalent to synchronous training\n");
}

/* Texts as long as the buffer, shorter and longer by one, and several of it: nothing is lost or comes twice. */
Test(text, longer_than_the_buffer)
{
    static const size_t sizes[] = {1, 65535, 65536, 65537, 200000, 3};
    char *whole = NULL, *part = malloc(200001);
    size_t size = 0, at = 0;
    FILE *out = open_memstream(&whole, &size);
    struct text_writer *writer = text_writer_create(out);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        memset(part, 'a' + (int)i, sizes[i]);
        part[sizes[i]] = '\0';
        text_string(writer, part);
        text_char(writer, '\n');
        text_integer(writer, UINT64_MAX);
        text_number(writer, 0.1);
    }
    text_writer_destroy(writer);
    fclose(out);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (size_t k = 0; k < sizes[i]; k++)
            cr_assert_eq(whole[at + k], 'a' + (char)i, "text %zu, character %zu", i, k);
        at += sizes[i];
        cr_assert(strncmp(whole + at, "\n184467440737095516150.1", 24) == 0, "behind text %zu", i);
        at += 24;
    }
    cr_assert_eq(size, at);
    free(whole);
    free(part);
}

Test(memory_stream, has_all_that_was_written)
{
    enum { LINES = 20000 };
    char *text;
    size_t size;
    FILE *stream = memory_stream_open(&text, &size);
    for (unsigned i = 0; i < LINES; i++)
        fprintf(stream, "%06u\n", i);
    memory_stream_close(stream);
    cr_assert_eq(size, 7 * LINES);
    for (unsigned i = 0; i < LINES; i++)
        cr_assert_eq((unsigned)strtoul(text + 7 * (size_t)i, NULL, 10), i);
    free(text);
    memory_stream_close(memory_stream_open(&text, &size));
    cr_assert(size == 0 && !*text);
    free(text);
}
