/* SPDX-License-Identifier: Apache-2.0 */
#include "base/diagnostics.h"
#include "base/json_writer.h"
#include "base/table.h"
#include "base/text_writer.h"
#include "cluster/serving/serving.h"
#include "workloads/generation/generation.h"

/* Whose measured kernels attention over the cache has; NULL: none. */
static void print_attention(FILE *out, const char *source)
{
    if (source)
        diag_print(out, "attention    over the cache by measured kernels, %s\n", source);
    else
        diag_print(out, "attention    not measured on this GPU with this library: a launch and a share of the "
                        "bandwidth\n");
}

static void print_remarks(FILE *out, const struct serving_view *view, enum table_format format)
{
    const struct serving_figures *f = view->figures;
    const struct generation_engine *engine = view->engine;
    char one[READABLE_MAX], two[READABLE_MAX], three[READABLE_MAX], four[READABLE_MAX], five[READABLE_MAX],
        *lines = NULL;
    size_t size = 0;
    uint32_t gpus = generation_gpus(&view->serving->settings);
    FILE *remarks = table_remarks_begin(&lines, &size);
    diag_print(remarks, "%s: %u requests on an engine of %u GPU%s of %s\n", view->scenario->name, view->serving->count,
               gpus, readable_plural(gpus), view->scenario->platform_name);
    fprintf(remarks, "throughput   %.6g tokens/s generated, %.6g a GPU; %.4g requests/s; all ended after %s\n",
            f->outputs / f->makespan, f->outputs / f->makespan / gpus, view->serving->count / f->makespan,
            readable_seconds(one, f->makespan));
    fprintf(remarks, "batch        %.4g sequences in a step, mean of %.6g steps; %.4g preempted; busy %s\n", f->batch,
            f->steps, f->preempted, readable_percent(one, f->busy));
    fprintf(remarks, "a step       %s weights, %s cache, %s transfers, %s host; %s of it is the roofline\n",
            readable_percent(one, f->parts.weights), readable_percent(two, f->parts.cache),
            readable_percent(three, f->parts.exchange), readable_percent(four, f->parts.host),
            readable_percent(five, f->least));
    print_attention(remarks, generation_attention_source(engine->generation));
    fprintf(remarks, "memory       weights %s and cache %s of a GPU's %s; room for %.6g tokens, %s used at most\n\n",
            readable_binary_bytes(one, engine->weights), readable_binary_bytes(two, engine->cache),
            readable_binary_bytes(three, engine->capacity), engine->limits.tokens, readable_percent(four, f->filled));
    table_remarks_end(out, format, remarks, &lines);
}

static void put(struct table *table, const char *name, const struct serving_quantiles *q)
{
    table_cell(table, "%s", name);
    table_seconds(table, q->mean);
    table_seconds(table, q->p50);
    table_seconds(table, q->p90);
    table_seconds(table, q->p99);
    table_seconds(table, q->most);
}

void serving_print(FILE *out, const struct serving_view *view, enum table_format format)
{
    struct table *table = table_create();
    print_remarks(out, view, format);
    table_columns(table, "<latency", ">mean", ">p50", ">p90", ">p99", ">most", NULL);
    put(table, "first token", &view->figures->first);
    put(table, "each further token", &view->figures->next);
    put(table, "whole request", &view->figures->whole);
    table_finish(table, out, table_style_of(format, out));
}

/* ---- files ---- */

static void put_quantiles(struct json_writer *json, const char *key, const struct serving_quantiles *q)
{
    json_object_begin(json, key, false);
    json_number(json, "mean", q->mean);
    json_number(json, "p50", q->p50);
    json_number(json, "p90", q->p90);
    json_number(json, "p99", q->p99);
    json_number(json, "most", q->most);
    json_object_end(json);
}

static void put_memory(struct json_writer *json, const struct serving_view *view)
{
    json_object_begin(json, "memory", false);
    json_number(json, "weights_bytes", view->engine->weights);
    json_number(json, "cache_bytes", view->engine->cache);
    json_number(json, "capacity_bytes", view->engine->capacity);
    json_number(json, "cache_tokens", view->engine->limits.tokens);
    json_number(json, "cache_used", view->figures->filled);
    json_object_end(json);
}

void serving_json(FILE *out, const struct serving_view *view)
{
    const struct serving_figures *f = view->figures;
    uint32_t gpus = generation_gpus(&view->serving->settings);
    struct json_writer json = json_writer_init(out);
    json_object_begin(&json, NULL, true);
    json_text(&json, "kind", "serving");
    json_object_begin(&json, "scenario", false);
    json_text(&json, "name", view->scenario->name);
    json_object_end(&json);
    json_text(&json, "platform", view->scenario->platform_name);
    json_integer(&json, "gpus", gpus);
    json_integer(&json, "requests", view->serving->count);
    json_number(&json, "prompt_tokens", f->prompts);
    json_number(&json, "output_tokens", f->outputs);
    json_number(&json, "makespan_s", f->makespan);
    json_number(&json, "tokens_per_s", f->outputs / f->makespan);
    json_number(&json, "tokens_per_s_per_gpu", f->outputs / f->makespan / gpus);
    json_number(&json, "requests_per_s", view->serving->count / f->makespan);
    json_number(&json, "steps", f->steps);
    json_number(&json, "batch", f->batch);
    json_number(&json, "preempted", f->preempted);
    json_number(&json, "busy", f->busy);
    put_quantiles(&json, "first_token_s", &f->first);
    put_quantiles(&json, "further_token_s", &f->next);
    put_quantiles(&json, "request_s", &f->whole);
    const char *attention = generation_attention_source(view->engine->generation);
    json_text(&json, "attention", attention ? attention : "not measured");
    json_object_begin(&json, "step", false);
    json_number(&json, "weights", f->parts.weights);
    json_number(&json, "cache", f->parts.cache);
    json_number(&json, "transfers", f->parts.exchange);
    json_number(&json, "host", f->parts.host);
    json_number(&json, "roofline", f->least);
    json_object_end(&json);
    put_memory(&json, view);
    json_object_end(&json);
    fputc('\n', out);
}

static void put_number(struct text_writer *writer, double value)
{
    text_char(writer, ',');
    text_number(writer, value);
}

void serving_requests_csv(FILE *out, const struct serving_view *view)
{
    struct text_writer *writer = text_writer_create(out);
    text_string(writer, "request,arrival_s,prompt,output,scheduled_s,first_token_s,last_token_s\n");
    for (uint32_t i = 0; i < view->serving->count; i++) {
        const struct batching_request *request = &view->serving->requests[i];
        const struct batching_outcome *outcome = &view->run->outcomes[i];
        text_integer(writer, i);
        put_number(writer, view->arrivals[i]);
        put_number(writer, request->prompt);
        put_number(writer, request->output);
        put_number(writer, outcome->scheduled);
        put_number(writer, outcome->first);
        put_number(writer, outcome->last);
        text_char(writer, '\n');
    }
    text_writer_destroy(writer);
}
