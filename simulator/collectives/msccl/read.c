/* SPDX-License-Identifier: Apache-2.0 */
/* The XML: <algo> of <gpu> of <tb> of <step>. */
#include "base/arena.h"
#include "base/xml/place.h"
#include "simulator/collectives/msccl/program.h"

#include <expat.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct msccl_action msccl_actions[] = {
    {"nop", false, false, false, false}, {"s", false, true, false, true},  {"cpy", false, true, true, false},
    {"r", true, false, true, false},     {"rcs", true, false, true, true}, {"rrs", true, true, false, true},
    {"rrc", true, true, true, false},    {"re", false, true, true, false}, {"rrcs", true, true, true, true},
    {NULL, false, false, false, false},
};

/* MSCCL's default of maxBytes; and what 0 stands for in RCCL's scheduler, which asks whether a size is at most maxBytes
 * only where that is above 0. */
static const double most_bytes = 128 << 20, no_limit = 1e19;

enum depth { IN_FILE, IN_ALGO, IN_GPU, IN_BLOCK, IN_STEP, DEPTHS };
static const char *const elements[DEPTHS] = {"algo", "gpu", "tb", "step", NULL};

struct reader {
    XML_Parser parser;
    struct arena *arena;
    struct diag *diag;
    struct msccl_program *program;
    const char *file;
    unsigned errors; /* of diag when reading began */
    unsigned depth;
    uint32_t gpus;
    struct msccl_block *blocks;
    size_t block_capacity, block_count;
    struct msccl_step *steps;
    size_t step_capacity, step_count;
    const char **attributes; /* of the element that is being read */
};

static struct place here(const struct reader *reader)
{
    return (struct place){reader->file, xml_line(reader->parser), xml_column(reader->parser)};
}

/* At the element that is being read. */
__attribute__((format(printf, 2, 3))) static bool mistake(const struct reader *reader, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    diag_verror(reader->diag, here(reader), format, arguments);
    va_end(arguments);
    return false;
}

/* ---- attributes ---- */

static bool check_attributes(const struct reader *reader, const char *element, const char *const *known)
{
    size_t count = 0;
    while (known[count])
        count++;
    for (const char **attribute = reader->attributes; *attribute; attribute += 2) {
        size_t i = 0;
        while (i < count && strcmp(known[i], *attribute) != 0)
            i++;
        if (i < count)
            continue;
        const char *near = diag_nearest(*attribute, known, count);
        return mistake(reader, "<%s> has no attribute '%.40s'%s%s%s", element, *attribute,
                       near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    }
    return true;
}

static const char *get(const struct reader *reader, const char *name)
{
    for (const char **attribute = reader->attributes; *attribute; attribute += 2)
        if (strcmp(*attribute, name) == 0)
            return attribute[1];
    return NULL;
}

/* A whole number from `least` (-1: none, MSCCL_NONE) to `most`. */
static bool take(const struct reader *reader, const char *name, long least, long most, uint32_t *value)
{
    const char *text = get(reader, name);
    char *end = NULL;
    if (!text)
        return mistake(reader, "<%s> lacks %s; expected %s=\"%ld\" or another number to %ld", elements[reader->depth],
                       name, name, least, most);
    long number = strtol(text, &end, 10);
    if (!*text || *end || number < least || number > most)
        return mistake(reader, "%s is '%.40s'; expected a number from %ld to %ld", name, text, least, most);
    *value = number < 0 ? MSCCL_NONE : (uint32_t)number;
    return true;
}

static bool take_or(const struct reader *reader, const char *name, long most, uint32_t *value)
{
    return !get(reader, name) || take(reader, name, 0, most, value);
}

/* The index of a word among NULL-terminated ones. */
static bool take_word(const struct reader *reader, const char *name, const char *const *words, unsigned *index)
{
    const char *text = get(reader, name);
    size_t count = 0;
    for (; words[count]; count++)
        if (text && strcmp(words[count], text) == 0) {
            *index = (unsigned)count;
            return true;
        }
    const char *near = text ? diag_nearest(text, words, count) : NULL;
    return mistake(reader, "%s is '%.40s'; %s '%s'%s", name, text ? text : "",
                   near ? "did you mean" : "expected one such as", near ? near : words[0], near ? "?" : "");
}

static bool take_bytes(const struct reader *reader, const char *name, double *bytes)
{
    const char *text = get(reader, name);
    char *end = NULL;
    if (!text)
        return true;
    *bytes = strtod(text, &end);
    return (*text && !*end && *bytes >= 0 && *bytes <= 1e19 && !strpbrk(text, "xXnN")) ||
           mistake(reader, "%s is '%.40s'; expected a number of bytes", name, text);
}

/* ---- elements ---- */

static const char *const collective_words[] = {"allreduce", "allgather", "reduce_scatter", "reducescatter",
                                               "alltoall",  "broadcast", "reduce",         NULL};
static const enum stagesim_collective collective_kinds[] = {
    STAGESIM_ALL_REDUCE, STAGESIM_ALL_GATHER, STAGESIM_REDUCE_SCATTER, STAGESIM_REDUCE_SCATTER,
    STAGESIM_ALL_TO_ALL, STAGESIM_BROADCAST,  STAGESIM_REDUCE};
static const char *const protocol_words[] = {"LL", "LL128", "Simple", NULL};
static const char *const protocols[] = {"low", "middle", "bulk"};

static bool take_lengths(const struct reader *reader, struct msccl_program *program)
{
    bool gathers = program->kind == STAGESIM_ALL_GATHER, scatters = program->kind == STAGESIM_REDUCE_SCATTER;
    if ((gathers || scatters || program->kind == STAGESIM_ALL_TO_ALL) && program->chunks % program->ranks)
        return mistake(reader, "nchunksperloop is %u; expected a multiple of ngpus, %u", program->chunks,
                       program->ranks);
    program->length[MSCCL_INPUT] = gathers ? program->chunks / program->ranks : program->chunks;
    program->length[MSCCL_OUTPUT] = scatters ? program->chunks / program->ranks : program->chunks;
    return true;
}

/* What changes no time here: threads of a block (RCCL), and how parts are added (TACCL). */
static void name_what_is_not_modelled(const struct reader *reader)
{
    static const char *const attributes[] = {"nthreads", "redop"};
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
        if (get(reader, attributes[i]))
            diag_note(reader->diag, here(reader), "%s=\"%.40s\" is not modelled", attributes[i],
                      get(reader, attributes[i]));
}

static bool read_algo(struct reader *reader)
{
    static const char *const known[] = {"name",     "proto",   "nchannels",  "nchunksperloop", "ngpus",
                                        "coll",     "inplace", "outofplace", "minBytes",       "maxBytes",
                                        "nthreads", "redop",   NULL};
    struct msccl_program *program = reader->program;
    unsigned kind = 0, protocol = 0;
    uint32_t in = 0, out = MSCCL_NONE, threads;
    program->least = 0;
    program->most = most_bytes;
    program->at = here(reader);
    if (!check_attributes(reader, "algo", known) || !take_word(reader, "coll", collective_words, &kind) ||
        !take_word(reader, "proto", protocol_words, &protocol) ||
        !take(reader, "ngpus", 2, MSCCL_RANKS_MAX, &program->ranks) ||
        !take(reader, "nchunksperloop", 1, MSCCL_CHUNKS_MAX, &program->chunks) ||
        !take(reader, "nchannels", 1, MSCCL_CHANNELS_MAX, &program->channels) || !take(reader, "inplace", 0, 1, &in) ||
        !take_or(reader, "outofplace", 1, &out) || !take_or(reader, "nthreads", 1024, &threads) ||
        !take_bytes(reader, "minBytes", &program->least) || !take_bytes(reader, "maxBytes", &program->most))
        return false;
    program->most = program->most > 0 ? program->most : no_limit;
    program->kind = collective_kinds[kind];
    program->protocol = protocols[protocol];
    program->in_place = in;
    program->out_of_place = out == MSCCL_NONE ? !in : out;
    if (!program->in_place && !program->out_of_place)
        return mistake(reader, "inplace and outofplace are both 0: the program is for nothing");
    name_what_is_not_modelled(reader);
    program->gpus = arena_array(reader->arena, program->ranks, sizeof *program->gpus);
    return take_lengths(reader, program);
}

static bool read_gpu(struct reader *reader)
{
    static const char *const known[] = {"id", "i_chunks", "o_chunks", "s_chunks", NULL};
    struct msccl_program *program = reader->program;
    uint32_t id, chunks[2];
    if (!check_attributes(reader, "gpu", known) || !take(reader, "id", 0, MSCCL_RANKS_MAX, &id) ||
        !take(reader, "i_chunks", 0, MSCCL_CHUNKS_MAX, &chunks[0]) ||
        !take(reader, "o_chunks", 0, MSCCL_CHUNKS_MAX, &chunks[1]))
        return false;
    if (id != reader->gpus || id >= program->ranks)
        return mistake(reader, "id is %u; expected %s %u, as GPUs stand in order", id,
                       id < program->ranks ? "GPU" : "fewer than", id < program->ranks ? reader->gpus : program->ranks);
    struct msccl_gpu *gpu = &program->gpus[reader->gpus++];
    *gpu = (struct msccl_gpu){.first = (uint32_t)reader->block_count, .at = here(reader)};
    for (unsigned i = 0; i < 2; i++)
        if (chunks[i] && chunks[i] != program->length[i])
            return mistake(reader, "%c_chunks is %u; expected %u, or 0 where the buffer is not used", "io"[i],
                           chunks[i], program -> length[i]);
    return take(reader, "s_chunks", 0, MSCCL_CHUNKS_MAX, &gpu->scratch);
}

static bool read_block(struct reader *reader)
{
    static const char *const known[] = {"id", "send", "recv", "chan", NULL};
    const struct msccl_program *program = reader->program;
    uint32_t own = reader->gpus - 1, id;
    struct msccl_gpu *gpu = &program->gpus[own];
    struct msccl_block block = {
        .sends_to = MSCCL_NONE, .receives_from = MSCCL_NONE, .gpu = own, .number = gpu->count, .at = here(reader)};
    if (!check_attributes(reader, "tb", known) || !take(reader, "id", 0, MSCCL_BLOCKS_MAX - 1, &id) ||
        !take(reader, "send", -1, program->ranks - 1L, &block.send) ||
        !take(reader, "recv", -1, program->ranks - 1L, &block.receive) ||
        !take(reader, "chan", 0, program->channels - 1L, &block.channel))
        return false;
    if (id != gpu->count)
        return mistake(reader, "id is %u; expected %u, as thread blocks of a GPU stand in order", id, gpu->count);
    if (block.send == own || block.receive == own)
        return mistake(reader, "GPU %u has itself as a peer; expected another one, or -1", own);
    reader->blocks =
        array_grow(reader->blocks, &reader->block_capacity, reader->block_count + 1, sizeof *reader->blocks);
    reader->blocks[reader->block_count++] = block;
    gpu->count++;
    return true;
}

/* Chunks that a step reads or writes lie in their buffer; places at the other end are information only. */
static bool check_range(const struct reader *reader, const struct msccl_step *step, unsigned end)
{
    const struct msccl_program *program = reader->program;
    uint32_t length = step->buffer[end] == MSCCL_SCRATCH ? program->gpus[reader->gpus - 1].scratch
                                                         : program->length[step->buffer[end]];
    if (step->offset[end] != MSCCL_NONE && step->offset[end] + step->count <= length)
        return true;
    if (step->offset[end] == MSCCL_NONE)
        return mistake(reader, "%soff is -1; expected the chunk that '%s' %s", end ? "dst" : "src", step->action->name,
                       end ? "writes" : "reads");
    return mistake(reader, "chunks %u to %u of buffer %c; expected chunks below %u", step->offset[end],
                   step->offset[end] + step->count - 1, "ios"[step->buffer[end]], length);
}

static bool check_step(const struct reader *reader, const struct msccl_step *step)
{
    const struct msccl_block *block = &reader->blocks[reader->block_count - 1];
    const struct msccl_action *action = step->action;
    if (action != msccl_actions && !step->count)
        return mistake(reader, "cnt is 0; expected at least 1 for '%s'", action->name);
    if (action->send && block->send == MSCCL_NONE)
        return mistake(reader, "'%s' sends, but its thread block has send=\"-1\"", action->name);
    if (action->receive && block->receive == MSCCL_NONE)
        return mistake(reader, "'%s' receives, but its thread block has recv=\"-1\"", action->name);
    if ((step->awaits_block == MSCCL_NONE) != (step->awaits_step == MSCCL_NONE))
        return mistake(reader, "one of depid and deps is -1; expected both or none");
    return (!action->read || check_range(reader, step, MSCCL_SOURCE)) &&
           (!action->store || check_range(reader, step, MSCCL_DESTINATION));
}

static bool take_step(const struct reader *reader, struct msccl_step *step, uint32_t expected)
{
    static const char *const known[] = {"s",   "type",  "srcbuf", "srcoff", "dstbuf", "dstoff",
                                        "cnt", "depid", "deps",   "hasdep", NULL};
    static const char *const buffers[] = {"i", "o", "s", NULL};
    const char *actions[16];
    unsigned action = 0, source = 0, destination = 0;
    uint32_t number, awaited;
    for (size_t i = 0; i == 0 || actions[i - 1]; i++)
        actions[i] = msccl_actions[i].name;
    if (!check_attributes(reader, "step", known) || !take(reader, "s", 0, MSCCL_STEPS_MAX - 1, &number) ||
        !take_word(reader, "type", actions, &action) || !take_word(reader, "srcbuf", buffers, &source) ||
        !take_word(reader, "dstbuf", buffers, &destination) ||
        !take(reader, "srcoff", -1, MSCCL_CHUNKS_MAX, &step->offset[MSCCL_SOURCE]) ||
        !take(reader, "dstoff", -1, MSCCL_CHUNKS_MAX, &step->offset[MSCCL_DESTINATION]) ||
        !take(reader, "cnt", 0, MSCCL_COUNT_MAX, &step->count) ||
        !take(reader, "depid", -1, MSCCL_BLOCKS_MAX - 1, &step->awaits_block) ||
        !take(reader, "deps", -1, MSCCL_STEPS_MAX - 1, &step->awaits_step) || !take(reader, "hasdep", 0, 1, &awaited))
        return false;
    if (number != expected)
        return mistake(reader, "s is %u; expected %u, as steps stand in order", number, expected);
    step->action = &msccl_actions[action];
    step->buffer[MSCCL_SOURCE] = (enum msccl_buffer)source;
    step->buffer[MSCCL_DESTINATION] = (enum msccl_buffer)destination;
    step->awaited = awaited;
    return check_step(reader, step);
}

/* One with a mistake counts, too: what follows has its number then. */
static bool read_step(struct reader *reader)
{
    struct msccl_block *block = &reader->blocks[reader->block_count - 1];
    struct msccl_step step = {.action = msccl_actions, .at = here(reader)};
    bool good = take_step(reader, &step, block->count);
    reader->steps = array_grow(reader->steps, &reader->step_capacity, reader->step_count + 1, sizeof *reader->steps);
    reader->steps[reader->step_count++] = step;
    block->count++;
    return good;
}

/* ---- the parser ---- */

static void on_start(void *data, const char *element, const char **attributes)
{
    static bool (*const readers[])(struct reader *) = {read_algo, read_gpu, read_block, read_step};
    struct reader *reader = data;
    const char *expected = elements[reader->depth];
    bool good = expected && strcmp(element, expected) == 0 && !(reader->depth == IN_FILE && reader->program->ranks);
    reader->attributes = attributes;
    if (!good)
        mistake(reader, "<%.40s> at this place; expected %s%s%s", element, expected ? "<" : "nothing in <step>",
                expected ? expected : "", expected ? ">" : "");
    /* What follows is no sensible program without its frame; of steps all are looked at. */
    if (!good || (!readers[reader->depth](reader) && reader->depth != IN_BLOCK))
        XML_StopParser(reader->parser, XML_FALSE);
    else
        reader->depth++;
}

static void on_end(void *data, const char *element)
{
    (void)element;
    ((struct reader *)data)->depth--;
}

static void parse(struct reader *reader, const char *text, size_t size)
{
    reader->parser = XML_ParserCreate(NULL);
    if (!reader->parser) {
        diag_trouble(reader->diag, (struct place){.file = reader->file}, "out of memory");
        return;
    }
    XML_SetUserData(reader->parser, reader);
    XML_SetElementHandler(reader->parser, on_start, on_end);
    bool sound = XML_Parse(reader->parser, text, (int)size, 1) == XML_STATUS_OK;
    if (!sound && reader->diag->errors == reader->errors)
        mistake(reader, "no well-formed XML: %s", XML_ErrorString(XML_GetErrorCode(reader->parser)));
    XML_ParserFree(reader->parser);
}

/* ---- what only the whole file says ---- */

static void connect_block(const struct reader *reader, struct msccl_block *block)
{
    struct msccl_program *program = reader->program;
    const struct msccl_gpu *peer = block->send == MSCCL_NONE ? NULL : &program->gpus[block->send];
    for (uint32_t i = peer ? peer->first : 0; peer && i < peer->first + peer->count; i++) {
        struct msccl_block *other = &program->blocks[i];
        if (other->receive != block->gpu || other->channel != block->channel)
            continue;
        if (other->receives_from != MSCCL_NONE || block->sends_to != MSCCL_NONE) {
            diag_error(reader->diag, other->receives_from != MSCCL_NONE ? block->at : other->at,
                       "a second thread block for messages from GPU %u to GPU %u on channel %u; expected one",
                       block->gpu, block->send, block->channel);
            return;
        }
        block->sends_to = i;
        other->receives_from = (uint32_t)(block - program->blocks);
    }
}

static bool uses(const struct msccl_block *block, bool sends)
{
    for (uint32_t i = 0; i < block->count; i++)
        if (sends ? block->steps[i].action->send : block->steps[i].action->receive)
            return true;
    return false;
}

static void check_peers(const struct reader *reader, const struct msccl_block *block)
{
    if (block->sends_to == MSCCL_NONE && uses(block, true))
        diag_error(reader->diag, block->at,
                   "sends to GPU %u on channel %u, which has no thread block with recv=\"%u\" and chan=\"%u\"",
                   block->send, block->channel, block->gpu, block->channel);
    if (block->receives_from == MSCCL_NONE && uses(block, false))
        diag_error(reader->diag, block->at,
                   "receives from GPU %u on channel %u, which has no thread block with send=\"%u\" and chan=\"%u\"",
                   block->receive, block->channel, block->gpu, block->channel);
}

static void check_awaited(const struct reader *reader, const struct msccl_block *block, const struct msccl_step *step)
{
    const struct msccl_gpu *gpu = &reader->program->gpus[block->gpu];
    if (step->awaits_block == MSCCL_NONE)
        return;
    const struct msccl_block *other =
        step->awaits_block < gpu->count ? &reader->program->blocks[gpu->first + step->awaits_block] : NULL;
    if (!other || step->awaits_step >= other->count)
        diag_error(reader->diag, step->at, "waits for step %u of thread block %u, which GPU %u does not have",
                   step->awaits_step, step->awaits_block, block->gpu);
    else if (other == block)
        diag_error(reader->diag, step->at, "waits for a step of its own thread block; expected another one");
    else if (!other->steps[step->awaits_step].awaited)
        diag_error(reader->diag, step->at,
                   "waits for step %u of thread block %u, which has hasdep=\"0\" and does not tell anybody",
                   step->awaits_step, step->awaits_block);
}

static void finish(struct reader *reader)
{
    struct msccl_program *program = reader->program;
    struct msccl_step *steps = arena_array(reader->arena, reader->step_count + 1, sizeof *steps);
    program->blocks = arena_array(reader->arena, reader->block_count + 1, sizeof *program->blocks);
    program->block_count = (uint32_t)reader->block_count;
    if (reader->step_count)
        memcpy(steps, reader->steps, reader->step_count * sizeof *steps);
    if (reader->block_count)
        memcpy(program->blocks, reader->blocks, reader->block_count * sizeof *program->blocks);
    for (uint32_t i = 0; i < program->block_count; steps += program->blocks[i++].count)
        program->blocks[i].steps = steps;
    for (uint32_t i = 0; i < program->block_count; i++)
        connect_block(reader, &program->blocks[i]);
    for (uint32_t i = 0; i < program->block_count; i++) {
        check_peers(reader, &program->blocks[i]);
        for (uint32_t s = 0; s < program->blocks[i].count; s++)
            check_awaited(reader, &program->blocks[i], &program->blocks[i].steps[s]);
    }
    if (reader->gpus < program->ranks)
        diag_error(reader->diag, program->at, "has %u GPUs; expected ngpus, %u", reader->gpus, program->ranks);
}

struct msccl_program *msccl_read(const char *name, const char *text, size_t size, struct arena *arena,
                                 struct diag *diag)
{
    struct msccl_program *program = arena_alloc(arena, sizeof *program);
    struct reader reader = {.arena = arena, .diag = diag, .program = program, .file = name, .errors = diag->errors};
    *program = (struct msccl_program){.name = name};
    parse(&reader, text, size);
    if (diag->errors == reader.errors)
        finish(&reader);
    free(reader.blocks);
    free(reader.steps);
    return diag->errors == reader.errors ? program : NULL;
}
