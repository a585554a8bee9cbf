/* SPDX-License-Identifier: Apache-2.0 */
/* What exporters share: the schedule and its options, and remarks on what no framework has. */
#include "job/export/export.h"

#include "base/arena.h"
#include "base/document.h"

#include <stdarg.h>
#include <string.h>

bool export_has(const struct export_job *job, const char *key)
{
    return node_find(job->scenario->root, key) != NULL;
}

const char *export_schedule(const struct export_job *job)
{
    return job->scenario->schedule_name ? job->scenario->schedule_name : "1f1b";
}

int64_t export_schedule_option(const struct export_job *job, const char *key, int64_t other)
{
    const struct schedule *schedule = job->scenario->schedule;
    const struct schedule_option *option = schedule ? schedule_find_option(schedule, key) : NULL;
    return option ? job->scenario->options[option - schedule->options] : other;
}

static bool is_among(const char *const *names, const char *name)
{
    for (; *names; names++)
        if (!strcmp(*names, name))
            return true;
    return false;
}

void export_schedule_options(struct export_job *job, const char *const *said)
{
    const struct schedule_option *option = job->scenario->schedule ? job->scenario->schedule->options : NULL;
    for (size_t i = 0; option && option[i].key; i++)
        if (job->scenario->options[i] != option[i].initial && !is_among(said, option[i].key))
            export_remark(job, arena_print(job->arena, "schedule.%s", option[i].key), "an option of %s here",
                          export_schedule(job));
}

void export_remark(struct export_job *job, const char *key, const char *format, ...)
{
    struct export_remark *remark = arena_alloc(job->arena, sizeof *remark);
    va_list arguments;
    va_start(arguments, format);
    *remark = (struct export_remark){arena_copy(job->arena, key), arena_vprint(job->arena, format, arguments), NULL};
    va_end(arguments);
    if (job->last)
        job->last->next = remark;
    else
        job->first = remark;
    job->last = remark;
}

static void remark_if(struct export_job *job, bool differs, const char *key, const char *text)
{
    if (differs)
        export_remark(job, key, "%s", text);
}

static void remark_model(struct export_job *job)
{
    const struct transformer_model *m = &job->model;
    const char *part = "a part of the model, which is in the framework's code and not in its options";
    remark_if(job, m->token_types > 0, "model.token_types", part);
    remark_if(job, m->embedding_norm, "model.embedding_norm", part);
    remark_if(job, !m->final_norm, "model.final_norm", part);
    remark_if(job, m->pooler, "model.pooler", part);
    remark_if(job, m->head_transform, "model.head_transform", part);
    remark_if(job, m->head_bias, "model.head_bias", part);
    remark_if(job, m->next_sentence, "model.next_sentence", part);
    remark_if(job, m->norms != 2, "model.norms", part);
    remark_if(job, m->activation_parameters > 0, "model.activation_parameters", part);
    remark_if(job, m->towers[TOWER_IMAGES].layers > 0, "model.tower_layers", part);
    remark_if(job, m->towers[TOWER_AUDIO].layers > 0, "model.audio_layers", part);
}

void export_common(struct export_job *job)
{
    const struct transformer_parameters *p = job->parameters;
    remark_model(job);
    remark_if(job, p->model.documents.count > 0, "model.documents", "come with the data; no option makes them");
    remark_if(job, p->model.document_lengths != NULL, "model.document_lengths",
              "come with the data; no option makes them");
    remark_if(job, p->zero_parts == PARTS_TENSORS, "transformer.zero_parts",
              "replicas share equal parts: no option gives whole tensors to one");
    remark_if(job, p->optimizer_offload > 0, "transformer.optimizer_offload",
              "the optimizer's place is a matter of further options: to be added");
    remark_if(job, p->routing.expert_imbalance > 1, "transformer.expert_imbalance",
              "comes about with the data; no option makes it");
    remark_if(job, p->tower_tensor > 0 || p->tower_place == TOWERS_OWN, "transformer.tower_place",
              "where towers stand is in the framework's code and not in its options");
    remark_if(job, p->islands > 1, "transformer.islands",
              "no option has replicas that agree now and then: here all synchronise their gradients");
    remark_if(job, p->routing.expert_node > 0, "transformer.expert_node",
              "how tokens travel between nodes is a matter of the dispatcher's library");
    remark_if(job, p->routing.dispatch != DISPATCH_SAME, "transformer.dispatch",
              "the precision of tokens on their way is a matter of the dispatcher's library");
    remark_if(job, job->context > 1 && !p->routing.context_balance, "transformer.context_balance",
              "the framework always gives each rank a chunk of the beginning and one of the end");
    remark_if(job, p->routing.expert_hidden < 1, "transformer.expert_hidden",
              "how much of the experts' exchanges runs beside other work comes about on the GPU; no option makes it");
    remark_if(job, p->bucket <= 0, "transformer.bucket",
              "gradients of each layer by itself: the framework has buckets");
    remark_if(job, job->scenario->placement != PLACEMENT_ORDER, "placement",
              "ranks are placed by the launcher, in order");
    remark_if(job, job->scenario->steady == STEADY_AUTO && p->price > 0, "transformer.price",
              "no matter of the framework");
    const struct node *section = node_get(job->scenario->root, "communication");
    for (const struct node *key = section && section->kind == NODE_MAP ? section->first : NULL; key; key = key->next)
        if (strcmp(key->key, "overlap") != 0)
            export_remark(job, arena_print(job->arena, "communication.%s", key->key),
                          "how collectives run is a matter of the communication library");
}
