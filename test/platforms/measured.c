/* SPDX-License-Identifier: Apache-2.0 */
/* Measured tables: which collective they speak of, how many ranks, which rows are taken, at the bounds of each rule. */
#include "platforms/measured.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool parse(struct measured *measured, const char *name, const char *text, char **said)
{
    size_t size = 0;
    *said = NULL;
    struct diag diag = {.out = open_memstream(said, &size)};
    bool taken = measured_parse(measured, name, text, strlen(text), &diag);
    fclose(diag.out);
    return taken;
}

static void is_taken(const char *name, const char *text, enum stagesim_collective kind, uint32_t ranks, size_t rows)
{
    struct measured measured;
    char *said;
    cr_assert(parse(&measured, name, text, &said), "%s\n%s", text, said);
    cr_assert(measured.kind == kind && measured.ranks == ranks && measured.count == rows,
              "%s\nkind %d, %u ranks, %zu rows", text, (int)measured.kind, measured.ranks, measured.count);
    measured_finish(&measured);
    free(said);
}

static void is_refused(const char *name, const char *text, const char *expected)
{
    struct measured measured;
    char *said;
    bool taken = parse(&measured, name, text, &said);
    cr_assert(!taken && strstr(said, expected), "%s\nsaid '%s', expected '%s'", text, said, expected);
    measured_finish(&measured);
    free(said);
}

Test(measured, kinds)
{
    static const struct {
        const char *name;
        enum stagesim_collective kind;
    } kinds[] = {{"all-reduce", STAGESIM_ALL_REDUCE},     {"ReduceScatter", STAGESIM_REDUCE_SCATTER},
                 {"all_gather", STAGESIM_ALL_GATHER},     {"AlltoAll", STAGESIM_ALL_TO_ALL},
                 {"broadcast", STAGESIM_BROADCAST},       {"reduce", STAGESIM_REDUCE},
                 {"send-receive", STAGESIM_SEND_RECEIVE}, {"sendrecv", STAGESIM_SEND_RECEIVE}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char text[200];
        snprintf(text, sizeof text, "# collective: %s\n# ranks: 8\nsize_bytes,time_us\n1024,10\n", kinds[i].name);
        is_taken("table.csv", text, kinds[i].kind, 8, 1);
        snprintf(text, sizeof text, "/dir/%s-h100.csv", kinds[i].name);
        is_taken(text, "# ranks: 2\nsize_bytes,time_us\n1024,10\n", kinds[i].kind, 2, 1);
    }
    is_refused("table.csv", "# collective: gather\n# ranks: 8\nsize_bytes,time_us\n1024,10\n", "not 'gather'");
    is_refused("table.csv", "# ranks: 8\nsize_bytes,time_us\n1024,10\n", "does not say which collective");
}

Test(measured, ranks)
{
    static const char *const bad[] = {"1", "0", "-2", "8 or so", "", "99999999999"};
    is_taken("reduce", "# ranks: 2\nsize_bytes,time_us\n1,1\n", STAGESIM_REDUCE, 2, 1);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[200];
        snprintf(text, sizeof text, "# ranks: %s\nsize_bytes,time_us\n1,1\n", bad[i]);
        is_refused("reduce", text, "expected a number of ranks from 2");
    }
    is_refused("reduce", "size_bytes,time_us\n1,1\n", "how many ranks");
    is_refused("reduce", "# Rank 0 on a\nsize_bytes,time_us\n1,1\n", "how many ranks");
    is_taken("reduce", "# Rank 0 on a\n# Rank 1 on a\nsize_bytes,time_us\n1,1\n", STAGESIM_REDUCE, 2, 1);
}

Test(measured, rows_of_csv)
{
    struct measured measured;
    char *said;
    cr_assert(parse(&measured, "reduce", "# ranks: 2\nsize_bytes,time_us\n0,5\n1024,12.5\n2048,25\n", &said), "%s",
              said);
    cr_assert_eq(measured.count, 2, "rows of size 0 are left out");
    cr_assert(measured.rows[0].bytes == 1024 && fabs(measured.rows[0].seconds - 12.5e-6) < 1e-18);
    cr_assert(measured.rows[1].bytes == 2048 && fabs(measured.rows[1].seconds - 25e-6) < 1e-18);
    measured_finish(&measured);
    free(said);
    is_refused("reduce", "# ranks: 2\nsize_bytes,time_us\n-1,5\n", "expected a size from 0");
    is_refused("reduce", "# ranks: 2\nsize_bytes,time_us\n1,0\n", "expected a time from");
    is_refused("reduce", "# ranks: 2\nsize_bytes,time_us\n1,nan\n", "");
    is_refused("reduce", "# ranks: 2\nsize_bytes,time_us\n", "has no measured row");
}

#define HEAD "# nThread 1 nGpus 2 using all_reduce_perf\n#  Rank  0 Group 0\n#  Rank  1 Group 0\n"

/* The time is the eighth field from the end, whatever stands before it. */
Test(measured, rows_that_nccl_tests_prints)
{
    struct measured measured;
    char *said;
    cr_assert(parse(&measured, "log.txt",
                    HEAD "     1048576   262144  float  sum  -1  50.0 20.97 20.97 0  49.0 20.97 20.97 0\n"
                         "     2097152   524288  float  sum  90.0 23.30 23.30 0  91.0 23.30 23.30 0\n"
                         "# Avg bus bandwidth : 20\nother words\n",
                    &said),
              "%s", said);
    cr_assert(measured.count == 2 && measured.ranks == 2 && measured.kind == STAGESIM_ALL_REDUCE);
    cr_assert(measured.rows[0].bytes == 1048576 && fabs(measured.rows[0].seconds - 50e-6) < 1e-18);
    cr_assert(measured.rows[1].bytes == 2097152 && fabs(measured.rows[1].seconds - 90e-6) < 1e-18);
    measured_finish(&measured);
    free(said);
    is_taken("log.txt", HEAD "1 2 3 50.0 1 1 0 49.0 1 1 0\n", STAGESIM_ALL_REDUCE, 2, 1);
    is_refused("log.txt", HEAD "1 2 50.0 1 1 0 49.0 1 1 0\n", "this row has 10 fields");
    is_refused("log.txt", HEAD "1x 2 3 50.0 1 1 0 49.0 1 1 0\n", "'1x' is no size in bytes");
    is_refused("log.txt", HEAD "1 2 3 fast 1 1 0 49.0 1 1 0\n", "'fast' is no time in microseconds");
    is_refused("log.txt", HEAD "1 2 3 0 1 1 0 49.0 1 1 0\n", "expected a time from");
    is_taken("log.txt", HEAD "1e18 2 3 1e12 1 1 0 49.0 1 1 0\n", STAGESIM_ALL_REDUCE, 2, 1);
    is_refused("log.txt", HEAD "1.1e18 2 3 1e12 1 1 0 49.0 1 1 0\n", "'1.1e18' is no size in bytes");
    is_refused("log.txt", HEAD "1 2 3 1.1e12 1 1 0 49.0 1 1 0\n", "'1.1e12' is no time in microseconds");
}
