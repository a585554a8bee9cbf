/* SPDX-License-Identifier: Apache-2.0 */
#include "job/scenario/schedule_option.h"

#include "base/arena.h"

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

bool schedule_option_read(const struct fields_reader *reader, const struct schedule_option *option,
                          const struct node *node, int64_t *value)
{
    if (!node || node->kind == NODE_REFUSED)
        return true;
    return option->names ? read_word(reader, option, node, value) : read_count(reader, option, node, value);
}

const char *schedule_option_text(const struct schedule_option *option, int64_t value, struct arena *arena)
{
    return option->names ? option->names[value] : arena_print(arena, "%lld", (long long)value);
}

void schedule_option_json(struct json_writer *json, const char *key, const struct schedule_option *option,
                          int64_t value)
{
    if (option->names)
        json_text(json, key, option->names[value]);
    else
        json_integer(json, key, (uint64_t)value);
}
