/* SPDX-License-Identifier: Apache-2.0 */
/* What `check` and `run` do with `serving:`. */
#include "cluster/serving/serving_output.h"

#include "analysis/pictures/gantt.h"
#include "base/arena.h"
#include "base/exit_code.h"
#include "base/isolate.h"
#include "studies/simulation.h"

#include <math.h>

/* The engine on the first GPUs of the platform, into which each request alone fits. */
static bool make_engine(struct simulation_context *context, struct generation_engine *engine)
{
    const struct serving *serving = context->scenario->whole;
    struct place at = scenario_place(context->scenario, "generation");
    uint32_t gpus = generation_gpus(&serving->settings);
    double longest = 0;
    uint32_t *hosts = arena_array(context->arena, gpus, sizeof *hosts);
    if (gpus > context->platform->host_count) {
        diag_error(&context->diag, at, "an engine has %u GPUs, and the platform %u; expected no more", gpus,
                   context->platform->host_count);
        return false;
    }
    for (uint32_t i = 0; i < gpus; i++)
        hosts[i] = i;
    for (uint32_t i = 0; i < serving->count; i++)
        longest = fmax(longest, serving->requests[i].prompt + serving->requests[i].output);
    if (!generation_engine_create(&serving->settings, serving->model, context->platform, hosts, 0, longest, at,
                                  context->arena, &context->diag, engine))
        return false;
    engine->limits.begun = (uint32_t)serving->concurrency;
    engine->limits.front = serving->front;
    engine->limits.front_token = serving->front_token;
    for (uint32_t i = 0; i < serving->count; i++)
        if (batching_room(&engine->limits, &serving->requests[i]) > engine->limits.tokens) {
            diag_error(
                &context->diag, scenario_place(context->scenario, "serving"),
                "a request has %.10g tokens with its prompt, and the cache room for %.6g; expected shorter ones, "
                "or more GPUs of an engine",
                serving->requests[i].prompt + serving->requests[i].output, floor(engine->limits.tokens));
            return false;
        }
    return true;
}

static int check(struct simulation_context *context)
{
    const struct serving *serving = context->scenario->whole;
    struct generation_engine engine;
    if (!make_engine(context, &engine))
        return EXIT_BAD_INPUT;
    diag_print(stdout, "%s: ok\n%u requests to an engine of %u GPUs of %s, with room for %.6g tokens\n",
               context->scenario->file, serving->count, generation_gpus(&serving->settings),
               context->scenario->platform_name, engine.limits.tokens);
    generation_engine_finish(&engine);
    return EXIT_DONE;
}

static void hand_over(const struct simulation_context *context, const struct serving_view *view)
{
    const struct serving_figures *f = view->figures;
    struct comparison_row row = {.iteration = f->makespan,
                                 .samples_per_s = view->serving->count / f->makespan,
                                 .tokens_per_s = f->outputs / f->makespan,
                                 .peak_bytes = view->engine->weights + view->engine->cache * fmin(1, f->filled),
                                 .energy = -1};
    snprintf(row.scenario, sizeof row.scenario, "%s", context->scenario->name);
    snprintf(row.schedule, sizeof row.schedule, "%s", context->scenario->schedule_name);
    snprintf(row.engine, sizeof row.engine, "analytic");
    struct gantt *gantt = gantt_create(context->scenario->name, "", GANTT_SECONDS);
    gantt_finish(gantt);
    simulation_hand_over(context, &row, NULL, 0, gantt);
    gantt_destroy(gantt);
}

static bool write_files(const struct simulation_context *context, const struct serving_view *view, struct fault *fault)
{
    const struct run_files *files = context->request->files;
    serving_json(files->summary, view);
    if (files->tables[0])
        serving_requests_csv(files->tables[0], view);
    for (int format = 0; format < PICTURE_FORMATS; format++)
        if (files->pictures[format] &&
            !serving_picture(files->pictures[format], view, (enum canvas_format)format, &files->form, fault))
            return false;
    return (!files->html || serving_html(files->html, view, fault)) && output_flush(context->request->output, fault);
}

static int run(struct simulation_context *context)
{
    const struct serving *serving = context->scenario->whole;
    struct generation_engine engine;
    struct batching_run run;
    struct serving_figures figures;
    struct fault fault = {""};
    if (!make_engine(context, &engine))
        return EXIT_BAD_INPUT;
    batching_simulate(engine.generation, &engine.limits, serving->requests, serving->count, &run);
    double *arrivals = serving_arrivals(serving, &run, context->arena);
    struct serving_view view = {context->scenario, serving, &engine, &run, arrivals, &figures};
    serving_figures(&view, &figures);
    hand_over(context, &view);
    if (context->request->print)
        serving_print(context->self->results, &view, context->request->format);
    if (context->request->files && !write_files(context, &view, &fault))
        diag_print(context->diag.out, "stagesim: %s\n", fault.text);
    batching_finish(&run);
    generation_engine_finish(&engine);
    return fault.text[0] ? EXIT_FAILED : EXIT_DONE;
}

static const char *const table_names[] = {"requests.csv", NULL};

const struct scenario_kind serving_kind = {
    .key = "serving",
    .summary = "an engine that serves requests",
    .figure = "tokens_per_s",
    .platform = true,
    .tables = table_names,
    .keys = serving_keys,
    .schema = serving_schema,
    .read = serving_read,
    .check = check,
    .run = run,
};
