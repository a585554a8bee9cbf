/* SPDX-License-Identifier: Apache-2.0 */
#include "job/scenario/scenario_tables.h"

#include "base/arena.h"
#include "job/scenario/scenario.h"
#include "platforms/routing.h"
#include "platforms/settings.h"
#include "simulator/collectives/algorithm.h"

#include <string.h>

static const char *const engines[] = {"simgrid", "analytic", "both", NULL};
static const char *const folds[] = {"auto", "off", NULL};
static const char *const steadies[] = {"auto", "off", NULL};
static const char *const placements[] = {"order", "nic-aware", NULL};
static const char *const loaders[] = {"auto", "simgrid", NULL};
static const char *const rails[] = {"none", "spine", "nvlink", "planes", NULL};
static const char *const group_links[] = {"shared", "direct", NULL};
static const char *const routings[] = {"adaptive", "ecmp", NULL};
const char *const scenario_recompute_names[] = {"none", "selective", "full", "operators", NULL};
static const char *const traces[] = {"paje", "chrome", "csv", "perfetto", "chrome-gz", "chakra", "goal", NULL};
static const char *const pictures[] = {"svg", "png", "pdf", NULL};
static const char *const replicas[] = {"simulated", "all", NULL}, *const nearest[] = {"auto", "on", "off", NULL};

const struct stagesim_field root_fields[] = {
    {"platform", STAGESIM_FIELD_TEXT, offsetof(struct root_values, platform), .required = true,
     .doc = "a SimGrid platform XML: a file, or the name of an installed one; or a preset with its nodes such as "
            "dgx-h100:64; or a map of the keys of `platform`"},
    {"workload", STAGESIM_FIELD_TEXT, offsetof(struct root_values, workload), .required = true,
     .doc = "a built-in workload, an installed plug-in, or, with --plugins, the path of a .so"},
    {"name", STAGESIM_FIELD_TEXT, offsetof(struct root_values, name),
     .doc = "name of the scenario in outputs; default: its file's name without .yaml"},
    {"framework", STAGESIM_FIELD_TEXT, offsetof(struct root_values, framework),
     .doc =
         "framework whose defaults hold for keys that the scenario does not give: one of `stagesim list frameworks`, "
         "with or without a release (megatron@0.15), the file of a profile, or none; see frameworks.md; default none"},
    {"engine", STAGESIM_FIELD_NAME, offsetof(struct root_values, engine), .names = engines,
     .doc = "what computes the timeline: simgrid, with contention; analytic, without; or both, beside each other; "
            "default simgrid"},
    {"fold", STAGESIM_FIELD_NAME, offsetof(struct root_values, fold), .names = folds,
     .doc = "whether replicas that provably run alike are simulated once; default auto"},
    {"steady", STAGESIM_FIELD_NAME, offsetof(struct root_values, steady), .names = steadies,
     .doc = "whether stagesim simulates only some micro-batches if the job repeats, and computes the others from them; "
            "default auto"},
    {"placement", STAGESIM_FIELD_NAME, offsetof(struct root_values, placement), .names = placements,
     .doc = "order: ranks take hosts in the platform's order; nic-aware: the ranks of a pipeline worker have the same "
            "kind of network interface; default order"},
    {"loader", STAGESIM_FIELD_NAME, offsetof(struct root_values, loader), .names = loaders,
     .doc = "what reads the platform: stagesim itself where it can, or always SimGrid; default auto"},
    {"what_if", STAGESIM_FIELD_TEXTS, offsetof(struct root_values, what_if),
     .doc = "changes of the platform such as [nic=0.5, \"gpu-3-*=0.8\"], see what-if.md; default none"},
    {"iterations", STAGESIM_FIELD_TEXT, offsetof(struct root_values, iterations),
     .doc = "number of iterations that follow each other, at most 1000; settled: as many as it takes until the time "
            "between their ends no longer changes; default 1, or for a schedule whose order crosses iterations, as "
            "many as it takes until they repeat; in comparisons, sweeps and searches settled where one is not "
            "like the next"},
    {0},
};

const struct stagesim_field platform_fields[] = {
    {"file", STAGESIM_FIELD_TEXT, offsetof(struct platform_values, file),
     .doc = "a SimGrid platform XML: a file, or the name of an installed one"},
    {"preset", STAGESIM_FIELD_TEXT, offsetof(struct platform_values, preset),
     .doc = "in place of file: a product, see `stagesim list presets`"},
    {"nodes", STAGESIM_FIELD_COUNT, offsetof(struct platform_values, nodes), .least = 1, .most = DESIGN_NODES_MAX,
     .doc = "how many nodes the preset has"},
    {"gpus_per_node", STAGESIM_FIELD_COUNT, offsetof(struct platform_values, gpus_per_node), .least = 1,
     .most = DESIGN_DEVICES_MAX, .doc = "fewer devices in each node than the product has"},
    {"pod", STAGESIM_FIELD_COUNT, offsetof(struct platform_values, pod), .least = 1, .most = DESIGN_NODES_MAX,
     .doc = "nodes around one leaf switch, or in one group of a dragonfly; default: the product's"},
    {"oversubscription", STAGESIM_FIELD_RATIO, offsetof(struct platform_values, oversubscription), .least = 1,
     .most = 1000,
     .doc =
         "what the nodes of a pod can send, over the capacity of its links to the other pods; default: the product's"},
    {"group", STAGESIM_FIELD_COUNT, offsetof(struct platform_values, group), .least = 1, .most = DESIGN_NODES_MAX,
     .doc = "nodes in a group of pods, below a third level of switches; a multiple of pod; default: there is none"},
    {"group_oversubscription", STAGESIM_FIELD_RATIO, offsetof(struct platform_values, group_oversubscription),
     .least = 1, .most = 1000,
     .doc = "what the pods of a group can send, over the capacity of its links to the other groups; default 1"},
    {"group_links", STAGESIM_FIELD_NAME, offsetof(struct platform_values, group_links), .names = group_links,
     .doc = "shared: what leaves a group has all of its links, as with adaptive routing; direct: every two groups have "
            "an equal part of them, the only one that traffic between them takes, as with minimal routing on a "
            "dragonfly+; default shared"},
    {"flow_rate", STAGESIM_FIELD_RATE, offsetof(struct platform_values, flow_rate), .least = 1e6, .most = 1e15,
     .doc = "what one transfer between nodes reaches at most, such as 10Gbps; default: the network's, or no limit"},
    {"flow_window", STAGESIM_FIELD_BYTES, offsetof(struct platform_values, flow_window), .least = 1024, .most = 1e15,
     .doc = "bytes of one transfer between nodes on their way before an answer is back, such as 4MiB: at most so many "
            "for each round trip; default: the network's, or no limit"},
    {"sites", STAGESIM_FIELD_COUNT, offsetof(struct platform_values, sites), .least = 1, .most = DESIGN_NODES_MAX,
     .doc = "places far apart, among which the nodes are divided, each with one way to the others; default 1"},
    {"site_rate", STAGESIM_FIELD_RATE, offsetof(struct platform_values, site_rate), .least = 1e6, .most = 1e15,
     .doc = "rate of a site's way to all others, such as 400Gbps"},
    {"site_latency", STAGESIM_FIELD_TIME, offsetof(struct platform_values, site_latency), .least = 1e-6, .most = 10,
     .doc = "latency from a site to another one, such as 30ms"},
    {"torus", STAGESIM_FIELD_TEXT, offsetof(struct platform_values, torus),
     .doc = "shape of a three-dimensional torus, such as 4x4x8 or 4x4x8_twisted: how optical switches join its cubes; "
            "default: the most nearly cubic"},
    {"rails", STAGESIM_FIELD_NAME, offsetof(struct platform_values, rails), .names = rails,
     .doc = "rails: interface k of every node is on leaf switch k; the word says how data reach another rail; default "
            "none"},
    {"routing", STAGESIM_FIELD_NAME, offsetof(struct platform_values, routing), .names = routings,
     .doc = "adaptive: links of a pod's switches share what goes over them evenly; ecmp: each flow takes one, by a "
            "hash; default adaptive"},
    {"paths", STAGESIM_FIELD_COUNT, offsetof(struct platform_values, paths), .least = 1, .most = ROUTING_PATHS_MAX,
     .doc = "with ecmp: links from a pod, or with rails from a leaf switch, to the spine; default: each as fast as an "
            "interface"},
    {"flows", STAGESIM_FIELD_COUNT, offsetof(struct platform_values, flows), .least = 1, .most = ROUTING_FLOWS_MAX,
     .doc = "with ecmp: flows that a transfer is cut into, each of which takes a link of its own; default 1"},
    {"seed", STAGESIM_FIELD_COUNT, offsetof(struct platform_values, seed), .least = 0, .most = 9007199254740992.0,
     .doc = "with ecmp: seed of the hash; default 0"},
    {"nic", STAGESIM_FIELD_TEXT, offsetof(struct platform_values, nic),
     .doc = "other network interfaces than the product's: `ib-hdr`, `roce-200`, `ethernet-25`, ..."},
    {0},
};

#define AXIS(index, name, text)                                                                                        \
    [index] = {name,       STAGESIM_FIELD_COUNT,      (index) * sizeof(uint64_t),                                      \
               .least = 1, .most = (double)RANKS_MAX, .doc = text "; default 1"}

const char *const axis_names[AXIS_NAMES + 1] = {"x", "y", "z", "tensor", "context", "expert", "pipeline", "data"};

const struct stagesim_field parallel_fields[] = {
    AXIS(0, "x", "first axis of three-dimensional tensor parallelism"),
    AXIS(1, "y", "second axis of three-dimensional tensor parallelism"),
    AXIS(2, "z", "third axis of three-dimensional tensor parallelism"),
    AXIS(3, "tensor", "ranks that share every layer"),
    AXIS(AXIS_CONTEXT, "context", "ranks that share a sequence"),
    AXIS(
        AXIS_EXPERT, "expert",
        "ranks that share the experts of a layer: neighbours along context and data; with expert_tensor: 1, neighbours "
        "along tensor first"),
    AXIS(AXIS_PIPELINE, "pipeline", "pipeline workers (D), each with a share of the layers"),
    AXIS(AXIS_DATA, "data", "replicas that train on different samples"),
    [SIZE_EXPERT_TENSOR] = {"expert_tensor", STAGESIM_FIELD_COUNT, SIZE_EXPERT_TENSOR * sizeof(uint64_t), .least = 1,
                            .most = (double)RANKS_MAX,
                            .doc =
                                "how many of the ranks along tensor share each expert: 1 or all of them; default all"},
    {0},
};

const struct stagesim_field batch_fields[] = {
    {"global", STAGESIM_FIELD_COUNT, offsetof(struct batch_values, global), .least = 1, .most = 0x1p60,
     .doc = "samples of an iteration over all replicas: micro x micro_batches x data"},
    {"micro", STAGESIM_FIELD_COUNT, offsetof(struct batch_values, micro), .least = 1, .most = 65536,
     .doc = "samples of a micro-batch"},
    {"micro_batches", STAGESIM_FIELD_COUNT, offsetof(struct batch_values, micro_batches), .least = 1,
     .most = (double)MICRO_BATCHES_MAX, .doc = "micro-batches per iteration and data-parallel replica (N)"},
    {0},
};

const struct stagesim_field schedule_fields[] = {
    {"name", STAGESIM_FIELD_TEXT, offsetof(struct schedule_values, name),
     .doc = "a schedule, see `stagesim list schedules`"},
    {"file", STAGESIM_FIELD_PATH, offsetof(struct schedule_values, file),
     .doc = "in place of name: a schedule of your own, a CSV file"},
    {"recompute", STAGESIM_FIELD_TEXTS, offsetof(struct schedule_values, recompute), .names = scenario_recompute_names,
     .doc = "which activations the backward computes again, if the workload supports it: none, selective, full or "
            "operators, or a list with one of them for each stage; default none"},
    {0},
};

static const char *const message_ways[] = {"queued", "pipelined", "blocking", NULL};
static const char *const forms[] = {"steady", "stepwise", NULL};

/* Their words follow from the table of algorithms: see communication_fields_create. */
#define ALGORITHM(kind) offsetof(struct communication_values, algorithms) + (kind) * sizeof(unsigned)

static const struct stagesim_field communication_fields[] = {
    {"all_reduce", STAGESIM_FIELD_NAME, ALGORITHM(STAGESIM_ALL_REDUCE),
     .doc = "algorithm of all-reduces, or FILE.xml, a program in MSCCL's format; groups for which it does not work "
            "take that of auto; default auto"},
    {"reduce_scatter", STAGESIM_FIELD_NAME, ALGORITHM(STAGESIM_REDUCE_SCATTER),
     .doc = "algorithm of reduce-scatters, as for all_reduce"},
    {"all_gather", STAGESIM_FIELD_NAME, ALGORITHM(STAGESIM_ALL_GATHER),
     .doc = "algorithm of all-gathers, as for all_reduce"},
    {"all_to_all", STAGESIM_FIELD_NAME, ALGORITHM(STAGESIM_ALL_TO_ALL),
     .doc = "algorithm of all-to-alls, as for all_reduce"},
    {"broadcast", STAGESIM_FIELD_NAME, ALGORITHM(STAGESIM_BROADCAST),
     .doc = "algorithm of broadcasts, as for all_reduce"},
    {"reduce", STAGESIM_FIELD_NAME, ALGORITHM(STAGESIM_REDUCE),
     .doc = "algorithm of reductions to one rank, as for all_reduce"},
    {"collectives", STAGESIM_FIELD_NAME, offsetof(struct communication_values, form), .names = forms,
     .doc = "steady: one flow stands for all transfers between two ranks; stepwise: each round of transfers is "
            "simulated by itself; default steady"},
    {"messages", STAGESIM_FIELD_NAME, offsetof(struct communication_values, messages), .names = message_ways,
     .doc =
         "queued: a message leaves a stage when the previous one has arrived; pipelined: when the bytes of the "
         "previous one have left; blocking: the stage computes nothing until its message has arrived; default queued"},
    {"links", STAGESIM_FIELD_TEXTS, offsetof(struct communication_values, links),
     .doc = "what links reach of the platform's figures as measured, by their kind: [nic=0.82, nic.latency=1.3]; "
            "default none"},
    {0},
};

enum stagesim_collective communication_collective(const struct stagesim_field *field)
{
    bool program = field->offset >= offsetof(struct communication_values, programs);
    size_t kind = program ? (field->offset - offsetof(struct communication_values, programs)) / sizeof(const char *)
                          : (field->offset - offsetof(struct communication_values, algorithms)) / sizeof(unsigned);
    return kind < STAGESIM_COLLECTIVES ? (enum stagesim_collective)kind : STAGESIM_COLLECTIVES;
}

/* What `stagesim collective --algorithm` takes for the same kind, "auto" first. */
static const char *const *algorithm_words(enum stagesim_collective kind, struct arena *arena)
{
    size_t count = 1;
    for (const struct collective_algorithm *const *each = collective_algorithms; *each; each++)
        count += ((*each)->kinds & KIND(kind)) != 0;
    const char **words = arena_array(arena, count + 1, sizeof *words);
    words[0] = "auto";
    words[count] = NULL;
    count = 1;
    for (const struct collective_algorithm *const *each = collective_algorithms; *each; each++)
        if ((*each)->kinds & KIND(kind))
            words[count++] = (*each)->name;
    return words;
}

static bool is_program(const struct node *value)
{
    const char *ending = value && value->kind == NODE_SCALAR ? strrchr(value->text, '.') : NULL;
    return ending && strcmp(ending, ".xml") == 0;
}

const struct stagesim_field *communication_fields_create(const struct node *given, struct arena *arena)
{
    struct stagesim_field *fields = arena_alloc(arena, sizeof communication_fields);
    memcpy(fields, communication_fields, sizeof communication_fields);
    for (struct stagesim_field *field = fields; field->key; field++) {
        enum stagesim_collective kind = communication_collective(field);
        if (kind == STAGESIM_COLLECTIVES)
            continue;
        field->names = algorithm_words(kind, arena);
        if (is_program(node_get(given, field->key))) {
            field->type = STAGESIM_FIELD_PATH;
            field->offset = offsetof(struct communication_values, programs) + kind * sizeof(const char *);
        }
    }
    return fields;
}

const char *const communication_keys[] = {"all_reduce", "reduce_scatter", "all_gather", "all_to_all", "broadcast",
                                          "reduce",     "collectives",    "messages",   "links",      NULL};

static const struct stagesim_field memory_fields[] = {
    {"reserve", STAGESIM_FIELD_TEXT, offsetof(struct memory_values, reserve),
     .doc = "share of every GPU's memory that is held back for fragmentation, workspace and the framework, such as "
            "10%, or 0; default 6%"},
    {0},
};

const struct stagesim_field output_fields[] = {
    {"trace", STAGESIM_FIELD_NAMES, offsetof(struct output_values, traces), .names = traces,
     .doc = "trace files to write; default none"},
    {"picture", STAGESIM_FIELD_NAMES, offsetof(struct output_values, pictures), .names = pictures,
     .doc = "pictures of the timeline to write; default none"},
    {"picture_width", STAGESIM_FIELD_TEXT, offsetof(struct output_values, picture_width),
     .doc = "width of the pictures on paper, such as 84mm, 8.4cm, 3.3in, 238pt; default: for the screen"},
    {"font_size", STAGESIM_FIELD_TEXT, offsetof(struct output_values, font_size),
     .doc = "size of the pictures' text in points, such as 7; default 8 if picture_width is given"},
    {"picture_iterations", STAGESIM_FIELD_COUNT, offsetof(struct output_values, picture_iterations), .least = 1,
     .most = 1000, .doc = "how many iterations pictures draw; default: all that are simulated, in comparisons one"},
    {"report", STAGESIM_FIELD_FLAG, offsetof(struct output_values, report), .doc = "write report.html; default false"},
    {"nearest", STAGESIM_FIELD_NAME, offsetof(struct output_values, nearest), .names = nearest,
     .doc = "how far the layout is from the best that a short search finds: auto: run and compare say it if they write "
            "report.html, without --quiet; on: always; off: never; default auto"},
    {"replicas", STAGESIM_FIELD_NAME, offsetof(struct output_values, replicas), .names = replicas,
     .doc = "ranks in the traces: simulated: those that were simulated; all: also those for which fold let others "
            "stand; default simulated"},
    {0},
};

#define DIMENSION(key, path, role, defaults, text)                                                                     \
    {#key, STAGESIM_FIELD_TEXTS, offsetof(struct scenario_search, values[DIMENSION_##key]), .doc = text},

const char *const search_objective_names[] = {"time", "energy", "energy-delay", "p50",     "p95",
                                              "p99",  "days",   "price",        "goodput", NULL};

static const char *const alike_names[] = {"once", "each", NULL}; /* [enum search_alike] */

static const struct stagesim_field search_fields[] = {
    {"objective", STAGESIM_FIELD_NAME, offsetof(struct scenario_search, objective), .names = search_objective_names,
     .doc = "what the best layout minimises (goodput: maximises); energy needs the section power; days, price and "
            "goodput need a training (failures, checkpoint, training); default time"},
    {"gpus", STAGESIM_FIELD_COUNTS, offsetof(struct scenario_search, gpus), .least = 1, .most = (double)RANKS_MAX,
     .doc = "how many GPUs a layout has, or a list of such numbers; default: all of the platform"},
    {"alike", STAGESIM_FIELD_NAME, offsetof(struct scenario_search, alike), .names = alike_names,
     .doc = "whether layouts that describe the same job are timed once, or each by itself; default once"},
    SEARCH_DIMENSIONS(DIMENSION){0},
};

const struct fields_section root_section = {"the scenario", true, root_fields};
const struct fields_section platform_section = {"platform", true, platform_fields};
const struct fields_section parallel_section = {"parallel", true, parallel_fields};
const struct fields_section batch_section = {"batch", true, batch_fields};
const struct fields_section schedule_section = {"schedule", true, schedule_fields};
const struct fields_section communication_section = {"communication", true, communication_fields};
const struct fields_section output_section = {"output", true, output_fields};
const struct fields_section memory_section = {"memory", true, memory_fields};

const struct fields_section search_section = {"search", true, search_fields};

const char *const section_names[] = {"parallel",   "order",   "batch",  "schedule", "search",   "plan",
                                     "prices",     "simgrid", "memory", "power",    "training", "failures",
                                     "checkpoint", "tails",   "output", "inputs",   "imported", NULL};
const char inputs_section_name[] = "inputs";
const struct fields_section simgrid_section = {"simgrid", true, simgrid_settings};
