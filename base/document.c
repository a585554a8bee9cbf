/* SPDX-License-Identifier: Apache-2.0 */
#include "base/document.h"

#include "base/arena.h"
#include "base/path_near.h"
#include "base/paths.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <yaml.h>

enum { DIRECTIVES_MAX = 100 };

const struct document_kind document_scenario = {NODE_MAP, DOCUMENT_BYTES_MAX, "lines such as 'platform: cluster.xml'",
                                                "one file is one scenario"};

struct reader {
    yaml_parser_t parser;
    const struct document_kind *kind;
    const char *text;
    size_t size;
    struct place origin; /* line 0: the text is no file, and all its places are this one */
    struct arena *arena;
    struct diag *diag;
    unsigned depth;
    bool broken; /* a mistake after which there is nothing more to read */
};

static struct place mark_place(const struct reader *reader, yaml_mark_t mark)
{
    struct place at = reader->origin;
    if (at.line) {
        at.line = (unsigned)mark.line + 1;
        at.column = (unsigned)mark.column + 1;
    }
    return at;
}

/* Continuation bytes of UTF-8 begin no character. */
static bool begins_character(char byte)
{
    return ((unsigned char)byte & 0xC0) != 0x80;
}

/* libyaml gives only a byte offset for text that is not UTF-8. */
static struct place offset_place(const struct reader *reader, size_t offset)
{
    yaml_mark_t mark = {0};
    for (size_t i = 0; i < offset && i < reader->size; i++) {
        mark.column += begins_character(reader->text[i]);
        if (reader->text[i] == '\n') {
            mark.line++;
            mark.column = 0;
        }
    }
    return mark_place(reader, mark);
}

/* The character at a mark, whose index counts characters. */
static char character_at(const struct reader *reader, yaml_mark_t mark)
{
    size_t index = 0, i = 0;
    while (i < reader->size && (index < mark.index || !begins_character(reader->text[i])))
        index += begins_character(reader->text[i++]);
    return i < reader->size ? reader->text[i] : '\0';
}

static void report_syntax(struct reader *reader)
{
    const yaml_parser_t *parser = &reader->parser;
    const char *problem = parser->problem ? parser->problem : "the text breaks off";
    struct place at = mark_place(reader, parser->problem_mark);
    if (parser->error == YAML_MEMORY_ERROR)
        diag_trouble(reader->diag, at, "out of memory");
    else if (parser->error == YAML_READER_ERROR)
        diag_error(reader->diag, offset_place(reader, parser->problem_offset), "this is not UTF-8 text: %s", problem);
    else if (character_at(reader, parser->problem_mark) == '\t')
        diag_error(reader->diag, at, "this is not YAML: lines are indented with blanks, not with tabs");
    else
        diag_error(reader->diag, at, "this is not YAML: %s%s%s", problem, parser->context ? " " : "",
                   parser->context ? parser->context : "");
}

/* The next event, to be deleted by the caller. Once reading is broken the event is empty and false is returned. */
static bool next_event(struct reader *reader, yaml_event_t *event)
{
    memset(event, 0, sizeof *event);
    if (reader->broken)
        return false;
    if (!yaml_parser_parse(&reader->parser, event)) {
        report_syntax(reader);
        reader->broken = true;
    }
    return !reader->broken;
}

static bool refuse(struct reader *reader, const yaml_event_t *event, const char *what)
{
    diag_error(reader->diag, mark_place(reader, event->start_mark), "%s", what);
    return false;
}

/* Reports what scenario files may not use; false when the node has no value that could be read on. */
static bool check_event(struct reader *reader, const yaml_event_t *event)
{
    const yaml_char_t *anchor = NULL, *tag = NULL;
    if (event->type == YAML_ALIAS_EVENT)
        return refuse(reader, event, "aliases (*name) are not supported: write the value here");
    if (event->type == YAML_SCALAR_EVENT) {
        anchor = event->data.scalar.anchor;
        tag = event->data.scalar.tag;
    } else if (event->type == YAML_SEQUENCE_START_EVENT) {
        anchor = event->data.sequence_start.anchor;
        tag = event->data.sequence_start.tag;
    } else if (event->type == YAML_MAPPING_START_EVENT) {
        anchor = event->data.mapping_start.anchor;
        tag = event->data.mapping_start.tag;
    }
    if (anchor)
        refuse(reader, event, "anchors (&name) are not supported");
    if (tag)
        refuse(reader, event, "tags (!name) are not supported: the key says what type its value has");
    if (event->type == YAML_SCALAR_EVENT && memchr(event->data.scalar.value, '\0', event->data.scalar.length))
        return refuse(reader, event, "the text holds a NUL character");
    return true;
}

static struct node *read_node(struct reader *reader, const yaml_event_t *event);

static bool enter(struct reader *reader, const yaml_event_t *event)
{
    if (++reader->depth <= DOCUMENT_DEPTH_MAX)
        return true;
    diag_error(reader->diag, mark_place(reader, event->start_mark), "lists and maps are nested deeper than %d",
               DOCUMENT_DEPTH_MAX);
    reader->broken = true;
    return false;
}

static void read_list(struct reader *reader, struct node *list)
{
    for (;;) {
        SCOPED(yaml_event_delete) yaml_event_t event;
        if (!next_event(reader, &event) || event.type == YAML_SEQUENCE_END_EVENT)
            return;
        node_append(list, read_node(reader, &event));
    }
}

/* False when the entry must not be kept: its key is no text, or was there before. */
static bool check_key(struct reader *reader, const struct node *map, const struct node *key)
{
    if (key->kind != NODE_SCALAR) {
        if (key->kind != NODE_REFUSED)
            diag_error(reader->diag, key->at, "a key must be a plain word, not %s",
                       key->kind == NODE_LIST ? "a list" : "a map");
        return false;
    }
    const struct node *before = node_get(map, key->text);
    if (!before)
        return true;
    diag_error(reader->diag, key->at, "'%.60s' is given twice", key->text);
    if (before->key_at.line)
        diag_note(reader->diag, before->key_at, "it was given first here");
    return false;
}

static void read_map(struct reader *reader, struct node *map)
{
    for (;;) {
        SCOPED(yaml_event_delete) yaml_event_t key_event;
        if (!next_event(reader, &key_event) || key_event.type == YAML_MAPPING_END_EVENT)
            return;
        const struct node *key = read_node(reader, &key_event);
        SCOPED(yaml_event_delete) yaml_event_t value_event;
        if (!next_event(reader, &value_event))
            return;
        struct node *value = read_node(reader, &value_event);
        if (reader->broken || !check_key(reader, map, key))
            continue;
        if (map->count == DOCUMENT_KEYS_MAX) {
            diag_error(reader->diag, key->at, "a map has more than %d keys", DOCUMENT_KEYS_MAX);
            reader->broken = true;
            return;
        }
        value->key = key->text;
        value->key_at = key->at;
        node_append(map, value);
    }
}

/* The node that begins with the event; never NULL, but incomplete when reading broke. */
static struct node *read_node(struct reader *reader, const yaml_event_t *event)
{
    struct node *node = arena_alloc(reader->arena, sizeof *node);
    node->at = mark_place(reader, event->start_mark);
    node->kind = NODE_REFUSED;
    if (!check_event(reader, event))
        return node;
    if (event->type == YAML_SCALAR_EVENT) {
        node->kind = NODE_SCALAR;
        node->text = arena_copy(reader->arena, (const char *)event->data.scalar.value);
        node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
        return node;
    }
    if (!enter(reader, event))
        return node;
    if (event->type == YAML_SEQUENCE_START_EVENT) {
        node->kind = NODE_LIST;
        read_list(reader, node);
    } else {
        node->kind = NODE_MAP;
        read_map(reader, node);
    }
    reader->depth--;
    return node;
}

/* A single document; an empty text gives NULL without a mistake. */
static struct node *read_document(struct reader *reader)
{
    struct node *root = NULL;
    for (;;) {
        SCOPED(yaml_event_delete) yaml_event_t event;
        if (!next_event(reader, &event) || event.type == YAML_STREAM_END_EVENT)
            return reader->broken ? NULL : root;
        if (event.type == YAML_STREAM_START_EVENT || event.type == YAML_DOCUMENT_END_EVENT)
            continue;
        if (event.type != YAML_DOCUMENT_START_EVENT) {
            root = read_node(reader, &event);
        } else if (root) {
            diag_error(reader->diag, mark_place(reader, event.start_mark), "a second document begins here; %s",
                       reader->kind->second);
            return root;
        }
    }
}

/* libyaml takes quadratic time over repeated directives; a file that means well has one or two. */
static bool check_directives(struct reader *reader)
{
    const char *text = reader->text, *end = text + reader->size;
    unsigned directives = 0;
    while (text && text < end) {
        if (*text == '%' && ++directives > DIRECTIVES_MAX) {
            diag_error(reader->diag, offset_place(reader, (size_t)(text - reader->text)),
                       "the file has more than %d YAML directives", DIRECTIVES_MAX);
            return false;
        }
        text = memchr(text, '\n', (size_t)(end - text));
        text = text ? text + 1 : NULL;
    }
    return true;
}

static struct node *parse(const struct document_kind *kind, const char *text, size_t size, struct place origin,
                          struct arena *arena, struct diag *diag)
{
    if (size >= 3 && !memcmp(text, "\xEF\xBB\xBF", 3)) { /* a byte order mark */
        text += 3;
        size -= 3;
    }
    struct reader reader = {.kind = kind, .text = text, .size = size, .origin = origin, .arena = arena, .diag = diag};
    if (!check_directives(&reader))
        return NULL;
    if (!yaml_parser_initialize(&reader.parser)) {
        diag_trouble(diag, origin, "out of memory");
        return NULL;
    }
    yaml_parser_set_encoding(&reader.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&reader.parser, (const unsigned char *)text, size);
    struct node *root = read_document(&reader);
    yaml_parser_delete(&reader.parser);
    return root;
}

struct node *document_parse_kind(const struct document_kind *kind, const char *file, const char *text, size_t size,
                                 struct arena *arena, struct diag *diag)
{
    struct place origin = {arena_copy(arena, file), 1, 1};
    if (size > kind->bytes_max) {
        origin.line = 0;
        diag_error(diag, origin, "the file is larger than %zu bytes", kind->bytes_max);
        return NULL;
    }
    unsigned errors = diag->errors;
    struct node *root = parse(kind, text, size, origin, arena, diag);
    if (!root && diag->errors == errors)
        diag_error(diag, origin, "the file is empty; expected %s", kind->expected);
    if (!root || root->kind == kind->top)
        return root;
    if (root->kind != NODE_REFUSED)
        diag_error(diag, root->at, "expected %s, but this is %s", kind->expected, node_describe(root, arena));
    return NULL;
}

/* Reads at most one byte more than may be; -1 with errno set. */
static ssize_t read_all(int descriptor, char *text, size_t bytes_max)
{
    size_t length = 0;
    for (ssize_t got = 1; got && length <= bytes_max; length += (size_t)got) {
        got = read(descriptor, text + length, bytes_max + 1 - length);
        if (got < 0)
            return -1;
    }
    return (ssize_t)length;
}

struct node *document_load_kind(const struct document_kind *kind, const char *file, struct place at,
                                struct arena *arena, struct diag *diag)
{
    int descriptor = open(file, O_RDONLY | O_CLOEXEC);
    char *text = malloc(kind->bytes_max + 1);
    ssize_t size = -1;
    if (descriptor >= 0)
        path_note_read(descriptor);
    if (descriptor >= 0 && text)
        size = read_all(descriptor, text, kind->bytes_max);
    struct node *root = NULL;
    int reason = errno;
    if (size < 0)
        (reason == ENOENT ? diag_error : diag_trouble)(diag, at, "cannot read '%s': %s%s", file, strerror(reason),
                                                       path_near(".", file, arena));
    else
        root = document_parse_kind(kind, file, text, (size_t)size, arena, diag);
    free(text);
    if (descriptor >= 0)
        close(descriptor);
    return root;
}

struct node *document_load(const char *file, struct place at, struct arena *arena, struct diag *diag)
{
    return document_load_kind(&document_scenario, file, at, arena, diag);
}

/* ---- overrides ---- */

/* The child for one part of a path: existing, or a new one in a map. NULL after a mistake was reported. */
static struct node *descend(struct node *parent, const char *part, const char *path, struct place at,
                            struct arena *arena, struct diag *diag)
{
    if (parent->kind == NODE_REFUSED || node_is_empty(parent))
        *parent = (struct node){
            .kind = NODE_MAP, .at = at, .key = parent->key, .key_at = parent->key_at, .next = parent->next};
    struct node *child = node_get(parent, part);
    if (child)
        return child;
    if (parent->kind != NODE_MAP || parent->count >= DOCUMENT_KEYS_MAX) {
        diag_error(diag, at, "there is no '%s' in '%s': it is %s", part, path, node_describe(parent, arena));
        return NULL;
    }
    child = arena_alloc(arena, sizeof *child);
    *child = (struct node){.kind = NODE_SCALAR, .at = at, .text = "", .key = arena_copy(arena, part), .key_at = at};
    node_append(parent, child);
    return child;
}

static bool check_path(const char *path, struct place at, struct diag *diag)
{
    unsigned parts = 1;
    bool gap = !*path || path[0] == '.' || path[strlen(path) - 1] == '.' || strstr(path, "..");
    for (const char *dot = path; (dot = strchr(dot, '.')); dot++)
        parts++;
    if (!gap && parts <= DOCUMENT_DEPTH_MAX)
        return true;
    diag_error(diag, at, "'%.60s' is not a key; expected one such as parallel.pipeline", path);
    return false;
}

/* Whether YAML says nothing else of a value than its text: letters, digits and what stands between them. */
static bool is_word(const char *value)
{
    static const char between[] = "_.-";
    for (const char *c = value; *c; c++)
        if (!isalnum((unsigned char)*c) && (c == value || !strchr(between, *c)))
            return false;
    return *value;
}

bool document_set(struct node *root, const char *path, const char *value, struct place at, struct arena *arena,
                  struct diag *diag)
{
    if (!check_path(path, at, diag))
        return false;
    unsigned errors = diag->errors;
    at.line = at.column = 0;
    struct node word = {.kind = NODE_SCALAR, .at = at, .text = value};
    const struct node *parsed = &word;
    if (is_word(value))
        word.text = arena_copy(arena, value);
    else
        parsed = parse(&document_scenario, value, strlen(value), at, arena, diag);
    struct node empty = {.kind = NODE_SCALAR, .at = at, .text = ""};
    if (diag->errors != errors)
        return false;
    struct node *target = root;
    char *parts = arena_copy(arena, path), *rest = NULL;
    for (char *part = strtok_r(parts, ".", &rest); part; part = strtok_r(NULL, ".", &rest)) {
        target = descend(target, part, path, at, arena, diag);
        if (!target)
            return false;
    }
    struct node *next = target->next;
    const char *key = target->key;
    *target = parsed ? *parsed : empty;
    target->next = next;
    target->key = key;
    target->key_at = at;
    return true;
}
