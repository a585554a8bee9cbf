/* SPDX-License-Identifier: Apache-2.0 */
/* The sections `training`, `failures` and `checkpoint`: doc/train.md. */
#include "abi/fields/fields_distribution.h"
#include "base/arena.h"
#include "base/quantity.h"
#include "job/scenario/scenario_parts.h"
#include "job/scenario/scenario_tables.h"
#include "training/failure_rates.h"

#include <math.h>
#include <string.h>

#define STEPS_MOST 1e12
#define SECONDS_MOST 1e10

#define VALUE(name) offsetof(struct training_values, name)

static const struct stagesim_field training_fields[] = {
    {"steps", STAGESIM_FIELD_COUNT, VALUE(steps), .least = 1, .most = STEPS_MOST,
     .doc =
         "number of steps of the whole training; default: all tokens (transformer.tokens) divided by those of a step"},
    {"step", STAGESIM_FIELD_TIME, VALUE(step), .least = 1e-9, .most = 1e6,
     .doc = "how long a step takes, if it was measured; default: the iteration that is simulated"},
    {"start", STAGESIM_FIELD_DISTRIBUTION, VALUE(start),
     .doc = "time from having the nodes to the first step; default: failures.restart"},
    {"evaluate_every", STAGESIM_FIELD_COUNT, VALUE(evaluate_every), .least = 1, .most = STEPS_MOST,
     .doc = "steps between two evaluations; default: none"},
    {"evaluate", STAGESIM_FIELD_TIME, VALUE(evaluate), .least = 1e-9, .most = 1e7,
     .doc = "how long an evaluation takes"},
    {"runs", STAGESIM_FIELD_COUNT, VALUE(runs), .least = 10, .most = 100000,
     .doc = "how often the training is simulated; default 200"},
    {"seed", STAGESIM_FIELD_COUNT, VALUE(seed), .least = 0, .most = 9007199254740992.0,
     .doc = "seed of the random numbers; default 0"},
    {0},
};

static const char *const units[] = {"gpu", "node", "rack", "switch", "job", NULL}; /* enum failure_unit */
static const char *const effects[] = {"stop", "slow", "corrupt", "planned", NULL}; /* enum failure_effect */
static const char *const policies[] = {"restart",   "shrink",    "replica", "reroute",
                                       "templates", "redundant", NULL};         /* enum training_policy */
static const char *const ways[] = {"blocking", "asynchronous", "memory", NULL}; /* enum checkpoint_way */
static const char *const batches[] = {"kept", "shrinks", NULL};
static const char *const traffics[] = {"apart", "simulated", NULL};

struct component_row {
    const char *name, *what_if;
    unsigned unit, effect;
    double every, shape, slow;
    bool replace;
    const struct fields_distribution *detect, *repair;
};

#define COLUMN(name) offsetof(struct component_row, name)

static const struct component_row component_defaults = {.unit = UNIT_NODE, .shape = 1, .slow = 1, .replace = true};
static const struct stagesim_field component_fields[] = {
    {"name", STAGESIM_FIELD_TEXT, COLUMN(name), .required = true, .doc = "what fails"},
    {"unit", STAGESIM_FIELD_NAME, COLUMN(unit), .names = units,
     .doc =
         "what fails at a time: one GPU, a node, the nodes of a rack or behind a switch, or the job, however large it "
         "is; default node"},
    {"every", STAGESIM_FIELD_TIME, COLUMN(every), .required = true, .least = 1, .most = 1e14,
     .doc = "mean time between two failures of one unit, such as 50000h"},
    {"shape", STAGESIM_FIELD_RATIO, COLUMN(shape), .least = 0.2, .most = 100,
     .doc = "shape of Weibull's distribution of these times: below 1, a unit that has worked for long fails less "
            "often; default 1: at any moment with the same probability"},
    {"effect", STAGESIM_FIELD_NAME, COLUMN(effect), .names = effects,
     .doc = "stop: the job stops at once; slow: steps take longer until the failure is noticed; corrupt: when it is "
            "noticed, all steps since are lost; planned: the state is saved first; default stop"},
    {"slow", STAGESIM_FIELD_RATIO, COLUMN(slow), .least = 1, .most = 1000,
     .doc = "with effect: slow, how many times as long a step takes"},
    {"what_if", STAGESIM_FIELD_TEXT, COLUMN(what_if),
     .doc = "with effect: slow, what changes on the platform, such as nic-3-1=down; simulated, it says how slow steps "
            "are"},
    {"replace", STAGESIM_FIELD_FLAG, COLUMN(replace),
     .doc = "whether the nodes leave for repair; otherwise they are restarted; default true"},
    {"detect", STAGESIM_FIELD_DISTRIBUTION, COLUMN(detect), .doc = "default: failures.detect"},
    {"repair", STAGESIM_FIELD_DISTRIBUTION, COLUMN(repair), .doc = "default: failures.repair"},
    {0},
};
static const struct stagesim_row_type component_type = {"a component", component_fields, sizeof(struct component_row),
                                                        &component_defaults};

static const struct stagesim_field failures_fields[] = {
    {"rates", STAGESIM_FIELD_TEXT, VALUE(rates),
     .doc = "published rates by name, see `stagesim list failures`; default none"},
    {"components", STAGESIM_FIELD_ROWS, VALUE(components), .rows = &component_type,
     .doc = "what fails, and how often, in addition to the published rates"},
    {"scale", STAGESIM_FIELD_RATIO, VALUE(scale), .least = 0, .most = 1e6, .doc = "factor on all rates; default 1"},
    {"detect", STAGESIM_FIELD_DISTRIBUTION, VALUE(detect),
     .doc = "time from a failure until it is noticed; default {uniform: [0s, 5min]}: a check every five minutes"},
    {"replacement", STAGESIM_FIELD_DISTRIBUTION, VALUE(replacement),
     .doc = "time until a spare has taken a node's place; default 0s: restart includes it"},
    {"restart", STAGESIM_FIELD_DISTRIBUTION, VALUE(restart),
     .doc = "time to start processes and communicators; default {uniform: [150s, 1050s]}: 5 to 20 min with detection"},
    {"repair", STAGESIM_FIELD_DISTRIBUTION, VALUE(repair),
     .doc = "time from when a node leaves the job until it waits as a spare; default 24h"},
    {"spares", STAGESIM_FIELD_TEXT, VALUE(spares),
     .doc = "number of spare nodes, which wait beside the job's own; auto: so many that at least one waits in 99 % of "
            "the time; default auto"},
    {"pool", STAGESIM_FIELD_DISTRIBUTION, VALUE(pool),
     .doc = "if no spare waits: time until the batch system has another node; default: the job waits for repairs"},
    {"policy", STAGESIM_FIELD_NAME, VALUE(policy), .names = policies,
     .doc =
         "restart: everything starts again when all nodes are there; shrink: without the replicas whose nodes are "
         "missing; replica: those drop out, and the others go on; reroute: a worker's micro-batches go to those of its "
         "stage in other replicas; templates: pipelines are made anew of the nodes that are left; redundant: each "
         "worker "
         "computes the forwards of the next one as well, and does its work when it fails; default restart"},
    {"fill_bubble", STAGESIM_FIELD_FLAG, VALUE(fill_bubble),
     .doc = "with policy: reroute, whether micro-batches that are rerouted fill the pipeline's bubble first, as with "
            "split backwards and staggered optimizer steps; default true"},
    {"redundancy", STAGESIM_FIELD_RATIO, VALUE(redundancy), .least = 1, .most = 10,
     .doc = "with policy: redundant, how many times as long a step takes when nothing fails; default: redundant "
            "forwards fill the bubble, and what is left of them makes the step longer"},
    {"batch", STAGESIM_FIELD_NAME, VALUE(batch), .names = batches,
     .doc =
         "with fewer replicas: kept: they train on the whole batch; shrinks: a step has fewer samples; default kept"},
    {"stall", STAGESIM_FIELD_DISTRIBUTION, VALUE(stall),
     .doc =
         "with policy: replica, reroute, templates or redundant, how long the others stand still when one drops out, "
         "and when it is back; default 90s"},
    {"rack", STAGESIM_FIELD_COUNT, VALUE(rack), .least = 1, .most = 1e6, .doc = "nodes of a rack, for unit: rack"},
    {"switch", STAGESIM_FIELD_COUNT, VALUE(behind_switch), .least = 1, .most = 1e6,
     .doc = "nodes behind a switch, for unit: switch"},
    {"lemons", STAGESIM_FIELD_RATIO, VALUE(lemons), .least = 0, .most = 0.5,
     .doc = "share of nodes that fail more often than others (lemons); the rate of all nodes together stays the same; "
            "default 0"},
    {"lemon_rate", STAGESIM_FIELD_RATIO, VALUE(lemon_rate), .least = 1, .most = 1e4,
     .doc = "how many times as often lemons fail; default 10"},
    {"lemon_strikes", STAGESIM_FIELD_COUNT, VALUE(lemon_strikes), .least = 1, .most = 1e6,
     .doc = "after so many failures a node is given back for good; default: never"},
    {0},
};

static const struct stagesim_field checkpoint_fields[] = {
    {"every", STAGESIM_FIELD_TEXT, VALUE(every),
     .doc = "time of steps between two checkpoints, such as 30min; auto: the best one; none: no checkpoints; default "
            "auto"},
    {"every_steps", STAGESIM_FIELD_COUNT, VALUE(every_steps), .least = 1, .most = STEPS_MOST,
     .doc = "number of steps between two checkpoints, in place of every"},
    {"way", STAGESIM_FIELD_NAME, VALUE(way), .names = ways,
     .doc = "blocking: steps wait until the state is in storage; asynchronous: they wait for a copy of it; memory: the "
            "copy goes to the memory of another node, and now and then to storage; default asynchronous"},
    {"bytes", STAGESIM_FIELD_BYTES, VALUE(bytes), .least = 1, .most = 1e20,
     .doc = "size of a state; default: that of the job's weights and optimizer state"},
    {"storage", STAGESIM_FIELD_RATE, VALUE(storage), .least = 1, .most = 1e18,
     .doc = "bandwidth of all storage together, to write and to load a state; default 100GBps"},
    {"traffic", STAGESIM_FIELD_NAME, VALUE(traffic), .names = traffics,
     .doc = "apart: writing and loading take what the bytes take at the rate of storage; simulated: they share links "
            "with the traffic of the job, on SimGrid; default apart"},
    {"servers", STAGESIM_FIELD_TEXTS, VALUE(servers),
     .doc = "names of hosts without ranks, behind which storage is, such as gpu-4-*; default: all hosts of nodes "
            "without ranks; needs traffic: simulated"},
    {"save", STAGESIM_FIELD_DISTRIBUTION, VALUE(save),
     .doc = "how long a checkpoint stops steps; default: with blocking, the time to write the bytes; asynchronous "
            "0.5s, memory 0.04s"},
    {"write", STAGESIM_FIELD_DISTRIBUTION, VALUE(write),
     .doc =
         "time after save until the state is safe; default: with blocking 0s, otherwise the time to write the bytes"},
    {"load", STAGESIM_FIELD_DISTRIBUTION, VALUE(load),
     .doc = "time to load a state from storage at a restart; default: the time to read the bytes"},
    {"load_memory", STAGESIM_FIELD_DISTRIBUTION, VALUE(load_memory),
     .doc = "time to load a state from the memory of another node or replica; default: a thirteenth of load"},
    {"storage_every", STAGESIM_FIELD_TIME, VALUE(storage_every), .least = 1, .most = SECONDS_MOST,
     .doc = "with way: memory: time of steps between two states that are also written to storage; default 1h"},
    {0},
};

const struct fields_section training_section = {"training", true, training_fields};
const struct fields_section failures_section = {"failures", true, failures_fields};
const struct fields_section checkpoint_section = {"checkpoint", true, checkpoint_fields};

struct training_values training_values_default(struct arena *arena)
{
    return (struct training_values){.runs = 200,
                                    .scale = 1,
                                    .detect = fields_distribution_of("{uniform: [0s, 5min]}", arena),
                                    .replacement = fields_distribution_of("0s", arena),
                                    .restart = fields_distribution_of("{uniform: [150s, 1050s]}", arena),
                                    .repair = fields_distribution_of("24h", arena),
                                    .stall = fields_distribution_of("90s", arena),
                                    .spares = "auto",
                                    .fill_bubble = true,
                                    .lemon_rate = 10,
                                    .every = "auto",
                                    .way = CHECKPOINT_ASYNCHRONOUS,
                                    .storage = 100e9,
                                    .storage_every = 3600};
}

/* `failures: llama3`, `checkpoint: 30min`. */
bool scenario_expand_training(struct loader *loader, struct node *node, const char *section)
{
    const char *key = !strcmp(section, failures_section.name)     ? "rates"
                      : !strcmp(section, checkpoint_section.name) ? "every"
                                                                  : NULL;
    if (key)
        node_wrap(node, key, loader->fields.arena);
    return key != NULL;
}

/* ---- what the values say ---- */

static void mistake(const struct loader *loader, const char *path, const char *text)
{
    diag_error(loader->fields.diag, node_place(loader->root, path), "%s", text);
}

static const struct distribution *drawn(const struct fields_distribution *value)
{
    return value ? &value->distribution : NULL;
}

static void take_rates(struct loader *loader, const char *name, const struct failure_rates **rates)
{
    const char *names[32];
    size_t count = 0;
    *rates = name && strcmp(name, "none") ? failure_rates_find(name) : NULL;
    if (!name || !strcmp(name, "none") || *rates)
        return;
    for (; failure_rates_table[count]; count++)
        names[count] = failure_rates_table[count]->name;
    names[count++] = "none";
    const char *near = diag_nearest(name, names, count);
    diag_error(loader->fields.diag, node_place(loader->root, "failures.rates"),
               "there are no published rates '%.60s'; expected a name that `stagesim list failures` has, or none%s%s%s",
               name, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static void check_row(struct loader *loader, const struct training_values *values, const struct component_row *row)
{
    struct fault fault = {""};
    struct what_if change;
    if (row->what_if && row->effect == EFFECT_SLOW && row->slow > 1)
        diag_error(loader->fields.diag, node_place(loader->root, "failures.components"),
                   "slow and what_if of %s both say how slow steps are; expected one of the two", row->name);
    if (row->what_if && row->effect != EFFECT_SLOW)
        diag_error(loader->fields.diag, node_place(loader->root, "failures.components"),
                   "what_if of %s changes nothing; it needs effect: slow", row->name);
    if (row->what_if && !what_if_parse(row->what_if, &change, loader->fields.arena, &fault))
        diag_error(loader->fields.diag, node_place(loader->root, "failures.components"), "what_if of %s: %s", row->name,
                   fault.text);
    if (row->effect == EFFECT_SLOW && !(row->slow > 1) && !row->what_if)
        diag_error(loader->fields.diag, node_place(loader->root, "failures.components"),
                   "%s makes steps slow, but does not say how slow; expected slow such as 1.3", row->name);
    if (row->effect != EFFECT_SLOW && row->slow > 1)
        diag_error(loader->fields.diag, node_place(loader->root, "failures.components"),
                   "slow of %s changes nothing; it needs effect: slow", row->name);
    if ((row->unit == UNIT_RACK && !values->rack) || (row->unit == UNIT_SWITCH && !values->behind_switch))
        diag_error(loader->fields.diag, node_place(loader->root, "failures.components"),
                   "%s fails by %s, but nothing says how many nodes that are; expected '%s' in failures", row->name,
                   units[row->unit], units[row->unit]);
}

static void take_components(struct loader *loader, const struct training_values *values, struct training_plan *plan)
{
    const struct failure_rates *rates;
    take_rates(loader, values->rates, &rates);
    size_t published = rates ? rates->count : 0, own = values->components.count;
    const struct component_row *rows = values->components.rows;
    struct failure_component *all = arena_array(loader->fields.arena, published + own + 1, sizeof *all);
    if (published)
        memcpy(all, rates->components, published * sizeof *all);
    for (size_t i = 0; i < own; i++) {
        check_row(loader, values, &rows[i]);
        all[published + i] = (struct failure_component){.name = rows[i].name,
                                                        .unit = rows[i].unit,
                                                        .every = rows[i].every,
                                                        .shape = rows[i].shape,
                                                        .effect = rows[i].effect,
                                                        .slow = rows[i].slow,
                                                        .change = rows[i].what_if,
                                                        .replace = rows[i].replace && rows[i].unit != UNIT_JOB,
                                                        .detect = drawn(rows[i].detect),
                                                        .repair = drawn(rows[i].repair)};
    }
    plan->components = all;
    plan->component_count = published + own;
    const struct node *node = node_get(loader->root, failures_section.name);
    if (node && node->kind == NODE_MAP && !plan->component_count && !values->rates)
        mistake(loader, failures_section.name,
                "nothing fails; expected rates such as llama3 (`stagesim list failures`), or components");
}

static void take_spares(struct loader *loader, const char *text, struct training_settings *settings)
{
    struct quantity_reason reason;
    uint64_t count = 0;
    settings->spares = SPARES_AUTO;
    if (!strcmp(text, "auto"))
        return;
    if (!quantity_count(text, &count, &reason) || count > 1000000)
        diag_error(loader->fields.diag, node_place(loader->root, "failures.spares"),
                   "spares is '%.60s'; expected a number of nodes such as 12, or auto", text);
    settings->spares = (uint32_t)count;
}

static void take_interval(struct loader *loader, const struct training_values *values,
                          struct training_settings *settings)
{
    struct quantity_reason reason;
    settings->interval_steps = (double)values->every_steps;
    settings->interval = INTERVAL_AUTO;
    if (!strcmp(values->every, "none"))
        settings->interval = INFINITY;
    else if (strcmp(values->every, "auto") != 0 &&
             !(quantity_parse(QUANTITY_TIME, values->every, &settings->interval, &reason) && settings->interval > 0))
        diag_error(loader->fields.diag, node_place(loader->root, "checkpoint.every"),
                   "every is '%.60s'; expected a time such as 30min, auto or none", values->every);
    if (values->every_steps && strcmp(values->every, "auto") != 0)
        mistake(loader, "checkpoint.every_steps", "every says how often already; expected one of the two");
}

/* Whether things fail, and none of them by this unit. */
static bool fails_otherwise(const struct training_plan *plan, enum failure_unit unit)
{
    for (size_t i = 0; i < plan->component_count; i++)
        if (plan->components[i].unit == unit)
            return false;
    return plan->component_count > 0;
}

/* What changes nothing cannot be meant; a default may stand there. */
static void check_needs(struct loader *loader, const struct training_values *values, const struct training_plan *plan)
{
    struct training_values usual = training_values_default(loader->fields.arena);
    unsigned policy = values->policy;
    bool replica = policy != POLICY_RESTART && policy != POLICY_SHRINK, memory = values->way == CHECKPOINT_MEMORY;
    const struct {
        bool wrong;
        const char *path, *text;
    } needs[] = {
        {!values->evaluate_every && values->evaluate > 0, "training.evaluate",
         "evaluate changes nothing without evaluate_every"},
        {values->evaluate_every && !(values->evaluate > 0), "training.evaluate_every",
         "evaluations take no time; expected 'evaluate' such as 12min"},
        {!replica && strcmp(values->stall->text, usual.stall->text) != 0, "failures.stall",
         "stall changes nothing; it needs policy: replica, reroute, templates or redundant"},
        {policy != POLICY_SHRINK && policy != POLICY_REPLICA && values->batch != usual.batch, "failures.batch",
         "batch changes nothing; it needs policy: shrink or replica"},
        {policy != POLICY_REROUTE && !values->fill_bubble, "failures.fill_bubble",
         "fill_bubble changes nothing; it needs policy: reroute"},
        {policy != POLICY_REDUNDANT && values->redundancy > 0, "failures.redundancy",
         "redundancy changes nothing; it needs policy: redundant"},
        {policy == POLICY_REDUNDANT && loader->scenario->workers < 2, "failures.policy",
         "policy: redundant needs a pipeline, whose workers have neighbours; expected parallel.pipeline of 2 or more"},
        {!(values->lemons > 0) && fabs(values->lemon_rate - usual.lemon_rate) > 0, "failures.lemon_rate",
         "lemon_rate changes nothing without lemons"},
        {!(values->lemons > 0) && values->lemon_strikes, "failures.lemon_strikes",
         "lemon_strikes changes nothing without lemons"},
        {!memory && fabs(values->storage_every - usual.storage_every) > 0, "checkpoint.storage_every",
         "storage_every changes nothing; it needs way: memory"},
        {!memory && !replica && values->load_memory, "checkpoint.load_memory",
         "load_memory changes nothing; it needs way: memory, or policy: replica, reroute, templates or redundant"},
        {values->rack && fails_otherwise(plan, UNIT_RACK), "failures.rack",
         "rack changes nothing; it needs a component with unit: rack"},
        {values->behind_switch && fails_otherwise(plan, UNIT_SWITCH), "failures.switch",
         "switch changes nothing; it needs a component with unit: switch"},
        {values->way == CHECKPOINT_BLOCKING && values->write, "checkpoint.write",
         "write changes nothing; it needs way: asynchronous or memory"},
        {!values->traffic && values->servers.count > 0, "checkpoint.servers",
         "servers changes nothing; it needs traffic: simulated"},
        {values->traffic && (values->way == CHECKPOINT_BLOCKING ? values->save : values->write), "checkpoint.traffic",
         "traffic: simulated finds out how long writing takes, which is given already; expected one of the two"},
    };
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
        if (needs[i].wrong && !loader->scenario->request.study)
            mistake(loader, needs[i].path, needs[i].text);
}

static struct training_plan plan_of(const struct training_values *values)
{
    return (struct training_plan){.rack = values->rack ? (uint32_t)values->rack : 1,
                                  .behind_switch = values->behind_switch ? (uint32_t)values->behind_switch : 1,
                                  .rate = values->scale,
                                  .lemons = values->lemons,
                                  .lemon_rate = values->lemon_rate,
                                  .lemon_strikes = (uint32_t)values->lemon_strikes,
                                  .start = drawn(values->start ? values->start : values->restart),
                                  .detect = drawn(values->detect),
                                  .replacement = drawn(values->replacement),
                                  .pool = drawn(values->pool),
                                  .repair = drawn(values->repair),
                                  .restart = drawn(values->restart),
                                  .load = drawn(values->load),
                                  .load_near = drawn(values->load_memory),
                                  .stall = drawn(values->stall),
                                  .policy = values->policy,
                                  .bubble_stays = !values->fill_bubble,
                                  .redundancy = values->redundancy,
                                  .save = drawn(values->save),
                                  .write = drawn(values->write),
                                  .evaluate = values->evaluate,
                                  .seed = values->seed};
}

void scenario_read_training(struct loader *loader)
{
    static const struct fields_section *const sections[] = {&training_section, &failures_section, &checkpoint_section};
    struct training_values values = training_values_default(loader->fields.arena);
    struct training_settings *settings = &loader->scenario->training;
    unsigned errors = loader->fields.diag->errors;
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        struct node *node = node_get(loader->root, sections[i]->name);
        if (node && node->kind == NODE_SCALAR && !node_is_empty(node))
            scenario_expand_training(loader, node, sections[i]->name);
        settings->given |= node && !node_is_empty(node);
        fields_check_keys(&loader->fields, sections[i], NULL, node);
        fields_read(&loader->fields, sections[i], node, loader->root->at, &values);
    }
    if (loader->fields.diag->errors != errors)
        return;
    settings->plan = plan_of(&values);
    settings->step = values.step;
    settings->steps = (double)values.steps;
    settings->runs = (uint32_t)values.runs;
    settings->rates = values.rates;
    settings->batch_kept = values.batch == 0;
    settings->evaluate_steps = (double)values.evaluate_every;
    settings->way = values.way;
    settings->state_bytes = values.bytes;
    settings->storage = values.storage;
    settings->traffic_simulated = values.traffic;
    settings->servers = values.servers.texts;
    settings->server_count = values.servers.count;
    settings->far_interval = values.storage_every;
    take_components(loader, &values, &settings->plan);
    take_spares(loader, values.spares, settings);
    take_interval(loader, &values, settings);
    check_needs(loader, &values, &settings->plan);
    settings->fails = settings->plan.component_count > 0 && values.scale > 0;
}
