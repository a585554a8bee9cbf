/* SPDX-License-Identifier: Apache-2.0 */
/* Options of a command line with their values. */
#include "base/arena.h"
#include "frameworks/import/parts.h"

#include <ctype.h>
#include <string.h>

static const char *tool(const struct arguments *a)
{
    return a->dialect == DIALECT_MEGATRON ? "Megatron-LM" : a->dialect == DIALECT_NEMO ? "NeMo" : "Megatron-Bridge";
}

/* Known options that nobody reads by name. */
static void account(struct arguments *a, const struct argument *argument, const char *name)
{
    const struct megatron_option *option = argument->option;
    if (!option)
        settings_remark(a->settings, REMARK_UNKNOWN, argument->at, argument->label,
                        "no option of %s that stagesim knows", tool(a));
    else if (option->role == OPTION_PARTIAL)
        settings_remark(a->settings, REMARK_PARTIAL, argument->at, argument->label, "%s", option->text);
    else if (option->role == OPTION_IGNORED)
        a->settings->ignored++;
    (void)name;
}

void arguments_add(struct arguments *a, const char *name, const char *label, const struct shell_word *values,
                   size_t count, struct place at)
{
    struct argument argument = {a->dialect == DIALECT_MEGATRON ? megatron_option_find(name)
                                                               : megatron_option_find_nemo(name),
                                label, values, count, at};
    if (a->count == a->capacity) {
        size_t capacity = a->capacity ? 2 * a->capacity : 64;
        struct argument *items = arena_array(a->settings->arena, capacity, sizeof *items);
        if (a->count)
            memcpy(items, a->items, a->count * sizeof *items);
        a->items = items;
        a->capacity = capacity;
    }
    a->items[a->count++] = argument;
    account(a, &argument, name);
}

/* --name, --name=value; a value may begin with a dash and a digit. */
static bool is_option(const char *text)
{
    return text[0] == '-' && (isalpha((unsigned char)text[1]) || (text[1] == '-' && isalpha((unsigned char)text[2])));
}

void arguments_split(struct arguments *a, const struct shell_word *words, size_t count)
{
    struct arena *arena = a->settings->arena;
    for (size_t i = 0; i < count;) {
        const struct shell_word *word = &words[i++];
        size_t values = 0;
        if (!is_option(word->text))
            continue;
        while (i + values < count && !is_option(words[i + values].text))
            values++;
        const char *name = word->text + strspn(word->text, "-"), *equals = strchr(name, '=');
        const char *label = arena_print(arena, "%.*s", (int)strcspn(word->text, "="), word->text);
        const struct shell_word *list = &words[i];
        if (equals) {
            struct shell_word *own = arena_alloc(arena, sizeof *own);
            *own = (struct shell_word){equals + 1, word->at, word->open};
            list = own;
        }
        if (word->text[1] == '-')
            arguments_add(a, arena_print(arena, "%.*s", (int)strcspn(name, "="), name), label, list,
                          equals ? 1 : values, word->at);
        i += values;
    }
}

const struct argument *argument_find(const struct arguments *a, const char *name)
{
    const struct megatron_option *option = megatron_option_find(name);
    for (size_t i = a->count; i-- > 0;)
        if (a->items[i].option == option)
            return &a->items[i];
    return NULL;
}

bool argument_is_on(const struct arguments *a, const char *name)
{
    const struct argument *argument = argument_find(a, name);
    struct node value = {.kind = NODE_SCALAR, .text = argument && argument->count ? argument->values[0].text : ""};
    bool flag = true;
    return argument && (!node_flag(&value, &flag) || flag);
}

const char *argument_text(const struct arguments *a, const char *name, const char *other)
{
    const struct argument *argument = argument_find(a, name);
    return argument && argument->count && !argument->values[0].open ? argument->values[0].text : other;
}

static void report_open(const struct arguments *a, const struct argument *argument)
{
    const struct shell_word *value = &argument->values[0];
    diag_error(a->settings->diag, argument->at,
               "%s is %s, which the file does not say; expected a count, or its value from outside: --define %s=VALUE",
               argument->label, value->text, value->open);
}

uint64_t argument_count(const struct arguments *a, const char *name, uint64_t other)
{
    const struct argument *argument = argument_find(a, name);
    uint64_t count;
    if (!argument)
        return other;
    struct node value = {.kind = NODE_SCALAR, .text = argument->count ? argument->values[0].text : ""};
    if (argument->count && argument->values[0].open)
        report_open(a, argument);
    else if (node_count(&value, &count))
        return count;
    else
        diag_error(a->settings->diag, argument->at, "%s is '%s'; expected a count", argument->label, value.text);
    return other;
}

struct source argument_source(const struct arguments *a, const struct argument *argument)
{
    (void)a;
    return source_given(argument->at, argument->label);
}

struct source argument_absent(const struct arguments *a, const char *name)
{
    const struct megatron_option *option = megatron_option_find(name);
    const char *label = a->dialect == DIALECT_MEGATRON ? arena_print(a->settings->arena, "--%s", name)
                        : option && option->nemo       ? arena_copy(a->settings->arena, option->nemo)
                                                       : arena_copy(a->settings->arena, name);
    char *text = arena_print(a->settings->arena, "%s without %s", tool(a), label);
    for (char *at = text; a->dialect != DIALECT_MEGATRON && *at; at++)
        if (*at == '-' && at > text + strlen(tool(a)))
            *at = '_';
    return source_default(text);
}

bool arguments_have_defaults(const struct arguments *a)
{
    return a->dialect != DIALECT_BRIDGE;
}
