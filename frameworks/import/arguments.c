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
                                label,
                                values,
                                count,
                                at,
                                false};
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

/* ---- words that are not known ---- */

/* Whether an option that is nobody's key has a value: such as a path, a name, a count of steps. */
static bool has_value(const char *name)
{
    static const char *const parts[] = {"path",     "dir",  "file", "model", "addr",    "port",   "rank",     "name",
                                        "endpoint", "save", "load", "iters", "project", "entity", "host",     "prefix",
                                        "type",     "key",  "seed", "data",  "log",     "output", "interval", "samples",
                                        "split",    "-lr",  "lr-",  "rdzv",  "json",    "token",  "id",       "image",
                                        "mount",    "job",  "time", NULL};
    if (!strncmp(name, "no-", 3) || !strncmp(name, "use-", 4) || !strncmp(name, "disable-", 8))
        return false;
    for (const char *const *part = parts; *part; part++)
        if (strstr(name, *part))
            return true;
    return !strcmp(name, "lr");
}

static void report_unknown(const struct arguments *a, const struct shell_word *word)
{
    diag_error(a->settings->diag, word->at,
               "$%s is not known here: %s; expected what the script says: --define %s=VALUE", word->open, word->why,
               word->open);
}

/* What is not known may be an option, or several. That it is a plain value follows only from the option before it. */
static bool is_plain_value(const struct arguments *a, const struct shell_word *option, size_t values)
{
    if (!option || strchr(option->text, '='))
        return false;
    const char *name = option->text + strspn(option->text, "-");
    const struct megatron_option *known =
        a->dialect == DIALECT_MEGATRON ? megatron_option_find(name) : megatron_option_find_nemo(name);
    if (known && (known->role == OPTION_VALUE || known->role == OPTION_WORD || !strcmp(name, "nnodes") ||
                  !strncmp(name, "nproc", 5)))
        return !values;
    return (!known || known->role == OPTION_IGNORED || known->role == OPTION_PARTIAL) && has_value(name);
}

/* Words that could be options of which nobody knows, or that bash passes as one. */
static void check_words(const struct arguments *a, const struct shell_word *words, size_t count)
{
    const struct shell_word *option = NULL;
    size_t values = 0;
    for (size_t i = 0; i < count; i++) {
        const struct shell_word *word = &words[i];
        size_t name = strcspn(word->text, "=");
        const char *unknown = word->open && word->why ? strchr(word->text, '$') : NULL;
        bool alone = unknown && !strcmp(word->text + 1, word->open), program = !i && word->open && word->open[0] == '(';
        if (unknown && word->text[0] == '-' && unknown < word->text + name)
            report_unknown(a, word);
        else if (alone && !program && !is_plain_value(a, option, values))
            report_unknown(a, word);
        else if (word->at.line && !strncmp(word->text, "--", 2) && strcspn(word->text, " \t\n") < name)
            diag_error(a->settings->diag, word->at,
                       "'%.60s' is one word, as it is quoted, and no option; expected %.*s and its value as words of "
                       "their own",
                       word->text, (int)strcspn(word->text, " \t\n"), word->text);
        values = is_option(word->text) ? 0 : values + 1;
        option = is_option(word->text) ? word : option;
    }
}

void arguments_split(struct arguments *a, const struct shell_word *words, size_t count)
{
    struct arena *arena = a->settings->arena;
    check_words(a, words, count);
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
            *own = *word;
            own->text = equals + 1;
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

static void report_open(const struct arguments *a, const struct argument *argument, const char *expected)
{
    const struct shell_word *value = &argument->values[0];
    struct argument *own = &a->items[argument - a->items];
    if (own->reported)
        return;
    own->reported = true;
    diag_error(a->settings->diag, argument->at,
               "%s is %s, which the file does not say%s%s; expected %s, or its value from outside: --define %s=VALUE",
               argument->label, value->text, value->why ? ": " : "", value->why ? value->why : "", expected,
               value->open);
}

const char *argument_text(const struct arguments *a, const char *name, const char *other)
{
    const struct argument *argument = argument_find(a, name);
    if (!argument || !argument->count)
        return other;
    if (argument->values[0].open && argument->option->role != OPTION_SWITCH)
        report_open(a, argument, "a word");
    return argument->values[0].open ? other : argument->values[0].text;
}

uint64_t argument_count(const struct arguments *a, const char *name, uint64_t other)
{
    const struct argument *argument = argument_find(a, name);
    uint64_t count;
    if (!argument)
        return other;
    struct node value = {.kind = NODE_SCALAR, .text = argument->count ? argument->values[0].text : ""};
    if (argument->count && argument->values[0].open)
        report_open(a, argument, "a count");
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
