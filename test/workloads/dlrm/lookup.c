/* SPDX-License-Identifier: Apache-2.0 */
/* The lookup model against the vectors of embedding-vectors.csv, which were computed by other means; unique rows
 * against sums over all rows; placements. */
#include "workloads/dlrm/lookup.h"
#include "base/csv.h"
#include "workloads/dlrm/placement.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    GPU,
    BATCH,
    ROWS,
    TABLES,
    POOLING,
    DIM,
    CACHED,
    UNIQUE,
    HIT,
    SIMPLE_MB,
    SIMPLE_US,
    MISS_MB,
    MISS_US,
    L2_MB,
    BACKWARD_MB,
    BACKWARD_US,
    COLUMNS
};

static const char *const names[COLUMNS] = {
    "gpu",      "batch",     "rows",      "tables",  "pooling", "dim",   "cached_rows", "unique_rows",
    "hit_rate", "simple_mb", "simple_us", "miss_mb", "miss_us", "l2_mb", "backward_mb", "backward_us"};

static double number(struct csv *csv, size_t column)
{
    double value = NAN;
    cr_assert(csv_number(csv, column, &value), "line %u, %s", csv_line(csv), names[column]);
    return value;
}

static void near(struct csv *csv, size_t column, double found, double tolerance)
{
    double expected = number(csv, column);
    cr_assert(fabs(found - expected) <= tolerance, "line %u, %s: %.9g, not %.9g", csv_line(csv), names[column], found,
              expected);
}

static struct memory_curve curve_of(const char *gpu)
{
    char path[512];
    struct memory_curve curve;
    struct fault fault = {""};
    snprintf(path, sizeof path, "%s",
             !strcmp(gpu, "A100")   ? SOURCE "/workloads/efficiency/A100-SXM4-40GB.lookups.csv"
             : !strcmp(gpu, "V100") ? SOURCE "/workloads/efficiency/V100-SXM2-16GB.lookups.csv"
                                    : SOURCE "/test/workloads/dlrm/GV100.lookups.csv");
    cr_assert(memory_curve_read(path, &curve, &fault), "%s", fault.text);
    return curve;
}

static void check_row(struct csv *csv)
{
    char gpu[16] = "";
    struct csv_field field = csv_get(csv, GPU);
    memcpy(gpu, field.text, field.size < sizeof gpu ? field.size : sizeof gpu - 1);
    struct memory_curve curve = curve_of(gpu);
    struct dlrm_table table = {.rows = number(csv, ROWS), .pooling = number(csv, POOLING)};
    struct lookup lookup = {
        .rows = table.rows, .width = number(csv, DIM), .pooling = table.pooling, .samples = number(csv, BATCH)};
    lookup.unique = dlrm_unique_rows(&table, lookup.samples * lookup.pooling);
    struct lookup_traffic traffic = lookup_traffic(&lookup, &curve, 0);
    double tables = number(csv, TABLES), mega = tables / 1e6;
    near(csv, CACHED, traffic.cached_rows, 0);
    near(csv, UNIQUE, lookup.unique, 0.05 * (1 + 1e-9));
    near(csv, HIT, traffic.hit_rate, 1e-4);
    /* The file has three digits behind the point: bytes are exact when they round to them. */
    near(csv, SIMPLE_MB, traffic.all * mega, 0.0005 * (1 + 1e-9));
    near(csv, MISS_MB, traffic.memory * mega, 0.0005 * (1 + 1e-9));
    near(csv, L2_MB, traffic.cache * mega, 0.0005 * (1 + 1e-9));
    near(csv, BACKWARD_MB, traffic.backward * mega, 0.0005 * (1 + 1e-9));
    near(csv, SIMPLE_US, 1e6 * memory_curve_seconds(&curve, traffic.all * tables), 0.005 * number(csv, SIMPLE_US));
    near(csv, MISS_US, 1e6 * memory_curve_seconds(&curve, traffic.memory * tables) * traffic.slower,
         0.005 * number(csv, MISS_US));
    near(csv, BACKWARD_US, 1e6 * memory_curve_seconds(&curve, traffic.backward * tables),
         0.005 * number(csv, BACKWARD_US));
}

Test(lookup, published_vectors)
{
    const struct csv_columns columns = {
        .names = names, .count = COLUMNS, .required = COLUMNS, .what = "vectors", .comments = true};
    struct fault fault = {""};
    size_t size;
    char *text = csv_load(SOURCE "/test/workloads/dlrm/embedding-vectors.csv", 1 << 20, &size);
    cr_assert(text);
    struct csv *csv = csv_open("embedding-vectors.csv", text, size, &columns, NULL, &fault);
    cr_assert(csv, "%s", fault.text);
    unsigned rows = 0;
    for (; csv_next(csv); rows++)
        check_row(csv);
    cr_assert_eq(rows, 7);
    csv_close(csv);
    free(text);
}

/* The published cost of an exchange of 4 KB is the overhead alone; on a straight piece the rate is exact. */
Test(lookup, ends_of_the_curve)
{
    struct memory_curve curve = curve_of("A100");
    cr_assert_eq(memory_curve_seconds(&curve, 4096), 6.450239e-6);
    double one = memory_curve_seconds(&curve, 1e9), two = memory_curve_seconds(&curve, 2e9);
    cr_assert(fabs((two - one) * 1391.103638e9 / 1e9 - 1) < 1e-9);
}

/* ---- unique rows ---- */

static double brute_force(double rows, double exponent, double lookups)
{
    double total = 0, sum = 0;
    for (double k = 1; k <= rows; k++)
        total += pow(k, -exponent);
    for (double k = 1; k <= rows; k++)
        sum += 1 - pow(1 - pow(k, -exponent) / total, lookups);
    return sum;
}

Test(lookup, zipf_is_the_sum_over_all_rows)
{
    static const double exponents[] = {0.5, 1, 1.05, 1.45, 2}, rows[] = {1, 7, 4096, 5000, 300000};
    for (size_t i = 0; i < 5; i++)
        for (size_t k = 0; k < 5; k++)
            for (double lookups = 10; lookups < 1e7; lookups *= 100) {
                struct dlrm_table table = {.rows = rows[k], .zipf = exponents[i]};
                double expected = brute_force(rows[k], exponents[i], lookups);
                double found = dlrm_unique_rows(&table, lookups);
                cr_assert(fabs(found - expected) <= 1e-3 * expected, "%g rows, exponent %g, %g lookups: %g, not %g",
                          rows[k], exponents[i], lookups, found, expected);
            }
}

static void check_answer(double rows, double exponent, double lookups)
{
    struct dlrm_table table = {.rows = rows, .zipf = exponent};
    double expected = brute_force(rows, exponent, lookups), found = dlrm_unique_rows(&table, lookups);
    expected = expected < lookups ? expected : lookups;
    cr_assert(fabs(found - expected) <= 1e-9, "%g rows, exponent %g, %g lookups: %.12g, not %.12g", rows, exponent,
              lookups, found, expected);
}

/* More questions than answers are kept, that differ in one number: an answer is that of its own question. */
Test(lookup, answers_that_are_kept_are_not_mixed_up)
{
    for (int i = 1; i <= 5000; i++)
        check_answer(9, 1, i);
    for (int i = 1; i <= 5000; i++)
        check_answer(9, i / 2000.0, 60);
    for (int again = 0; again < 200; again++)
        for (double rows = 2; rows <= 40; rows++)
            check_answer(rows, 1, 60 + again);
}

Test(lookup, unique_share_and_bounds)
{
    struct dlrm_table table = {.rows = 1000, .unique = 0.3};
    cr_assert_eq(dlrm_unique_rows(&table, 100), 30);
    cr_assert_eq(dlrm_unique_rows(&table, 1e6), 1000);
    struct dlrm_table large = {.rows = 1e12};
    double found = dlrm_unique_rows(&large, 65536); /* n - n (n - 1)/(2 E) */
    cr_assert(fabs(65536 - found - 65536.0 * 65535 / 2e12) < 1e-6, "%.12g", found);
    for (double rows = 10; rows < 1e9; rows *= 37) {
        struct dlrm_table uniform = {.rows = rows};
        double back = dlrm_equivalent_rows(dlrm_unique_rows(&uniform, 2e6), 2e6);
        cr_assert(rows < 1e6 ? back <= rows * (1 + 1e-9) : fabs(back / rows - 1) < 1e-6, "%g, not %g", back, rows);
    }
}

/* Rows that repeat are hit more often, and never more than once for each repetition. */
Test(lookup, skew_raises_the_hit_rate)
{
    struct memory_curve curve = curve_of("A100");
    struct dlrm_table table = {.rows = 1e7, .pooling = 20};
    double before = -1;
    for (double exponent = 0; exponent <= 1.5; exponent += 0.25) {
        table.zipf = exponent;
        struct lookup lookup = {.rows = 1e7, .width = 128, .pooling = 20, .samples = 4096};
        lookup.unique = dlrm_unique_rows(&table, 4096 * 20);
        double hit = lookup_traffic(&lookup, &curve, 0).hit_rate;
        cr_assert(hit > before && hit <= 1 - lookup.unique / (4096 * 20) + 1e-12, "exponent %g: %g", exponent, hit);
        before = hit;
    }
}

/* ---- files ---- */

static void refuse(const char *text, const char *reason)
{
    struct memory_curve curve;
    struct fault fault = {""};
    cr_assert_not(memory_curve_parse("x.csv", text, strlen(text), &curve, &fault), "%s", text);
    cr_assert(strstr(fault.text, reason), "'%s' does not say '%s'", fault.text, reason);
}

Test(lookup, bad_files)
{
    refuse("", "x.csv");
    refuse("what,value\n", "no line");
    refuse("what,value\nflat,14\n", "straight");
    refuse("what,value\nwarps,0\n", "x.csv:2:7: 'warps' is 0");
    refuse("what,value\ncache,1\ncache,2\n", "given twice");
    refuse("what,value\ncahe,1\n", "did you mean 'cache'");
    refuse("what,value\ncache,nan\n", "x.csv:2");
    refuse("what,value\nflat,9\nstraight,9\nrate,1\noverhead,0\nheight,1\nmiddle,1\nslope,1\nbase,1\n", "not above");
}

/* ---- placements ---- */

Test(placement, parts_make_the_table)
{
    static const uint32_t three[] = {6, 1, 3};
    const struct dlrm_table table = {.rows = 1000, .width = 64, .pooling = 5};
    struct dlrm_placement placement;
    dlrm_placement_init(&placement, 3, 8);
    dlrm_placement_set(&placement, 0, DLRM_ROWS, three, 3);
    dlrm_placement_set(&placement, 1, DLRM_COLUMNS, three, 3);
    dlrm_placement_set(&placement, 2, DLRM_REPLICATED, NULL, 0);
    double rows = 0, pooling = 0, width = 0, copies = 0;
    for (uint32_t rank = 0; rank < 8; rank++) {
        struct dlrm_share share = dlrm_placement_share(&placement, &table, 0, rank);
        cr_assert_eq(share.any, rank == 1 || rank == 3 || rank == 6);
        rows += share.rows;
        pooling += share.pooling;
        cr_assert(!share.any || share.sums == 64);
        share = dlrm_placement_share(&placement, &table, 1, rank);
        width += share.width;
        cr_assert(!share.any || (share.rows == 1000 && share.sums == share.width && share.pooling == 5));
        share = dlrm_placement_share(&placement, &table, 2, rank);
        copies += share.rows;
        cr_assert_eq(share.sums, 0);
    }
    cr_assert_eq(rows, 1000);
    cr_assert_eq(width, 64);
    cr_assert_eq(copies, 8000);
    cr_assert(fabs(pooling - 5) < 1e-12);
    /* Two rows on three ranks: one has none, the others share the lookups. */
    const struct dlrm_table tiny = {.rows = 2, .width = 64, .pooling = 5};
    pooling = 0;
    for (uint32_t rank = 0; rank < 8; rank++)
        pooling += dlrm_placement_share(&placement, &tiny, 0, rank).any
                       ? dlrm_placement_share(&placement, &tiny, 0, rank).pooling
                       : 0;
    cr_assert_eq(pooling, 5);
    cr_assert_not(dlrm_placement_share(&placement, &tiny, 0, 6).any);
    dlrm_placement_finish(&placement);
}

Test(placement, ranks_in_turn)
{
    struct dlrm_placement placement;
    dlrm_placement_init(&placement, 26, 8);
    unsigned count[8] = {0};
    for (uint32_t i = 0; i < 26; i++)
        count[placement.places[i].ranks[0]]++;
    for (int i = 0; i < 8; i++)
        cr_assert_eq(count[i], i < 2 ? 4 : 3);
    dlrm_placement_finish(&placement);
}

Test(placement, ranks_as_text)
{
    static const struct {
        const char *text, *ranks;
    } cases[] = {{"0", "0"},
                 {"0-3 5", "01235"},
                 {"5,0-1,1", "015"},
                 {"all", "01234567"},
                 {"8", "does not exist"},
                 {"0-9", "does not exist"},
                 {"", "no rank"},
                 {"3-1", "no rank"},
                 {"x", "no rank"},
                 {"1-", "no rank"},
                 {"99999999999999999999", "does not exist"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t ranks[8];
        char text[9] = "";
        struct fault fault = {""};
        uint32_t count = dlrm_ranks_parse(cases[i].text, 8, ranks, &fault);
        for (uint32_t k = 0; k < count; k++)
            text[k] = (char)('0' + ranks[k]);
        const char *found = count ? text : fault.text;
        cr_assert(count ? !strcmp(found, cases[i].ranks) : strstr(found, cases[i].ranks) != NULL, "'%s': %s",
                  cases[i].text, found);
    }
}
