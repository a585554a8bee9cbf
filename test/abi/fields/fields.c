/* SPDX-License-Identifier: Apache-2.0 */
#include "abi/fields/fields.h"

#include "abi/fields/fields_rows.h"
#include "base/arena.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

struct target {
    uint64_t count;
    double ratio, time, bytes, rate, flops;
    bool flag;
    unsigned name, names;
    const char *text, *path;
    struct stagesim_list times, sizes;
    struct stagesim_texts texts;
};

static const char *const words[] = {"ring", "tree", "auto", NULL};

#define FIELD(member, kind, ...)                                                                                       \
    {                                                                                                                  \
#member, kind, offsetof(struct target, member), __VA_ARGS__                                                    \
    }

static const struct stagesim_field fields[] = {
    FIELD(count, STAGESIM_FIELD_COUNT, .least = 2, .most = 8),
    FIELD(ratio, STAGESIM_FIELD_RATIO, .least = 0.1, .most = 1),
    FIELD(time, STAGESIM_FIELD_TIME, .least = 1e-300, .most = 10),
    FIELD(bytes, STAGESIM_FIELD_BYTES, .required = true),
    FIELD(rate, STAGESIM_FIELD_RATE, .least = 0),
    FIELD(flops, STAGESIM_FIELD_FLOPS, .least = 0),
    FIELD(flag, STAGESIM_FIELD_FLAG, .least = 0),
    FIELD(name, STAGESIM_FIELD_NAME, .names = words),
    FIELD(names, STAGESIM_FIELD_NAMES, .names = words),
    FIELD(text, STAGESIM_FIELD_TEXT, .least = 0),
    FIELD(path, STAGESIM_FIELD_PATH, .least = 0),
    FIELD(times, STAGESIM_FIELD_TIMES, .least = 0, .most = 5),
    FIELD(sizes, STAGESIM_FIELD_BYTES_LIST, .least = 0),
    FIELD(texts, STAGESIM_FIELD_TEXTS, .least = 0),
    {"other.count", STAGESIM_FIELD_COUNT, offsetof(struct target, count)},
    {0},
};

static const struct target before = {
    .count = 77, .ratio = 77, .time = 77, .bytes = 77, .rate = 77, .flops = 77, .name = 77, .names = 77};

/* Reads `text` as the section; the messages are to be freed by the caller. */
static char *read_section(struct arena *arena, const char *name, const char *text, struct target *target)
{
    char *messages = NULL;
    size_t size = 0;
    struct diag diag = {.out = open_memstream(&messages, &size)};
    struct fields_reader reader = {.directory = "/tmp", .arena = arena, .diag = &diag};
    struct fields_section section = {name, !strcmp(name, "own"), fields};
    const struct node *node = document_parse_kind(&document_scenario, "f", text, strlen(text), arena, &diag);
    *target = before;
    fields_check_keys(&reader, &section, NULL, node);
    fields_read(&reader, &section, node, (struct place){.file = "f"}, target);
    fclose(diag.out);
    return messages;
}

Test(fields, every_type)
{
    struct arena *arena = arena_create();
    struct target t;
    char *messages =
        read_section(arena, "own",
                     "{count: 8, ratio: 1, time: 10s, bytes: 1KiB, rate: 8Gbps, flops: 2Tf, flag: true, "
                     "name: tree, names: [auto, ring], "
                     "text: a b, path: /dev/../etc/passwd, times: [1s, 0s, 5s], sizes: 3B, texts: [a, b c]}",
                     &t);
    cr_assert_str_empty(messages);
    cr_assert(t.count == 8 && t.ratio == 1 && t.time == 10 && t.bytes == 1024 && t.rate == 1e9 && t.flops == 2e12 &&
              t.flag);
    cr_assert(t.name == 1 && t.names == 5);
    cr_assert_str_eq(t.text, "a b");
    cr_assert_str_eq(t.path, "/dev/../etc/passwd");
    cr_assert(t.times.count == 3 && t.times.values[2] == 5 && t.sizes.count == 1 && t.sizes.values[0] == 3);
    cr_assert(t.texts.count == 2 && !strcmp(t.texts.texts[0], "a") && !strcmp(t.texts.texts[1], "b c"));
    free(messages);
    arena_destroy(arena);
}

Test(fields, bad_values_are_reported_and_leave_the_target)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"count: 1", "count is 1; expected at least 2"},
        {"count: 9", "count is 9; expected at most 8"},
        {"count: [8]", "count is a list; expected a plain integer"},
        {"ratio: 0.05", "ratio is 0.05; expected at least 0.1"},
        {"ratio: 2", "ratio is 2; expected at most 1"},
        {"time: 0s", "time is 0s; expected more than 0"},
        {"time: 11s", "time is 11s; expected at most 10s"},
        {"rate: 8GB", "rate: '8GB' is a size; expected a rate"},
        {"flops: 8", "flops: '8' has no unit; expected a speed such as 312Tf"},
        {"flag: True", "flag is 'True'; expected true or false"},
        {"name: tre", "name: 'tre' is not known; expected ring, tree or auto; did you mean 'tree'?"},
        {"name: [ring]", "name is a list; expected ring, tree or auto"},
        {"names: [ring, star]", "names: 'star' is not known"},
        {"names: {ring: 1}", "names is a map"},
        {"text: ", "text is empty; expected a text"},
        {"path: no/such/file", "path: cannot read 'no/such/file'"},
        {"path: /dev/zero", "path: cannot read '/dev/zero': it is not a regular file"},
        {"times: []", "times is an empty list"},
        {"times: [1s, 6s]", "times is 6s; expected at most 5s"},
        {"texts: []", "texts is an empty list; expected a text, or a list of them"},
        {"texts: [a, {b: 1}]", "texts is a map; expected a text"},
        {"times: [1s, [2s]]", "times is a list"},
        {"cuont: 3", "'cuont' is not a key of own; did you mean 'count'?"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena *arena = arena_create();
        struct target target;
        const char *text = arena_print(arena, "bytes: 1B\n%s\n", cases[i].text);
        char *messages = read_section(arena, "own", text, &target);
        cr_assert(strstr(messages, cases[i].message), "%s: %s", cases[i].text, messages);
        target.bytes = before.bytes;
        cr_assert(!memcmp(&target, &before, sizeof target), "%s changed the target", cases[i].text);
        free(messages);
        arena_destroy(arena);
    }
}

Test(fields, required_keys)
{
    struct arena *arena = arena_create();
    struct target target;
    char *messages = read_section(arena, "own", "count: 3", &target);
    cr_assert_str_eq(messages, "f:1:1: error: own has no 'bytes'; expected a size such as 80GiB\n");
    free(messages);
    messages = read_section(arena, "own", "byte: 3B", &target); /* one mistake, not two */
    cr_assert_str_eq(messages, "f:1:1: error: 'byte' is not a key of own; did you mean 'bytes'?\n");
    free(messages);
    arena_destroy(arena);
}

Test(fields, keys_with_a_section)
{
    struct arena *arena = arena_create();
    struct target target;
    char *messages = read_section(arena, "other", "count: 123", &target);
    cr_assert_str_empty(messages);
    cr_assert_eq(target.count, 123);
    free(messages);
    messages = read_section(arena, "other", "bytes: 3B", &target);
    cr_assert_str_eq(messages, "f:1:1: error: 'bytes' is not a key of other; expected count\n");
    free(messages);
    arena_destroy(arena);
}

/* ---- tables ---- */

struct row {
    const char *name;
    uint64_t steps;
    struct stagesim_amount size;
    struct stagesim_texts from;
    struct stagesim_list kernel;
};

static const struct row row_before = {.steps = 5};
static const struct stagesim_field columns[] = {
    {"name", STAGESIM_FIELD_TEXT, offsetof(struct row, name), .required = true},
    {"steps", STAGESIM_FIELD_COUNT, offsetof(struct row, steps), .least = 1, .most = 9},
    {"size", STAGESIM_FIELD_AMOUNT, offsetof(struct row, size), .least = 0, .most = 1e6},
    {"from", STAGESIM_FIELD_TEXTS, offsetof(struct row, from)},
    {"kernel", STAGESIM_FIELD_COUNTS, offsetof(struct row, kernel), .least = 1, .most = 9},
    {0},
};
static const struct stagesim_row_type row_type = {"a row", columns, sizeof(struct row), &row_before};
static const struct stagesim_field table[] = {{"rows", STAGESIM_FIELD_ROWS, 0, .rows = &row_type}, {0}};

/* Reads the table from YAML text, or where that is NULL from csv; the messages are to be freed by the caller. */
static char *read_rows(struct arena *arena, const char *text, const char *csv, struct stagesim_rows *rows)
{
    char *messages = NULL;
    size_t size = 0;
    struct diag diag = {.out = open_memstream(&messages, &size)};
    struct fields_reader reader = {.directory = "/tmp", .arena = arena, .diag = &diag};
    *rows = (struct stagesim_rows){0};
    const struct node *node = text ? document_parse_kind(&document_scenario, "f", text, strlen(text), arena, &diag)
                                   : fields_parse_rows("f", csv, strlen(csv), &row_type, arena, &diag);
    if (text && node)
        fields_read(&reader, &(struct fields_section){"own", true, table}, node, (struct place){.file = "f"}, rows);
    else if (node)
        fields_read_value(&reader, table, "rows", node, rows);
    fclose(diag.out);
    return messages;
}

static void check_rows(const struct stagesim_rows *rows)
{
    const struct row *row = rows->rows;
    cr_assert_eq(rows->count, 3);
    cr_assert(!strcmp(row[0].name, "a, b") && row[0].steps == 2 && row[0].size.given && row[0].size.elements == 1e3 &&
              row[0].size.bytes == 0);
    cr_assert(!strcmp(row[1].name, "c") && row[1].steps == 5 && row[1].size.given && row[1].size.elements == 0 &&
              row[1].size.bytes == 2048);
    cr_assert(!strcmp(row[2].name, "7") && row[2].steps == 9 && !row[2].size.given);
}

Test(fields, rows)
{
    struct arena *arena = arena_create();
    struct stagesim_rows rows;
    char *messages = read_rows(
        arena, "rows: [{name: 'a, b', steps: 2, size: 1e3}, {name: c, size: 2KiB}, {name: 7, steps: 9}]", NULL, &rows);
    cr_assert_str_empty(messages);
    check_rows(&rows);
    free(messages);
    messages = read_rows(arena, NULL, "# as csv\nsize,name,steps\n1e3,\"a, b\",2\n 2KiB , c,\n\n,7,9\n", &rows);
    cr_assert_str_empty(messages);
    check_rows(&rows);
    free(messages);
    arena_destroy(arena);
}

/* In a cell, entries of a list are separated by semicolons; in a text alone a semicolon is part of it. */
Test(fields, lists_in_cells)
{
    struct arena *arena = arena_create();
    struct stagesim_rows rows;
    char *messages = read_rows(arena, NULL, "name,from,kernel\na;b,c; d;e,3;1\nf,\"g\",7\n", &rows);
    cr_assert_str_empty(messages);
    free(messages);
    const struct row *row = rows.rows;
    cr_assert_eq(rows.count, 2);
    cr_assert_str_eq(row[0].name, "a;b");
    cr_assert_eq(row[0].from.count, 3);
    cr_assert_str_eq(row[0].from.texts[1], "d");
    cr_assert_str_eq(row[0].from.texts[2], "e");
    cr_assert(row[0].kernel.count == 2 && row[0].kernel.values[0] == 3 && row[0].kernel.values[1] == 1);
    cr_assert_str_eq(row[1].from.texts[0], "g");
    cr_assert(row[1].kernel.count == 1 && row[1].kernel.values[0] == 7);
    arena_destroy(arena);
}

Test(fields, bad_rows)
{
    static const struct {
        const char *text, *csv, *message;
    } cases[] = {
        {"rows: []", NULL, "f:1:7: error: rows has no rows; expected a row in each"},
        {"rows: [{name: a, step: 1}]", NULL, "f:1:18: error: 'step' is not a key of a row; did you mean 'steps'?"},
        {"rows: [{name: a, size: 2e6}]", NULL, "f:1:24: error: size is 2e6; expected at most 1000000"},
        {"rows: [{name: a, size: 2MiBs}]", NULL, "f:1:24: error: size:"},
        {"rows: [a]", NULL, "f:1:8: error: a row is the text 'a'; expected a map"},
        {NULL, "name,kernel\na,3;;1\n", "f:2:3: error: kernel is empty; expected a plain integer"},
        {NULL, "name,kernel\na,3;10\n", "f:2:3: error: kernel is 10; expected at most 9"},
        {"rows: {name: a}", NULL, "f:1:7: error: rows is a map; expected a list of maps, or the name of a csv file"},
        {"rows: absent.csv", NULL, "error: rows: cannot read"},
        {NULL, "name,steps\na,0\n", "f:2:3: error: steps is 0; expected at least 1"},
        {NULL, "steps\n1\n", "f:1:1: error: column 'name' is missing"},
        {NULL, "name\n", "rows has no rows"},
        {NULL, "", "rows has no rows"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena *arena = arena_create();
        struct stagesim_rows rows;
        char *messages = read_rows(arena, cases[i].text, cases[i].csv, &rows);
        cr_assert(strstr(messages, cases[i].message), "case %zu: %s", i, messages);
        cr_assert(!rows.count && !rows.rows);
        free(messages);
        arena_destroy(arena);
    }
}
