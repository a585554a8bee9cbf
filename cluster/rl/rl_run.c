/* SPDX-License-Identifier: Apache-2.0 */
/* What `check` and `run` do with `rl:`. */
#include "analysis/pictures/gantt.h"
#include "base/arena.h"
#include "base/exit_code.h"
#include "base/isolate.h"
#include "base/table.h"
#include "cluster/rl/rl_output.h"
#include "studies/simulation.h"

#include <math.h>
#include <stdlib.h>

/* ---- engines ---- */

/* The longest sample of all steps. Memory from the arena. */
static struct batching_request longest_of(const struct rl_values *v, struct arena *arena)
{
    uint32_t step_of = 0, number = 0;
    double most = 0;
    for (uint32_t step = 0; step < v->steps; step++) {
        struct arena *own = arena_create();
        struct rl_samples samples = rl_samples_draw(v, step, own);
        for (uint32_t i = 0; i < samples.count; i++) {
            struct batching_request sample = rl_sample(&samples, i, 0);
            if (batching_tokens(&sample) > most) {
                most = batching_tokens(&sample);
                step_of = step;
                number = i;
            }
        }
        arena_destroy(own);
    }
    struct rl_samples samples = rl_samples_draw(v, step_of, arena);
    struct batching_request longest = rl_sample(&samples, number, 0);
    longest.group = 0;
    return longest;
}

static int by_length(const void *a, const void *b)
{
    double one = *(const double *)a, other = *(const double *)b;
    return (one > other) - (one < other);
}

/* Tokens of outputs that 95 % of a step's do not exceed; 0: none does. */
static double usual_of(const struct rl_values *v)
{
    struct arena *arena = arena_create();
    struct rl_samples samples = rl_samples_draw(v, 0, arena);
    uint32_t count = samples.count;
    qsort(samples.outputs, count, sizeof *samples.outputs, by_length);
    double usual = samples.outputs[(uint32_t)ceil(0.95 * count) - 1], longest = samples.outputs[count - 1];
    arena_destroy(arena);
    return usual < longest ? usual : 0;
}

static bool check_gpus(struct simulation_context *context)
{
    uint32_t gpus = rl_gpus(context->scenario->whole), there = context->platform->host_count;
    if (gpus <= there)
        return true;
    diag_error(&context->diag, scenario_place(context->scenario, "rl"),
               "trainer and engines have %u GPUs, and the platform %u; expected no more", gpus, there);
    return false;
}

/* All engines are like the first one. What of a trainer's states stays beside them is taken already. */
static bool make_engine(struct simulation_context *context, double taken, const struct batching_request *sample,
                        struct generation_engine *engine)
{
    const struct rl *rl = context->scenario->whole;
    struct place at = scenario_place(context->scenario, "generation");
    uint32_t each = generation_gpus(&rl->settings);
    uint32_t first = rl->values.arrangement == RL_COLOCATED ? 0 : rl->update->mesh.ranks;
    uint32_t *hosts = arena_array(context->arena, each, sizeof *hosts);
    double longest = batching_tokens(sample);
    for (uint32_t i = 0; i < each; i++)
        hosts[i] = first + i;
    if (!generation_engine_create(&rl->settings, rl->model, context->platform, hosts, taken, longest, at,
                                  context->arena, &context->diag, engine))
        return false;
    engine->limits.keeps = rl->values.tool_cache == RL_KEPT;
    if (batching_room(&engine->limits, sample) <= engine->limits.tokens)
        return true;
    diag_error(&context->diag, scenario_place(context->scenario, "rl"),
               "a sample has %.10g tokens with its prompt, and the cache room for %.6g; expected shorter ones, or more "
               "GPUs of an engine",
               longest, floor(engine->limits.tokens));
    return false;
}

/* ---- phases ---- */

/* Generation of a sample with nothing beside it. */
static double alone(const struct batching_request *sample, struct generation_engine *engine)
{
    struct batching_run run;
    batching_simulate(engine->generation, &engine->limits, sample, 1, &run);
    double seconds = run.end;
    batching_finish(&run);
    return seconds;
}

static bool compute(struct simulation_context *context, struct rl_figures *f, struct generation_engine *engine)
{
    const struct rl *rl = context->scenario->whole;
    struct rl_trainer trainer;
    *f = (struct rl_figures){0};
    *engine = (struct generation_engine){0};
    if (!check_gpus(context) || !rl_trainer_simulate(rl, context->platform, context->arena, &context->diag, &trainer))
        return false;
    bool together = rl->values.arrangement == RL_COLOCATED;
    double taken = together && !rl->values.offload ? trainer.states : 0;
    taken += together ? rl_models_states(rl, &trainer) : 0;
    struct batching_request longest = longest_of(&rl->values, context->arena);
    if (!make_engine(context, taken, &longest, engine))
        return false;
    f->longest = alone(&longest, engine);
    f->usual = usual_of(&rl->values);
    rl_compute(rl, &trainer, context->platform, engine, f, context->arena);
    if (context->request->print || context->request->files) /* others have no place for them */
        rl_find_levers(rl, &trainer, context->platform, engine, f, context->arena);
    f->gpus = rl_gpus(rl);
    f->generation_gpus = rl->engines * generation_gpus(&rl->settings);
    f->samples = (double)(rl->values.prompts * rl->values.samples);
    f->tokens_per_s = f->tokens / f->step;
    f->tokens_per_s_per_gpu = f->tokens_per_s / f->gpus;
    f->staleness = rl->values.arrangement == RL_ASYNC ? (double)rl->values.staleness : 0;
    f->weights = engine->weights;
    f->cache = engine->cache;
    f->trainer_states = trainer.states;
    rl_find_memory(rl, &trainer, f->weights + f->cache, f);
    f->capacity = engine->capacity;
    return true;
}

/* ---- all together ---- */

static int check(struct simulation_context *context)
{
    const struct rl *rl = context->scenario->whole;
    struct batching_request longest = longest_of(&rl->values, context->arena);
    struct generation_engine engine;
    if (!check_gpus(context) || !make_engine(context, 0, &longest, &engine))
        return EXIT_BAD_INPUT;
    diag_print(stdout, "%s: ok\n%u GPU%s of %s: a trainer of %u, %u engine%s of %u, with room for %.6g tokens each\n",
               context->scenario->file, rl_gpus(rl), readable_plural(rl_gpus(rl)), context->scenario->platform_name,
               rl->update->mesh.ranks, rl->engines, readable_plural(rl->engines), generation_gpus(&rl->settings),
               engine.limits.tokens);
    generation_engine_finish(&engine);
    return EXIT_DONE;
}

/* Pools as rows, for pictures of several runs. */
static struct gantt *draw_boxes(const struct rl_view *view, struct arena *arena)
{
    static const enum gantt_kind kinds[RL_KINDS] = {
        [RL_GENERATES] = GANTT_FORWARD,    [RL_SCORES] = GANTT_COMPUTE, [RL_TRAINS] = GANTT_BACKWARD,
        [RL_TRANSFERS] = GANTT_COLLECTIVE, [RL_MOVES] = GANTT_TRANSFER, [RL_RESTS] = GANTT_COMPUTE};
    struct rl_boxes boxes = rl_boxes_of(view, arena);
    struct gantt *gantt = gantt_create(view->scenario->name, view->scenario->schedule_name, GANTT_SECONDS);
    for (uint32_t pool = 0; pool < boxes.pools; pool++)
        gantt_add_row(gantt, rl_pool_name(view, pool), -1);
    for (uint32_t i = 0; i < boxes.count; i++)
        gantt_add_box(gantt, &(struct gantt_box){.start = boxes.items[i].from,
                                                 .end = boxes.items[i].to,
                                                 .row = boxes.items[i].pool,
                                                 .number = boxes.items[i].step,
                                                 .kind = (uint8_t)kinds[boxes.items[i].kind]});
    gantt_finish(gantt);
    return gantt;
}

static double most_memory(const struct rl_figures *f)
{
    double most = 0;
    for (int phase = 0; phase < RL_MEMORIES; phase++)
        most = fmax(most, f->memory[phase]);
    return most;
}

static void hand_over(const struct simulation_context *context, const struct rl_view *view)
{
    const struct rl_figures *f = view->figures;
    struct comparison_row row = {.iteration = f->step,
                                 .samples_per_s = f->samples / f->step,
                                 .tokens_per_s = f->tokens_per_s,
                                 .bubble = 1 - f->training.busy,
                                 .peak_bytes = most_memory(f),
                                 .capacity_known = true,
                                 .fits = f->fits,
                                 .energy = -1};
    snprintf(row.scenario, sizeof row.scenario, "%s", context->scenario->name);
    snprintf(row.schedule, sizeof row.schedule, "%s", context->scenario->schedule_name);
    snprintf(row.engine, sizeof row.engine, "analytic");
    struct gantt *gantt = draw_boxes(view, context->arena);
    simulation_hand_over(context, &row, NULL, 0, gantt);
    gantt_destroy(gantt);
}

static bool write_files(const struct simulation_context *context, const struct rl_view *view, struct fault *fault)
{
    const struct run_files *files = context->request->files;
    rl_json(files->summary, view);
    if (files->tables[0])
        rl_steps_csv(files->tables[0], view);
    if (files->paje)
        rl_paje(files->paje, view);
    for (int format = 0; format < PICTURE_FORMATS; format++)
        if (files->pictures[format] &&
            !rl_picture(files->pictures[format], view, (enum canvas_format)format, &files->form, fault))
            return false;
    return (!files->html || rl_html(files->html, view, fault)) && output_flush(context->request->output, fault);
}

static int run(struct simulation_context *context)
{
    struct generation_engine engine;
    struct rl_figures figures;
    struct fault fault = {""};
    bool ok = compute(context, &figures, &engine);
    generation_engine_finish(&engine);
    if (!ok)
        return EXIT_BAD_INPUT;
    struct rl_view view = {context->scenario, context->scenario->whole, &figures};
    hand_over(context, &view);
    if (context->request->print)
        rl_print(context->self->results, &view, context->request->format);
    if (context->request->files && !write_files(context, &view, &fault))
        diag_print(context->diag.out, "stagesim: %s\n", fault.text);
    return fault.text[0] ? EXIT_FAILED : EXIT_DONE;
}

static const char *const table_names[] = {"steps.csv", NULL};

const struct scenario_kind rl_kind = {
    .key = "rl",
    .summary = "steps of reinforcement learning",
    .figure = "tokens_per_s",
    .platform = true,
    .tables = table_names,
    .keys = rl_keys,
    .schema = rl_schema,
    .read = rl_read,
    .check = check,
    .run = run,
};
