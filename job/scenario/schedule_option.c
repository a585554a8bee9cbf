/* SPDX-License-Identifier: Apache-2.0 */
#include "job/scenario/schedule_option.h"

#include "base/arena.h"
#include "base/numbers/divisor.h"
#include "base/text/names.h"

#include <string.h>

static bool read_word(const struct fields_reader *reader, const struct schedule_option *option, const struct node *node,
                      int64_t *value)
{
    unsigned index;
    if (!fields_read_word(reader, option->key, node, option->names, &index))
        return false;
    *value = index;
    return true;
}

static bool read_count(const struct fields_reader *reader, const struct schedule_option *option,
                       const struct node *node, int64_t *value)
{
    uint64_t count = 0;
    struct stagesim_field field = {.key = option->key, .type = STAGESIM_FIELD_COUNT};
    field.least = (double)option->least;
    field.most = option->most > option->least ? (double)option->most : 0x1p62;
    if (!fields_read_value(reader, &field, option->key, node, &count))
        return false;
    *value = (int64_t)count;
    return true;
}

/* ---- limits of stashes ---- */

static bool refuse_stashes(const struct fields_reader *reader, const struct schedule_option *option,
                           const struct node *node, const char *text)
{
    struct names_text list;
    size_t count = 0;
    while (option->names && option->names[count])
        count++;
    const char *words = count ? names_list(&list, "", (const char **)(uintptr_t)option->names, count, "these") : "";
    diag_error(reader->diag, node->at,
               "%s is '%.40s'; expected %s%sa number of stashes such as 4, 3.5 or 7/2, or one "
               "for each worker: [4, 3.5, 3, 2]",
               option->key, text, words, count ? ", " : "");
    return false;
}

/* The entries of a list, or of a text in brackets. */
static bool read_each(const struct fields_reader *reader, const struct schedule_option *option, const struct node *node,
                      struct schedule_stashes *each)
{
    struct arena *arena = reader->arena;
    size_t most = node->kind == NODE_LIST ? node->count : strlen(node->text);
    int64_t *parts = arena_array(arena, most + 1, sizeof *parts);
    uint32_t count = 0;
    if (node->kind == NODE_LIST) {
        for (const struct node *entry = node->first; entry; entry = entry->next)
            if (entry->kind != NODE_SCALAR || !schedule_stashes_read(entry->text, &parts[count++]))
                return refuse_stashes(reader, option, entry, entry->kind == NODE_SCALAR ? entry->text : "[...]");
    } else {
        char *rest = NULL, *text = arena_print(arena, "%.*s", (int)strlen(node->text) - 2, node->text + 1);
        for (char *word = strtok_r(text, ", ", &rest); word; word = strtok_r(NULL, ", ", &rest))
            if (!schedule_stashes_read(word, &parts[count++]))
                return refuse_stashes(reader, option, node, word);
    }
    *each = (struct schedule_stashes){parts, count};
    return true;
}

static bool read_stashes(const struct fields_reader *reader, const struct schedule_option *option,
                         const struct node *node, int64_t *value, struct schedule_stashes *each)
{
    if (node->kind != NODE_LIST && node->kind != NODE_SCALAR)
        return refuse_stashes(reader, option, node, "{...}");
    size_t length = node->kind == NODE_SCALAR ? strlen(node->text) : 0;
    if (node->kind == NODE_LIST || (length > 1 && node->text[0] == '[' && node->text[length - 1] == ']')) {
        if (!read_each(reader, option, node, each))
            return false;
        *value = SCHEDULE_STASHES_EACH;
        return true;
    }
    int64_t parts;
    if (schedule_stashes_read(node->text, &parts) && (!option->names || parts >= SCHEDULE_STASH / 10)) {
        *value = parts;
        return true;
    }
    for (int64_t i = 0; option->names && option->names[i]; i++)
        if (!strcmp(option->names[i], node->text)) {
            *value = i;
            return true;
        }
    return refuse_stashes(reader, option, node, node->text);
}

/* A whole number, a decimal that is right, or a fraction. */
static const char *stashes_text(int64_t parts, struct arena *arena)
{
    if (parts % SCHEDULE_STASH == 0)
        return arena_print(arena, "%lld", (long long)(parts / SCHEDULE_STASH));
    const char *decimal = arena_print(arena, "%.10g", (double)parts / SCHEDULE_STASH);
    int64_t read;
    if (strlen(decimal) < 8 && schedule_stashes_read(decimal, &read) && read == parts)
        return decimal;
    uint64_t divisor = common_divisor((uint64_t)parts, SCHEDULE_STASH);
    return arena_print(arena, "%llu/%llu", (unsigned long long)((uint64_t)parts / divisor),
                       (unsigned long long)(SCHEDULE_STASH / divisor));
}

static const char *each_text(const struct schedule_stashes *each, struct arena *arena)
{
    const char *text = "";
    for (uint32_t worker = 0; worker < each->count; worker++)
        text = arena_print(arena, "%s%s%s", text, worker ? ", " : "", stashes_text(each->parts[worker], arena));
    return arena_print(arena, "[%s]", text);
}

/* ---- any option ---- */

bool schedule_option_read(const struct fields_reader *reader, const struct schedule_option *option,
                          const struct node *node, int64_t *value, struct schedule_stashes *each)
{
    if (!node || node->kind == NODE_REFUSED)
        return true;
    if (option->stashes)
        return read_stashes(reader, option, node, value, each);
    return option->names ? read_word(reader, option, node, value) : read_count(reader, option, node, value);
}

const char *schedule_option_text(const struct schedule_option *option, int64_t value,
                                 const struct schedule_stashes *each, struct arena *arena)
{
    if (schedule_option_is_word(option, value))
        return option->names[value];
    if (!option->stashes)
        return arena_print(arena, "%lld", (long long)value);
    return value == SCHEDULE_STASHES_EACH ? each_text(each, arena) : stashes_text(value, arena);
}

void schedule_option_json(struct json_writer *json, const char *key, const struct schedule_option *option,
                          int64_t value, const struct schedule_stashes *each)
{
    if (schedule_option_is_word(option, value))
        json_text(json, key, option->names[value]);
    else if (!option->stashes)
        json_integer(json, key, (uint64_t)value);
    else if (value != SCHEDULE_STASHES_EACH)
        json_number(json, key, (double)value / SCHEDULE_STASH);
    else {
        json_array_begin(json, key, false);
        for (uint32_t worker = 0; worker < each->count; worker++)
            json_number(json, NULL, (double)each->parts[worker] / SCHEDULE_STASH);
        json_array_end(json);
    }
}
