/* SPDX-License-Identifier: Apache-2.0 */
#include "traces/paje_file.h"

#include "base/arena.h"
#include "traces/drawn.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_MAX_BYTES = 4096, FIELDS_MAX = 12, EVENTS_MAX = 64, WORD_BYTES = 64, ALIAS_MAX = 1 << 24 };

/* What of the format matters here. */
enum happening { VALUES, CREATES, BEGINS, ENDS, SENDS, RECEIVES, OTHER };
enum field { TIME, ALIAS, CONTAINER, NAME, VALUE, OPERATION, KEY, BYTES, FROM, TO, FIELDS };

/* An event as the head of the file defines it: where its fields are. */
struct definition {
    enum happening happening;
    bool known;
    int at[FIELDS]; /* behind the number; -1: it has no such field */
    unsigned count;
};

/* A container: a stream where its parent is a GPU, whose name begins "r5 ". */
struct container {
    char alias[WORD_BYTES];
    uint32_t rank;   /* of a GPU, and of its streams; RECORDED_NONE */
    uint32_t stream; /* RECORDED_NONE: it is none */
    double begin, data;
    bool waits;                 /* what is under way waits for others, and begins behind that */
    char operation[WORD_BYTES]; /* under way; "": none */
};

struct paje {
    struct trace_reader *reader;
    struct trace_file *file;
    struct drawn *drawn;
    struct definition events[EVENTS_MAX];
    struct definition *defined; /* by the lines that are read; NULL: none */
    struct container *containers;
    size_t count, capacity;
    uint32_t *slots; /* hash of aliases: index + 1 */
    size_t slot_count;
    char waiting[WORD_BYTES]; /* alias of the state in which operations wait; "": there is none */
    char buffer[1 << 16];
    size_t size, next;
    unsigned line;
    struct fault fault;
};

bool paje_file_is(const char *head, size_t size)
{
    static const char begin[] = "%EventDef";
    return size >= sizeof begin - 1 && !memcmp(head, begin, sizeof begin - 1);
}

static bool refuse(struct paje *p, const char *what)
{
    diag_error(p->reader->diag, (struct place){p->reader->file, p->line, 0}, "%s", what);
    return false;
}

/* ---- lines ---- */

/* False at the end. */
static bool next_line(struct paje *p, char line[LINE_MAX_BYTES])
{
    size_t length = 0;
    for (;;) {
        if (p->next == p->size) {
            p->next = 0;
            p->size = trace_file_read(p->file, p->buffer, sizeof p->buffer, &p->fault);
            if (!p->size)
                break;
        }
        char c = p->buffer[p->next++];
        if (c == '\n') {
            line[length] = '\0';
            p->line++;
            return true;
        }
        if (length < LINE_MAX_BYTES - 1 && c && c != '\r')
            line[length++] = c;
    }
    line[length] = '\0';
    p->line += length > 0;
    return length > 0;
}

/* Words of a line, or texts between quotes; the line is cut at their ends. */
static unsigned split(char *line, char *fields[FIELDS_MAX])
{
    unsigned count = 0;
    for (char *at = line; *at && count < FIELDS_MAX;) {
        at += strspn(at, " \t");
        if (!*at)
            break;
        bool quoted = *at == '"';
        fields[count++] = at += quoted;
        at += strcspn(at, quoted ? "\"" : " \t");
        if (*at)
            *at++ = '\0';
    }
    return count;
}

/* ---- definitions ---- */

static const struct {
    const char *name;
    enum happening happening;
} happenings[] = {{"PajeDefineEntityValue", VALUES}, {"PajeCreateContainer", CREATES},
                  {"PajePushState", BEGINS},         {"PajePopState", ENDS},
                  {"PajeStartLink", SENDS},          {"PajeEndLink", RECEIVES}};

static const char *const field_names[FIELDS] = {[TIME] = "Time",      [ALIAS] = "Alias", [CONTAINER] = "Container",
                                                [NAME] = "Name",      [VALUE] = "Value", [OPERATION] = "Operation",
                                                [KEY] = "Key",        [BYTES] = "Bytes", [FROM] = "StartContainer",
                                                [TO] = "EndContainer"};

/* "%EventDef PajePushState 7", "%  Time date", "%EndEventDef". */
static bool define(struct paje *p, char *line)
{
    char *fields[FIELDS_MAX];
    unsigned count = split(line + 1, fields);
    if (count == 3 && !strcmp(fields[0], "EventDef")) {
        unsigned long number = strtoul(fields[2], NULL, 10);
        if (number >= EVENTS_MAX)
            return refuse(p, "numbers of events are below 64");
        p->defined = &p->events[number];
        *p->defined = (struct definition){.happening = OTHER, .known = true};
        for (int field = 0; field < FIELDS; field++)
            p->defined->at[field] = -1;
        for (size_t i = 0; i < sizeof happenings / sizeof *happenings; i++)
            if (!strcmp(fields[1], happenings[i].name))
                p->defined->happening = happenings[i].happening;
    } else if (count == 2 && p->defined) {
        p->defined->count++;
        for (int field = 0; field < FIELDS; field++)
            if (!strcmp(fields[0], field_names[field]))
                p->defined->at[field] = (int)p->defined->count;
    } else if (count == 1 && !strcmp(fields[0], "EndEventDef")) {
        p->defined = NULL;
    }
    return true;
}

/* ---- containers ---- */

static uint32_t hash_of(const char *text)
{
    uint32_t hash = 0x811c9dc5u;
    while (*text)
        hash = (hash ^ (unsigned char)*text++) * 0x01000193u;
    return hash ^ hash >> 15;
}

static size_t slot_of(const struct paje *p, const char *alias)
{
    size_t at = hash_of(alias) & (p->slot_count - 1);
    while (p->slots[at] && strcmp(p->containers[p->slots[at] - 1].alias, alias) != 0)
        at = (at + 1) & (p->slot_count - 1);
    return at;
}

static struct container *find(const struct paje *p, const char *alias)
{
    uint32_t index = p->slot_count ? p->slots[slot_of(p, alias)] : 0;
    return index ? &p->containers[index - 1] : NULL;
}

static struct container *add(struct paje *p, const char *alias)
{
    if (2 * (p->count + 1) > p->slot_count) {
        free(p->slots);
        p->slot_count = p->slot_count ? 2 * p->slot_count : 64;
        p->slots = array_zeroed(p->slot_count, sizeof *p->slots);
        for (size_t i = 0; i < p->count; i++)
            p->slots[slot_of(p, p->containers[i].alias)] = (uint32_t)i + 1;
    }
    p->containers = array_grow(p->containers, &p->capacity, p->count + 1, sizeof *p->containers);
    struct container *container = &p->containers[p->count];
    *container = (struct container){.rank = RECORDED_NONE, .stream = RECORDED_NONE, .begin = NAN};
    snprintf(container->alias, sizeof container->alias, "%s", alias);
    size_t slot = slot_of(p, container->alias);
    p->slots[slot] = (uint32_t)++p->count;
    return container;
}

static bool create(struct paje *p, const char *alias, const char *parent, const char *name)
{
    if (find(p, alias) || p->count == ALIAS_MAX)
        return refuse(p, "a container of that alias is there already");
    const struct container *above = find(p, parent);
    uint32_t rank = above ? above->rank : RECORDED_NONE;
    struct container *container = add(p, alias);
    if (rank != RECORDED_NONE) {
        container->rank = rank;
        container->stream = drawn_stream(p->drawn, rank, p->count, name);
        return container->stream != RECORDED_NONE ||
               refuse(p, "the stream's name says not what it is; expected one such as \"to 1 act\"");
    }
    char *end;
    unsigned long number = *name == 'r' ? strtoul(name + 1, &end, 10) : ALIAS_MAX;
    if (number < ALIAS_MAX && end > name + 1 && *end == ' ')
        container->rank = (uint32_t)number;
    return true;
}

/* ---- what happens ---- */

static bool push(struct container *container, double time, const char *operation, bool waits)
{
    snprintf(container->operation, sizeof container->operation, "%s", operation);
    container->data = time;
    container->waits = waits;
    if (isnan(container->begin))
        container->begin = time;
    return true;
}

/* What waits goes on as itself. */
static bool pop(struct paje *p, struct container *container, double time)
{
    if (time < container->data)
        return refuse(p, "a state ends before it begins");
    if (*container->operation && !container->waits) {
        drawn_operation(p->drawn, container->stream, container->operation, container->begin, container->data, time,
                        NAN);
        container->begin = NAN;
    }
    *container->operation = '\0';
    return true;
}

static const char *field_of(const struct definition *definition, char *const *fields, unsigned count, enum field field)
{
    int at = definition->at[field];
    return at < 0 || (unsigned)at >= count ? NULL : fields[at];
}

static bool read_time(struct paje *p, const char *text, double *time)
{
    char *end = NULL;
    *time = text ? strtod(text, &end) : NAN;
    if (text && end > text && !*end && *time >= 0 && *time <= 1e12)
        return true;
    return refuse(p, "a time is seconds from 0 to 1e12");
}

static bool change(struct paje *p, const struct definition *definition, char *const *fields, unsigned count)
{
    double time;
    const char *alias = field_of(definition, fields, count, CONTAINER),
               *operation = field_of(definition, fields, count, OPERATION);
    struct container *container = alias ? find(p, alias) : NULL;
    if (!read_time(p, field_of(definition, fields, count, TIME), &time))
        return false;
    if (!container || container->stream == RECORDED_NONE)
        return refuse(p, "a state is of a container that is no stream of a GPU");
    if (definition->happening == ENDS)
        return pop(p, container, time);
    const char *value = field_of(definition, fields, count, VALUE);
    return push(container, time, operation ? operation : "", value && *p->waiting && !strcmp(value, p->waiting));
}

/* Messages of two streams: where they begin and end. */
static bool follow(struct paje *p, const struct definition *definition, char *const *fields, unsigned count)
{
    const char *key = field_of(definition, fields, count, KEY);
    bool sends = definition->happening == SENDS;
    const char *alias = field_of(definition, fields, count, sends ? FROM : TO);
    struct container *own = alias ? find(p, alias) : NULL;
    char name[WORD_BYTES + 2];
    if (!key || !own || own->stream == RECORDED_NONE)
        return refuse(p, "a message is of a container that is no stream of a GPU");
    snprintf(name, sizeof name, "%s", key);
    struct container *message = find(p, name);
    if (sends) {
        uint32_t stream = own->stream; /* containers move */
        message = message ? message : add(p, name);
        message->stream = stream;
    } else if (message) {
        drawn_link(p->drawn, message->stream, own->stream);
    }
    return true;
}

static bool take_line(struct paje *p, char *line)
{
    char *fields[FIELDS_MAX];
    if (*line == '%')
        return define(p, line);
    unsigned count = split(line, fields);
    if (!count || *fields[0] == '#')
        return true;
    char *end;
    unsigned long number = strtoul(fields[0], &end, 10);
    if (end == fields[0] || *end || number >= EVENTS_MAX || !p->events[number].known)
        return refuse(p, "the line is of no event that the file defines; expected its number first");
    const struct definition *definition = &p->events[number];
    if (definition->happening == VALUES) {
        const char *alias = field_of(definition, fields, count, ALIAS),
                   *name = field_of(definition, fields, count, NAME);
        if (alias && name && !strcmp(name, "waiting"))
            snprintf(p->waiting, sizeof p->waiting, "%s", alias);
        return true;
    }
    if (definition->happening == CREATES) {
        const char *alias = field_of(definition, fields, count, ALIAS),
                   *parent = field_of(definition, fields, count, CONTAINER),
                   *name = field_of(definition, fields, count, NAME);
        return alias && parent && name ? create(p, alias, parent, name)
                                       : refuse(p, "a container has an alias, a container around it and a name");
    }
    if (definition->happening == BEGINS || definition->happening == ENDS)
        return change(p, definition, fields, count);
    return definition->happening == OTHER || follow(p, definition, fields, count);
}

/* Containers whose last state does not end: the file was cut. */
static bool whole(struct paje *p)
{
    for (size_t i = 0; i < p->count; i++)
        if (*p->containers[i].operation)
            return refuse(p, "states have begun that do not end: the file was cut");
    return true;
}

bool paje_file_read(struct trace_reader *reader, struct trace_file *file)
{
    struct paje *p = array_zeroed(1, sizeof *p);
    char line[LINE_MAX_BYTES];
    bool good = !*reader->recorded->format;
    p->reader = reader;
    p->file = file;
    if (!good)
        refuse(p, "a trace of Paje has all ranks of a job; expected no other trace beside it");
    p->drawn = good ? drawn_create(reader) : NULL;
    while (good && next_line(p, line))
        good = take_line(p, line);
    if (good && *p->fault.text) {
        good = false;
        (p->fault.refused ? diag_error : diag_trouble)(reader->diag, (struct place){reader->file, 0, 0}, "%s",
                                                       p->fault.text);
    }
    good = good && whole(p);
    if (good)
        drawn_finish(p->drawn);
    reader->recorded->format = "Paje trace (stagesim)";
    drawn_destroy(p->drawn);
    free(p->containers);
    free(p->slots);
    free(p);
    return good;
}
