/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what a format's table says, and names what it does not. */
#include "frameworks/import/formats.h"

#include "base/arena.h"
#include "frameworks/import/parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A key as the file writes it: with underscores or dashes. */
static const char *written(const struct node *root, const char *path, struct arena *arena)
{
    if (node_find(root, path))
        return path;
    char *dashes = arena_copy(arena, path);
    for (char *at = dashes; *at; at++)
        if (*at == '_')
            *at = '-';
    return node_find(root, dashes) ? dashes : path;
}

const struct format *formats_find(const struct node *root, struct arena *arena)
{
    const struct format *best = NULL;
    unsigned most = 0;
    for (const struct format *const *format = formats; *format; format++) {
        const struct format *each = *format;
        unsigned count = 0;
        for (const char *const *mark = each->marks; *mark; mark++)
            count += node_find(root, written(root, *mark, arena)) != NULL;
        if (count >= each->need && count > most) {
            best = each;
            most = count;
        }
    }
    return best;
}

/* The scenario's word for one of the file's. */
static const char *translate(const char *words, const char *text, struct arena *arena)
{
    size_t length = strlen(text);
    for (const char *at = words; *at; at += strspn(at, " ")) {
        size_t end = strcspn(at, " "), equals = strcspn(at, "=");
        if (equals == length && !strncmp(at, text, length))
            return arena_copy_part(arena, at + equals + 1, end - equals - 1);
        at += end;
    }
    return NULL;
}

/* The file's own words, for a message: "mtp=false msp=true" is "mtp, msp". */
static const char *files_words(const char *words, struct arena *arena)
{
    const char *list = "";
    for (const char *at = words; *at; at += strspn(at, " ")) {
        size_t end = strcspn(at, " "), equals = strcspn(at, "=");
        list = arena_print(arena, "%s%s%.*s", list, *list ? ", " : "", (int)equals, at);
        at += end;
    }
    return list;
}

/* A word, or the count at a key of the file: "@max_position_embeddings". */
static void put_word(struct reading *r, const char *key, const char *word, struct source from)
{
    const char *path = word[0] == '@' ? written(r->root, word + 1, r->settings->arena) : NULL;
    if (!path)
        settings_put(r->settings, key, word, from);
    else if (reading_get(r, path))
        settings_put_count(r->settings, key, reading_count(r, path, 1), from);
}

static void read_word(struct reading *r, const struct format_row *row, const struct node *node, struct source from)
{
    const char *text = node->kind == NODE_SCALAR ? node->text : "";
    const char *word = translate(row->words, text, r->settings->arena);
    if (word)
        put_word(r, row->key, word, from);
    else
        diag_error(r->settings->diag, node->at, "%s is '%s'; expected one of %s", row->path, text,
                   files_words(row->words, r->settings->arena));
}

/* A positive number times another key, where that is known already; 0: it is not, or a mistake was reported. */
static double scaled(struct reading *r, const struct format_row *row, const struct node *node, const char *key)
{
    double ratio;
    uint64_t of = *key ? settings_count(r->settings, key, 0) : 1;
    if (!node_number(node, &ratio) || ratio <= 0 || ratio > 1e6) {
        diag_error(r->settings->diag, node->at, "%s is %s; expected a number above 0", row->path,
                   node_describe(node, r->settings->arena));
        return 0;
    }
    return of < 1U << 24 ? ratio * (double)of : 0;
}

static void read_ratio(struct reading *r, const struct format_row *row, const struct node *node, struct source from)
{
    size_t key = strcspn(row->words, " ");
    double width = scaled(r, row, node, arena_copy_part(r->settings->arena, row->words, key));
    uint64_t multiple = row->words[key] ? strtoull(row->words + key, NULL, 10) : 1;
    if (width >= 1)
        settings_put_count(r->settings, row->key, ((uint64_t)width + multiple - 1) / multiple * multiple, from);
}

/* Gated blocks count both halves. */
static void read_half(struct reading *r, const struct format_row *row, const struct node *node, struct source from)
{
    size_t key = strcspn(row->words, " ");
    const char *gated = settings_text(r->settings, arena_copy_part(r->settings->arena, row->words, key), "false");
    double width =
        settings_find(r->settings, row->key) ? 0 : scaled(r, row, node, row->words[key] ? row->words + key + 1 : "");
    if (width >= 2)
        settings_put_count(r->settings, row->key, (uint64_t)(!strcmp(gated, "true") ? width / 2 : width), from);
}

static void read_shards(struct reading *r, const struct format_row *row, const struct node *node, struct source from)
{
    double ranks;
    if (!node_number(node, &ranks) || ranks > UINT32_MAX) {
        diag_error(r->settings->diag, node->at, "%s is %s; expected a number of ranks, or -1", row->path,
                   node_describe(node, r->settings->arena));
        return;
    }
    settings_put(r->settings, row->key, ranks == 1 ? "0" : row->words, from);
    if (ranks > 1)
        settings_put_count(r->settings, "transformer.shard_ranks", reading_count(r, row->path, 1), from);
}

static void read_chunks(struct reading *r, const struct format_row *row, struct source from)
{
    uint64_t chunks = reading_count(r, row->path, 1);
    settings_put(r->settings, "schedule.name", chunks > 1 ? "interleaved" : "1f1b", from);
    if (chunks > 1)
        settings_put_count(r->settings, row->key, chunks, from);
}

/* Axes of size 0 are none. */
static void read_count(struct reading *r, const struct format_row *row, struct source from)
{
    uint64_t count = reading_count(r, row->path, 1);
    bool axis = !strncmp(row->key, "parallel.", 9);
    settings_put_count(r->settings, row->key, axis && !count ? 1 : count, from);
}

/* Samples of so many tokens. */
static void read_tokens(struct reading *r, const struct format_row *row, const struct node *node, struct source from)
{
    uint64_t tokens = reading_count(r, row->path, 1), sequence = settings_count(r->settings, "model.sequence", 0);
    if (!sequence)
        diag_error(r->settings->diag, node->at,
                   "%s is %" PRIu64 " tokens, and the length of a sequence is not known; expected it in the file, or "
                   "--set model.sequence",
                   row->path, tokens);
    else if (tokens && tokens % sequence == 0)
        settings_put_count(r->settings, row->key, tokens / sequence, from);
    else
        diag_error(r->settings->diag, node->at,
                   "%s is %" PRIu64 " tokens; expected a multiple of the sequence of %" PRIu64, row->path, tokens,
                   sequence);
}

static void read_plain(struct reading *r, const struct format_row *row, const struct node *node, struct source from)
{
    double number;
    if (node_number(node, &number))
        settings_put(r->settings, row->key, node->text, from);
    else
        diag_error(r->settings->diag, node->at, "%s is %s; expected a number", row->path,
                   node_describe(node, r->settings->arena));
}

static void read_above(struct reading *r, const struct format_row *row, const struct node *node, struct source from)
{
    double number;
    if (node_number(node, &number))
        settings_put_flag(r->settings, row->key, number > 0, from);
    else
        diag_error(r->settings->diag, node->at, "%s is %s; expected a number", row->path,
                   node_describe(node, r->settings->arena));
}

/* "auto" and the like stand for what the framework fills in. */
static bool is_open(const struct node *node)
{
    return node->kind == NODE_SCALAR && (!strcmp(node->text, "auto") || !strcmp(node->text, "-1") ||
                                         !strcmp(node->text, "null") || strstr(node->text, "${"));
}

static void read_given(struct reading *r, const struct format_row *row, const struct node *node, struct source from)
{
    bool flag;
    if (row->kind == ROW_REFUSED)
        diag_error(r->settings->diag, node->key_at, "%s: %s", row->path, row->words);
    else if (row->kind == ROW_SHARDS)
        read_shards(r, row, node, from);
    else if (row->kind == ROW_ABOVE)
        read_above(r, row, node, from);
    else if (is_open(node))
        settings_remark(r->settings, REMARK_CHOICE, node->key_at, row->path,
                        "%s is filled in when the job starts: the file does not say", node->text);
    else if (row->kind == ROW_COUNT || (row->kind == ROW_SPARE && !settings_find(r->settings, row->key)))
        read_count(r, row, from);
    else if (row->kind == ROW_TOKENS)
        read_tokens(r, row, node, from);
    else if (row->kind == ROW_PLAIN)
        read_plain(r, row, node, from);
    else if (row->kind == ROW_RATIO)
        read_ratio(r, row, node, from);
    else if (row->kind == ROW_HALF)
        read_half(r, row, node, from);
    else if (row->kind == ROW_CHUNKS)
        read_chunks(r, row, from);
    else if (row->kind == ROW_WORD)
        read_word(r, row, node, from);
    else if (row->kind != ROW_SPARE) {
        flag = reading_flag(r, row->path, false);
        if (row->kind != ROW_ONE)
            settings_put_flag(r->settings, row->key, row->kind == ROW_NOT ? !flag : flag, from);
        else if (flag)
            settings_put(r->settings, row->key, row->words, from);
    }
}

static void put_fact(struct settings *settings, const struct format_fact *fact, struct place at)
{
    if (settings_find(settings, fact->key) ||
        (fact->needs && strcmp(settings_text(settings, fact->needs, ""), fact->value_of) != 0))
        return;
    if (fact->beside && settings_find(settings, fact->beside))
        settings_remark(settings, REMARK_PARTIAL, at, fact->key, "%s: not modelled beside %s", fact->why, fact->beside);
    else
        settings_put(settings, fact->key, fact->value, source_default(fact->why));
}

void formats_read(const struct format *format, const struct node *root, struct settings *settings)
{
    struct reading r = reading_of(root, settings);
    for (const struct format_row *row = format->rows; row->path; row++) {
        struct format_row own = *row;
        bool plain = row->path[0] == '?';
        own.path = written(root, row->path + plain, settings->arena);
        const struct node *node = node_find(root, own.path);
        node = plain && node && node->kind == NODE_MAP ? NULL : reading_get(&r, own.path);
        if (node)
            read_given(&r, &own, node, reading_source(&r, own.path, format->name));
        else if (row->absent && !settings_find(settings, row->key))
            put_word(&r, row->key, row->absent, reading_source(&r, own.path, format->name));
    }
    for (const struct format_fact *fact = format->facts; fact && fact->key; fact++)
        put_fact(settings, fact, root->at);
    if (settings_find(settings, "model.qk_norm_whole") && !settings_find(settings, "model.qk_norm"))
        settings_remove(settings, "model.qk_norm_whole");
    if (settings_count(settings, "parallel.tensor", 1) <= 1 && settings_find(settings, "transformer.sequence_parallel"))
        settings_remove(settings, "transformer.sequence_parallel");
    if (!strcmp(settings_text(settings, "model.gated", "false"), "true") && settings_find(settings, "model.hidden") &&
        !settings_find(settings, "model.ffn"))
        settings_remark(settings, REMARK_MISSING, root->at, "model.ffn",
                        "how wide a gated block is, the file does not say: --set model.ffn=NUMBER");
    if (settings_find(settings, "@fp8"))
        settings_replace(settings, "compute.precision", "fp8", settings_find(settings, "@fp8")->from);
    if (!strcmp(settings_text(settings, "@hybrid", "no"), "yes") && !settings_find(settings, "@replicas") &&
        !settings_find(settings, "transformer.shard_ranks"))
        settings_put(settings, "transformer.shard_ranks", "8",
                     source_assumed("groups of hybrid sharding are nodes, taken as 8 GPUs"));
    reading_account(&r, format->ignored, format->partial);
}
