/* SPDX-License-Identifier: Apache-2.0 */
/* Launches of reinforcement learning, whose arguments are keys of a configuration: veRL's `a.b=value` (Hydra's), and
 * OpenRLHF's `--a_b value`. They become the tree of such a file, each value at its word. */
#include "base/arena.h"
#include "frameworks/import/formats.h"
#include "frameworks/import/parts.h"

#include <ctype.h>
#include <string.h>

/* A word `KEY=VALUE`, `+KEY=VALUE`, `++KEY=VALUE`, or `~KEY`: where the key begins; NULL: it is none. */
static const char *key_of(const char *word)
{
    const char *key = word + strspn(word, "+~");
    size_t length = strspn(key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.");
    bool ends = key[length] == '=' || (word[0] == '~' && !key[length]);
    return length && ends && isalpha((unsigned char)*key) ? key : NULL;
}

bool overrides_are(const char *word)
{
    static const char *const verl[] = {"actor_rollout_ref.", "algorithm.adv_estimator=", NULL};
    static const char *const openrlhf[] = {"--rollout_batch_size", "--n_samples_per_prompt", "--vllm_num_engines",
                                           NULL};
    const char *key = key_of(word);
    for (const char *const *each = verl; key && *each; each++)
        if (!strncmp(key, *each, strlen(*each)))
            return true;
    for (const char *const *each = openrlhf; *each; each++)
        if (!strncmp(word, *each, strlen(*each)) && strchr("=", word[strlen(*each)]))
            return true;
    return false;
}

static bool is_row(const struct format *format, const char *key)
{
    for (const struct format_row *row = format->rows; row->path; row++)
        if (!strcmp(row->path + (row->path[0] == '?'), key))
            return true;
    return false;
}

/* A value as YAML; of a key that no row reads only that it is there, where it could be more than a word. */
static const char *value_of(const struct format *format, const char *key, const char *text)
{
    return is_row(format, key) || (*text && !strpbrk(text, "\"'{}[]&*!|>%@`#:,$\\\n")) ? text : "given";
}

static void refuse_unknown(const struct shell_word *word, struct settings *settings)
{
    diag_error(settings->diag, word->at, "$%s is not known here: %s; expected what the script says: --define %s=VALUE",
               word->open, word->why ? word->why : "nobody sets it", word->open);
}

static void put(struct node *root, const struct format *format, const char *key, const char *text,
                const struct shell_word *word, struct settings *settings)
{
    if (word->open && is_row(format, key))
        refuse_unknown(word, settings);
    else if (document_set(root, key, value_of(format, key, text), word->at, settings->arena, settings->diag))
        node_find(root, key)->at = node_find(root, key)->key_at = word->at;
}

/* Lists such as logger=[console,wandb], unquoted: bash takes them for names of files, and leaves them where there are
 * none. */
static struct shell_word without_names(struct shell_word word)
{
    if (word.many && word.open && key_of(word.open))
        word = (struct shell_word){.text = word.open, .at = word.at};
    return word;
}

static void read_hydra(struct node *root, const struct shell_word *words, size_t count, struct settings *settings)
{
    for (size_t i = 0; i < count; i++) {
        struct shell_word word = without_names(words[i]);
        const char *key = word.text[0] == '-' ? NULL : key_of(word.text), *equals = strchr(word.text, '=');
        if (!strncmp(word.text, "--config-name", 13) && strstr(word.text, "megatron"))
            put(root, &format_verl, "actor_rollout_ref.actor.strategy", "megatron", &word, settings);
        else if (!strncmp(word.text, "--config-", 9))
            settings_remark(settings, REMARK_PARTIAL, word.at, word.text,
                            "no configuration is read from there: give it instead of the script");
        else if (key && word.text[0] == '~')
            settings_remark(settings, REMARK_PARTIAL, word.at, word.text, "a key that is taken away: it stays");
        else if (key)
            put(root, &format_verl, arena_copy_part(settings->arena, key, (size_t)(equals - key)), equals + 1, &word,
                settings);
        else if (!word.many)
            settings_remark(settings, REMARK_UNKNOWN, word.at, word.text, "no key of veRL's configuration");
    }
}

static void read_options(struct node *root, const struct shell_word *words, size_t count, struct settings *settings)
{
    for (size_t i = 0; i < count; i++) {
        if (strncmp(words[i].text, "--", 2) != 0 || !isalpha((unsigned char)words[i].text[2]))
            continue;
        const char *equals = strchr(words[i].text, '=');
        bool behind = !equals && i + 1 < count && strncmp(words[i + 1].text, "--", 2) != 0;
        size_t length = equals ? (size_t)(equals - words[i].text) : strlen(words[i].text);
        char *key = arena_copy_part(settings->arena, words[i].text + 2, length - 2);
        for (char *at = key; *at; at++)
            *at = *at == '-' ? '_' : *at;
        put(root, &format_openrlhf, key,
            equals   ? equals + 1
            : behind ? words[i + 1].text
                     : "true",
            &words[i + behind], settings);
    }
}

/* The words behind the program: what stands before it are a launcher's. */
static size_t program_of(const struct shell_command *command, const char *name)
{
    for (size_t i = 0; i < command->count; i++)
        if (strstr(command->words[i].text, name))
            return i + 1;
    return 0;
}

const struct node *overrides_read(const struct shell_command *command, struct settings *settings,
                                  const struct format **format)
{
    bool hydra = false;
    for (size_t i = 0; i < command->count; i++)
        hydra |= command->words[i].text[0] != '-' && overrides_are(command->words[i].text);
    *format = hydra ? &format_verl : &format_openrlhf;
    struct node *root = arena_alloc(settings->arena, sizeof *root);
    *root = (struct node){.kind = NODE_MAP, .at = command->words[0].at, .key_at = command->words[0].at};
    size_t first = program_of(command, hydra ? "verl" : "openrlhf");
    for (size_t i = first; i < command->count; i++)
        if (command->words[i].many && command->words[i].why && !key_of(command->words[i].open))
            refuse_unknown(&command->words[i], settings);
    (hydra ? read_hydra : read_options)(root, command->words + first, command->count - first, settings);
    return root;
}
