/* SPDX-License-Identifier: Apache-2.0 */
/* Launches of reinforcement learning, whose arguments are keys of a configuration: veRL's `a.b=value` (Hydra's), and
 * OpenRLHF's `--a_b value`. They become the tree of such a file, each value at its word. */
#include "base/arena.h"
#include "base/text/ends.h"
#include "frameworks/import/formats.h"
#include "frameworks/import/parts.h"

#include <ctype.h>
#include <string.h>

static const char strategy[] = "actor_rollout_ref.actor.strategy";

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

static const char no_configuration[] = "no configuration is read from there: give it instead of the script";

/* Hydra's own option of that name, with its value in the same word or the next one; NULL: another word. */
static const char *option_value(const char *word, const char *name)
{
    size_t length = strlen(name);
    return strncmp(word, name, length) != 0 || !strchr("=", word[length]) ? NULL
           : word[length]                                                 ? word + length + 1
                                                                          : "";
}

/* The configuration's name stands for values below all keys, wherever it is: of veRL's own two, these are the
 * defaults, and the trainer. */
static void read_config_name(struct node *root, const char *name, const struct shell_word *word,
                             struct settings *settings)
{
    bool own = !strncmp(name, "ppo_trainer", 11) || !strncmp(name, "ppo_megatron_trainer", 20);
    const char *ending = own ? strstr(name, "_trainer") + strlen("_trainer") : name;
    if (strstr(name, "megatron") && !node_find(root, strategy))
        put(root, &format_verl, strategy, "megatron", word, settings);
    if (!own || (*ending && strcmp(ending, ".yaml") != 0))
        settings_remark(settings, REMARK_PARTIAL, word->at, name, "%s", no_configuration);
}

/* Whether the words are an option of Hydra's; `*took`: how many. */
static bool read_hydra_option(struct node *root, const struct shell_word *words, size_t count, size_t *took,
                              struct settings *settings)
{
    static const char *const names[] = {"--config-name", "-cn", "--config-path", "-cp", "--config-dir", "-cd", NULL};
    for (size_t i = 0; names[i]; i++) {
        const char *value = option_value(words[0].text, names[i]);
        if (!value)
            continue;
        *took = *value || count < 2 ? 1 : 2;
        const struct shell_word *last = &words[*took - 1];
        if (i < 2)
            read_config_name(root, *took == 2 ? last->text : value, last, settings);
        else
            settings_remark(settings, REMARK_PARTIAL, last->at, words[0].text, "%s", no_configuration);
        return true;
    }
    return false;
}

static void read_hydra_key(struct node *root, struct shell_word word, struct settings *settings)
{
    const char *key = word.text[0] == '-' ? NULL : key_of(word.text), *equals = strchr(word.text, '=');
    if (key && word.text[0] == '~')
        settings_remark(settings, REMARK_PARTIAL, word.at, word.text, "a key that is taken away: it stays");
    else if (key)
        put(root, &format_verl, arena_copy_part(settings->arena, key, (size_t)(equals - key)), equals + 1, &word,
            settings);
    else if (!word.many)
        settings_remark(settings, REMARK_UNKNOWN, word.at, word.text, "no key of veRL's configuration");
}

static void read_hydra(struct node *root, const struct shell_word *words, size_t count, struct settings *settings)
{
    size_t took = 1;
    for (size_t i = 0; i < count; i += took)
        if (!read_hydra_option(root, words + i, count - i, &took, settings)) {
            read_hydra_key(root, without_names(words[i]), settings);
            took = 1;
        }
}

static bool is_option(const char *word)
{
    return !strncmp(word, "--", 2) && isalpha((unsigned char)word[2]);
}

/* The words behind an option, up to the next one; those that its value does not take are said, unless the option is
 * one that no row reads, and could take several. */
static size_t values_of(const struct shell_word *words, size_t count, bool taken, struct settings *settings)
{
    size_t end = 0;
    for (; end < count && !is_option(words[end].text); end++)
        if (!words[end].many && taken)
            settings_remark(settings, REMARK_UNKNOWN, words[end].at, words[end].text, "no option of OpenRLHF");
    return end;
}

static void read_options(struct node *root, const struct shell_word *words, size_t count, struct settings *settings)
{
    size_t i = values_of(words, count, true, settings);
    while (i < count) {
        const char *text = words[i].text, *equals = strchr(text, '=');
        bool behind = !equals && i + 1 < count && !is_option(words[i + 1].text);
        char *key = arena_copy_part(settings->arena, text + 2, strcspn(text, "=") - 2);
        for (char *at = key; *at; at++)
            *at = *at == '-' ? '_' : *at;
        put(root, &format_openrlhf, key,
            equals   ? equals + 1
            : behind ? words[i + 1].text
                     : "true",
            &words[i + behind], settings);
        i += 1 + behind;
        i += values_of(words + i, count - i, is_row(&format_openrlhf, key), settings);
    }
}

/* The words behind the program, `-m MODULE` or a file of Python: what stands before them are a launcher's. Without one
 * each word is looked at. */
static size_t behind_program(const struct shell_command *command)
{
    for (size_t i = 0; i < command->count && !overrides_are(command->words[i].text); i++) {
        const char *before = i ? command->words[i - 1].text : "";
        if (!strcmp(before, "-m") || !strcmp(before, "--module") || text_ends_in(command->words[i].text, ".py"))
            return i + 1;
    }
    return 0;
}

/* Some of veRL's programs take the same keys, and train nothing. */
static void refuse_generation(const struct shell_command *command, size_t behind, struct settings *settings)
{
    const struct shell_word *program = behind ? &command->words[behind - 1] : NULL;
    if (program && strstr(program->text, "main_generation"))
        diag_error(settings->diag, program->at,
                   "%s generates samples without training, so it is no step of reinforcement learning; expected a "
                   "launch of main_ppo",
                   program->text);
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
    size_t first = behind_program(command);
    refuse_generation(command, first, settings);
    for (size_t i = first; i < command->count; i++)
        if (command->words[i].many && command->words[i].why && !key_of(command->words[i].open))
            refuse_unknown(&command->words[i], settings);
    (hydra ? read_hydra : read_options)(root, command->words + first, command->count - first, settings);
    if (hydra)
        document_inherit(settings, root);
    return root;
}
