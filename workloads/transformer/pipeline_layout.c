/* SPDX-License-Identifier: Apache-2.0 */
#include "workloads/transformer/pipeline_layout.h"

#include "base/arena.h"
#include "base/diagnostics.h"

#include <stdlib.h>
#include <string.h>

/* ---- repetitions written out ---- */

/* A character, and where it stands in what the user wrote. */
struct letter {
    char letter;
    uint32_t at;
};

struct letters {
    struct letter *items;
    size_t count, capacity;
};

static bool add(struct letters *letters, struct letter letter, struct fault *fault)
{
    if (letters->count == PIPELINE_LAYOUT_MOST)
        return fault_set(fault, "character %u repeats to more than %d layers and stages", letter.at,
                         PIPELINE_LAYOUT_MOST);
    letters->items = array_grow(letters->items, &letters->capacity, letters->count + 1, sizeof *letters->items);
    letters->items[letters->count++] = letter;
    return true;
}

/* `*n` at an index: its length, 0 where there is none. Beyond all bounds, n is one more than the most. */
static size_t factor_at(const struct letters *letters, size_t index, uint32_t *n)
{
    size_t end = index + 1;
    *n = 0;
    if (index >= letters->count || letters->items[index].letter != '*')
        return 0;
    for (; end < letters->count && letters->items[end].letter >= '0' && letters->items[end].letter <= '9'; end++)
        if (*n <= PIPELINE_LAYOUT_MOST)
            *n = 10 * *n + (uint32_t)(letters->items[end].letter - '0');
    return end > index + 1 ? end - index : 0;
}

/* What a repetition at an index repeats: its length with brackets, 0 where there is none. */
static size_t group_at(const struct letters *letters, size_t index)
{
    size_t end = index + 1;
    if (letters->items[index].letter != '(')
        return 0;
    while (end < letters->count && letters->items[end].letter != ')')
        end++;
    return end < letters->count && end > index + 1 ? end - index + 1 : 0;
}

static size_t letter_at(const struct letters *letters, size_t index)
{
    (void)letters;
    (void)index;
    return 1;
}

/* One pass over the text from left to right, as Megatron makes two: of brackets, then of single characters. */
static bool unroll(struct letters *letters, size_t (*unit_at)(const struct letters *letters, size_t index),
                   uint32_t bracket, struct fault *fault)
{
    struct letters out = {0};
    bool good = true;
    for (size_t i = 0; good && i < letters->count;) {
        size_t unit = unit_at(letters, i), factor = 0;
        uint32_t n = 1;
        if (unit)
            factor = factor_at(letters, i + unit, &n);
        if (!factor) { /* as it stands */
            good = add(&out, letters->items[i++], fault);
            continue;
        }
        for (uint32_t k = 0; good && k < n; k++)
            for (size_t j = i + bracket; good && j < i + unit - bracket; j++)
                good = add(&out, letters->items[j], fault);
        i += unit + factor;
    }
    free(letters->items);
    *letters = out;
    return good;
}

static bool expand(const char *text, struct letters *letters, struct fault *fault)
{
    bool good = true;
    for (uint32_t i = 0; good && text[i]; i++)
        good = text[i] == ',' || add(letters, (struct letter){text[i], i + 1}, fault);
    return good && unroll(letters, group_at, 1, fault) && unroll(letters, letter_at, 0, fault);
}

/* ---- what stands in the stages ---- */

struct reading {
    struct pipeline_layout *layout;
    struct fault *fault;
    uint32_t stage, embeddings, losses;
    bool first; /* no letter yet */
};

static bool misplaced(const struct reading *r, struct letter letter, const char *what)
{
    return fault_set(r->fault, "character %u: %s", letter.at, what);
}

static bool unknown(const struct reading *r, struct letter letter)
{
    struct fault *fault = r->fault;
    if (letter.letter == '(' || letter.letter == ')' || letter.letter == '*')
        return fault_set(fault,
                         "character %u: '%c' does not belong to a repetition; expected (...)*n or x*n, not nested",
                         letter.at, letter.letter);
    char text[2] = {letter.letter};
    diag_clean(text, sizeof text);
    return fault_set(fault, "character %u: expected E, t, m, L or |, not '%s'", letter.at,
                     letter.letter > ' ' && letter.letter < 127 ? text : " ");
}

static bool read_prediction(const struct reading *r, struct letter letter)
{
    struct pipeline_layout *l = r->layout;
    if (l->prediction_layers && l->prediction != r->stage)
        return misplaced(r, letter, "all m are in one stage");
    l->prediction = r->stage;
    l->prediction_layers++;
    return true;
}

static bool read_letter(struct reading *r, struct letter letter)
{
    struct pipeline_layout *l = r->layout;
    bool first = r->first;
    if (letter.letter != '|')
        r->first = false;
    if (strchr("tmL", letter.letter) && first)
        return misplaced(r, letter, "the embedding (E) comes before everything else");
    if (strchr("Etm", letter.letter) && r->losses)
        return misplaced(r, letter, "the output (L) comes after everything else");
    switch (letter.letter) {
    case '|':
        r->stage++;
        return true;
    case 'E':
        l->embedding = r->stage;
        return r->embeddings++ == 0 || misplaced(r, letter, "there is one embedding (E)");
    case 't':
        l->counts[r->stage]++;
        l->layers++;
        return !l->prediction_layers || misplaced(r, letter, "a layer (t) does not follow m");
    case 'm':
        return read_prediction(r, letter);
    case 'L':
        l->loss = r->stage;
        return r->losses++ == 0 || misplaced(r, letter, "there is one output (L)");
    default:
        return unknown(r, letter);
    }
}

static bool check_workers(const struct pipeline_layout *l, uint32_t workers, struct fault *fault)
{
    if (l->stages % workers)
        return fault_set(fault, "%u stages are no multiple of the %u workers of the pipeline", l->stages, workers);
    if (l->prediction_layers && l->prediction + workers < l->stages)
        return fault_set(fault, "m is in stage %u; expected it in the last stage of its worker, one of %u to %u",
                         l->prediction, l->stages - workers, l->stages - 1);
    return true;
}

static bool read_stages(const struct letters *letters, uint32_t workers, struct pipeline_layout *l, struct fault *fault)
{
    struct reading r = {.layout = l, .fault = fault, .first = true};
    l->stages = 1;
    for (size_t i = 0; i < letters->count; i++)
        l->stages += letters->items[i].letter == '|';
    l->counts = array_zeroed(l->stages, sizeof *l->counts);
    for (size_t i = 0; i < letters->count; i++)
        if (!read_letter(&r, letters->items[i]))
            return false;
    if (!r.embeddings || !r.losses)
        return fault_set(fault, "%s is missing", r.embeddings ? "the output (L) at the end" : "the embedding (E)");
    return !workers || check_workers(l, workers, fault);
}

bool pipeline_layout_read(const char *text, uint32_t workers, struct pipeline_layout *layout, struct fault *fault)
{
    struct letters letters = {0};
    *layout = (struct pipeline_layout){0};
    bool good = expand(text, &letters, fault) && read_stages(&letters, workers, layout, fault);
    free(letters.items);
    if (!good)
        pipeline_layout_finish(layout);
    return good;
}

void pipeline_layout_finish(struct pipeline_layout *layout)
{
    free(layout->counts);
    layout->counts = NULL;
}

/* ---- the normal form ---- */

struct pen {
    char *text;
    size_t length, capacity;
};

static void put(struct pen *pen, const char *text, size_t length)
{
    pen->text = array_grow(pen->text, &pen->capacity, pen->length + length + 1, 1);
    memcpy(pen->text + pen->length, text, length);
    pen->length += length;
    pen->text[pen->length] = '\0';
}

static void put_factor(struct pen *pen, uint32_t n)
{
    char text[16];
    put(pen, text, (size_t)snprintf(text, sizeof text, "*%u", n));
}

static void put_letters(struct pen *pen, char letter, uint32_t n)
{
    enum { WRITTEN_OUT = 3 };
    for (uint32_t i = 0; i < (n > WRITTEN_OUT ? 1 : n); i++)
        put(pen, &letter, 1);
    if (n > WRITTEN_OUT)
        put_factor(pen, n);
}

static void put_stage(struct pen *pen, const struct pipeline_layout *l, uint32_t stage)
{
    put_letters(pen, 'E', stage == l->embedding);
    put_letters(pen, 't', l->counts[stage]);
    put_letters(pen, 'm', stage == l->prediction ? l->prediction_layers : 0);
    put_letters(pen, 'L', stage == l->loss);
}

/* Nothing but layers, and not the last stage, behind which there is no bar. */
static bool is_plain(const struct pipeline_layout *l, uint32_t stage)
{
    return stage != l->embedding && stage != l->loss && !(l->prediction_layers && stage == l->prediction) &&
           stage + 1 < l->stages;
}

static uint32_t run_length(const struct pipeline_layout *l, uint32_t stage)
{
    uint32_t end = stage + 1;
    if (is_plain(l, stage))
        while (end < l->stages && is_plain(l, end) && l->counts[end] == l->counts[stage])
            end++;
    return end - stage;
}

/* A run of equal stages; `|*2` for empty ones, for empty brackets are none. */
static void put_run(struct pen *pen, const struct pipeline_layout *l, uint32_t stage, uint32_t run)
{
    bool brackets = run > 1 && l->counts[stage];
    if (brackets)
        put(pen, "(", 1);
    put_stage(pen, l, stage);
    put(pen, "|)", stage + 1 == l->stages ? 0 : brackets ? 2 : 1);
    if (run > 1)
        put_factor(pen, run);
}

char *pipeline_layout_text(const struct pipeline_layout *layout)
{
    struct pen pen = {0};
    for (uint32_t stage = 0, run; stage < layout->stages; stage += run) {
        run = run_length(layout, stage);
        put_run(&pen, layout, stage, run);
    }
    return pen.text;
}

char *pipeline_layout_text_of(const uint32_t *counts, uint32_t stages, uint32_t predictions)
{
    struct pipeline_layout layout = {.stages = stages,
                                     .counts = (uint32_t *)counts,
                                     .loss = stages - 1,
                                     .prediction = stages - 1,
                                     .prediction_layers = predictions};
    return pipeline_layout_text(&layout);
}
