/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/profile/operators.h"

#include "base/arena.h"
#include "base/paths.h"
#include "studies/profile/operator_shape.h"
#include "studies/profile/recompute.h"
#include "workloads/kernels/kernel_time.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* An operation of a rank by a number that the trace gives it. */
struct numbered {
    uint64_t key; /* rank, number */
    uint32_t operation;
};

struct numbers {
    struct numbered *list; /* count of them, by key */
    size_t count, capacity;
};

static int by_key(const void *left, const void *right)
{
    const struct numbered *a = left, *b = right;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return (a->operation > b->operation) - (a->operation < b->operation);
}

static uint64_t key_of(const struct recorded *recorded, size_t operation, uint32_t number)
{
    return (uint64_t)recorded_rank_of(recorded, &recorded->operations[operation]) << 32 | number;
}

static void add(const struct recorded *recorded, struct numbers *numbers, size_t operation, uint32_t number)
{
    if (number == RECORDED_NONE)
        return;
    numbers->list = array_grow(numbers->list, &numbers->capacity, numbers->count + 1, sizeof *numbers->list);
    numbers->list[numbers->count++] = (struct numbered){key_of(recorded, operation, number), (uint32_t)operation};
}

/* RECORDED_NONE: there is none. */
static uint32_t find(const struct numbers *numbers, uint64_t key)
{
    size_t low = 0, high = numbers->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (numbers->list[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low < numbers->count && numbers->list[low].key == key ? numbers->list[low].operation : RECORDED_NONE;
}

/* Operators with shapes by external id, and launches by correlation. */
struct sources {
    struct numbers operators, launches;
};

static bool has_shape(const struct recorded_operation *operation)
{
    return operation->kind == RECORDED_HOST && operation->shape;
}

static struct sources find_sources(const struct recorded *recorded)
{
    struct sources sources = {{NULL}, {NULL}};
    for (size_t i = 0; i < recorded->count; i++) {
        const struct recorded_operation *operation = &recorded->operations[i];
        if (has_shape(operation))
            add(recorded, &sources.operators, i, operation->external);
        else if (operation->kind == RECORDED_LAUNCH)
            add(recorded, &sources.launches, i, operation->correlation);
    }
    if (sources.operators.count)
        qsort(sources.operators.list, sources.operators.count, sizeof *sources.operators.list, by_key);
    if (sources.launches.count)
        qsort(sources.launches.list, sources.launches.count, sizeof *sources.launches.list, by_key);
    return sources;
}

/* The innermost operator with a shape that a launch lies in, on its thread. */
static uint32_t around(const struct recorded *recorded, uint32_t launch)
{
    enum { LOOKED_AT = 256 };
    const struct recorded_operation *operations = recorded->operations, *own = &operations[launch];
    for (uint32_t i = 1; i <= launch && i < LOOKED_AT; i++) {
        const struct recorded_operation *it = &operations[launch - i];
        if (it->stream != own->stream)
            break;
        if (has_shape(it) && it->end >= own->end)
            return launch - i;
    }
    return RECORDED_NONE;
}

/* The operator that work of the device comes from: it names it, as newer profiles do, or its launch lies in it. */
static uint32_t operator_of(const struct recorded *recorded, const struct sources *sources, size_t work)
{
    const struct recorded_operation *operation = &recorded->operations[work];
    uint32_t named = operation->external == RECORDED_NONE
                         ? RECORDED_NONE
                         : find(&sources->operators, key_of(recorded, work, operation->external));
    if (named != RECORDED_NONE || operation->correlation == RECORDED_NONE)
        return named;
    uint32_t launch = find(&sources->launches, key_of(recorded, work, operation->correlation));
    return launch == RECORDED_NONE ? RECORDED_NONE : around(recorded, launch);
}

/* [operation]: seconds of the device's work that comes from operators with shapes. */
static void charge(const struct recorded *recorded, const struct sources *sources, double *seconds)
{
    for (size_t i = 0; i < recorded->count && sources->operators.count; i++) {
        const struct recorded_operation *operation = &recorded->operations[i];
        if (operation->kind != RECORDED_COMPUTE && operation->kind != RECORDED_MEMORY)
            continue;
        uint32_t source = operator_of(recorded, sources, i);
        if (source != RECORDED_NONE)
            seconds[source] += operation->end - operation->begin;
    }
}

/* Seconds of kernels that compute activations again. */
static double recomputed(const struct recorded *recorded, const struct sources *sources)
{
    bool *again = recompute_launches(recorded);
    double seconds = 0;
    for (size_t i = 0; again && i < recorded->count; i++) {
        const struct recorded_operation *operation = &recorded->operations[i];
        if (operation->kind != RECORDED_COMPUTE || operation->correlation == RECORDED_NONE)
            continue;
        uint32_t launch = find(&sources->launches, key_of(recorded, i, operation->correlation));
        seconds += launch != RECORDED_NONE && again[launch] ? operation->end - operation->begin : 0;
    }
    free(again);
    return seconds;
}

/* ---- those of one name and shape ---- */

static int by_shape(const void *left, const void *right, void *user)
{
    uint32_t first = *(const uint32_t *)left, second = *(const uint32_t *)right;
    const struct recorded_operation *operations = user, *a = &operations[first], *b = &operations[second];
    if (a->name != b->name)
        return a->name < b->name ? -1 : 1;
    if (a->shape != b->shape)
        return a->shape < b->shape ? -1 : 1;
    return (first > second) - (first < second);
}

static void add_up(const struct recorded *recorded, const double *seconds, double steps, struct arena *arena,
                   struct operators *operators)
{
    uint32_t *callers = NULL;
    size_t count = 0, capacity = 0;
    for (size_t i = 0; i < recorded->count; i++)
        if (seconds[i] > 0) {
            callers = array_grow(callers, &capacity, count + 1, sizeof *callers);
            callers[count++] = (uint32_t)i;
        }
    operators->list = arena_array(arena, count + 1, sizeof *operators->list);
    if (count)
        qsort_r(callers, count, sizeof *callers, by_shape, recorded->operations);
    for (size_t i = 0; i < count; i++) {
        const struct recorded_operation *operation = &recorded->operations[callers[i]];
        struct profile_operator *last = operators->count ? &operators->list[operators->count - 1] : NULL;
        if (!last || last->name != operation->name || last->shape != operation->shape) {
            last = &operators->list[operators->count++];
            *last = (struct profile_operator){.name = operation->name, .shape = operation->shape, .expected = NAN};
        }
        last->calls += 1 / steps;
        last->seconds += seconds[callers[i]] / steps;
    }
    free(callers);
}

/* ---- measured kernels ---- */

static const char rows_ending[] = ".kernels.csv", models_ending[] = ".kernel-models.csv";

/* "H100" of "H100-SXM5-80GB" as a word of "NVIDIA H100 80GB HBM3". */
static bool has_word(const char *device, const char *table)
{
    size_t size = strcspn(table, "-");
    for (const char *at = device; *at; at++) {
        bool begins = at == device || at[-1] == ' ' || at[-1] == '-', fits = !strncasecmp(at, table, size);
        if (begins && fits && (!at[size] || at[size] == ' ' || at[size] == '-'))
            return true;
    }
    return false;
}

/* The table of a device: the one whose name the device's has in it, else the one of the same product with the same kind
 * of slot. */
static const char *find_table(const char *device, struct arena *arena, bool *similar, struct fault *fault)
{
    size_t count;
    const char **names = path_list_installed(INSTALLED_EFFICIENCY, rows_ending, &count, arena, fault), *found = NULL;
    bool pcie = strcasestr(device, "pcie");
    for (size_t i = 0; i < count; i++)
        if (strcasestr(device, names[i]))
            return names[i];
    for (size_t i = 0; i < count; i++)
        if (has_word(device, names[i]) && (!found || !strcasestr(found, "pcie") != !pcie))
            found = names[i];
    *similar = found != NULL;
    return found;
}

static void expect(const struct recorded *recorded, const struct kernel_table *table, struct arena *arena,
                   struct profile_operator *it)
{
    struct kernel_shape shape;
    struct kernel_time time;
    char what[OPERATOR_WHAT_MAX];
    if (!operator_shape(recorded->names[it->name], recorded->names[it->shape], &shape, what) ||
        !kernel_time(table, &shape, NULL, &time))
        return;
    it->what = arena_copy(arena, what);
    it->expected = time.seconds * it->calls;
    it->outside = time.outside != 0;
}

/* More above what is expected first; those without after them. */
static int by_loss(const void *left, const void *right)
{
    const struct profile_operator *a = left, *b = right;
    bool known = !isnan(a->expected), other = !isnan(b->expected);
    if (known != other)
        return known ? -1 : 1;
    double first = a->seconds - (known ? a->expected : 0), second = b->seconds - (known ? b->expected : 0);
    if (first > second || first < second)
        return first > second ? -1 : 1;
    return a->name != b->name ? (a->name > b->name) - (a->name < b->name)
                              : (a->shape > b->shape) - (a->shape < b->shape);
}

static bool expect_all(const struct recorded *recorded, struct arena *arena, struct operators *operators,
                       struct fault *fault)
{
    const char *device = recorded->rank_count ? recorded->ranks[0].device : NULL;
    operators->gpu = device ? find_table(device, arena, &operators->similar, fault) : NULL;
    if (!operators->gpu)
        return true;
    struct kernel_table table;
    const char *models = path_find_installed(INSTALLED_EFFICIENCY, operators->gpu, models_ending, arena),
               *rows = path_find_installed(INSTALLED_EFFICIENCY, operators->gpu, rows_ending, arena);
    if (!models || !rows)
        return fault_set(fault, "the kernels of %s have no %s", operators->gpu, models_ending);
    if (!kernel_table_read(models, rows, &table, fault))
        return false;
    for (size_t i = 0; i < operators->count; i++)
        expect(recorded, &table, arena, &operators->list[i]);
    kernel_table_finish(&table);
    return true;
}

bool operators_find(const struct recorded *recorded, const struct profile *profile, struct arena *arena,
                    struct operators *operators, struct fault *fault)
{
    double steps = 0;
    *operators = (struct operators){NULL};
    for (uint32_t rank = 0; rank < recorded->rank_count; rank++)
        steps += profile->ranks[rank].steps;
    struct sources sources = find_sources(recorded);
    double *seconds = array_zeroed(recorded->count, sizeof *seconds);
    charge(recorded, &sources, seconds);
    add_up(recorded, seconds, steps, arena, operators);
    operators->recomputed = recomputed(recorded, &sources) / (steps > 0 ? steps : 1);
    free(seconds);
    free(sources.operators.list);
    free(sources.launches.list);
    if (!expect_all(recorded, arena, operators, fault))
        return false;
    if (operators->count)
        qsort(operators->list, operators->count, sizeof *operators->list, by_loss);
    for (size_t i = 0; i < operators->count; i++) {
        const struct profile_operator *it = &operators->list[i];
        bool known = !isnan(it->expected);
        operators->known_count += known;
        *(known ? &operators->known : &operators->unknown) += it->seconds;
        operators->expected += known ? it->expected : 0;
    }
    return true;
}
