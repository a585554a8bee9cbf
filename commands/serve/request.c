/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/serve/request.h"

#include "base/arena.h"
#include "base/bulk.h"
#include "base/json/json_reader.h"
#include "base/json_writer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Options that are given once for each value; of others the values are joined by commas. */
static const char *const each[] = {"set", "what-if", "option", NULL};
static const char *const members[] = {"id",  "command", "scenario", "arguments", "options",
                                      "set", "of",      "seconds",  "megabytes"};

/* What a line is read into. */
struct reading {
    struct request *request;
    struct json_reader *reader;
    const struct command *const *commands;
    const char *empty;
    struct arena *arena;
    struct words {
        char **items;
        size_t count, capacity;
    } scenarios, arguments, options, sets;
    bool has_format;
};

static bool is_one_of(const char *word, const char *const *words)
{
    for (; *words; words++)
        if (!strcmp(*words, word))
            return true;
    return false;
}

/* Of the newest key, text or number. */
static const char *text_of(const struct reading *r)
{
    return json_piece_text(r->reader, NULL);
}

static void add(struct reading *r, struct words *words, const char *word)
{
    words->items = arena_grow(r->arena, words->items, &words->capacity, words->count, sizeof *words->items);
    words->items[words->count++] = arena_copy(r->arena, word);
}

/* The value that begins with the piece, as JSON on one line. Its depth is bounded by the reader's. */
static void write_value(struct reading *r, enum json_piece piece, FILE *out)
{
    bool object = piece == JSON_OBJECT_BEGIN, some = false;
    enum json_piece end = object ? JSON_OBJECT_END : JSON_ARRAY_END;
    switch (piece) {
    case JSON_OBJECT_BEGIN:
    case JSON_ARRAY_BEGIN:
        putc(object ? '{' : '[', out);
        while ((piece = json_next(r->reader)) != end && piece != JSON_END) {
            fputs(some ? ", " : "", out);
            some = true;
            write_value(r, piece, out);
            if (piece == JSON_KEY) {
                fputs(": ", out);
                write_value(r, json_next(r->reader), out);
            }
        }
        putc(object ? '}' : ']', out);
        break;
    case JSON_KEY:
    case JSON_STRING:
        json_escape(out, text_of(r));
        break;
    case JSON_NUMBER:
        fputs(text_of(r), out);
        break;
    default:
        fputs(piece == JSON_TRUE ? "true" : piece == JSON_FALSE ? "false" : "null", out);
        break;
    }
}

static const char *value_text(struct reading *r, enum json_piece piece)
{
    char *text;
    size_t size;
    FILE *out = memory_stream_open(&text, &size);
    write_value(r, piece, out);
    memory_stream_close(out);
    const char *copied = arena_copy(r->arena, text);
    free(text);
    return copied;
}

/* A text as it is, and other values as JSON. */
static const char *plain_text(struct reading *r, enum json_piece piece)
{
    return piece == JSON_STRING ? arena_copy(r->arena, text_of(r)) : value_text(r, piece);
}

/* --set KEY=VALUE for each value below; of an object for each member, so that the others of its section stay. */
static void add_sets(struct reading *r, const char *path, enum json_piece piece, bool whole)
{
    if (piece != JSON_OBJECT_BEGIN || (whole && *path)) {
        add(r, &r->sets, "--set");
        add(r, &r->sets, arena_print(r->arena, "%s=%s", path, value_text(r, piece)));
        return;
    }
    while (json_next(r->reader) == JSON_KEY) {
        const char *key = text_of(r);
        key = *path ? arena_print(r->arena, "%s.%s", path, key) : arena_copy(r->arena, key);
        add_sets(r, key, json_next(r->reader), whole);
    }
}

static void read_sets(struct reading *r, const char *what, bool whole)
{
    enum json_piece piece = json_next(r->reader);
    if (piece != JSON_OBJECT_BEGIN)
        json_refuse(r->reader, "expected an object with the %s", what);
    else
        add_sets(r, "", piece, whole);
}

static void read_texts(struct reading *r, enum json_piece piece, struct words *words, const char *what)
{
    if (piece == JSON_STRING) {
        add(r, words, text_of(r));
        return;
    }
    if (piece != JSON_ARRAY_BEGIN) {
        json_refuse(r->reader, "expected %s", what);
        return;
    }
    while ((piece = json_next(r->reader)) == JSON_STRING)
        add(r, words, text_of(r));
    if (piece != JSON_ARRAY_END)
        json_refuse(r->reader, "expected a list of texts");
}

/* A path, several, or a scenario itself: keys on a file that has none. */
static void read_scenario(struct reading *r)
{
    enum json_piece piece = json_next(r->reader);
    if (piece != JSON_OBJECT_BEGIN) {
        read_texts(r, piece, &r->scenarios, "a path, a list of paths, or an object with the keys of a scenario");
        return;
    }
    add(r, &r->scenarios, r->empty);
    add(r, &r->sets, "--set");
    add(r, &r->sets, "name=scenario"); /* until the object says otherwise */
    add_sets(r, "", piece, true);
}

/* --KEY=VALUE; of a list as often as it has values, or once. */
static void read_option(struct reading *r, const char *key)
{
    enum json_piece piece = json_next(r->reader);
    const char *joined = NULL;
    bool list = piece == JSON_ARRAY_BEGIN, apart = is_one_of(key, each);
    r->has_format |= !strcmp(key, "format");
    if (piece == JSON_TRUE)
        add(r, &r->options, arena_print(r->arena, "--%s", key));
    if (piece == JSON_TRUE || piece == JSON_FALSE || piece == JSON_NULL)
        return;
    do {
        if (list && ((piece = json_next(r->reader)) == JSON_ARRAY_END || piece == JSON_END))
            break;
        const char *value = plain_text(r, piece);
        if (apart)
            add(r, &r->options, arena_print(r->arena, "--%s=%s", key, value));
        else
            joined = joined ? arena_print(r->arena, "%s,%s", joined, value) : value;
    } while (list);
    if (joined)
        add(r, &r->options, arena_print(r->arena, "--%s=%s", key, joined));
}

static void read_options(struct reading *r)
{
    if (json_next(r->reader) != JSON_OBJECT_BEGIN) {
        json_refuse(r->reader, "expected an object with options of the command, such as {\"engine\": \"analytic\"}");
        return;
    }
    while (json_next(r->reader) == JSON_KEY) {
        char *key = arena_copy(r->arena, text_of(r));
        for (char *at = key; *at; at++)
            *at = (char)(*at == '_' ? '-' : *at);
        if (*key && !strpbrk(key, "= "))
            read_option(r, key);
        else
            json_refuse(r->reader, "'%.40s' is no option", key);
    }
}

static void read_limit(struct reading *r, double *limit)
{
    enum json_piece piece = json_next(r->reader);
    double value = piece == JSON_NUMBER ? strtod(json_piece_text(r->reader, NULL), NULL) : 0;
    if (value > 0 && isfinite(value))
        *limit = value;
    else
        json_refuse(r->reader, "expected a number above zero");
}

static const char *read_id(struct reading *r)
{
    enum json_piece piece = json_next(r->reader);
    if (piece == JSON_STRING || piece == JSON_NUMBER)
        return value_text(r, piece);
    json_refuse(r->reader, "expected a text or a number");
    return "null";
}

static void read_command(struct reading *r)
{
    const char *names[32], *name = json_next(r->reader) == JSON_STRING ? json_piece_text(r->reader, NULL) : "";
    size_t count = 0;
    for (const struct command *const *command = r->commands; *command && count + 1 < 32; command++) {
        if (!strcmp((*command)->name, "serve"))
            continue;
        names[count++] = (*command)->name;
        if (!strcmp((*command)->name, name))
            r->request->command = *command;
    }
    names[count++] = "cancel";
    bool cancels = !strcmp(name, "cancel");
    const char *near = diag_nearest(name, names, count);
    if (!r->request->command && !cancels)
        json_refuse(r->reader, "'%.40s' is no command%s%s%s", name, near ? "; did you mean '" : "", near ? near : "",
                    near ? "'?" : "");
}

static void read_member(struct reading *r, const char *key)
{
    if (!strcmp(key, "id"))
        r->request->id = read_id(r);
    else if (!strcmp(key, "command"))
        read_command(r);
    else if (!strcmp(key, "of"))
        r->request->of = read_id(r);
    else if (!strcmp(key, "scenario"))
        read_scenario(r);
    else if (!strcmp(key, "arguments"))
        read_texts(r, json_next(r->reader), &r->arguments, "a text or a list of texts");
    else if (!strcmp(key, "options"))
        read_options(r);
    else if (!strcmp(key, "set"))
        read_sets(r, "keys that change, such as {\"batch.global\": 1024}", false);
    else if (!strcmp(key, "seconds"))
        read_limit(r, &r->request->seconds);
    else if (!strcmp(key, "megabytes"))
        read_limit(r, &r->request->megabytes);
    else {
        const char *near = diag_nearest(key, members, sizeof members / sizeof *members);
        json_refuse(r->reader, "'%.40s' is no member of a request%s%s%s", key, near ? "; did you mean '" : "",
                    near ? near : "", near ? "'?" : "");
    }
}

/* Whether its --format has JSON, by what its --help says. Of `platform` only some of the commands have one. */
static bool prints_json(const struct command *command)
{
    const char *line = strstr(command->help, "  --format ");
    return line && strcmp(command->name, "platform") != 0 && memmem(line, strcspn(line + 1, "\n"), "json", 4);
}

static void append(struct request *request, const struct words *words)
{
    for (size_t i = 0; i < words->count; i++)
        request->words[request->word_count++] = words->items[i];
}

/* argv, in the order of a command line: what is no option comes first. */
static void put_together(struct reading *r)
{
    struct request *request = r->request;
    size_t count = r->scenarios.count + r->arguments.count + r->options.count + r->sets.count;
    request->words = arena_array(r->arena, count + 4, sizeof *request->words);
    request->words[request->word_count++] = arena_copy(r->arena, request->command->name);
    for (size_t i = 0; i < r->arguments.count; i++)
        r->has_format |= !strncmp(r->arguments.items[i], "--format", strlen("--format"));
    append(request, &r->arguments);
    append(request, &r->scenarios);
    append(request, &r->options);
    if (!r->has_format && prints_json(request->command))
        request->words[request->word_count++] = arena_copy(r->arena, "--format=json");
    append(request, &r->sets);
}

static size_t give_line(void *user, char *buffer, size_t size, struct fault *fault)
{
    struct text {
        const char *at;
        size_t left;
    } *text = user;
    (void)fault;
    size_t given = text->left < size ? text->left : size;
    memcpy(buffer, text->at, given);
    text->at += given;
    text->left -= given;
    return given;
}

static void read_members(struct reading *r)
{
    enum json_piece piece = json_next(r->reader);
    if (piece != JSON_OBJECT_BEGIN && piece != JSON_END)
        json_refuse(r->reader,
                    "expected an object such as {\"id\": 1, \"command\": \"run\", \"scenario\": \"a.yaml\"}");
    while (piece != JSON_END && (piece = json_next(r->reader)) == JSON_KEY)
        read_member(r, arena_copy(r->arena, text_of(r)));
    if (piece == JSON_OBJECT_END)
        json_next(r->reader); /* what stands behind it is a mistake */
}

bool request_read(const char *line, size_t size, const struct command *const *commands, const char *empty,
                  struct request *request, struct arena *arena, struct fault *fault)
{
    struct {
        const char *at;
        size_t left;
    } text = {line, size};
    *request = (struct request){.id = "null"};
    struct reading reading = {.request = request, .commands = commands, .empty = empty, .arena = arena};
    reading.reader = json_reader_create("request", give_line, &text);
    read_members(&reading);
    struct place at;
    bool trouble;
    const char *failed = json_reader_failed(reading.reader, &at, &trouble);
    if (failed)
        fault_set(fault, "the request, column %u: %s", at.column, failed);
    else if (!request->command && !request->of)
        fault_set(fault, "the request names no command; to cancel another, expected its id in 'of'");
    else if (request->command)
        put_together(&reading);
    json_reader_destroy(reading.reader);
    return !fault->text[0];
}
