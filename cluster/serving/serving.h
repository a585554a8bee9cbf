/* SPDX-License-Identifier: Apache-2.0 */
/* `serving:` one engine under a stream of requests: throughput and latency. Documented in doc/serving.md. */
#ifndef STAGESIM_SERVING_H
#define STAGESIM_SERVING_H

#include "base/tables/table_write.h"
#include "cluster/generation/engine.h"
#include "job/scenario/scenario_kind.h"
#include "workloads/transformer/kinds/model.h"

/* As a scenario says it. */
struct serving {
    struct generation_settings settings;
    const struct transformer_model *model;
    struct batching_request *requests; /* count of them, by arrival */
    uint32_t count;
    uint64_t concurrency;      /* requests under way at a time; 0: they come when they come */
    double front, front_token; /* seconds of a request, and of a token of its prompt, before the engine has it */
};

struct serving_quantiles {
    double mean, p50, p90, p99, most;
};

struct serving_figures {
    double makespan;                             /* seconds from the first arrival to the last token */
    double prompts, outputs;                     /* tokens */
    struct serving_quantiles first, next, whole; /* seconds: to the first token, of each further one, to the last */
    double batch;                                /* sequences that go on, mean over steps */
    double steps, preempted, busy;               /* busy: share of the makespan */
    double filled;                               /* of the cache, at most */
    struct generation_parts parts;               /* shares of a step of the mean batch and context */
    double least; /* seconds of such a step that no engine is faster than, over its own */
};

struct serving_view {
    const struct scenario *scenario;
    const struct serving *serving;
    const struct generation_engine *engine;
    const struct batching_run *run;
    const double *arrivals; /* [request]: when it came, with a concurrency when an earlier one had ended */
    const struct serving_figures *figures;
};

extern const struct scenario_kind serving_kind;
extern const char *const serving_keys[]; /* of the top level */

struct scenario *serving_read(const struct scenario_request *request, struct node *root, struct arena *arena,
                              struct diag *diag);
void serving_schema(struct json_writer *json);
/* The arrivals of a view. Memory from the arena. */
double *serving_arrivals(const struct serving *serving, const struct batching_run *run, struct arena *arena);
void serving_figures(const struct serving_view *view, struct serving_figures *figures);
void serving_print(FILE *out, const struct serving_view *view, enum table_format format);
void serving_json(FILE *out, const struct serving_view *view);
void serving_requests_csv(FILE *out, const struct serving_view *view);

#endif
