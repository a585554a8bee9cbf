/* SPDX-License-Identifier: Apache-2.0 */
/* The workload `dlrm`: the scenario's keys, what has to hold among them, and the order in which the job is built. */
#include "workloads/dlrm/dlrm.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const char *const interactions[] = {"dot", "cross", "concat", NULL};
static const char *const optimizers[] = {"sgd", "adagrad", "rowwise-adagrad", "adam", NULL};
static const char *const exchanges[] = {"same", "fp32", NULL};
static const char *const fused_words[] = {"interaction", "mlp", "lookup", NULL};
static const char *const partials[] = {"all", "present", NULL};
static const char *const node_sums[] = {"apart", "added", NULL};
static const char *const precisions[] = {"fp32", "tf32", "fp16", "bf16", NULL};

#define COLUMN(type, name, kind, ...)                                                                                  \
    {                                                                                                                  \
#name, kind, offsetof(struct type, name), __VA_ARGS__                                                          \
    }

static const struct stagesim_field table_columns[] = {
    COLUMN(dlrm_table, name, STAGESIM_FIELD_TEXT, .required = true, .doc = "the table's name"),
    COLUMN(dlrm_table, rows, STAGESIM_FIELD_RATIO, .required = true, .least = 1, .most = 1e12, .doc = "number of rows"),
    COLUMN(dlrm_table, width, STAGESIM_FIELD_COUNT, .least = 1, .most = 65536,
           .doc = "numbers in a row; default: as many as the outputs of the last bottom layer"),
    COLUMN(dlrm_table, pooling, STAGESIM_FIELD_RATIO, .least = 1e-6, .most = 1e6,
           .doc = "rows that are summed for a sample; default 1"),
    COLUMN(dlrm_table, zipf, STAGESIM_FIELD_RATIO, .least = 1e-6, .most = 10,
           .doc = "exponent of Zipf's law of its indices; default: all rows are equally likely"),
    COLUMN(dlrm_table, unique, STAGESIM_FIELD_RATIO, .least = 1e-9, .most = 1,
           .doc = "share of different rows among the lookups of a batch, in place of zipf"),
    {0},
};

static const struct dlrm_table table_defaults = {.pooling = 1};

static const struct stagesim_row_type table_type = {
    .what = "a table", .fields = table_columns, .size = sizeof(struct dlrm_table), .defaults = &table_defaults};

static const struct stagesim_field rule_columns[] = {
    COLUMN(dlrm_rule, table, STAGESIM_FIELD_TEXT, .required = true, .doc = "name of tables, with * and ?"),
    COLUMN(
        dlrm_rule, split, STAGESIM_FIELD_NAME, .names = dlrm_split_names,
        .doc =
            "table: whole; row, column: in parts; replicated: on every rank; host: whole, in the memory of the rank's "
            "host; default table"),
    COLUMN(dlrm_rule, ranks, STAGESIM_FIELD_TEXT,
           .doc = "ranks that hold it, such as 0-3 5; they take whole tables of a rule in turn; default all"),
    {0},
};

static const struct stagesim_row_type rule_type = {
    .what = "a rule", .fields = rule_columns, .size = sizeof(struct dlrm_rule)};

static const struct stagesim_field histogram_columns[] = {
    COLUMN(dlrm_occurrences, table, STAGESIM_FIELD_TEXT, .required = true, .doc = "name of tables, with * and ?"),
    COLUMN(dlrm_occurrences, occurrences, STAGESIM_FIELD_RATIO, .required = true, .least = 1, .most = 1e12,
           .doc = "how often an index occurs in a batch"),
    COLUMN(dlrm_occurrences, rows, STAGESIM_FIELD_RATIO, .required = true, .least = 0, .most = 1e12,
           .doc = "how many indices occur so often, in any unit"),
    {0},
};

static const struct stagesim_row_type histogram_type = {
    .what = "a bin", .fields = histogram_columns, .size = sizeof(struct dlrm_occurrences)};

static const struct dlrm_parameters defaults = {.prefetch = true, .overlap = true, .bucket = 25e6, .launch = -1};

#define FIELD(key, member, type, ...)                                                                                  \
    {                                                                                                                  \
        key, type, offsetof(struct dlrm_parameters, member), __VA_ARGS__                                               \
    }

static const struct stagesim_field fields[] = {
    FIELD("sharding", rules, STAGESIM_FIELD_ROWS, .rows = &rule_type,
          .doc = "which ranks hold which tables; the last rule that matches counts; default: ranks take whole tables "
                 "in turn"),
    FIELD("optimizer", optimizer, STAGESIM_FIELD_NAME, .names = optimizers,
          .doc = "optimizer of tables and dense layers; default sgd"),
    FIELD("exchange", exchange, STAGESIM_FIELD_NAME, .names = exchanges,
          .doc = "precision in which sums of rows are sent: same, that of the products, or fp32; default same"),
    FIELD("node", node, STAGESIM_FIELD_COUNT, .least = 1, .most = 4096,
          .doc = "ranks of a node; all-to-alls then have two steps, within nodes and between them; default: one step"),
    FIELD("node_sums", node_sums, STAGESIM_FIELD_NAME, .names = node_sums,
          .doc = "sums of parts of a table whose ranks are one node: apart, each crosses to other nodes, or added, in "
                 "one of its ranks before they cross; default apart"),
    FIELD("prefetch", prefetch, STAGESIM_FIELD_FLAG,
          .doc = "whether the indices of the next batch are sent during this iteration; default true"),
    FIELD("fused", fused, STAGESIM_FIELD_NAMES, .names = fused_words,
          .doc =
              "what runs as one kernel: the interaction; a layer, its bias and ReLU; lookups or updates with all that "
              "belongs to them; default: nothing"),
    FIELD("partial", partial, STAGESIM_FIELD_NAME, .names = partials,
          .doc = "for tables divided by rows: ranks send the sums of all samples, or only of samples that have rows "
                 "there; default all"),
    FIELD("bucket", bucket, STAGESIM_FIELD_BYTES, .least = 0, .most = 1e15,
          .doc = "size of a bucket: gradients of dense layers that are synchronised together; default 25MB"),
    FIELD("model.bottom", bottom, STAGESIM_FIELD_COUNTS, .required = true, .least = 1, .most = 1e6,
          .doc = "sizes of the bottom layers, the number of dense features first"),
    FIELD("model.top", top, STAGESIM_FIELD_COUNTS, .required = true, .least = 1, .most = 1e6,
          .doc = "outputs of the top layers; their inputs are the interaction's outputs"),
    FIELD("model.interaction", interaction, STAGESIM_FIELD_NAME, .names = interactions,
          .doc = "dot: products of all pairs; cross: low-rank cross layers (DCN v2); concat: nothing; default dot"),
    FIELD("model.cross_layers", cross_layers, STAGESIM_FIELD_COUNT, .least = 1, .most = 1000,
          .doc = "number of cross layers, with interaction: cross"),
    FIELD("model.cross_rank", cross_rank, STAGESIM_FIELD_COUNT, .least = 1, .most = 1e6,
          .doc = "inner size of the two products of a cross layer, with interaction: cross"),
    FIELD("model.tables", tables, STAGESIM_FIELD_ROWS, .required = true, .rows = &table_type,
          .doc = "the embedding tables"),
    FIELD("model.histogram", histogram, STAGESIM_FIELD_ROWS, .rows = &histogram_type,
          .doc = "how often indices of a batch occur, in place of zipf"),
    FIELD("model.parameters", published_parameters, STAGESIM_FIELD_COUNT, .least = 1, .most = 1e15,
          .doc = "published number of the dense layers' parameters; default: not checked"),
    FIELD("model.rows", published_rows, STAGESIM_FIELD_COUNT, .least = 1, .most = 1e15,
          .doc = "published number of the tables' rows; default: not checked"),
    FIELD("model.multiply_adds", published_multiply_adds, STAGESIM_FIELD_COUNT, .least = 1, .most = 1e15,
          .doc = "published number of multiply-adds in a sample's forward in the dense layers; default: not checked"),
    FIELD("compute.precision", precision, STAGESIM_FIELD_NAME, .names = precisions,
          .doc = "precision of dense layers; tables are always in fp32; default fp32"),
    FIELD("compute.efficiency", efficiency, STAGESIM_FIELD_RATIO, .least = 1e-6, .most = 1,
          .doc = "one share of the peak for all layers, in place of a table"),
    FIELD("compute.table", table, STAGESIM_FIELD_PATH,
          .doc = "efficiency table of the device; default: the installed one of the platform's model"),
    FIELD("compute.lookups", lookups, STAGESIM_FIELD_PATH,
          .doc = "file with memory and cache of the device; default: the installed file of the platform's device"),
    FIELD("compute.launch", launch, STAGESIM_FIELD_TIME, .least = 0, .most = 1,
          .doc = "time that an operator takes in addition to its work, on the device or in the framework; default: "
                 "that of the table"),
    FIELD("communication.overlap", overlap, STAGESIM_FIELD_FLAG,
          .doc = "whether bottom layers run during the all-to-all, and gradients are synchronised during the backward; "
                 "default true"),
    {0},
};

static const struct stagesim_need needs[] = {
    {"exchange", "compute.precision=fp16,bf16", true},
    {"exchange", "parallel.data>1", true},
    {"partial", "parallel.data>1", true},
    {"node", "parallel.data>1", true},
    {"node_sums", "dlrm.node>1", true},
    {"prefetch", "parallel.data>1", true},
    {"bucket", "communication.overlap=true", true},
    {"bucket", "parallel.data>1", true},
    {"communication.overlap", "parallel.data>1", true},
    {0},
};

/* ---- what has to hold ---- */

static bool check_axes(const struct dlrm_job *j)
{
    static const char *const unused[] = {"pipeline", "tensor", "x", "y", "z", "context", "expert", NULL};
    bool ok = true;
    for (const char *const *axis = unused; *axis; axis++)
        if (j->api->axis(j->job, *axis) > 1) {
            j->api->error(j->job, NULL, "dlrm has no axis '%s'; expected data alone", *axis);
            ok = false;
        }
    if (j->api->scheduled(j->job)) {
        j->api->error(j->job, NULL, "dlrm has no pipeline; leave out the schedule");
        ok = false;
    }
    if (j->samples <= 0) {
        j->api->error(j->job, NULL,
                      "the size of a batch is not known; expected batch: {global: ..., micro_batches: 1}");
        ok = false;
    } else if (j->api->micro_batches(j->job) != 1) {
        j->api->error(j->job, NULL, "dlrm steps after each batch; expected batch: {micro_batches: 1}, not %u",
                      j->api->micro_batches(j->job));
        ok = false;
    }
    return ok;
}

static bool check_keys(const struct dlrm_job *j)
{
    const struct dlrm_parameters *p = j->parameters;
    bool ok = true, cross = p->interaction == DLRM_CROSS;
    if (p->efficiency > 0 && p->table) {
        j->api->error(j->job, "compute.efficiency",
                      "efficiency and table are two ways to say the same; expected one of them");
        ok = false;
    }
    if (p->node && j->ranks % p->node) {
        j->api->error(j->job, "node", "%u ranks are no multiple of the %llu of a node", j->ranks,
                      (unsigned long long)p->node);
        ok = false;
    }
    if (cross != (p->cross_layers > 0) || cross != (p->cross_rank > 0)) {
        j->api->error(j->job, "model.interaction",
                      cross ? "interaction: cross needs cross_layers and cross_rank"
                            : "cross_layers and cross_rank are for interaction: cross");
        ok = false;
    }
    return ok;
}

/* Each rank has operations of its own: too many would not fit in memory. */
static bool check_size(const struct dlrm_job *j)
{
    enum { RANKS_MAX = 4096, MEMBERS_MAX = 2048, OPERATIONS_MAX = 20000000 };
    double operations = (double)j->ranks * j->api->iterations(j->job) *
                        (3.0 * (double)(j->parameters->bottom.count + j->parameters->top.count) +
                         3 * (double)j->parameters->cross_layers + 2 * (double)j->parameters->tables.count + 20);
    if (j->ranks > MEMBERS_MAX && !j->parameters->node) {
        j->api->error(j->job, NULL, "all-to-alls have at most %d members; expected dlrm: {node: 8}, for two steps",
                      MEMBERS_MAX);
        return false;
    }
    if (j->ranks <= RANKS_MAX && operations <= OPERATIONS_MAX &&
        (double)j->ranks * (double)j->parameters->tables.count <= OPERATIONS_MAX)
        return true;
    j->api->error(j->job, NULL, "%u ranks have %.3g operations; expected at most %d ranks and %d operations", j->ranks,
                  operations, RANKS_MAX, OPERATIONS_MAX);
    return false;
}

/* ---- the device ---- */

/* What is known of the device's memory and cache; nothing where it has no file. */
static bool read_lookups(struct dlrm_job *j, const struct stagesim_device *device)
{
    struct fault fault = {""};
    char name[256];
    const char *path = j->parameters->lookups;
    snprintf(name, sizeof name, "%.200s.lookups", device->model ? device->model : "");
    if (!path && device->model)
        path = j->api->efficiency_table(j->job, name);
    if (!path)
        j->api->note(j->job, "compute.lookups",
                     "there is no file of the memory and cache of the device '%s'; rows are read at its bandwidth",
                     device->model ? device->model : "(without a model)");
    if (!path || memory_curve_read(path, &j->curve, &fault))
        return true;
    (fault.trouble ? j->api->trouble : j->api->error)(j->job, "compute.lookups", "%s", fault.text);
    return false;
}

/* Costs are those of the first rank's device. */
static bool check_devices(const struct dlrm_job *j, const struct stagesim_device *first)
{
    for (uint32_t rank = 1; rank < j->ranks; rank++) {
        struct stagesim_device other = j->api->device(j->job, rank);
        bool same = first->model && other.model ? !strcmp(first->model, other.model) : first->model == other.model;
        if (device_same(first, &other))
            continue;
        j->api->error(j->job, NULL, "rank 0 has %s and rank %u %s%s; expected devices of one kind",
                      first->model ? first->model : "a device", rank, other.model ? other.model : "a device",
                      same ? " of another speed" : "");
        return false;
    }
    return true;
}

static bool find_device(struct dlrm_job *j)
{
    struct stagesim_device host = j->api->device(j->job, 0);
    j->device = (struct efficiency_device){.efficiency = &j->efficiency,
                                           .peak = device_peak(&host, j->parameters->precision),
                                           .clock = j->api->clock(j->job, 0),
                                           .bandwidth = host.memory_bandwidth};
    if (j->device.peak <= 0) {
        j->api->error(j->job, "compute.precision", "the platform gives no peak_%s of its devices",
                      device_precisions[j->parameters->precision]);
        return false;
    }
    bool ok = check_devices(j, &host);
    ok &=
        device_read_efficiency(j->job, j->api, &host, j->parameters->efficiency, j->parameters->table, &j->efficiency);
    ok &= read_lookups(j, &host);
    if (j->parameters->launch >= 0)
        j->efficiency.launch = j->parameters->launch;
    return ok;
}

/* ---- building ---- */

/* What no table of the job is divided for. */
static void tell_unused(const struct dlrm_job *j)
{
    const struct dlrm_parameters *p = j->parameters;
    bool rows = false, sent = false;
    for (uint32_t i = 0; i < p->tables.count; i++) {
        rows |= j->placement.places[i].split == DLRM_ROWS;
        sent |= j->placement.places[i].split != DLRM_REPLICATED;
    }
    if (p->partial != DLRM_PARTIAL_ALL && !rows)
        j->api->note(j->job, "partial", "no table is cut by rows (sharding: split: row), so there are no partial sums");
    if (p->exchange != DLRM_EXCHANGE_SAME && !sent)
        j->api->note(j->job, "exchange", "every rank has all tables, so no sums of rows travel");
    if (p->node == j->ranks && j->ranks > 1)
        j->api->note(j->job, "node",
                     "all ranks are one node, so all-to-alls have one step and no sums cross to others");
}

static void describe(struct dlrm_job *j)
{
    const struct dlrm_parameters *p = j->parameters;
    j->ranks = j->api->axis(j->job, "data");
    j->samples = j->api->micro_batch_size(j->job);
    j->batch = j->samples * j->ranks;
    j->element_bytes = p->precision <= TF32 ? 4 : 2;
    j->exchange_bytes = p->exchange == DLRM_EXCHANGE_FP32 ? 4 : j->element_bytes;
}

static void declare(const struct dlrm_job *j)
{
    enum { PASSES = 3, FLOPS = 2 }; /* a forward and two of the backward; a multiply-add */
    double flops = PASSES * FLOPS * dlrm_dense_multiply_adds(j) * j->batch, busy = 0, bound = 0;
    for (uint32_t i = 0; i < j->layer_count; i++) {
        busy += j->layers[i].forward + j->layers[i].backward;
        bound += j->layers[i].bound;
    }
    struct dlrm_rank rank = dlrm_sparse_cost(j, 0);
    busy += rank.lookup + rank.update;
    bound += rank.lookup + rank.update;
    struct stagesim_figures figures = {.size = sizeof figures,
                                       .model_flops = flops,
                                       .hardware_flops = flops,
                                       .peak_flops = j->device.peak,
                                       .memory_bound = busy > 0 ? bound / busy : 0,
                                       .bounds_known = true};
    j->api->declare(j->job, &figures);
}

static bool build(const void *parameters, struct stagesim_job *job, const struct stagesim_api *api)
{
    struct dlrm_job j = {.parameters = parameters, .job = job, .api = api};
    describe(&j);
    bool ok = check_axes(&j);
    ok &= check_keys(&j);
    ok = ok && check_size(&j) && dlrm_model_describe(&j) && find_device(&j);
    if (ok) {
        dlrm_dense_describe(&j);
        ok = dlrm_model_check_counts(&j);
    }
    if (ok) {
        declare(&j);
        tell_unused(&j);
        ok = dlrm_build(&j);
    }
    dlrm_model_finish(&j);
    return ok;
}

/* Ranks have different tables. */
static void shape(const void *parameters, struct stagesim_shape *shape)
{
    (void)parameters;
    shape->distinct = true;
}

const struct stagesim_workload dlrm_workload = {
    .abi = STAGESIM_WORKLOAD_ABI,
    .size = sizeof dlrm_workload,
    .name = "dlrm",
    .summary = "recommendation models: embedding tables divided among the ranks, dense layers replicated",
    .fields = fields,
    .parameters_size = sizeof(struct dlrm_parameters),
    .defaults = &defaults,
    .build = build,
    .needs = needs,
    .shape = shape,
};
