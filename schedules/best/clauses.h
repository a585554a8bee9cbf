/* SPDX-License-Identifier: Apache-2.0 */
/* What the search by learning knows of pairs of operations of a worker: which of the two runs first, when each can
 * start and end, why that is so, and what was learnt. A literal says that one operation of a pair runs before the
 * other. Heads are lower bounds of starts, tails lower bounds of the time from an end to the end of everything; that an
 * operation's head, length and tail do not fit into the time is a conflict. */
#ifndef STAGESIM_BEST_CLAUSES_H
#define STAGESIM_BEST_CLAUSES_H

#include "schedules/best/instance.h"
#include "schedules/best/jackson.h"

#define LITERAL_NONE UINT32_MAX

enum { HEADS, TAILS, SIDES };

/* Why something holds; what a and b of an entry are. */
enum why {
    WHY_DECIDED,
    WHY_CLAUSE, /* a: the clause, whose first literal it is */
    WHY_ORDER,  /* a: a literal of neighbours in the same two chains */
    WHY_TIME,   /* the other order takes too long: `need` is the head of its first operation */
    WHY_ROOM,   /* a: in the notes: how many literals, the literals */
    WHY_EDGE,   /* a: the operation in front, b: the literal, or none */
    WHY_SET     /* a: in the notes: how many chains, all lengths, then the first operation of each and its literal */
};

/* A change, in the order in which they were made. */
struct entry {
    bool is_bound;
    uint8_t why;
    uint32_t what; /* the literal that holds, or side x operations + operation */
    uint32_t a, b;
    uint32_t level;
    uint32_t before;        /* index + 1 of the entry of the same bound before this one; 0: none */
    uint32_t least, most;   /* of literals: what frontiers were */
    int64_t value, earlier; /* of bounds: now, and before */
    int64_t need;           /* of bounds under analysis: the value that matters; of WHY_TIME: see there */
};

struct clause {
    uint32_t first, count; /* in `store` */
    uint32_t levels;       /* on which its literals were when it was learnt: few are good */
    int64_t most;          /* it holds for all orders that end by this */
    uint32_t used;
};

/* An operation of a worker, for sets: of those from it on in falling order of bounds `rest` is the length. */
struct item {
    int64_t bound, length, rest;
    uint32_t operation, place, batch;
};

/* Clauses that watch a literal. */
struct watches {
    uint32_t *items;
    size_t count, capacity;
};

struct knowledge {
    const struct instance *instance;
    uint32_t operations, variables, chains;
    int64_t most;
    /* Structure. */
    uint32_t *local;                /* [chain]: its place among the chains of its worker */
    uint32_t *chain_count;          /* [worker] */
    uint32_t **chains_of;           /* [worker][place] */
    uint32_t *base;                 /* [chain x width + place]: first variable of the chain's pairs with a later one */
    uint32_t width;                 /* most chains of a worker */
    uint32_t *first_of, *second_of; /* [variable]: operations */
    int64_t *length;                /* [operation] */
    /* State. */
    int8_t *value;                 /* [variable]: 1, -1; 0: open */
    uint32_t *least, *most_before; /* [operation x width + place]: how many of that chain come before it for sure, and
                                      how many can; of its own chain those before it, and itself too */
    int64_t *bound[SIDES];         /* [operation] */
    uint32_t *latest;              /* [side x operations + operation]: index + 1 of its last entry */
    struct entry *entries;
    size_t entry_count, entry_capacity;
    uint32_t level;
    size_t *level_starts; /* [level]: entries before it */
    size_t level_capacity;
    uint32_t *notes; /* of reasons */
    size_t note_count, note_capacity;
    size_t *note_starts; /* [level] */
    size_t note_level_capacity;
    /* Queues. */
    size_t next_entry;
    bool *dirty; /* [worker]: its bounds changed since its sets were looked at */
    /* A conflict: literals that hold and bounds that together cannot be. */
    bool conflict;
    uint32_t *bad_literals;
    size_t bad_literal_count, bad_literal_capacity;
    struct {
        uint32_t what;
        int64_t value;
    } * bad_bounds;
    size_t bad_bound_count, bad_bound_capacity;
    /* Clauses. */
    uint32_t *store;
    size_t store_count, store_capacity;
    struct clause *clauses;
    size_t clause_count, clause_capacity;
    struct watches *watches; /* [literal]: clauses that have its opposite among their first two */
    /* Scratch. */
    uint32_t *sorted, *spare; /* of operations */
    struct item *items;
    struct jackson jackson;
    int64_t work; /* steps since somebody counted */
};

/* NULL where there are too many pairs. Memory is the arena's but for what knowledge_finish frees. */
struct knowledge *knowledge_create(const struct instance *instance, struct arena *arena);
void knowledge_finish(struct knowledge *k);

/* Forgets all decisions and bounds; then only what holds for orders that end by `most`. */
void knowledge_reset(struct knowledge *k, int64_t most);

/* That operation i runs before j, of another chain of the worker. */
uint32_t literal_of(const struct knowledge *k, uint32_t i, uint32_t j);
static inline uint32_t literal_not(uint32_t literal)
{
    return literal ^ 1;
}
/* 1: holds, -1: does not, 0: open. */
static inline int literal_value(const struct knowledge *k, uint32_t literal)
{
    return literal & 1 ? -k->value[literal / 2] : k->value[literal / 2];
}
static inline uint32_t literal_front(const struct knowledge *k, uint32_t literal)
{
    return literal & 1 ? k->second_of[literal / 2] : k->first_of[literal / 2];
}
static inline uint32_t literal_back(const struct knowledge *k, uint32_t literal)
{
    return literal & 1 ? k->first_of[literal / 2] : k->second_of[literal / 2];
}

/* A literal holds from now on; a conflict where its opposite does. */
void assert_literal(struct knowledge *k, uint32_t literal, enum why why, uint32_t a, uint32_t b, int64_t need);
void assert_bound(struct knowledge *k, unsigned side, uint32_t operation, int64_t value, enum why why, uint32_t a,
                  uint32_t b);
void conflict_begin(struct knowledge *k);
void conflict_literal(struct knowledge *k, uint32_t literal);
void conflict_bound(struct knowledge *k, unsigned side, uint32_t operation, int64_t value);
uint32_t note(struct knowledge *k, uint32_t word);

void push_level(struct knowledge *k);
/* Takes back what was asserted on levels above; `undone` hears of each variable that is open again. */
void pop_levels(struct knowledge *k, uint32_t level, void (*undone)(void *user, uint32_t variable, bool positive),
                void *user);

/* Adds a clause of literals of which one has to hold. The first two are watched. */
uint32_t clause_add(struct knowledge *k, const uint32_t *literals, uint32_t count, uint32_t levels);
/* Drops clauses: those for which keep is false. Only with no decisions. */
void clauses_thin(struct knowledge *k, const bool *keep);

/* All that follows. False where there is a conflict. */
bool propagate(struct knowledge *k);

#endif
