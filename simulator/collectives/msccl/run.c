/* SPDX-License-Identifier: Apache-2.0 */
/* Carries a program out on names of chunks in place of numbers: what a chunk holds is one chunk of the input and the
 * set of GPUs whose parts have been added up. Vector clocks say what has to have happened before a step, so that two
 * thread blocks that come to a chunk in no certain order are noticed, whichever comes first here. */
#include "base/arena.h"
#include "simulator/collectives/msccl/program.h"
#include "simulator/collectives/msccl/values.h"

#include <stdlib.h>
#include <string.h>

enum { CELLS_MAX = 1 << 26, CYCLE_SHOWN = 8 };

/* A chunk of a buffer. */
struct cell {
    struct value value;
    uint32_t writer;  /* block of the last write, MSCCL_NONE: none */
    uint16_t written; /* its step, counted from 1 */
    uint16_t *reads;  /* [block of the GPU]: the last step that read since then, from 1; NULL: no block yet */
};

struct message {
    struct message *next;
    uint16_t *clock;
    uint32_t round, count;
    struct value values[];
};

/* Of a thread block. */
struct progress {
    uint32_t next;                /* step */
    uint32_t round;               /* the first one in which what comes next may be sent */
    uint16_t *clock;              /* [block]: how many of its steps have happened before */
    struct message *first, *last; /* under way to the block that it sends to */
    uint32_t under_way;
};

/* Of a step that others wait for. */
struct told {
    uint16_t *clock;
    uint32_t round;
};

struct run {
    const struct msccl_program *program;
    struct diag *diag;
    struct arena *arena;
    bool in_place;
    struct cell *cells;
    size_t *first_cell; /* [rank]: input, output, scratch */
    struct progress *progress;
    struct told **told; /* [block][step] */
    struct msccl_messages *messages;
    bool failed;
};

static const char *const buffer_names[] = {"input", "output", "scratch"};

__attribute__((format(printf, 3, 4))) static bool mistake(struct run *run, struct place at, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    diag_verror(run->diag, at, format, arguments);
    va_end(arguments);
    run->failed = true;
    return false;
}

/* ---- what chunks hold ---- */

static struct cell *cell_at(const struct run *run, uint32_t rank, enum msccl_buffer buffer, uint32_t offset)
{
    const struct msccl_program *program = run->program;
    uint32_t part = program->chunks / program->ranks, input = program->length[MSCCL_INPUT];
    struct cell *first = &run->cells[run->first_cell[rank]];
    if (buffer == MSCCL_SCRATCH)
        return &first[input + program->length[MSCCL_OUTPUT] + offset];
    if (!run->in_place)
        return &first[(buffer == MSCCL_OUTPUT ? input : 0) + offset];
    if (program->kind == STAGESIM_ALL_GATHER) /* the input lies in the output */
        return &first[input + offset + (buffer == MSCCL_INPUT ? rank * part : 0)];
    return &first[offset + (buffer == MSCCL_OUTPUT && program->kind == STAGESIM_REDUCE_SCATTER ? rank * part : 0)];
}

/* ---- accesses ---- */

struct access {
    struct run *run;
    const struct msccl_block *block;
    const struct msccl_step *step;
    uint32_t index; /* of the block */
};

static bool happened(const struct access *access, uint32_t block, uint16_t steps)
{
    return access->run->progress[access->index].clock[block] >= steps;
}

static bool race(const struct access *access, const char *does, const char *done, unsigned end, uint32_t chunk,
                 uint32_t block, uint16_t step)
{
    return mistake(access->run, access->step->at,
                   "%s chunk %u of %s without waiting for step %u of thread block %u, which %s it", does,
                   access->step->offset[end] + chunk, buffer_names[access->step->buffer[end]], step - 1u,
                   access->run->program->blocks[block].number, done);
}

static bool read_cell(const struct access *access, unsigned end, uint32_t chunk, struct value *value)
{
    struct run *run = access->run;
    struct cell *cell = cell_at(run, access->block->gpu, access->step->buffer[end], access->step->offset[end] + chunk);
    if (cell->value.chunk == VALUE_NOTHING)
        return mistake(run, access->step->at, "reads chunk %u of %s, which holds nothing yet",
                       access->step->offset[end] + chunk, buffer_names[access->step->buffer[end]]);
    if (cell->writer != MSCCL_NONE && !happened(access, cell->writer, cell->written))
        return race(access, "reads", "writes", end, chunk, cell->writer, cell->written);
    uint32_t blocks = run->program->gpus[access->block->gpu].count;
    if (!cell->reads)
        cell->reads = arena_array(run->arena, blocks, sizeof *cell->reads);
    cell->reads[access->block->number] = (uint16_t)(run->progress[access->index].next + 1);
    *value = cell->value;
    return true;
}

static bool write_cell(const struct access *access, uint32_t chunk, const struct value *value)
{
    struct run *run = access->run;
    const struct msccl_gpu *gpu = &run->program->gpus[access->block->gpu];
    struct cell *cell = cell_at(run, access->block->gpu, access->step->buffer[MSCCL_DESTINATION],
                                access->step->offset[MSCCL_DESTINATION] + chunk);
    if (cell->writer != MSCCL_NONE && !happened(access, cell->writer, cell->written))
        return race(access, "writes", "writes", MSCCL_DESTINATION, chunk, cell->writer, cell->written);
    for (uint32_t i = 0; i < gpu->count && cell->reads; i++) {
        if (!happened(access, gpu->first + i, cell->reads[i]) && gpu->first + i != access->index)
            return race(access, "writes", "reads", MSCCL_DESTINATION, chunk, gpu->first + i, cell->reads[i]);
        cell->reads[i] = 0;
    }
    cell->writer = access->index;
    cell->written = (uint16_t)(run->progress[access->index].next + 1);
    cell->value = *value;
    return true;
}

static bool add(const struct access *access, struct value *sum, const struct value *other)
{
    struct run *run = access->run;
    for (uint32_t rank = 0; rank < run->program->ranks && sum->chunk == other->chunk; rank++)
        if (value_has(sum, rank) && value_has(other, rank))
            return mistake(run, access->step->at, "adds GPU %u's part of chunk %u a second time", rank, sum->chunk);
    if (sum->chunk != other->chunk)
        return mistake(run, access->step->at, "adds %s to %s", value_describe(run->program, run->arena, sum),
                       value_describe(run->program, run->arena, other));
    for (size_t i = 0; i < sizeof sum->set / sizeof *sum->set; i++)
        sum->set[i] |= other->set[i];
    return true;
}

/* ---- steps ---- */

static void merge(const struct run *run, uint16_t *clock, const uint16_t *other)
{
    for (uint32_t i = 0; i < run->program->block_count; i++)
        clock[i] = clock[i] < other[i] ? other[i] : clock[i];
}

static uint16_t *clock_copy(const struct run *run, const uint16_t *clock)
{
    size_t size = run->program->block_count * sizeof *clock;
    uint16_t *copy = array_zeroed(run->program->block_count, sizeof *clock);
    memcpy(copy, clock, size);
    return copy;
}

static bool can_go(const struct run *run, const struct msccl_block *block)
{
    const struct progress *own = &run->progress[block - run->program->blocks];
    if (own->next == block->count)
        return false;
    const struct msccl_step *step = &block->steps[own->next];
    const struct msccl_gpu *gpu = &run->program->gpus[block->gpu];
    return (step->awaits_block == MSCCL_NONE ||
            run->progress[gpu->first + step->awaits_block].next > step->awaits_step) &&
           (!step->action->receive || run->progress[block->receives_from].first) &&
           (!step->action->send || own->under_way < MSCCL_SLOTS);
}

/* Takes the message that has come; NULL after a mistake. */
static struct message *receive(const struct access *access)
{
    struct run *run = access->run;
    struct progress *own = &run->progress[access->index], *peer = &run->progress[access->block->receives_from];
    struct message *message = peer->first;
    if (message->count != access->step->count) {
        mistake(run, access->step->at, "receives %u chunks, but GPU %u sends %u", access->step->count,
                access->block->receive, message->count);
        return NULL;
    }
    peer->first = message->next;
    peer->under_way--;
    merge(run, own->clock, message->clock);
    own->round = own->round > message->round ? own->round : message->round + 1;
    return message;
}

static void message_free(struct message *message)
{
    if (message)
        free(message->clock);
    free(message);
}

static void send(const struct access *access, struct message *message)
{
    struct run *run = access->run;
    struct progress *own = &run->progress[access->index];
    message->next = NULL;
    message->round = own->round++;
    free(message->clock);
    message->clock = clock_copy(run, own->clock);
    if (own->first)
        own->last->next = message;
    else
        own->first = message;
    own->last = message;
    own->under_way++;
    struct msccl_messages *all = run->messages;
    all->items = array_grow(all->items, &all->capacity, all->count + 1, sizeof *all->items);
    all->items[all->count++] =
        (struct msccl_message){message->round, access->block->gpu, access->block->send, message->count};
}

static bool work(const struct access *access, struct message *message)
{
    const struct msccl_action *action = access->step->action;
    for (uint32_t chunk = 0; chunk < access->step->count; chunk++) {
        struct value *value = &message->values[chunk], other;
        if (action->read && !read_cell(access, MSCCL_SOURCE, chunk, action->receive ? &other : value))
            return false;
        if (action->read && action->receive && !add(access, value, &other))
            return false;
        if (action == &msccl_actions[MSCCL_REDUCE_LOCAL] &&
            (!read_cell(access, MSCCL_DESTINATION, chunk, &other) || !add(access, value, &other)))
            return false;
        if (action->store && !write_cell(access, chunk, value))
            return false;
    }
    return true;
}

static void tell(struct run *run, uint32_t block)
{
    struct progress *own = &run->progress[block];
    struct told *told = &run->told[block][own->next];
    if (run->program->blocks[block].steps[own->next].awaited)
        *told = (struct told){clock_copy(run, own->clock), own->round};
}

/* A step that can go. */
static void take_step(struct run *run, uint32_t index)
{
    const struct msccl_block *block = &run->program->blocks[index];
    struct progress *own = &run->progress[index];
    const struct access access = {run, block, &block->steps[own->next], index};
    const struct msccl_step *step = access.step;
    own->clock[index] = (uint16_t)(own->next + 1);
    if (step->awaits_block != MSCCL_NONE) {
        const struct told *told =
            &run->told[run->program->gpus[block->gpu].first + step->awaits_block][step->awaits_step];
        merge(run, own->clock, told->clock);
        own->round = own->round > told->round ? own->round : told->round;
    }
    struct message *message = step->action->receive
                                  ? receive(&access)
                                  : array_zeroed(sizeof *message + step->count * sizeof *message->values, 1);
    if (!message)
        return;
    message->count = step->count;
    bool good = work(&access, message);
    if (good && step->action->send)
        send(&access, message);
    else
        message_free(message);
    if (good)
        tell(run, index);
    own->next++;
}

/* ---- dead-locks ---- */

/* The thread block that one waits for, and what for. */
static uint32_t awaited_by(const struct run *run, uint32_t index, const char **what)
{
    const struct msccl_block *block = &run->program->blocks[index];
    const struct msccl_step *step = &block->steps[run->progress[index].next];
    uint32_t first = run->program->gpus[block->gpu].first;
    if (step->awaits_block != MSCCL_NONE && run->progress[first + step->awaits_block].next <= step->awaits_step) {
        *what = arena_print(run->arena, "step %u of its thread block %u", step->awaits_step, step->awaits_block);
        return first + step->awaits_block;
    }
    if (step->action->receive && !run->progress[block->receives_from].first) {
        *what = arena_print(run->arena, "a message from GPU %u, thread block %u", block->receive,
                            run->program->blocks[block->receives_from].number);
        return block->receives_from;
    }
    *what = arena_print(run->arena, "GPU %u, thread block %u, to take one of %d messages, all that a connection holds",
                        block->send, run->program->blocks[block->sends_to].number, MSCCL_SLOTS);
    return block->sends_to;
}

static void show_cycle(struct run *run, uint32_t index)
{
    const struct msccl_program *program = run->program;
    uint32_t at = index, shown = 0;
    do {
        const char *what;
        const struct msccl_block *block = &program->blocks[at];
        struct place place = block->steps[run->progress[at].next].at;
        uint32_t next = awaited_by(run, at, &what);
        if (shown == 0)
            mistake(run, place, "dead-lock: GPU %u, thread block %u, waits here for %s, which waits in turn",
                    block->gpu, block->number, what);
        else
            diag_note(run->diag, place, "GPU %u, thread block %u, waits here for %s", block->gpu, block->number, what);
        at = next;
    } while (at != index && ++shown < CYCLE_SHOWN);
}

/* Not all have ended, and none can go. */
static void name_lock(struct run *run)
{
    const struct msccl_program *program = run->program;
    bool *seen = arena_array(run->arena, program->block_count, sizeof *seen);
    uint32_t at = 0;
    while (run->progress[at].next == program->blocks[at].count)
        at++;
    while (!seen[at]) {
        const char *what;
        seen[at] = true;
        uint32_t next = awaited_by(run, at, &what);
        if (run->progress[next].next == program->blocks[next].count) {
            mistake(run, program->blocks[at].steps[run->progress[at].next].at,
                    "dead-lock: waits for %s, which has no further step", what);
            return;
        }
        at = next;
    }
    show_cycle(run, at);
}

/* ---- the whole program ---- */

static void check_end(struct run *run)
{
    const struct msccl_program *program = run->program;
    for (uint32_t i = 0; i < program->block_count && !run->failed; i++)
        if (run->progress[i].first)
            mistake(run, program->blocks[i].at, "GPU %u never receives %u of the messages that are sent here",
                    program->blocks[i].send, run->progress[i].under_way);
    for (uint32_t rank = 0; rank < program->ranks && !run->failed; rank++)
        for (uint32_t chunk = 0; chunk < program->length[MSCCL_OUTPUT] && !run->failed; chunk++) {
            struct value wanted = value_output(program, rank, chunk);
            const struct value *found = &cell_at(run, rank, MSCCL_OUTPUT, chunk)->value;
            if (wanted.chunk != VALUE_NOTHING && !value_same(&wanted, found))
                mistake(run, program->gpus[rank].at, "chunk %u of GPU %u's %soutput is in the end %s; expected %s",
                        chunk, rank, run->in_place ? "in-place " : "", value_describe(run->program, run->arena, found),
                        value_describe(run->program, run->arena, &wanted));
        }
}

static void begin(struct run *run)
{
    const struct msccl_program *program = run->program;
    uint32_t blocks = program->block_count;
    for (size_t i = 0; i < run->first_cell[program->ranks]; i++) {
        run->cells[i].value.chunk = VALUE_NOTHING;
        run->cells[i].writer = MSCCL_NONE;
    }
    for (uint32_t rank = 0; rank < program->ranks; rank++)
        for (uint32_t chunk = 0; chunk < program->length[MSCCL_INPUT]; chunk++)
            cell_at(run, rank, MSCCL_INPUT, chunk)->value = value_input(program, rank, chunk);
    for (uint32_t i = 0; i < blocks; i++) {
        run->progress[i].clock = arena_array(run->arena, blocks, sizeof(uint16_t));
        run->told[i] = arena_array(run->arena, program->blocks[i].count + (size_t)1, sizeof **run->told);
    }
}

static void end(struct run *run)
{
    for (uint32_t i = 0; i < run->program->block_count; i++) {
        for (struct message *message = run->progress[i].first, *next; message; message = next) {
            next = message->next;
            message_free(message);
        }
        for (uint32_t step = 0; step < run->program->blocks[i].count; step++)
            free(run->told[i][step].clock);
    }
}

static bool run_once(const struct msccl_program *program, bool in_place, const size_t *first_cell, struct diag *diag,
                     struct msccl_messages *messages)
{
    struct arena *arena = arena_create();
    struct run run = {.program = program, .diag = diag, .arena = arena, .in_place = in_place, .messages = messages};
    run.cells = arena_array(arena, first_cell[program->ranks] + 1, sizeof *run.cells);
    run.first_cell = (size_t *)first_cell;
    run.progress = arena_array(arena, program->block_count + (size_t)1, sizeof *run.progress);
    run.told = arena_array(arena, program->block_count + (size_t)1, sizeof *run.told);
    begin(&run);
    messages->count = 0;
    bool moved = true, left = true;
    while (moved && !run.failed) {
        moved = left = false;
        for (uint32_t i = 0; i < program->block_count && !run.failed; i++) {
            for (; !run.failed && can_go(&run, &program->blocks[i]); moved = true)
                take_step(&run, i);
            left |= run.progress[i].next < program->blocks[i].count;
        }
    }
    if (left && !run.failed)
        name_lock(&run);
    if (!run.failed)
        check_end(&run);
    end(&run);
    arena_destroy(arena);
    return !run.failed;
}

bool msccl_run(const struct msccl_program *program, struct arena *arena, struct diag *diag,
               struct msccl_messages *messages)
{
    size_t *first_cell = arena_array(arena, program->ranks + (size_t)1, sizeof *first_cell), steps = 0;
    for (uint32_t rank = 0; rank < program->ranks; rank++)
        first_cell[rank + 1] = first_cell[rank] + program->length[MSCCL_INPUT] + program->length[MSCCL_OUTPUT] +
                               program->gpus[rank].scratch;
    for (uint32_t i = 0; i < program->block_count; i++)
        steps += program->blocks[i].count;
    if (first_cell[program->ranks] * sizeof(struct cell) > CELLS_MAX * sizeof(uint64_t) ||
        (steps + program->block_count) * program->block_count > CELLS_MAX) {
        diag_error(diag, program->at, "%zu steps of %u thread blocks on %zu chunks are more than can be checked", steps,
                   program->block_count, first_cell[program->ranks]);
        return false;
    }
    return (!program->in_place || run_once(program, true, first_cell, diag, messages)) &&
           (!program->out_of_place || run_once(program, false, first_cell, diag, messages));
}
