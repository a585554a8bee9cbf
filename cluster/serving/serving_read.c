/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of `serving:`. The model beside it is read as that of a job of one GPU. */
#include "cluster/serving/serving.h"

#include "abi/fields/fields_distribution.h"
#include "base/arena.h"
#include "base/document.h"
#include "base/paths.h"
#include "cluster/generation/beside.h"
#include "job/schema/schema_value.h"
#include "workloads/generation/lengths.h"
#include "workloads/transformer/transformer.h"

#include <stdlib.h>
#include <string.h>

#define REQUESTS_MOST 1000000

struct serving_values {
    uint64_t requests, concurrency, samples, seed, most;
    double rate, correlation, front, front_token;
    const struct fields_distribution *prompt, *output;
    struct stagesim_rows log;
};

#define VALUE(name) offsetof(struct serving_values, name)

struct log_row {
    double arrival;
    uint64_t prompt, output;
};

static const struct stagesim_field log_fields[] = {
    {"arrival", STAGESIM_FIELD_TIME, offsetof(struct log_row, arrival), .required = true, .least = 0, .most = 1e10,
     .doc = "when the request comes"},
    {"prompt", STAGESIM_FIELD_COUNT, offsetof(struct log_row, prompt), .required = true, .least = 1, .most = 1e8,
     .doc = "tokens of its prompt"},
    {"output", STAGESIM_FIELD_COUNT, offsetof(struct log_row, output), .required = true, .least = 1, .most = 1e8,
     .doc = "tokens that it gets"},
    {0},
};
static const struct stagesim_row_type log_type = {"a request", log_fields, sizeof(struct log_row), NULL};

static const struct stagesim_field fields[] = {
    {"requests", STAGESIM_FIELD_COUNT, VALUE(requests), .least = 1, .most = REQUESTS_MOST,
     .doc = "how many prompts come; default 1000"},
    {"samples", STAGESIM_FIELD_COUNT, VALUE(samples), .least = 1, .most = 10000,
     .doc = "requests with the same prompt, which come together; default 1"},
    {"rate", STAGESIM_FIELD_RATIO, VALUE(rate), .least = 1e-6, .most = 1e9,
     .doc = "prompts a second, at random; default: all come at once"},
    {"concurrency", STAGESIM_FIELD_COUNT, VALUE(concurrency), .least = 1, .most = REQUESTS_MOST,
     .doc = "in place of a rate: so many requests are under way, and one comes when another has ended"},
    {"prompt", STAGESIM_FIELD_FACTORS, VALUE(prompt), .doc = "tokens of a prompt; default 512"},
    {"output", STAGESIM_FIELD_FACTORS, VALUE(output), .doc = "tokens that a request gets; default 512"},
    {"most", STAGESIM_FIELD_COUNT, VALUE(most), .least = 1, .most = 100000000,
     .doc = "outputs are cut there; default: none is"},
    {"correlation", STAGESIM_FIELD_RATIO, VALUE(correlation), .least = 0, .most = 1,
     .doc = "of the lengths of outputs of one prompt; default 0"},
    {"seed", STAGESIM_FIELD_COUNT, VALUE(seed), .least = 0, .most = 9007199254740992.0,
     .doc = "seed of the random numbers; default 0"},
    {"front", STAGESIM_FIELD_TIME, VALUE(front), .least = 0, .most = 10,
     .doc = "in which the server reads a request before the engine has it, one after the other; default 0s"},
    {"front_token", STAGESIM_FIELD_TIME, VALUE(front_token), .least = 0, .most = 1,
     .doc = "and each token of its prompt; default 0s"},
    {"log", STAGESIM_FIELD_ROWS, VALUE(log), .rows = &log_type, .doc = "in place of all of these, each request"},
    {0},
};

static const struct fields_section section = {"serving", true, fields};
const char *const serving_keys[] = {"name",       "platform", "loader", "what_if", "model",    "engine",
                                    "generation", "serving",  "output", "inputs",  "workload", NULL};

void serving_schema(struct json_writer *json)
{
    schema_section(json, generation_section.name, &generation_section, NULL);
    schema_section(json, section.name, &section, NULL);
}

/* ---- requests ---- */

static int by_arrival(const void *a, const void *b)
{
    const struct batching_request *one = a, *other = b;
    int order = (one->arrival > other->arrival) - (one->arrival < other->arrival);
    return order ? order : (one->group > other->group) - (one->group < other->group);
}

static void take_log(const struct serving_values *values, struct serving *serving, struct arena *arena)
{
    const struct log_row *rows = values->log.rows;
    serving->count = (uint32_t)values->log.count;
    serving->requests = arena_array(arena, values->log.count, sizeof *serving->requests);
    for (uint32_t i = 0; i < serving->count; i++)
        serving->requests[i] =
            (struct batching_request){rows[i].arrival, (double)rows[i].prompt, (double)rows[i].output, i};
    qsort(serving->requests, serving->count, sizeof *serving->requests, by_arrival);
}

static void draw_requests(const struct serving_values *values, struct serving *serving, struct arena *arena)
{
    enum { PURPOSE_ARRIVALS = 7101 };
    uint32_t prompts = (uint32_t)values->requests, samples = (uint32_t)values->samples, count = prompts * samples;
    struct draws draws = draws_of(values->seed, PURPOSE_ARRIVALS, 0);
    double *inputs = arena_array(arena, prompts, sizeof *inputs), *outputs = arena_array(arena, count, sizeof *outputs);
    double now = 0;
    struct lengths_request of_prompts = {&values->prompt->distribution, 0, prompts, 1, 0, values->seed + 1};
    struct lengths_request of_outputs = {&values->output->distribution, (double)values->most, prompts, samples,
                                         values->correlation,           values->seed};
    lengths_draw(&of_prompts, inputs);
    lengths_draw(&of_outputs, outputs);
    serving->requests = arena_array(arena, count, sizeof *serving->requests);
    serving->count = count;
    for (uint32_t i = 0; i < count; i++) {
        if (values->rate > 0 && i % samples == 0)
            now += draw_exponential(&draws) / values->rate;
        serving->requests[i] = (struct batching_request){now, inputs[i / samples], outputs[i], i / samples};
    }
}

/* ---- all together ---- */

static bool check(const struct serving_values *values, struct node *root, struct diag *diag)
{
    const struct node *node = node_get(root, "serving"), *log = node_get(node, "log");
    for (const struct node *child = node ? node->first : NULL; log && child; child = child->next)
        if (child != log && strncmp(child->key, "front", 5)) { /* how they are read is no length or time of theirs */
            diag_error(diag, child->key_at, "'%s' describes requests, and 'log' has each; expected one of both",
                       child->key);
            return false;
        }
    if (values->requests * values->samples > REQUESTS_MOST)
        diag_error(diag, node_place(root, "serving.samples"), "there are %llu requests; expected at most %d",
                   (unsigned long long)(values->requests * values->samples), REQUESTS_MOST);
    else if (values->rate > 0 && values->concurrency)
        diag_error(diag, node_place(root, "serving.concurrency"),
                   "requests come at a rate and when others have ended; expected one of rate and concurrency");
    else
        return true;
    return false;
}

struct scenario *serving_read(const struct scenario_request *request, struct node *root, struct arena *arena,
                              struct diag *diag)
{
    unsigned errors = diag->errors;
    struct fields_reader reader = {path_directory(request->file, arena), arena, diag, NULL, NULL};
    struct serving_values values = {.requests = 1000,
                                    .samples = 1,
                                    .prompt = fields_distribution_of("512s", arena),
                                    .output = fields_distribution_of("512s", arena)};
    struct serving *serving = arena_alloc(arena, sizeof *serving);
    for (size_t i = 0; i < request->set_count; i++)
        scenario_apply_set(root, &request->sets[i], "generation.tensor=8", arena, diag);
    struct node *node = node_get(root, "serving");
    scenario_check_keys(&reader, root, serving_keys, "a scenario of serving");
    generation_check_words(root, "serving", arena, diag);
    fields_check_keys(&reader, &section, NULL, node);
    fields_read(&reader, &section, node, root->at, &values);
    generation_settings_read(&reader, node_get(root, "generation"), root->at, &serving->settings);
    if (diag->errors > errors || !check(&values, root, diag))
        return NULL;
    struct scenario *scenario = generation_read_beside(request, root, TRACE_CSV, "csv, for requests.csv", arena, diag);
    if (!scenario)
        return NULL;
    if (values.log.count)
        take_log(&values, serving, arena);
    else
        draw_requests(&values, serving, arena);
    serving->concurrency = values.concurrency;
    serving->front = values.front;
    serving->front_token = values.front_token;
    serving->model = &((const struct transformer_parameters *)scenario->parameters)->model;
    scenario->schedule_name = "continuous batching";
    scenario->whole = serving;
    return scenario;
}
