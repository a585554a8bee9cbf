/* SPDX-License-Identifier: Apache-2.0 */
/* An algorithm's steps as a program: each GPU has one thread block for every peer, direction and channel, and carries
 * out a transfer's pieces on channels of their own. What a transfer waits for by the rule of steps.h, the transfers of
 * the rank's round before, are dependencies: of one thread block directly, of several through one that only waits. */
#include "base/arena.h"
#include "simulator/collectives/msccl/msccl.h"
#include "simulator/collectives/msccl/program.h"

#include <stdlib.h>
#include <string.h>

struct spot {
    enum msccl_buffer buffer;
    uint32_t offset;
};

struct line {
    const char *action;
    struct spot source, destination;
    uint32_t count;
    uint32_t awaits_block, awaits_step;
    bool awaited;
};

struct block {
    uint32_t send, receive, channel; /* MSCCL_NONE: no peer */
    struct line *lines;
    size_t count, capacity;
    bool full; /* takes no more waiting lines */
};

/* A line that later ones may wait for. */
struct mark {
    uint32_t block, line;
};

/* A piece that is read or written in the current round. */
struct touched {
    uint32_t first, count; /* blocks of the steps */
    struct mark by;
};

struct rank {
    struct block *blocks;
    size_t count, capacity;
    uint32_t waiter;   /* the block that only waits; MSCCL_NONE: none yet */
    struct mark *last; /* lines of its round before */
    size_t last_count, last_capacity;
    struct mark *now; /* and of this one */
    size_t now_count, now_capacity;
    uint32_t round;
    struct mark gate; /* behind all of the round before, where they are many; block MSCCL_NONE: none */
    struct touched *touched;
    size_t touched_count, touched_capacity;
    uint32_t *scratch; /* [block of the steps]: where it lies on its way, counted from 1; all-to-all only */
    uint32_t scratch_count;
};

struct writer {
    const struct msccl_description *description;
    struct collective_steps steps;
    uint32_t ranks, chunks, channels;
    struct rank *rank;
};

/* ---- where chunks lie ---- */

static struct spot spot_of(struct writer *writer, uint32_t rank, uint32_t block)
{
    enum stagesim_collective kind = writer->description->kind;
    if (kind == STAGESIM_ALL_GATHER)
        return (struct spot){MSCCL_OUTPUT, block};
    if (kind != STAGESIM_ALL_TO_ALL)
        return (struct spot){MSCCL_INPUT, block};
    uint32_t from = block / writer->ranks, to = block % writer->ranks;
    if (rank == from)
        return (struct spot){MSCCL_INPUT, to};
    if (rank == to)
        return (struct spot){MSCCL_OUTPUT, from};
    struct rank *own = &writer->rank[rank];
    if (!own->scratch)
        own->scratch = array_zeroed(writer->steps.blocks, sizeof *own->scratch);
    if (!own->scratch[block])
        own->scratch[block] = ++own->scratch_count;
    return (struct spot){MSCCL_SCRATCH, own->scratch[block] - 1};
}

/* ---- lines ---- */

static uint32_t block_for(struct rank *rank, uint32_t send, uint32_t receive, uint32_t channel)
{
    for (uint32_t i = 0; i < rank->count; i++)
        if (rank->blocks[i].send == send && rank->blocks[i].receive == receive && rank->blocks[i].channel == channel &&
            !rank->blocks[i].full)
            return i;
    rank->blocks = array_grow(rank->blocks, &rank->capacity, rank->count + 1, sizeof *rank->blocks);
    rank->blocks[rank->count] = (struct block){.send = send, .receive = receive, .channel = channel};
    return (uint32_t)rank->count++;
}

static uint32_t add_line(struct rank *rank, uint32_t block, struct line line)
{
    struct block *own = &rank->blocks[block];
    own->lines = array_grow(own->lines, &own->capacity, own->count + 1, sizeof *own->lines);
    own->lines[own->count] = line;
    if (line.awaits_block != MSCCL_NONE)
        rank->blocks[line.awaits_block].lines[line.awaits_step].awaited = true;
    return (uint32_t)own->count++;
}

static const struct line waiting_line = {
    .action = "nop", .source = {0, MSCCL_NONE}, .destination = {MSCCL_OUTPUT, MSCCL_NONE}};

static uint32_t wait_for(struct rank *rank, uint32_t block, struct mark awaited)
{
    struct line line = waiting_line;
    line.awaits_block = awaited.block;
    line.awaits_step = awaited.line;
    return add_line(rank, block, line);
}

static void remember(struct rank *rank, uint32_t block, uint32_t line)
{
    rank->now = array_grow(rank->now, &rank->now_capacity, rank->now_count + 1, sizeof *rank->now);
    rank->now[rank->now_count++] = (struct mark){block, line};
}

/* A thread block without peers that has room for so many lines more. */
static uint32_t waiter_for(struct rank *rank, size_t lines)
{
    if (rank->waiter != MSCCL_NONE && rank->blocks[rank->waiter].count + lines > MSCCL_STEPS_MAX)
        rank->blocks[rank->waiter].full = true;
    return rank->waiter = block_for(rank, MSCCL_NONE, MSCCL_NONE, 0);
}

/* A round begins on a rank: what its lines wait for is gathered at one place. */
static void open_round(struct rank *rank, uint32_t round)
{
    if (rank->round == round)
        return;
    struct mark *swap = rank->last;
    size_t capacity = rank->last_capacity;
    rank->last = rank->now;
    rank->last_capacity = rank->now_capacity;
    rank->last_count = rank->now_count;
    rank->now = swap;
    rank->now_capacity = capacity;
    rank->now_count = rank->touched_count = 0;
    rank->round = round;
    rank->gate.block = MSCCL_NONE;
    if (rank->last_count < 3)
        return;
    uint32_t waiter = waiter_for(rank, rank->last_count), line = 0;
    for (size_t i = 0; i < rank->last_count; i++)
        line = wait_for(rank, waiter, rank->last[i]);
    rank->gate = (struct mark){waiter, line};
}

enum { WAITS_MAX = MSCCL_BLOCKS_MAX + 3 };

/* Adds a line of the round that is open, after what it waits for: `also` are lines of the same round. */
static uint32_t add_transfer(struct rank *rank, uint32_t block, struct line line, const struct mark *also, size_t count)
{
    struct mark awaited[WAITS_MAX];
    size_t waits = 0;
    for (size_t i = 0; i < rank->last_count && rank->gate.block == MSCCL_NONE; i++)
        if (rank->last[i].block != block)
            awaited[waits++] = rank->last[i];
    if (rank->gate.block != MSCCL_NONE)
        awaited[waits++] = rank->gate;
    for (size_t i = 0; i < count; i++)
        awaited[waits++] = also[i];
    for (size_t i = 0; i + 1 < waits; i++)
        wait_for(rank, block, awaited[i]);
    line.awaits_block = waits ? awaited[waits - 1].block : MSCCL_NONE;
    line.awaits_step = waits ? awaited[waits - 1].line : MSCCL_NONE;
    uint32_t at = add_line(rank, block, line);
    remember(rank, block, at);
    return at;
}

static void touch(struct rank *rank, struct touched touched)
{
    rank->touched = array_grow(rank->touched, &rank->touched_capacity, rank->touched_count + 1, sizeof *rank->touched);
    rank->touched[rank->touched_count++] = touched;
}

static void send_piece(struct writer *writer, const struct collective_transfer *transfer,
                       struct collective_blocks piece, uint32_t channel)
{
    struct rank *rank = &writer->rank[transfer->from];
    open_round(rank, transfer->round);
    uint32_t block = block_for(rank, transfer->to, MSCCL_NONE, channel);
    struct line line = {.action = "s",
                        .source = spot_of(writer, transfer->from, piece.first),
                        .destination = spot_of(writer, transfer->to, piece.first),
                        .count = piece.count};
    uint32_t at = add_transfer(rank, block, line, NULL, 0);
    touch(rank, (struct touched){piece.first, piece.count, {block, at}});
}

/* Behind all sends of the round: they read what is there before it. */
static void receive_piece(struct writer *writer, const struct collective_transfer *transfer,
                          struct collective_blocks piece, uint32_t channel)
{
    struct rank *rank = &writer->rank[transfer->to];
    open_round(rank, transfer->round);
    struct mark also[MSCCL_BLOCKS_MAX];
    size_t count = 0;
    for (size_t i = 0; i < rank->touched_count && count < MSCCL_BLOCKS_MAX; i++) {
        const struct touched *other = &rank->touched[i];
        if (other->first < piece.first + piece.count && piece.first < other->first + other->count)
            also[count++] = other->by;
    }
    uint32_t block = block_for(rank, MSCCL_NONE, transfer->from, channel);
    struct spot here = spot_of(writer, transfer->to, piece.first);
    struct line line = {.action = transfer->reduces ? "rrc" : "r",
                        .source = transfer->reduces ? here : spot_of(writer, transfer->from, piece.first),
                        .destination = here,
                        .count = piece.count};
    uint32_t at = add_transfer(rank, block, line, also, count);
    touch(rank, (struct touched){piece.first, piece.count, {block, at}});
}

/* ---- transfers ---- */

/* How many pieces of the round have gone from a rank to another one before: the next one's channel. */
static uint32_t next_channel(struct writer *writer, uint32_t *used, const struct collective_transfer *transfer)
{
    uint32_t channel = used[transfer->from * writer->ranks + transfer->to]++;
    writer->channels = channel >= writer->channels ? channel + 1 : writer->channels;
    return channel;
}

static void add_pieces(struct writer *writer, const struct collective_transfer *transfer, uint32_t *used, bool receives)
{
    for (size_t i = transfer->first; i < transfer->first + transfer->pieces; i++) {
        struct collective_blocks rest = writer->steps.pieces[i];
        while (rest.count) {
            struct collective_blocks piece = {rest.first, rest.count > MSCCL_COUNT_MAX ? MSCCL_COUNT_MAX : rest.count};
            uint32_t channel = next_channel(writer, used, transfer);
            if (receives)
                receive_piece(writer, transfer, piece, channel);
            else
                send_piece(writer, transfer, piece, channel);
            rest.first += piece.count;
            rest.count -= piece.count;
        }
    }
}

/* The own part of what is gathered or exchanged, where the result is to be. */
static void copy_own(struct writer *writer)
{
    enum stagesim_collective kind = writer->description->kind;
    uint32_t count = kind == STAGESIM_ALL_GATHER ? writer->chunks / writer->ranks : 1;
    for (uint32_t r = 0; r < writer->ranks && (kind == STAGESIM_ALL_GATHER || kind == STAGESIM_ALL_TO_ALL); r++) {
        struct rank *rank = &writer->rank[r];
        uint32_t place = kind == STAGESIM_ALL_GATHER ? r * count : r;
        rank->waiter = block_for(rank, MSCCL_NONE, MSCCL_NONE, 0);
        for (uint32_t done = 0; done < count; done += MSCCL_COUNT_MAX) {
            uint32_t piece = count - done < MSCCL_COUNT_MAX ? count - done : MSCCL_COUNT_MAX;
            add_line(rank, rank->waiter,
                     (struct line){.action = "cpy",
                                   .source = {MSCCL_INPUT, (kind == STAGESIM_ALL_GATHER ? 0 : place) + done},
                                   .destination = {MSCCL_OUTPUT, place + done},
                                   .count = piece,
                                   .awaits_block = MSCCL_NONE,
                                   .awaits_step = MSCCL_NONE});
        }
        if (kind == STAGESIM_ALL_GATHER)
            remember(rank, rank->waiter, (uint32_t)rank->blocks[rank->waiter].count - 1);
    }
}

static void lay_out(struct writer *writer)
{
    uint32_t *used = array_zeroed((size_t)writer->ranks * writer->ranks, sizeof *used);
    for (uint32_t r = 0; r < writer->ranks; r++)
        writer->rank[r].waiter = writer->rank[r].round = writer->rank[r].gate.block = MSCCL_NONE;
    copy_own(writer);
    for (size_t first = 0, end; first < writer->steps.count; first = end) {
        for (end = first;
             end < writer->steps.count && writer->steps.transfers[end].round == writer->steps.transfers[first].round;)
            end++;
        for (int receives = 0; receives < 2; receives++) {
            for (size_t i = first; i < end; i++)
                used[writer->steps.transfers[i].from * writer->ranks + writer->steps.transfers[i].to] = 0;
            for (size_t i = first; i < end; i++)
                add_pieces(writer, &writer->steps.transfers[i], used, receives);
        }
    }
    free(used);
}

/* ---- text ---- */

static const char *proto_of(const char *protocol)
{
    return !protocol || !strcmp(protocol, "bulk") ? "Simple" : !strcmp(protocol, "low") ? "LL" : "LL128";
}

static const char *word_of(enum stagesim_collective kind)
{
    switch (kind) {
    case STAGESIM_ALL_REDUCE:
        return "allreduce";
    case STAGESIM_REDUCE_SCATTER:
        return "reduce_scatter";
    case STAGESIM_ALL_GATHER:
        return "allgather";
    case STAGESIM_ALL_TO_ALL:
        return "alltoall";
    case STAGESIM_BROADCAST:
        return "broadcast";
    case STAGESIM_REDUCE:
        return "reduce";
    default:
        return NULL;
    }
}

static int or_none(uint32_t number)
{
    return number == MSCCL_NONE ? -1 : (int)number;
}

static void print_block(FILE *out, const struct block *block, size_t id)
{
    fprintf(out, "    <tb id=\"%zu\" send=\"%d\" recv=\"%d\" chan=\"%d\">\n", id, or_none(block->send),
            or_none(block->receive), block->channel == MSCCL_NONE ? 0 : (int)block->channel);
    for (size_t s = 0; s < block->count; s++) {
        const struct line *line = &block->lines[s];
        fprintf(out,
                "      <step s=\"%zu\" type=\"%s\" srcbuf=\"%c\" srcoff=\"%d\" dstbuf=\"%c\" dstoff=\"%d\" cnt=\"%u\" "
                "depid=\"%d\" deps=\"%d\" hasdep=\"%d\"/>\n",
                s, line->action, "ios"[line->source.buffer], or_none(line->source.offset),
                "ios"[line->destination.buffer], or_none(line->destination.offset), line -> count,
                or_none(line->awaits_block), or_none(line->awaits_step), line -> awaited);
    }
    fputs("    </tb>\n", out);
}

static void print(FILE *out, const struct writer *writer)
{
    const struct msccl_description *description = writer->description;
    enum stagesim_collective kind = description->kind;
    bool gathers = kind == STAGESIM_ALL_GATHER, exchanges = kind == STAGESIM_ALL_TO_ALL, copied = gathers || exchanges;
    uint32_t part = writer->chunks / writer->ranks;
    fprintf(out,
            "<algo name=\"%s_%s_%u\" proto=\"%s\" nchannels=\"%u\" nchunksperloop=\"%u\" ngpus=\"%u\" coll=\"%s\" "
            "inplace=\"%d\" outofplace=\"%d\" minBytes=\"%.0f\" maxBytes=\"%.0f\">\n",
            word_of(kind), description->algorithm->name, writer->ranks, proto_of(description->protocol),
            writer->channels, writer->chunks, writer->ranks, word_of(kind), !copied, copied, description->least,
            description->most);
    for (uint32_t r = 0; r < writer->ranks; r++) {
        const struct rank *rank = &writer->rank[r];
        fprintf(out, "  <gpu id=\"%u\" i_chunks=\"%u\" o_chunks=\"%u\" s_chunks=\"%u\">\n", r,
                gathers ? part : writer->chunks, copied ? writer->chunks : 0, rank->scratch_count);
        for (size_t i = 0; i < rank->count; i++)
            print_block(out, &rank->blocks[i], i);
        fputs("  </gpu>\n", out);
    }
    fputs("</algo>\n", out);
}

/* ---- all of it ---- */

static bool fits(const struct writer *writer, struct fault *fault)
{
    if (writer->channels > MSCCL_CHANNELS_MAX)
        return fault_set(fault, "as a program of MSCCL it needs %u channels; there are at most %d", writer->channels,
                         MSCCL_CHANNELS_MAX);
    for (uint32_t r = 0; r < writer->ranks; r++) {
        if (writer->rank[r].count > MSCCL_BLOCKS_MAX)
            return fault_set(fault, "as a program of MSCCL it needs %zu thread blocks a GPU; there are at most %d",
                             writer->rank[r].count, MSCCL_BLOCKS_MAX);
        for (size_t i = 0; i < writer->rank[r].count; i++)
            if (writer->rank[r].blocks[i].count > MSCCL_STEPS_MAX)
                return fault_set(fault, "as a program of MSCCL it needs %zu steps a thread block; there are at most %d",
                                 writer->rank[r].blocks[i].count, MSCCL_STEPS_MAX);
    }
    return true;
}

static bool uses_switch(const struct collective_steps *steps, uint32_t ranks)
{
    for (size_t i = 0; i < steps->count; i++)
        if (steps->transfers[i].from >= ranks || steps->transfers[i].to >= ranks)
            return true;
    return false;
}

static void finish(struct writer *writer)
{
    for (uint32_t r = 0; r < writer->ranks; r++) {
        struct rank *rank = &writer->rank[r];
        for (size_t i = 0; i < rank->count; i++)
            free(rank->blocks[i].lines);
        free(rank->blocks);
        free(rank->last);
        free(rank->now);
        free(rank->touched);
        free(rank->scratch);
    }
    free(writer->rank);
    steps_finish(&writer->steps);
}

bool msccl_write(FILE *out, const struct msccl_description *description, struct fault *fault)
{
    struct writer writer = {.description = description, .ranks = description->shape->ranks, .channels = 1};
    if (!word_of(description->kind))
        return fault_set(fault, "MSCCL has no programs for this collective");
    if (!description->algorithm->steps || description->algorithm->own)
        return fault_set(fault, "'%s' is a file already", description->algorithm->name);
    if (writer.ranks > MSCCL_RANKS_MAX)
        return fault_set(fault, "programs are written for at most %d ranks, not %u", MSCCL_RANKS_MAX, writer.ranks);
    description->algorithm->steps(description->shape, description->kind, &writer.steps);
    steps_sort(&writer.steps);
    writer.chunks = writer.steps.blocks_of_size;
    writer.rank = array_zeroed(writer.ranks, sizeof *writer.rank);
    bool good = !uses_switch(&writer.steps, writer.ranks) ||
                fault_set(fault, "%s has a switch reduce, which MSCCL's XML cannot say", description->algorithm->name);
    if (good)
        lay_out(&writer);
    good = good && fits(&writer, fault);
    if (good)
        print(out, &writer);
    finish(&writer);
    return good;
}
