/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON reader: pieces in their order whatever the size of what the source gives, and where it says mistakes are. */
#include "base/json/json_reader.h"
#include "base/arena.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

struct text {
    const char *text;
    size_t at, size, piece;
};

static size_t give(void *user, char *buffer, size_t size, struct fault *fault)
{
    struct text *text = user;
    size_t count = text->size - text->at;
    count = count < text->piece ? count : text->piece;
    (void)fault;
    cr_assert_leq(count, size);
    memcpy(buffer, text->text + text->at, count);
    text->at += count;
    return count;
}

/* All pieces, such as `{k:1}`; a mistake as "LINE:COLUMN: text". The caller frees it. */
static char *pieces(const char *json, size_t piece_size)
{
    struct text text = {json, 0, strlen(json), piece_size};
    struct json_reader *reader = json_reader_create("t.json", give, &text);
    char *all = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&all, &size);
    static const char signs[] = {
        [JSON_OBJECT_BEGIN] = '{', [JSON_OBJECT_END] = '}', [JSON_ARRAY_BEGIN] = '[', [JSON_ARRAY_END] = ']',
        [JSON_KEY] = 'k',          [JSON_STRING] = 's',     [JSON_NUMBER] = 'n',      [JSON_TRUE] = 't',
        [JSON_FALSE] = 'f',        [JSON_NULL] = '0'};
    for (enum json_piece piece; (piece = json_next(reader)) != JSON_END;) {
        fputc(signs[piece], out);
        if (piece == JSON_KEY || piece == JSON_STRING || piece == JSON_NUMBER)
            fprintf(out, "(%s)", json_piece_text(reader, NULL));
    }
    struct place at;
    bool trouble;
    const char *why = json_reader_failed(reader, &at, &trouble);
    if (why)
        fprintf(out, "!%u:%u: %s", at.line, at.column, why);
    json_reader_destroy(reader);
    fclose(out);
    return all;
}

Test(json_reader, pieces)
{
    static const char *const good[][2] = {
        {"{}", "{}"},
        {" [ ] \n", "[]"},
        {"{\"a\": [1, -2.5e+3, {\"b\": null}], \"c\":true}", "{k(a)[n(1)n(-2.5e+3){k(b)0}]k(c)t}"},
        {"[\"a\\n\\u0041\\ud83d\\ude00\\\"\", \"\", false]", "[s(a\nA\xf0\x9f\x98\x80\")s()f]"},
        /* the first and the last digits */
        {"\"\\u0021\\u0039\\u004a\\u005f\\u006A\\u007F\\u00e9\\u00B0\"", "s(!9J_j\x7f\xc3\xa9\xc2\xb0)"},
        {"[NaN, -Infinity]", "[n(NaN)n(-Infinity)]"},
        {"3", "n(3)"},
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        for (size_t size = 1; size < 20; size += 6) {
            char *all = pieces(good[i][0], size);
            cr_expect_str_eq(all, good[i][1]);
            free(all);
        }
}

Test(json_reader, mistakes)
{
    static const char *const bad[][2] = {
        {"{\"a\": 1,\n \"b\" 2}", "!2:6: expected ':' behind a key, not '2'"},
        {"[1 2]", "!1:4: expected ',' or ']' behind an item, not '2'"},
        {"{\"a\": 01}", "'01' is no value of JSON"},
        {"[1,", "it was cut"},
        {"{\"abc", "it was cut"},
        {"[tru", "it was cut"},
        {"[1]]", "!1:4: expected the end of the file, not ']'"},
        {"{a: 1}", "!1:2: expected a key in quotes, not 'a'"},
        {"[\"\\x\"]", "after a backslash"},
        {"[1,]", "expected a value, not ']'"},
        {"", "it was cut"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char *all = pieces(bad[i][0], 3);
        cr_expect(strstr(all, bad[i][1]), "%s: %s", bad[i][0], all);
        free(all);
    }
}

Test(json_reader, deep)
{
    char text[200];
    memset(text, '[', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    char *all = pieces(text, 50);
    cr_expect(strstr(all, "deeper than 64"), "%s", all);
    free(all);
}

Test(json_reader, skips)
{
    struct text text = {"{\"a\": {\"b\": [1, {}]}, \"c\": 5}", 0, 29, 4};
    struct json_reader *reader = json_reader_create("t.json", give, &text);
    cr_expect_eq(json_next(reader), JSON_OBJECT_BEGIN);
    cr_expect_eq(json_next(reader), JSON_KEY);
    json_skip(reader);
    cr_expect_eq(json_next(reader), JSON_KEY);
    cr_expect_str_eq(json_piece_text(reader, NULL), "c");
    json_skip_rest(reader);
    cr_expect_eq(json_depth(reader), 0);
    cr_expect_eq(json_next(reader), JSON_END);
    json_reader_destroy(reader);
}
