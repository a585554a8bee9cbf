/* SPDX-License-Identifier: Apache-2.0 */
#include "base/document.h"

#include "base/arena.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static struct arena *arena;

static void setup(void)
{
    arena = arena_create();
}

static void teardown(void)
{
    arena_destroy(arena);
}

TestSuite(document, .init = setup, .fini = teardown, .timeout = 20);

static struct node *parse(const char *text, unsigned errors)
{
    struct diag diag = {0};
    struct node *root = document_parse_kind(&document_scenario, "file.yaml", text, strlen(text), arena, &diag);
    cr_assert_eq(diag.errors, errors, "%u mistakes in: %.200s", diag.errors, text);
    return root;
}

static void expect_place(const struct node *root, const char *path, unsigned line, unsigned column)
{
    struct place at = node_place(root, path);
    cr_assert(at.line == line && at.column == column, "%s is at %u:%u, not %u:%u", path, at.line, at.column, line,
              column);
    cr_assert_str_eq(at.file, "file.yaml");
}

Test(document, every_value_has_its_place)
{
    struct node *root = parse("a: 1\nb:\n  c: [x, 'y']\n  d: {e: \"f\"}\n", 0);
    cr_assert_eq(root->kind, NODE_MAP);
    expect_place(root, "", 1, 1);
    expect_place(root, "a", 1, 4);
    expect_place(root, "b", 3, 3);
    expect_place(root, "b.c", 3, 6);
    expect_place(root, "b.c.1", 3, 10);
    expect_place(root, "b.d.e", 4, 10);
    cr_assert_str_eq(node_find(root, "b.c.1")->text, "y");
    cr_assert(node_find(root, "b.c.1")->quoted);
    cr_assert_null(node_find(root, "b.c.2"));
    cr_assert_null(node_find(root, "b.x.y"));
    expect_place(root, "b.x.y", 2, 1); /* the longest part that exists: the key b */
    expect_place(root, "b.c.7", 3, 3);
    expect_place(root, "zzz", 1, 1);
    cr_assert_eq(node_get(root, "b")->key_at.line, 2);
}

Test(document, places_hold_beyond_ascii_and_a_byte_order_mark)
{
    struct node *root = parse("\xEF\xBB\xBF\xC3\xA4: {\xE2\x82\xAC: 1, b: 2}\n", 0);
    cr_assert_eq(node_find(root, "\xC3\xA4.b")->at.column, 14);
}

/* Columns count characters and begin anew with each line: the byte behind "b: " is the fourth of its line. */
Test(document, a_byte_that_is_no_text_has_its_place)
{
    char *messages;
    size_t size;
    struct diag diag = {.out = open_memstream(&messages, &size)};
    const char *text = "\xC3\xA4: 1\nb: \xFFx\n";
    document_parse_kind(&document_scenario, "file.yaml", text, strlen(text), arena, &diag);
    fflush(diag.out);
    cr_expect(strstr(messages, "file.yaml:2:4: "), "%s", messages);
    fclose(diag.out);
    free(messages);
}

Test(document, refuses_what_a_scenario_has_no_use_for)
{
    parse("a: &x 1\n", 1);
    parse("a: &x 1\nb: *x\n", 2);
    parse("a: !!int 1\n", 1);
    parse("a: 1\n---\nb: 2\n", 1);
    parse("a: 1\n...\n---\nb: 2\n", 1);
    parse("? [a]\n: 1\n", 1);
    parse("{a: 1}: 2\n", 1);
    parse("a: 1\na: 2\nb: {c: 1, c: 2}\n", 2);
    parse("a: \"x\\0y\"\n", 1);
    cr_assert_null(parse("", 1));
    cr_assert_null(parse("# comment\n", 1));
    cr_assert_null(parse("text\n", 1));
    cr_assert_null(parse("[1]\n", 1));
    cr_assert_null(parse("a: [1\n", 1));
    cr_assert_null(parse("a: \xFF\n", 1));
    parse("%YAML 1.1\n---\na: 1\n", 0);
}

Test(document, reading_goes_on_behind_a_mistake)
{
    struct node *root = parse("a: &x 1\nb: 2\nb: 3\nc: *x\nd: 4\n", 3);
    cr_assert_str_eq(node_get(root, "a")->text, "1");
    cr_assert_str_eq(node_get(root, "b")->text, "2", "the first of two stays");
    cr_assert_eq(node_get(root, "c")->kind, NODE_REFUSED);
    cr_assert_str_eq(node_get(root, "d")->text, "4");
}

/* Text made of one piece many times over; the caller frees it. */
static char *repeat(const char *piece, size_t size)
{
    size_t length = strlen(piece), count = size / length;
    char *text = malloc(count * length + 1);
    for (size_t i = 0; i < count; i++)
        memcpy(text + i * length, piece, length);
    text[count * length] = '\0';
    return text;
}

/* None of these may take long; most are quadratic or worse in a reader without bounds. */
Test(document, hostile_texts_end_soon)
{
    static const char *const pieces[] = {"[",   "{",        "{a: ",  "- ",    "? ",     "? - ", "a:\n",         "[a, ",
                                         "!a ", "&a ",      "*a ",   "\"",    "'",      "|\n",  "%TAG !a! b\n", "#\n",
                                         "\n",  "-\n",      "...\n", "---\n", "a: b: ", "[]",   "{}",           "a,",
                                         ": ",  "\xC3\xA4", "\t"};
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        struct diag diag = {0};
        char *text = repeat(pieces[i], DOCUMENT_BYTES_MAX);
        document_parse_kind(&document_scenario, "file.yaml", text, strlen(text), arena, &diag);
        cr_assert(diag.errors > 0, "%s", pieces[i]);
        free(text);
    }
}

Test(document, size_depth_and_keys_are_bounded)
{
    struct diag diag = {0};
    char *text = repeat("#", DOCUMENT_BYTES_MAX + 1);
    cr_assert_null(document_parse_kind(&document_scenario, "file.yaml", text, DOCUMENT_BYTES_MAX + 1, arena, &diag));
    cr_assert_eq(diag.errors, 1);
    free(text);
    char keys[20 * (DOCUMENT_KEYS_MAX + 2)] = "";
    for (int i = 0; i < DOCUMENT_KEYS_MAX; i++)
        sprintf(keys + strlen(keys), "k%d: 1\n", i);
    parse(keys, 0);
    strcat(keys, "one_more: 1\n");
    parse(keys, 1);
}

Test(document, overrides)
{
    struct node *root = parse("a: 1\nb: {c: [x, y]}\nempty:\n", 0);
    struct diag diag = {0};
    struct place at = {.file = "--set x"};
    cr_assert(document_set(root, "a", "2", at, arena, &diag));
    cr_assert(document_set(root, "b.c.1", "z", at, arena, &diag));
    cr_assert(document_set(root, "b.new.deep", "[1, {k: 2}]", at, arena, &diag));
    cr_assert(document_set(root, "empty.key", "3", at, arena, &diag));
    cr_assert(document_set(root, "nothing", "", at, arena, &diag));
    cr_assert_str_eq(node_find(root, "a")->text, "2");
    cr_assert_str_eq(node_find(root, "b.c.1")->text, "z");
    cr_assert_str_eq(node_find(root, "b.c.0")->text, "x");
    cr_assert_str_eq(node_find(root, "b.new.deep.1.k")->text, "2");
    cr_assert_str_eq(node_find(root, "empty.key")->text, "3");
    cr_assert(node_is_empty(node_find(root, "nothing")));
    cr_assert_eq(root->count, 4);
    struct place place = node_place(root, "b.new.deep.1.k");
    cr_assert_str_eq(place.file, "--set x");
    cr_assert_eq(place.line, 0);
    expect_place(root, "b.c", 2, 8); /* what was not overridden keeps its place */
    cr_assert_eq(diag.errors, 0);
    static const char *const bad[][2] = {{"", "1"},      {"a..b", "1"}, {".a", "1"},        {"a.", "1"},  {"a.b", "1"},
                                         {"b.c.2", "1"}, {"a", "[1"},   {"a", "1\n---\n2"}, {"a", "&x 1"}};
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        cr_assert(!document_set(root, bad[i][0], bad[i][1], at, arena, &diag), "%s = %s", bad[i][0], bad[i][1]);
        cr_assert_eq(diag.errors, i + 1, "%s = %s", bad[i][0], bad[i][1]);
    }
    cr_assert_str_eq(node_find(root, "a")->text, "2");
}

Test(document, a_path_of_any_length_is_safe)
{
    struct node *root = parse("a: 1\n", 0);
    struct diag diag = {0};
    char *path = repeat("a.", 100000);
    strcat(path, ""); /* ends in a dot */
    path[strlen(path) - 1] = '\0';
    cr_assert(!document_set(root, path, "1", (struct place){.file = "--set"}, arena, &diag));
    cr_assert_eq(diag.errors, 1);
    free(path);
}
