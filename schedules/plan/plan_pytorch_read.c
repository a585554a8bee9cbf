/* SPDX-License-Identifier: Apache-2.0 */
#include "schedules/plan/plan_pytorch.h"

#include "base/arena.h"
#include "base/csv.h"
#include "schedules/plan/plan_rows.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

const char *const pytorch_action_names[PYTORCH_ACTIONS] = {
    "F", "I", "B", "W", "UNSHARD", "RESHARD", "REDUCE_GRAD", "SEND_F", "RECV_F", "SEND_B", "RECV_B"};

/* A cell's action, or one of a block's two. */
struct cell {
    uint32_t rank, stage, micro_batch, line, column;
    uint32_t step; /* of its row; the actions of a block share it */
    uint8_t action;
};

/* What is known of a stage and micro-batch while ranks are gone through. */
enum {
    SEEN_F = 1,
    SEEN_I = 2,
    SEEN_B = 4,
    SEEN_W = 8,
    SENT_F = 16,
    GOT_F = 32,
    SENT_B = 64,
    GOT_B = 128,
};

struct stage_state {
    uint32_t rank, backwards; /* where it computes; whole backwards and weight gradients so far */
    bool resharded, reduced;
};

struct reader {
    const char *name;
    struct diag *diag;
    enum pytorch_dialect dialect;
    uint32_t rank, line;
    struct cell *cells;
    size_t count, capacity;
    struct place idle;         /* the first idle step; line 0: none */
    bool communicates, splits; /* has actions other than computations; has I */
    struct plan_rows rows;
    struct plan_sizes sizes;
    uint8_t *seen; /* [stage * micro_batches + micro_batch] */
    struct stage_state *stages;
};

static bool is_compute(uint8_t action)
{
    return action <= PYTORCH_W;
}

static bool has_micro_batch(uint8_t action)
{
    return is_compute(action) || action >= PYTORCH_SEND_F;
}

static struct place place_of(const struct reader *reader, const struct cell *cell)
{
    return (struct place){reader->name, cell->line, cell->column};
}

/* ---- cells ---- */

/* A part of the text. */
struct piece {
    const char *text, *end;
};

static struct piece trimmed(struct piece piece)
{
    while (piece.text < piece.end && (*piece.text == ' ' || *piece.text == '\t'))
        piece.text++;
    while (piece.end > piece.text && (piece.end[-1] == ' ' || piece.end[-1] == '\t' || piece.end[-1] == '\r'))
        piece.end--;
    return piece;
}

/* Digits at the beginning, which are taken off. Numbers beyond `most` become one more. */
static bool take_number(struct piece *piece, uint32_t most, uint32_t *number)
{
    const char *begin = piece->text;
    *number = 0;
    for (; piece->text < piece->end && isdigit((unsigned char)*piece->text); piece->text++)
        if (*number <= most)
            *number = 10 * *number + (uint32_t)(*piece->text - '0');
    if (*number > most)
        *number = most + 1;
    return piece->text > begin;
}

static bool take_word(struct piece *piece, const char *word)
{
    size_t length = strlen(word);
    if ((size_t)(piece->end - piece->text) < length || memcmp(piece->text, word, length) != 0)
        return false;
    piece->text += length;
    return true;
}

static bool take_action(struct piece *piece, enum pytorch_dialect dialect, uint8_t *action)
{
    if (dialect == PYTORCH_OLDER && take_word(piece, "BW")) {
        *action = PYTORCH_ACTIONS; /* a whole backward, told from B until W are known */
        return true;
    }
    for (*action = 0; *action < PYTORCH_ACTIONS; (*action)++)
        if (take_word(piece, pytorch_action_names[*action]))
            return true;
    return false;
}

static void mistake(const struct reader *reader, const char *at, const char *line, const char *what, struct piece piece)
{
    struct csv_excerpt excerpt = csv_excerpt((struct csv_field){piece.text, (size_t)(piece.end - piece.text), false});
    struct place place = {reader->name, reader->line, (unsigned)(at - line) + 1};
    diag_error(reader->diag, place, "'%s' %s", excerpt.text, what);
}

static const char *check_numbers(const struct reader *reader, const struct cell *cell, bool numbered)
{
    bool whole = cell->action == PYTORCH_ACTIONS;
    if (reader->dialect == PYTORCH_OLDER && cell->action == PYTORCH_I)
        return "is not of an older file, which has B for it";
    if (cell->stage > ROW_NUMBER_MAX)
        return "has a stage beyond 65534";
    if (cell->micro_batch > ROW_MICRO_BATCH_MAX)
        return "has a micro-batch beyond 16777215";
    if (numbered != (whole || has_micro_batch(cell->action)))
        return numbered ? "has a micro-batch, but is for all of them" : "has no micro-batch";
    return NULL;
}

/* One action, such as 2F0. */
static void read_action(struct reader *reader, struct piece piece, const char *line, uint32_t step)
{
    struct cell cell = {
        .rank = reader->rank, .line = reader->line, .column = (uint32_t)(piece.text - line) + 1, .step = step};
    struct piece rest = piece;
    const char *wrong = "is no action; expected a stage, F, I, B, W or a communication, and a micro-batch, such as 2F0";
    if (take_number(&rest, ROW_NUMBER_MAX, &cell.stage) && take_action(&rest, reader->dialect, &cell.action)) {
        bool numbered = take_number(&rest, ROW_MICRO_BATCH_MAX, &cell.micro_batch);
        wrong = rest.text < rest.end ? "goes on behind the action, which PyTorch would read without a word"
                                     : check_numbers(reader, &cell, numbered);
        if (rest.text < rest.end && !numbered && take_word(&(struct piece){rest.text - 1, rest.end}, "BW"))
            wrong =
                "is of PyTorch before 2.6; `stagesim schedule FILE --older-pytorch --format pytorch` writes it anew";
    }
    if (wrong) {
        mistake(reader, piece.text, line, wrong, piece);
        return;
    }
    reader->communicates |= cell.action < PYTORCH_ACTIONS && !is_compute(cell.action);
    reader->splits |= cell.action == PYTORCH_I;
    reader->cells = array_grow(reader->cells, &reader->capacity, reader->count + 1, sizeof *reader->cells);
    reader->cells[reader->count++] = cell;
}

/* (0F7;7B3)OVERLAP_F_B */
static void read_block(struct reader *reader, struct piece piece, const char *line, uint32_t step)
{
    const char *close = memchr(piece.text, ')', (size_t)(piece.end - piece.text));
    const char *part = memchr(piece.text, ';', (size_t)(piece.end - piece.text));
    struct piece word = {close ? close + 1 : piece.end, piece.end};
    size_t first = reader->count;
    if (!close || !part || part > close || memchr(part + 1, ';', (size_t)(close - part - 1)) ||
        !take_word(&word, "OVERLAP_F_B") || word.text < word.end) {
        mistake(reader, piece.text, line, "is no block; expected a forward and a backward: (0F7;7B3)OVERLAP_F_B",
                piece);
        return;
    }
    read_action(reader, trimmed((struct piece){piece.text + 1, part}), line, step);
    read_action(reader, trimmed((struct piece){part + 1, close}), line, step);
    bool both = reader->count == first + 2;
    uint8_t left = both ? reader->cells[first].action : 0, right = both ? reader->cells[first + 1].action : 0;
    bool forward = left == PYTORCH_F || right == PYTORCH_F, same = left == right;
    uint8_t other = left == PYTORCH_F ? right : left;
    if (both && (!forward || same || !(other == PYTORCH_B || other == PYTORCH_I || other == PYTORCH_ACTIONS)))
        mistake(reader, piece.text, line, "is no block of a forward and a backward", piece);
}

static void read_cell(struct reader *reader, struct piece piece, const char *line, uint32_t step)
{
    struct place at = {reader->name, reader->line, (unsigned)(piece.text - line) + 1};
    piece = trimmed(piece);
    if (piece.text == piece.end && !reader->idle.line)
        reader->idle = at;
    if (piece.text == piece.end)
        return;
    if (*piece.text == '(')
        read_block(reader, piece, line, step);
    else
        read_action(reader, piece, line, step);
}

static void read_line(struct reader *reader, struct piece line)
{
    unsigned before = reader->diag->errors;
    size_t count = reader->count;
    uint32_t step = 0;
    for (const char *from = line.text;; step++) {
        const char *comma = memchr(from, ',', (size_t)(line.end - from));
        read_cell(reader, (struct piece){from, comma ? comma : line.end}, line.text, step);
        if (!comma)
            break;
        from = comma + 1;
    }
    if (reader->count == count && reader->diag->errors == before)
        diag_error(reader->diag, (struct place){reader->name, reader->line, 1},
                   "rank %u does nothing; row r of the file has the actions of rank r", reader->rank);
}

static struct piece without_mark(const char *text, size_t size)
{
    bool mark = size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0;
    return (struct piece){text + (mark ? 3 : 0), text + size};
}

static void read_lines(struct reader *reader, const char *text, size_t size)
{
    struct piece rest = without_mark(text, size);
    while (rest.end > rest.text && strchr(" \t\r\n", rest.end[-1]) && rest.end[-1]) /* blank lines at the end */
        rest.end--;
    for (bool more = true; more; reader->rank++) {
        const char *end = memchr(rest.text, '\n', (size_t)(rest.end - rest.text));
        more = end != NULL;
        reader->line++;
        read_line(reader, (struct piece){rest.text, more ? end : rest.end});
        rest.text = more ? end + 1 : rest.end;
    }
}

/* The first cell that is not empty begins with a number and a letter, or with a bracket. */
bool plan_pytorch_recognise(const char *text, size_t size)
{
    struct piece rest = without_mark(text, size);
    uint32_t number;
    while (rest.text < rest.end && (*rest.text == ',' || *rest.text == ' ' || *rest.text == '\t'))
        rest.text++;
    if (rest.text < rest.end && *rest.text == '(')
        return true;
    return take_number(&rest, ROW_NUMBER_MAX, &number) && rest.text < rest.end && isupper((unsigned char)*rest.text);
}

/* ---- what the loader checks ---- */

static uint8_t *seen_at(const struct reader *reader, const struct cell *cell)
{
    return &reader->seen[(size_t)cell->stage * reader->sizes.micro_batches + cell->micro_batch];
}

/* Of an older file B is the gradient of the input where there is a W of its own, else a whole backward, as BW is. */
static void translate(struct reader *reader)
{
    for (size_t i = 0; i < reader->count; i++)
        if (reader->cells[i].action == PYTORCH_W)
            *seen_at(reader, &reader->cells[i]) |= SEEN_W;
    for (size_t i = 0; i < reader->count; i++) {
        struct cell *cell = &reader->cells[i];
        if (cell->action == PYTORCH_B && (*seen_at(reader, cell) & SEEN_W))
            cell->action = PYTORCH_I;
        if (cell->action == PYTORCH_ACTIONS)
            cell->action = PYTORCH_B;
    }
    memset(reader->seen, 0, (size_t)reader->sizes.stages * reader->sizes.micro_batches);
}

/* I and W belong together; a W beside a B is of an older file. */
static void check_splits(const struct reader *reader)
{
    for (size_t i = 0; i < reader->count; i++)
        if (is_compute(reader->cells[i].action))
            *seen_at(reader, &reader->cells[i]) |= (uint8_t)(SEEN_F << reader->cells[i].action);
    for (size_t i = 0; i < reader->count; i++) {
        const struct cell *cell = &reader->cells[i];
        if (!is_compute(cell->action))
            continue;
        uint8_t seen = *seen_at(reader, cell);
        if (cell->action == PYTORCH_I && !(seen & SEEN_W))
            diag_error(reader->diag, place_of(reader, cell), "%uI%u has no %uW%u", cell->stage, cell->micro_batch,
                       cell->stage, cell->micro_batch);
        if (cell->action == PYTORCH_W && !(seen & SEEN_I))
            diag_error(reader->diag, place_of(reader, cell), "%uW%u has no %uI%u%s", cell->stage, cell->micro_batch,
                       cell->stage, cell->micro_batch,
                       reader->splits ? "" : "; files of PyTorch before 2.6 write B for it: --older-pytorch");
    }
    memset(reader->seen, 0, (size_t)reader->sizes.stages * reader->sizes.micro_batches);
}

/* ---- files with communication ---- */

/* The stage at the other end of a message that a computation needs or makes, or the same stage where there is none. */
static uint32_t neighbour(const struct reader *reader, uint32_t stage, bool up)
{
    uint32_t other = up ? stage + 1 : stage - 1;
    bool there = up ? other < reader->sizes.stages : stage > 0;
    return there && reader->stages[other].rank != reader->stages[stage].rank ? other : stage;
}

static void wrong_cell(const struct reader *reader, const struct cell *cell, const char *what)
{
    const char *name = pytorch_action_names[cell->action];
    if (has_micro_batch(cell->action))
        diag_error(reader->diag, place_of(reader, cell), "%u%s%u %s", cell->stage, name, cell->micro_batch, what);
    else
        diag_error(reader->diag, place_of(reader, cell), "%u%s %s", cell->stage, name, what);
}

/* A send or a receive: between which stages, what it comes after, what it does. */
static void check_message(const struct reader *reader, const struct cell *cell)
{
    static const struct {
        bool up; /* the other end is the next stage */
        uint8_t does, after;
    } kinds[] = {{true, SENT_F, SEEN_F}, {false, GOT_F, 0}, {false, SENT_B, SEEN_B}, {true, GOT_B, 0}};
    unsigned kind = cell->action - PYTORCH_SEND_F;
    uint8_t *seen = seen_at(reader, cell);
    if (neighbour(reader, cell->stage, kinds[kind].up) == cell->stage)
        wrong_cell(reader, cell, "is needless: there is no such stage on another rank");
    else if (*seen & kinds[kind].does)
        wrong_cell(reader, cell, "is there more than once");
    else if ((*seen & kinds[kind].after) != kinds[kind].after)
        wrong_cell(reader, cell, "comes before what it sends is computed");
    *seen |= kinds[kind].does;
}

static void check_sharding(const struct reader *reader, const struct cell *cell)
{
    struct stage_state *stage = &reader->stages[cell->stage];
    if (cell->action != PYTORCH_REDUCE_GRAD) {
        stage->resharded = cell->action == PYTORCH_RESHARD;
        return;
    }
    if (stage->reduced)
        wrong_cell(reader, cell, "is there more than once");
    else if (stage->backwards < reader->sizes.micro_batches)
        wrong_cell(reader, cell, "comes before the stage's last backward");
    stage->reduced = true;
}

static void check_computation(const struct reader *reader, const struct cell *cell)
{
    struct stage_state *stage = &reader->stages[cell->stage];
    uint8_t *seen = seen_at(reader, cell);
    bool forward = cell->action == PYTORCH_F;
    bool remote = neighbour(reader, cell->stage, !forward) != cell->stage;
    if (stage->resharded)
        wrong_cell(reader, cell, "comes after the stage's RESHARD");
    if (cell->action != PYTORCH_W && remote && !(*seen & (forward ? GOT_F : GOT_B)))
        wrong_cell(reader, cell, forward ? "has no RECV_F before it" : "has no RECV_B before it");
    stage->backwards += cell->action == PYTORCH_B || cell->action == PYTORCH_W;
    if (cell->action != PYTORCH_W)
        *seen |= forward ? SEEN_F : SEEN_B;
}

static bool check_there(const struct reader *reader, const struct cell *cell)
{
    bool there = cell->stage < reader->sizes.stages && cell->micro_batch < reader->sizes.micro_batches;
    if (!there)
        wrong_cell(reader, cell, "is of a stage or micro-batch that nobody computes");
    else if (reader->stages[cell->stage].rank != cell->rank)
        diag_error(reader->diag, place_of(reader, cell), "stage %u is on rank %u, this is rank %u", cell->stage,
                   reader->stages[cell->stage].rank, cell->rank);
    return there && reader->stages[cell->stage].rank == cell->rank;
}

static void check_sent(const struct reader *reader)
{
    for (size_t i = 0; i < reader->count; i++) {
        const struct cell *cell = &reader->cells[i];
        bool forward = cell->action == PYTORCH_F;
        if (cell->action > PYTORCH_B || neighbour(reader, cell->stage, forward) == cell->stage)
            continue;
        if (!(*seen_at(reader, cell) & (forward ? SENT_F : SENT_B)))
            wrong_cell(reader, cell, forward ? "has no SEND_F behind it" : "has no SEND_B behind it");
    }
}

static void check_communication(struct reader *reader)
{
    if (reader->idle.line)
        diag_error(reader->diag, reader->idle, "an idle step; files with communication have none");
    for (size_t i = 0; i < reader->count; i++) {
        const struct cell *cell = &reader->cells[i];
        if (!check_there(reader, cell))
            continue;
        if (is_compute(cell->action))
            check_computation(reader, cell);
        else if (has_micro_batch(cell->action))
            check_message(reader, cell);
        else
            check_sharding(reader, cell);
    }
    check_sent(reader);
}

/* ---- the whole ---- */

static void add_rows(struct reader *reader)
{
    static const uint8_t kinds[] = {SLOT_FORWARD, SLOT_BACKWARD, SLOT_BACKWARD, SLOT_WEIGHT};
    reader->rows.count = 0;
    for (size_t i = 0; i < reader->count; i++) {
        const struct cell *cell = &reader->cells[i];
        if (!is_compute(cell->action) && cell->action != PYTORCH_ACTIONS)
            continue;
        struct plan_row row = {.worker = cell->rank,
                               .stage = cell->stage,
                               .micro_batch = cell->micro_batch,
                               .index = cell->step,
                               .line = cell->line,
                               .column = cell->column,
                               .kind = kinds[cell->action == PYTORCH_ACTIONS ? PYTORCH_B : cell->action]};
        plan_rows_add(&reader->rows, &row);
    }
}

static void place_stages(const struct reader *reader)
{
    for (uint32_t stage = 0; stage < reader->sizes.stages; stage++)
        reader->stages[stage].rank = UINT32_MAX;
    for (size_t i = reader->count; i-- > 0;)
        if (is_compute(reader->cells[i].action))
            reader->stages[reader->cells[i].stage].rank = reader->cells[i].rank;
}

static void check_cells(struct reader *reader)
{
    reader->seen = array_zeroed((size_t)reader->sizes.stages * reader->sizes.micro_batches, 1);
    reader->stages = array_zeroed(reader->sizes.stages, sizeof *reader->stages);
    if (reader->dialect == PYTORCH_OLDER)
        translate(reader);
    check_splits(reader);
    place_stages(reader);
    if (reader->communicates)
        check_communication(reader);
    free(reader->seen);
    free(reader->stages);
}

struct plan *plan_pytorch_parse(const char *name, const char *text, size_t size, enum pytorch_dialect dialect,
                                struct diag *diag)
{
    struct reader reader = {.name = name, .diag = diag, .dialect = dialect};
    struct plan *plan = NULL;
    unsigned before = diag->errors;
    reader.rows = (struct plan_rows){.name = name, .unit = "actions", .diag = diag, .blocks = true};
    read_lines(&reader, text, size);
    add_rows(&reader);
    if (diag->errors == before && !reader.rows.count)
        diag_error(diag, (struct place){name, 0, 0}, "nothing is computed in this file");
    if (diag->errors == before && plan_rows_sizes(&reader.rows, &reader.sizes))
        check_cells(&reader);
    if (diag->errors == before) {
        add_rows(&reader); /* once more: of an older file they have changed */
        plan = plan_rows_build(&reader.rows);
    }
    plan_rows_finish(&reader.rows);
    free(reader.cells);
    return plan;
}
