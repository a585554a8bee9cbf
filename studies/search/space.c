/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/search/space.h"

#include "base/arena.h"
#include "base/document.h"
#include "base/quantity.h"
#include "studies/search/gpus.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Files of results have a record for each. */
static const uint64_t candidates_max = UINT64_C(100000000);

struct making {
    const struct scenario *scenario;
    struct search_space *space;
    struct arena *arena;
};

static enum search_role role_of(enum search_dimension dimension)
{
    return search_dimensions[dimension].role;
}

static bool is_transformer(const struct scenario *scenario)
{
    return !strcmp(scenario->workload->name, "transformer");
}

/* ---- values ---- */

/* Where a value stands among the words of its dimension, or the number that it is. */
static uint64_t place_of(const char *text, const char *const *words)
{
    struct quantity_reason reason;
    uint64_t count = 0;
    for (uint64_t i = 0; words && words[i]; i++)
        if (!strcmp(words[i], text))
            return i;
    return quantity_count(text, &count, &reason) ? count : UINT64_MAX;
}

/* In order, each once. */
static void sort_values(const struct scenario *scenario, enum search_dimension dimension, const char **texts,
                        uint32_t *count)
{
    const char *const *words = scenario_dimension_words(scenario, dimension);
    for (uint32_t i = 1; i < *count; i++)
        for (uint32_t k = i; k > 0 && place_of(texts[k], words) < place_of(texts[k - 1], words); k--) {
            const char *text = texts[k];
            texts[k] = texts[k - 1];
            texts[k - 1] = text;
        }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < *count; i++)
        if (kept == 0 || strcmp(texts[kept - 1], texts[i]) != 0)
            texts[kept++] = texts[i];
    *count = kept;
}

/* Words of a text, separated by spaces. */
static uint32_t split(const char *text, const char **words, struct arena *arena)
{
    uint32_t count = 0;
    for (size_t length; *text; text += length + (text[length] == ' ')) {
        length = strcspn(text, " ");
        words[count++] = arena_print(arena, "%.*s", (int)length, text);
    }
    return count;
}

static uint32_t powers(uint64_t most, const char **words, struct arena *arena)
{
    uint32_t count = 0;
    for (uint64_t power = 1; power <= most && power <= 65536; power *= 2)
        words[count++] = arena_print(arena, "%llu", (unsigned long long)power);
    return count;
}

static void choose_values(struct making *making, enum search_dimension dimension)
{
    const struct scenario *scenario = making->scenario;
    const struct stagesim_texts *given = &scenario->search.values[dimension];
    const char *defaults = search_dimensions[dimension].defaults;
    size_t room = given->count > 64 ? given->count : 64;
    const char **texts = arena_array(making->arena, room, sizeof *texts);
    uint32_t count = (uint32_t)given->count;
    if (!scenario_has_dimension(scenario, dimension) || role_of(dimension) == SEARCH_SCHEDULE)
        return;
    if (count)
        memcpy(texts, given->texts, count * sizeof *texts);
    else if (role_of(dimension) == SEARCH_MICRO && !is_transformer(scenario))
        count = powers(scenario->global_batch, texts, making->arena);
    else if (dimension == DIMENSION_recompute && !is_transformer(scenario))
        count = 0;
    else if (dimension == DIMENSION_balance && scenario->search.values[DIMENSION_layers_per_stage].count)
        count = 0;
    else if (dimension == DIMENSION_balance && (node_find(scenario->root, "transformer.layers_per_stage") ||
                                                node_find(scenario->root, "transformer.pipeline_layout")))
        count = 0;
    else if (strcmp(defaults, "any") != 0)
        count = split(defaults, texts, making->arena);
    sort_values(scenario, dimension, texts, &count);
    making->space->values[dimension] = (struct search_values){texts, count};
}

/* ---- schedules ---- */

/* "all" are those that are there at once. */
static bool is_listed(const struct stagesim_texts *texts, const struct schedule *schedule)
{
    for (size_t i = 0; i < texts->count; i++)
        if (!strcmp(texts->texts[i], schedule->name) ||
            (!strcmp(texts->texts[i], "all") && !schedule_goes_by_name(schedule)))
            return true;
    return false;
}

/* Those of the scenario's list, or where it has none some and its own schedule. */
static bool is_chosen(const struct making *making, const struct schedule *schedule)
{
    const struct stagesim_texts *given = &making->scenario->search.values[DIMENSION_schedules];
    const char *names[8];
    if (given->count)
        return is_listed(given, schedule);
    struct stagesim_texts defaults = {0, names};
    defaults.count = split(search_dimensions[DIMENSION_schedules].defaults, names, making->arena);
    return schedule == making->scenario->schedule || is_listed(&defaults, schedule);
}

static const struct schedule_option *option_of(const struct schedule *schedule, enum search_dimension dimension)
{
    return schedule_find_option(schedule, strchr(search_dimensions[dimension].path, '.') + 1);
}

/* All variants of a schedule from a dimension on. */
static void add_variants(struct making *making, struct search_variant variant, enum search_dimension from)
{
    struct search_space *space = making->space;
    while (from < DIMENSIONS &&
           (role_of(from) != SEARCH_OPTION || !space->values[from].count || !option_of(variant.schedule, from)))
        from++;
    if (from == DIMENSIONS) {
        space->variants =
            array_grow(space->variants, &space->variant_capacity, space->variant_count + 1, sizeof *space->variants);
        space->variants[space->variant_count++] = variant;
        return;
    }
    size_t before = space->variant_count;
    for (uint32_t i = 0; i < space->values[from].count; i++) {
        variant.options[from] = space->values[from].texts[i];
        if (schedule_option_takes(option_of(variant.schedule, from), variant.options[from]))
            add_variants(making, variant, from + 1);
    }
    variant.options[from] = NULL;
    if (space->variant_count == before) /* the values are for other schedules */
        add_variants(making, variant, from + 1);
}

static void choose_variants(struct making *making)
{
    for (const struct schedule *const *schedule = schedule_table; *schedule; schedule++)
        if (is_chosen(making, *schedule))
            add_variants(making, (struct search_variant){.schedule = *schedule}, 0);
}

/* ---- meshes ---- */

/* Values of a dimension that a mesh of these sizes has; 1 where it is not for it. */
static uint64_t choices(const struct making *making, const struct search_mesh *mesh, enum search_dimension dimension)
{
    const struct search_space *space = making->space;
    uint64_t count = space->values[dimension].count ? space->values[dimension].count : 1;
    switch (role_of(dimension)) {
    case SEARCH_AXIS:
    case SEARCH_OPTION:
        return 1;
    case SEARCH_SCHEDULE:
        return mesh->scheduled ? space->variant_count : 1;
    case SEARCH_TENSOR_KEY:
        return mesh->sizes[DIMENSION_tensor] > 1 ? count : 1;
    default:
        return count;
    }
}

static void add_mesh(struct making *making, struct search_mesh mesh)
{
    struct search_space *space = making->space;
    uint64_t count = 1;
    mesh.scheduled = is_transformer(making->scenario) || mesh.sizes[DIMENSION_pipeline] > 1;
    for (enum search_dimension i = 0; i < DIMENSIONS && count <= candidates_max; i++)
        count *= choices(making, &mesh, i);
    mesh.first = space->count;
    space->meshes = array_grow(space->meshes, &space->mesh_capacity, space->mesh_count + 1, sizeof *space->meshes);
    space->meshes[space->mesh_count++] = mesh;
    space->count += space->count <= candidates_max ? count : 0;
}

/* Whether an axis may have a size. */
static bool allows(const struct making *making, enum search_dimension axis, uint32_t size)
{
    const struct search_values *values = &making->space->values[axis];
    bool any = !values->count && !strcmp(search_dimensions[axis].defaults, "any");
    if (!values->count)
        return any || size == mesh_size(&making->scenario->mesh, search_dimensions[axis].key);
    for (uint32_t i = 0; i < values->count; i++)
        if (place_of(values->texts[i], NULL) == size)
            return true;
    return false;
}

/* Shares `ranks` out among the axes from `axis` on. */
static void add_meshes(struct making *making, struct search_mesh mesh, enum search_dimension axis, uint32_t ranks)
{
    while (axis < DIMENSIONS && role_of(axis) != SEARCH_AXIS)
        axis++;
    if (axis == DIMENSIONS) {
        if (ranks == 1)
            add_mesh(making, mesh);
        return;
    }
    for (uint32_t size = 1; size <= ranks; size++)
        if (ranks % size == 0 && allows(making, axis, size)) {
            mesh.sizes[axis] = size;
            add_meshes(making, mesh, axis + 1, ranks / size);
        }
}

/* ---- all ---- */

static bool check(const struct making *making, uint32_t platform_gpus, struct diag *diag)
{
    const struct scenario *scenario = making->scenario;
    unsigned before = diag->errors;
    if (!is_transformer(scenario) && strcmp(scenario->workload->name, "layers") != 0)
        diag_error(diag, scenario_place(scenario, "workload"),
                   "layouts of '%s' cannot be searched: only of the workloads transformer and layers the work follows "
                   "from the layout",
                   scenario->workload->name);
    else if (!scenario->global_batch)
        diag_error(diag, scenario_place(scenario, "batch"),
                   "the samples of an iteration are not known; expected batch.global");
    if (making->space->gpus > platform_gpus)
        diag_error(diag, scenario_place(scenario, "search.gpus"), "the platform has %u GPUs, fewer than %u",
                   platform_gpus, making->space->gpus);
    return diag->errors == before;
}

/* The dimensions of every table: those that search has always shown, and others with a choice. */
static void choose_shown(struct search_space *space)
{
    static const enum search_dimension always[] = {DIMENSION_data, DIMENSION_tensor, DIMENSION_pipeline,
                                                   DIMENSION_micro, DIMENSION_schedules};
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        space->shown[always[i]] = true;
    for (enum search_dimension i = 0; i < DIMENSIONS; i++)
        space->shown[i] |=
            space->values[i].count > 1 || ((i == DIMENSION_recompute || i == DIMENSION_zero) && space->values[i].count);
}

bool search_space_create(struct search_space *space, const struct scenario *scenario, uint32_t gpus,
                         struct arena *arena, struct diag *diag)
{
    struct making making = {.scenario = scenario, .space = space, .arena = arena};
    const struct stagesim_list numbers = search_gpus(scenario, gpus, arena);
    *space = (struct search_space){.gpus = (uint32_t)numbers.values[numbers.count - 1],
                                   .gpus_text = search_gpus_words(&numbers, arena)};
    if (!check(&making, gpus, diag))
        return false;
    for (enum search_dimension i = 0; i < DIMENSIONS; i++)
        choose_values(&making, i);
    choose_variants(&making);
    for (size_t i = 0; i < numbers.count; i++)
        add_meshes(&making, (struct search_mesh){{0}, 0}, 0, (uint32_t)numbers.values[i]);
    choose_shown(space);
    struct place at = scenario_place(scenario, "search");
    if (space->count == 0)
        diag_error(diag, at, "no sizes of data, tensor and pipeline that are allowed make %s ranks", space->gpus_text);
    if (space->count > candidates_max)
        diag_error(diag, at, "there are more than %llu candidates; allow fewer of each",
                   (unsigned long long)candidates_max);
    return space->count > 0 && space->count <= candidates_max;
}

void search_space_finish(struct search_space *space)
{
    free(space->meshes);
    free(space->variants);
    space->meshes = NULL;
    space->variants = NULL;
}

/* ---- a candidate ---- */

static const struct search_mesh *mesh_of(const struct search_space *space, uint64_t index)
{
    size_t low = 0, high = space->mesh_count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (space->meshes[middle].first <= index)
            low = middle;
        else
            high = middle;
    }
    return &space->meshes[low];
}

/* Candidates of a mesh that differ in nothing but a dimension and those before it. */
static uint64_t span_behind(const struct search_space *space, const struct search_mesh *mesh,
                            enum search_dimension dimension)
{
    const struct making making = {.space = (struct search_space *)(uintptr_t)space};
    uint64_t span = 1;
    for (enum search_dimension i = DIMENSIONS; --i > dimension;)
        span *= choices(&making, mesh, i);
    return span;
}

static unsigned class_of(const struct search_space *space, const struct scenario *scenario,
                         const struct search_mesh *mesh, uint32_t micro)
{
    const struct search_values *values = &space->values[DIMENSION_micro];
    uint64_t samples = values->count ? place_of(values->texts[micro], NULL) : scenario->micro_batch_size;
    double replicas = (double)mesh->sizes[DIMENSION_data] * (double)(samples ? samples : 1);
    double slots = (double)mesh->sizes[DIMENSION_pipeline] * fmax(1, (double)scenario->global_batch / replicas);
    int class = slots > 1 ? ilogb(slots) : 0;
    return class < SEARCH_CLASSES ? (unsigned)class : SEARCH_CLASSES - 1;
}

unsigned search_space_class(const struct search_space *space, const struct scenario *scenario, uint64_t index)
{
    const struct search_mesh *mesh = mesh_of(space, index);
    uint32_t count = space->values[DIMENSION_micro].count;
    uint64_t micro = (index - mesh->first) / span_behind(space, mesh, DIMENSION_micro) % (count ? count : 1);
    return class_of(space, scenario, mesh, (uint32_t)micro);
}

void search_space_classes(const struct search_space *space, const struct scenario *scenario,
                          uint64_t counts[SEARCH_CLASSES])
{
    uint32_t micros = space->values[DIMENSION_micro].count ? space->values[DIMENSION_micro].count : 1;
    memset(counts, 0, SEARCH_CLASSES * sizeof *counts);
    for (size_t i = 0; i < space->mesh_count; i++) {
        uint64_t end = i + 1 < space->mesh_count ? space->meshes[i + 1].first : space->count;
        for (uint32_t micro = 0; micro < micros; micro++)
            counts[class_of(space, scenario, &space->meshes[i], micro)] += (end - space->meshes[i].first) / micros;
    }
}

/* The candidate's variant of a schedule; NULL: it has none. */
static const struct search_variant *take_apart(const struct search_space *space, uint64_t index,
                                               const char *values[DIMENSIONS], struct arena *arena)
{
    const struct search_mesh *mesh = mesh_of(space, index);
    uint64_t rest = index - mesh->first, span = 1;
    bool tensor = mesh->sizes[DIMENSION_tensor] > 1;
    const struct search_variant *variant = NULL;
    for (enum search_dimension i = DIMENSIONS; i-- > 0;) {
        values[i] = NULL;
        if (role_of(i) == SEARCH_AXIS) {
            values[i] = arena_print(arena, "%u", mesh->sizes[i]);
        } else if (role_of(i) == SEARCH_SCHEDULE && mesh->scheduled) {
            variant = &space->variants[rest / span % space->variant_count];
            values[i] = variant->schedule->name;
            span *= space->variant_count;
        } else if (role_of(i) != SEARCH_OPTION && role_of(i) != SEARCH_SCHEDULE && space->values[i].count) {
            bool free_choice = role_of(i) != SEARCH_TENSOR_KEY || tensor;
            values[i] = space->values[i].texts[free_choice ? rest / span % space->values[i].count : 0];
            span *= free_choice ? space->values[i].count : 1;
        }
    }
    for (enum search_dimension i = 0; variant && i < DIMENSIONS; i++)
        if (role_of(i) == SEARCH_OPTION)
            values[i] = variant->options[i];
    return variant;
}

void search_space_values(const struct search_space *space, uint64_t index, const char *values[DIMENSIONS],
                         struct arena *arena)
{
    take_apart(space, index, values, arena);
}

static bool is_workloads_own(enum search_dimension dimension)
{
    const char *path = search_dimensions[dimension].path;
    return dimension == DIMENSION_recompute || !strncmp(path, "transformer.", 12) || !strncmp(path, "layers.", 7);
}

void search_space_imprint(const struct search_space *space, uint64_t index, struct imprint *imprint)
{
    const char *values[DIMENSIONS];
    take_apart(space, index, values, imprint->arena);
    for (enum search_dimension i = 0; i < DIMENSIONS; i++)
        if (!is_workloads_own(i))
            imprint_add_text(imprint, values[i]);
}

/* "schedule={name: interleaved, recompute: full, chunks: 4}". */
static const char *schedule_set(const struct search_variant *variant, const char *const values[DIMENSIONS],
                                const struct scenario *scenario, struct arena *arena)
{
    const char *recompute = values[DIMENSION_recompute];
    if (!recompute)
        recompute = scenario_recompute_text(scenario, arena);
    char *text = arena_print(arena, "schedule={name: %s, recompute: %s", variant->schedule->name, recompute);
    const struct node *written = node_get(scenario->root, "schedule");
    for (const struct schedule_option *option = variant->schedule->options; option && option->key; option++) {
        const struct node *value = written && written->kind == NODE_MAP ? node_get(written, option->key) : NULL;
        const char *chosen = value && value->kind == NODE_SCALAR ? value->text : NULL;
        for (enum search_dimension i = 0; i < DIMENSIONS; i++)
            if (variant->options[i] && option_of(variant->schedule, i) == option)
                chosen = variant->options[i];
        if (chosen)
            text = arena_print(arena, "%s, %s: %s", text, option->key, chosen);
    }
    return arena_print(arena, "%s}", text);
}

/* ---- the order of the axes ---- */

static const char *const axes[] = {"x", "y", "z", "tensor", "context", "pipeline", "data"};
enum { AXES = sizeof axes / sizeof *axes };

static size_t rank_of(const char *word)
{
    size_t axis = 0;
    while (axis < AXES && strcmp(axes[axis], word) != 0)
        axis++;
    return axis;
}

/* How many of an axis a candidate has; NULL: the axis is not searched. */
static const char *size_of(const char *const values[DIMENSIONS], const char *axis)
{
    for (enum search_dimension i = 0; i < DIMENSIONS; i++)
        if (role_of(i) == SEARCH_AXIS && !strcmp(search_dimensions[i].key, axis))
            return values[i];
    return NULL;
}

/* An axis that the scenario's `order` does not name goes before the first that the table of axes has behind it. NULL:
 * there is nothing to add. */
static const char *order_set(const char *const values[DIMENSIONS], const struct scenario *scenario, struct arena *arena)
{
    const struct node *order = node_get(scenario->root, "order");
    const char *words[2 * AXES], *text = "order=[";
    size_t count = 0, given;
    bool named[AXES + 1] = {false};
    for (const struct node *name = order ? order->first : NULL; name && count < AXES; name = name->next) {
        words[count++] = name->kind == NODE_SCALAR ? name->text : "";
        named[rank_of(words[count - 1])] = true;
    }
    given = count;
    for (size_t axis = 0; given && axis < AXES; axis++) {
        const char *size = size_of(values, axes[axis]);
        size_t place = 0;
        if (named[axis] || !size || !strcmp(size, "1"))
            continue;
        while (place < count && rank_of(words[place]) < axis)
            place++;
        memmove(words + place + 1, words + place, (count++ - place) * sizeof *words);
        words[place] = axes[axis];
    }
    for (size_t i = 0; i < count; i++)
        text = arena_print(arena, "%s%s%s", text, i ? ", " : "", words[i]);
    return count > given ? arena_print(arena, "%s]", text) : NULL;
}

size_t search_space_sets(const struct search_space *space, const struct scenario *scenario, uint64_t index,
                         struct scenario_set sets[SEARCH_SETS_MAX], struct arena *arena)
{
    const char *values[DIMENSIONS];
    const struct search_variant *variant = take_apart(space, index, values, arena);
    size_t count = 0;
    for (enum search_dimension i = 0; i < DIMENSIONS; i++) {
        const char *path = search_dimensions[i].path, *text = NULL;
        bool in_schedule = role_of(i) == SEARCH_OPTION || i == DIMENSION_recompute;
        if (!values[i] || (variant && in_schedule))
            continue;
        if (role_of(i) == SEARCH_MICRO)
            text = arena_print(arena, "batch={global: %llu, micro: %s}", (unsigned long long)scenario->global_batch,
                               values[i]);
        else if (role_of(i) == SEARCH_SCHEDULE)
            text = schedule_set(variant, values, scenario, arena);
        else
            text = arena_print(arena, "%s=%s", path, values[i]);
        sets[count++] = (struct scenario_set){NULL, text};
    }
    const char *order = order_set(values, scenario, arena);
    if (order)
        sets[count++] = (struct scenario_set){NULL, order};
    return count;
}
