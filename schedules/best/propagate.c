/* SPDX-License-Identifier: Apache-2.0 */
/* What follows from what is known of pairs: neighbours in chains, times along edges, orders that time or room leaves,
 * clauses, and of each worker sets of operations that are too much for the time they have. */
#include "schedules/best/clauses.h"

#include "base/arena.h"

static uint32_t worker_of(const struct knowledge *k, uint32_t operation)
{
    return k->instance->worker_of[operation_stage(k->instance, operation)];
}

static uint32_t least_before(const struct knowledge *k, uint32_t operation, uint32_t place)
{
    return k->least[(size_t)operation * k->width + place];
}

static uint32_t most_before(const struct knowledge *k, uint32_t operation, uint32_t place)
{
    return k->most_before[(size_t)operation * k->width + place];
}

/* ---- orders ---- */

/* A literal follows from another. */
static void follow(struct knowledge *k, uint32_t literal, uint32_t from)
{
    int value = literal_value(k, literal);
    if (value > 0 || k->conflict)
        return;
    if (value == 0) {
        assert_literal(k, literal, WHY_ORDER, from, 0, 0);
        return;
    }
    conflict_begin(k);
    conflict_literal(k, from);
    conflict_literal(k, literal_not(literal));
}

/* i cannot run before j in time: they are too long together. */
static bool is_too_long(const struct knowledge *k, uint32_t i, uint32_t j)
{
    return k->bound[HEADS][i] + k->length[i] + k->length[j] + k->bound[TAILS][j] > k->most;
}

static void force_by_time(struct knowledge *k, uint32_t front, uint32_t back)
{
    /* back cannot run before front */
    assert_literal(k, literal_of(k, front, back), WHY_TIME, 0, 0, k->bound[HEADS][back]);
}

/* Orders that new bounds of an operation leave, with another chain of its worker. */
static void orders_in_time(struct knowledge *k, uint32_t operation, uint32_t place)
{
    uint32_t first = k->chains_of[worker_of(k, operation)][place] * k->instance->batches;
    for (uint32_t at = least_before(k, operation, place);
         at < most_before(k, operation, place) && is_too_long(k, operation, first + at);
         at = least_before(k, operation, place))
        force_by_time(k, first + at, operation);
    for (uint32_t at = most_before(k, operation, place);
         at > least_before(k, operation, place) && is_too_long(k, first + at - 1, operation);
         at = most_before(k, operation, place))
        force_by_time(k, operation, first + at - 1);
}

/* ---- room ---- */

/* What says that forwards are before, and releases behind: the literals at the frontiers of all chains. */
static uint32_t for_frontiers(struct knowledge *k, uint32_t forward,
                              void (*tell)(struct knowledge *k, uint32_t literal))
{
    const struct instance *instance = k->instance;
    uint32_t worker = worker_of(k, forward), own = k->local[forward / instance->batches], count = 0;
    for (uint32_t place = 0; place < k->chain_count[worker]; place++) {
        uint32_t chain = k->chains_of[worker][place], kind = chain / instance->stages;
        uint32_t least = least_before(k, forward, place), most = most_before(k, forward, place);
        if (kind == BEST_FORWARD && place != own && least > 0) {
            tell(k, literal_of(k, chain * instance->batches + least - 1, forward));
            count++;
        } else if (kind == instance_release(instance) && most < instance->batches) {
            tell(k, literal_of(k, forward, chain * instance->batches + most));
            count++;
        }
    }
    return count;
}

static void tell_note(struct knowledge *k, uint32_t literal)
{
    note(k, literal);
}

static uint32_t note_frontiers(struct knowledge *k, uint32_t forward)
{
    uint32_t at = note(k, 0);
    uint32_t count = for_frontiers(k, forward, tell_note);
    k->notes[at] = count;
    return at;
}

/* With no stash to spare, no further forward is before this one, and no release that could be is behind it. */
static void use_up(struct knowledge *k, uint32_t forward)
{
    const struct instance *instance = k->instance;
    uint32_t worker = worker_of(k, forward), own = k->local[forward / instance->batches], reason = LITERAL_NONE;
    for (uint32_t place = 0; place < k->chain_count[worker]; place++) {
        uint32_t chain = k->chains_of[worker][place], kind = chain / instance->stages;
        uint32_t least = least_before(k, forward, place), most = most_before(k, forward, place);
        uint32_t literal = LITERAL_NONE;
        if (least < most && kind == BEST_FORWARD && place != own)
            literal = literal_of(k, forward, chain * instance->batches + least);
        else if (least < most && kind == instance_release(instance))
            literal = literal_of(k, chain * instance->batches + most - 1, forward);
        if (literal == LITERAL_NONE || literal_value(k, literal) != 0)
            continue;
        if (reason == LITERAL_NONE)
            reason = note_frontiers(k, forward);
        assert_literal(k, literal, WHY_ROOM, reason, 0, 0);
    }
}

static void check_room(struct knowledge *k, uint32_t forward)
{
    const struct instance *instance = k->instance;
    uint32_t worker = worker_of(k, forward), own = k->local[forward / instance->batches];
    int64_t held = operation_batch(instance, forward);
    for (uint32_t place = 0; place < k->chain_count[worker]; place++) {
        uint32_t kind = k->chains_of[worker][place] / instance->stages;
        if (kind == BEST_FORWARD && place != own)
            held += least_before(k, forward, place);
        else if (kind == instance_release(instance))
            held -= most_before(k, forward, place);
    }
    if (held >= (int64_t)instance->limits[worker]) {
        conflict_begin(k);
        for_frontiers(k, forward, conflict_literal);
    } else if (held + 1 == (int64_t)instance->limits[worker]) {
        use_up(k, forward);
    }
}

/* ---- a literal ---- */

static void along(struct knowledge *k, uint32_t front, uint32_t back, uint32_t literal, int64_t lag)
{
    if (k->conflict)
        return;
    assert_bound(k, HEADS, back, k->bound[HEADS][front] + k->length[front] + lag, WHY_EDGE, front, literal);
    if (!k->conflict)
        assert_bound(k, TAILS, front, k->bound[TAILS][back] + k->length[back] + lag, WHY_EDGE, back, literal);
}

/* Looks for another literal to watch, or finds that the first must hold. False: it cannot. */
static bool visit_clause(struct knowledge *k, uint32_t index, uint32_t literal, bool *stays)
{
    const struct clause *clause = &k->clauses[index];
    uint32_t *literals = k->store + clause->first, wrong = literal_not(literal);
    *stays = true;
    if (clause->count > 1 && literals[0] == wrong) {
        literals[0] = literals[1];
        literals[1] = wrong;
    }
    if (literal_value(k, literals[0]) > 0)
        return true;
    for (uint32_t i = 2; i < clause->count; i++)
        if (literal_value(k, literals[i]) >= 0) {
            literals[1] = literals[i];
            literals[i] = wrong;
            struct watches *watches = &k->watches[literal_not(literals[1])];
            watches->items = array_grow(watches->items, &watches->capacity, watches->count + 1, sizeof *watches->items);
            watches->items[watches->count++] = index;
            *stays = false;
            return true;
        }
    if (literal_value(k, literals[0]) < 0)
        return false;
    assert_literal(k, literals[0], WHY_CLAUSE, index, 0, 0);
    return true;
}

static void visit_clauses(struct knowledge *k, uint32_t literal)
{
    struct watches *watches = &k->watches[literal];
    size_t kept = 0, i = 0;
    for (; i < watches->count && !k->conflict; i++) {
        uint32_t index = watches->items[i];
        bool stays;
        k->work++;
        if (!visit_clause(k, index, literal, &stays)) {
            conflict_begin(k);
            for (uint32_t j = 0; j < k->clauses[index].count; j++)
                conflict_literal(k, literal_not(k->store[k->clauses[index].first + j]));
            k->clauses[index].used++;
        }
        if (stays)
            watches->items[kept++] = index;
    }
    for (; i < watches->count; i++)
        watches->items[kept++] = watches->items[i];
    watches->count = kept;
}

static void visit_literal(struct knowledge *k, uint32_t literal)
{
    const struct instance *instance = k->instance;
    uint32_t front = literal_front(k, literal), back = literal_back(k, literal), batches = instance->batches;
    if (front % batches > 0)
        follow(k, literal_of(k, front - 1, back), literal);
    if (back % batches + 1 < batches)
        follow(k, literal_of(k, front, back + 1), literal);
    along(k, front, back, literal, 0);
    if (instance_shares_limit(instance, operation_stage(instance, front))) {
        bool fronts = operation_kind(instance, front) == BEST_FORWARD;
        bool backs = operation_kind(instance, back) == BEST_FORWARD;
        if (fronts && !k->conflict)
            check_room(k, front);
        if (backs && !k->conflict)
            check_room(k, back);
    }
    if (!k->conflict)
        visit_clauses(k, literal);
}

/* ---- a bound ---- */

/* The operation of another worker that waits for this one, or UINT32_MAX; back: for which this one waits. */
static uint32_t across(const struct knowledge *k, uint32_t operation, bool back)
{
    const struct instance *instance = k->instance;
    uint32_t kind = operation_kind(instance, operation), stage = operation_stage(instance, operation);
    if (kind == BEST_WEIGHT)
        return UINT32_MAX;
    uint32_t other = (kind == BEST_FORWARD) != back ? stage + 1 : stage - 1;
    if (other >= instance->stages || instance->worker_of[other] == instance->worker_of[stage])
        return UINT32_MAX;
    return operation_of(instance, kind, other, operation_batch(instance, operation));
}

/* Heads go on to what runs behind, tails to what runs in front. */
static void visit_bound(struct knowledge *k, unsigned side, uint32_t operation)
{
    const struct instance *instance = k->instance;
    uint32_t batches = instance->batches, batch = operation % batches, worker = worker_of(k, operation);
    int64_t value = k->bound[side][operation] + k->length[operation];
    if (side == HEADS ? batch + 1 < batches : batch > 0)
        assert_bound(k, side, side == HEADS ? operation + 1 : operation - 1, value, WHY_EDGE, operation, LITERAL_NONE);
    uint32_t other = across(k, operation, side == TAILS);
    if (other != UINT32_MAX && !k->conflict)
        assert_bound(k, side, other, value + instance->latency, WHY_EDGE, operation, LITERAL_NONE);
    k->work += k->chain_count[worker] / 2;
    for (uint32_t place = 0; place < k->chain_count[worker] && !k->conflict; place++) {
        uint32_t first = k->chains_of[worker][place] * batches;
        if (first == operation - batch)
            continue;
        orders_in_time(k, operation, place);
        uint32_t at = side == HEADS ? most_before(k, operation, place) : least_before(k, operation, place) - 1;
        if (at >= batches)
            continue;
        uint32_t literal = side == HEADS ? literal_of(k, operation, first + at) : literal_of(k, first + at, operation);
        assert_bound(k, side, first + at, value, WHY_EDGE, operation, literal);
    }
}

/* ---- sets ---- */

/* Merges neighbouring runs of `width`, each falling, into one. */
static void merge_runs(struct knowledge *k, const int64_t *bound, uint32_t count, uint32_t width)
{
    uint32_t *from = k->sorted, *to = k->spare;
    for (uint32_t low = 0; low < count; low += 2 * width) {
        uint32_t middle = low + width < count ? low + width : count;
        uint32_t high = low + 2 * width < count ? low + 2 * width : count, a = low, b = middle;
        for (uint32_t i = low; i < high; i++)
            to[i] = b >= high || (a < middle && bound[from[a]] >= bound[from[b]]) ? from[a++] : from[b++];
    }
    k->sorted = to;
    k->spare = from;
}

/* The worker's operations by falling bound, which a chain's already are. */
static uint32_t sort_items(struct knowledge *k, unsigned side, uint32_t worker)
{
    uint32_t batches = k->instance->batches, count = 0;
    int64_t rest = 0;
    for (uint32_t place = 0; place < k->chain_count[worker]; place++)
        for (uint32_t i = 0; i < batches; i++)
            k->sorted[count++] = k->chains_of[worker][place] * batches + (side == HEADS ? batches - 1 - i : i);
    for (uint32_t width = batches; width < count; width *= 2)
        merge_runs(k, k->bound[side], count, width);
    for (uint32_t i = count; i-- > 0;) {
        uint32_t operation = k->sorted[i];
        rest += k->length[operation];
        k->items[i] = (struct item){k->bound[side][operation],     k->length[operation], rest, operation,
                                    k->local[operation / batches], operation % batches};
    }
    k->work += count / 8;
    return count;
}

/* Whether x runs before y for sure; with tails, behind. */
static bool is_on_side(const struct knowledge *k, unsigned side, const struct item *x, uint32_t y)
{
    return side == HEADS ? x->batch < least_before(k, y, x->place) : x->batch >= most_before(k, y, x->place);
}

/* Those of the set in one chain follow each other: the outermost one and the literal of the innermost. */
static uint32_t note_set(struct knowledge *k, unsigned side, uint32_t y, uint32_t last, int64_t sum)
{
    uint32_t worker = worker_of(k, y), batches = k->instance->batches, at = note(k, 0), count = 0;
    note(k, (uint32_t)((uint64_t)sum & UINT32_MAX));
    note(k, (uint32_t)((uint64_t)sum >> 32));
    for (uint32_t place = 0; place < k->chain_count[worker]; place++) {
        uint32_t chain = k->chains_of[worker][place], outer = UINT32_MAX;
        for (uint32_t i = 0; i <= last; i++)
            if (k->items[i].place == place && is_on_side(k, side, &k->items[i], y))
                outer = k->items[i].operation; /* the smallest bound comes last */
        if (outer == UINT32_MAX)
            continue;
        uint32_t literal = LITERAL_NONE;
        if (chain != y / batches)
            literal = side == HEADS ? literal_of(k, chain * batches + least_before(k, y, place) - 1, y)
                                    : literal_of(k, y, chain * batches + most_before(k, y, place));
        note(k, outer);
        note(k, literal);
        count++;
    }
    k->notes[at] = count;
    return at;
}

/* An operation cannot start before all that precedes it on its worker is done; mirrored for tails. Bounds that rise
 * meanwhile are not looked at: those in the items hold. */
static void push_behind(struct knowledge *k, unsigned side, uint32_t count)
{
    for (uint32_t i = 0; i < count && !k->conflict; i++) {
        uint32_t y = k->items[i].operation, last = 0, j = 0;
        int64_t sum = 0, best = k->bound[side][y], known = best, sum_best = 0;
        for (; j < count && k->items[j].bound + sum + k->items[j].rest > best; j++) {
            if (!is_on_side(k, side, &k->items[j], y))
                continue;
            sum += k->items[j].length;
            if (k->items[j].bound + sum > best) {
                best = k->items[j].bound + sum;
                sum_best = sum;
                last = j;
            }
        }
        k->work += 1 + j / 16;
        if (best > known)
            assert_bound(k, side, y, best, WHY_SET, note_set(k, side, y, last, sum_best), 0);
    }
}

/* Operations between a head and a tail that are too long for what is left of the time: those among the first items
 * whose tails are no shorter. */
static void tell_overload(struct knowledge *k, uint32_t worker, uint32_t last, int64_t head, int64_t tail)
{
    const int64_t *tails = k->bound[TAILS];
    conflict_begin(k);
    for (uint32_t place = 0; place < k->chain_count[worker]; place++) {
        uint32_t outer = UINT32_MAX, inner = UINT32_MAX;
        for (uint32_t i = 0; i <= last; i++)
            if (k->items[i].place == place && tails[k->items[i].operation] >= tail) {
                inner = inner == UINT32_MAX ? k->items[i].operation : inner;
                outer = k->items[i].operation;
            }
        if (outer == UINT32_MAX)
            continue;
        conflict_bound(k, HEADS, outer, head);
        conflict_bound(k, TAILS, inner, tail);
    }
}

static void find_overload(struct knowledge *k, uint32_t worker, uint32_t count)
{
    const int64_t *tails = k->bound[TAILS];
    jackson_begin(&k->jackson, 0, 0);
    for (uint32_t i = count; i-- > 0;)
        jackson_add(&k->jackson, k->items[i].bound, k->items[i].length, tails[k->items[i].operation]);
    k->work += count / 4;
    if (jackson_end(&k->jackson) <= k->most)
        return;
    for (uint32_t i = 0; i < count; i++) {
        int64_t tail = tails[k->items[i].operation], sum = 0;
        uint32_t j = 0;
        for (; j < count && k->items[j].bound + sum + k->items[j].rest + tail > k->most; j++) {
            if (tails[k->items[j].operation] < tail)
                continue;
            sum += k->items[j].length;
            if (k->items[j].bound + sum + tail > k->most) {
                tell_overload(k, worker, j, k->most + 1 - sum - tail, tail); /* as little as is enough */
                return;
            }
        }
        k->work += 1 + j / 16;
    }
}

static void visit_worker(struct knowledge *k, uint32_t worker)
{
    k->dirty[worker] = false;
    push_behind(k, TAILS, sort_items(k, TAILS, worker));
    if (!k->conflict)
        push_behind(k, HEADS, sort_items(k, HEADS, worker));
    if (!k->conflict)
        find_overload(k, worker, sort_items(k, HEADS, worker));
}

bool propagate(struct knowledge *k)
{
    for (;;) {
        while (k->next_entry < k->entry_count && !k->conflict) {
            const struct entry entry = k->entries[k->next_entry++];
            k->work++;
            if (!entry.is_bound)
                visit_literal(k, entry.what);
            else if (k->latest[entry.what] == k->next_entry) /* none after it */
                visit_bound(k, entry.what / k->operations, entry.what % k->operations);
        }
        uint32_t worker = 0;
        while (worker < k->instance->workers && !k->dirty[worker])
            worker++;
        if (k->conflict || worker == k->instance->workers)
            return !k->conflict;
        visit_worker(k, worker);
    }
}
