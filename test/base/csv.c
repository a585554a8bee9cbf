/* SPDX-License-Identifier: Apache-2.0 */
/* The table reader: what it splits, and where it says mistakes are. */
#include "base/csv.h"
#include "base/arena.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {"rank", "host", "time"};
static const struct csv_columns columns = {names, 3, 2, "a test", true};

/* All rows as "rank|host|time;". The caller frees the text. */
static char *read_rows(const char *text, struct fault *fault)
{
    struct arena *arena = arena_create();
    char *rows = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&rows, &size);
    struct csv *csv = csv_open("t.csv", text, strlen(text), &columns, NULL, fault);
    while (csv && csv_next(csv)) {
        uint32_t rank;
        if (!csv_integer(csv, 0, 1000, &rank))
            continue;
        fprintf(out, "%u|%s|", rank, csv_text(csv_get(csv, 1), arena));
        double time;
        if (csv_has(csv, 2) && csv_number(csv, 2, &time))
            fprintf(out, "%g", time);
        fputc(';', out);
    }
    csv_close(csv);
    fclose(out);
    arena_destroy(arena);
    return rows;
}

Test(csv, splits)
{
    static const char *const good[][2] = {
        {"rank,host\n1,a\n2,b\n", "1|a|;2|b|;"},
        {"\xEF\xBB\xBFhost , rank\r\n a b ,\t3\r\n\r\n# no row\nc,4", "3|a b|;4|c|;"},
        {"rank,host,time\n1,\"a,b\",1.5e-3\n2, \"say \"\"x\"\"\" ,2\n", "1|a,b|0.0015;2|say \"x\"|2;"},
        {"rank,host\n1,\"two\nlines\"\n2,\n", "1|two\nlines|;2||;"},
        {"rank,host\n1,a \"b\"\n", "1|a \"b\"|;"},
        {"rank,host", ""},
        {"", ""},
        {"\n\n", ""},
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct fault fault = {""};
        char *rows = read_rows(good[i][0], &fault);
        cr_assert_str_empty(fault.text, "%s: %s", good[i][0], fault.text);
        cr_assert_str_eq(rows, good[i][1]);
        free(rows);
    }
}

Test(csv, reports_the_place)
{
    static const char *const bad[][2] = {
        {"rank,hots\n", "t.csv:1:6: 'hots' is no column of a test; did you mean 'host'?"},
        {"rank,host,colour\n", "t.csv:1:11: 'colour' is no column of a test; expected rank, host or time"},
        {"rank,time\n", "t.csv:1:1: column 'host' is missing"},
        {"rank,host,rank\n", "t.csv:1:11: column 'rank' is there twice"},
        {"1,a\n", "t.csv:1:1: the first line names the columns, separated by commas: rank,host"},
        {"rank,host\n1\n", "t.csv:2:1: this row has 1 field, the first line names 2"},
        {"rank,host\n1,a,\n", "t.csv:2:1: this row has 3 fields, the first line names 2"},
        {"rank,host\n1,\"a\n2,b\n", "t.csv:2:3: this quote is never closed"},
        {"rank,host\n1,\"a\"b\n", "t.csv:2:6: expected a comma after the closing quote"},
        {"host,rank\n\"a\nb\",x\n", "t.csv:3:4: rank is a whole number from 0 without leading zeros, not 'x'"},
        {"host,rank\n\xC3\xA4,01\n", "t.csv:2:3: rank is a whole number from 0 without leading zeros, not '01'"},
        {"rank,host\n1001,\n", "t.csv:2:1: rank '1001' is too large; at most 1000 is possible"},
        {"rank,host,time\n1,,nan\n", "t.csv:2:4: time is a number such as 1.5e-3, not 'nan'"},
        {"rank,host,time\n1,,1e999\n", "t.csv:2:4: time is a number such as 1.5e-3, not '1e999'"},
        {"rank,host,time\n1,,1.2.3\n", "t.csv:2:4: time is a number such as 1.5e-3, not '1.2.3'"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct fault fault = {""};
        free(read_rows(bad[i][0], &fault));
        cr_assert_str_eq(fault.text, bad[i][1]);
    }
}
