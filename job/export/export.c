/* SPDX-License-Identifier: Apache-2.0 */
#include "job/export/export.h"

#include "base/arena.h"
#include "base/document.h"

#include <stdarg.h>
#include <string.h>

const struct exporter *const exporter_table[] = {&exporter_megatron, &exporter_torchtitan, &exporter_torchtitan_toml,
                                                 NULL};

/* ---- the job ---- */

static bool refuse(const struct scenario *scenario, struct diag *diag, const char *key, const char *text)
{
    diag_error(diag, scenario_place(scenario, key), "%s", text);
    return false;
}

bool export_create(const struct scenario *scenario, const char *layout, struct export_job *job, struct arena *arena,
                   struct diag *diag)
{
    if (scenario->workload != &transformer_workload)
        return refuse(scenario, diag, "workload", "only jobs of the workload transformer run in these frameworks");
    const struct transformer_parameters *p = scenario->parameters;
    const struct mesh *mesh = &scenario->mesh;
    if (p->algorithm != TENSOR_MEGATRON)
        return refuse(
            scenario, diag, "tensor_parallel.algorithm",
            "these frameworks share matrices as megatron-1d does; expected that algorithm, and the axis tensor");
    *job = (struct export_job){.scenario = scenario,
                               .parameters = p,
                               .model = p->model,
                               .layout = layout,
                               .tensor = mesh_size(mesh, "tensor"),
                               .context = mesh_size(mesh, "context"),
                               .expert = mesh_size(mesh, "expert"),
                               .data = scenario->data,
                               .pipeline = scenario->workers,
                               .arena = arena};
    transformer_model_complete(&job->model);
    job->experts_whole = job->tensor > 1 && job->model.experts && mesh_size(mesh, "whole_experts") > 1;
    job->stages = job->pipeline;
    if (scenario->schedule) {
        struct schedule_request request = scenario_schedule_request(scenario);
        job->stages = scenario->schedule->stages(&request);
    }
    return true;
}

/* ---- the schedule ---- */

/* ---- remarks ---- */

/* ---- the file ---- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

void export_write(struct export_job *job, const struct exporter *exporter, FILE *out)
{
    const char *text = exporter->text(job), *comment = exporter->comment;
    if (!strncmp(text, "#!", 2)) { /* what the system reads comes first */
        size_t length = strcspn(text, "\n") + 1;
        fwrite(text, 1, length, out);
        text += length;
    }
    diag_print(out, "%s Written by stagesim export from %s, for %s on %u GPUs.\n", comment,
               base_name(job->scenario->file), exporter->title, job->scenario->mesh.ranks);
    fprintf(out, "%s %s\n", comment, exporter->rest);
    if (job->first)
        fprintf(out, "%s\n%s What %s has no option for, or has otherwise:\n", comment, comment, exporter->title);
    for (const struct export_remark *remark = job->first; remark; remark = remark->next)
        diag_print(out, "%s   %s: %s\n", comment, remark->key, remark->text);
    fputs(text, out);
}

void export_tell(const struct export_job *job, const struct exporter *exporter, FILE *out)
{
    (void)exporter;
    for (const struct export_remark *remark = job->first; remark; remark = remark->next)
        diag_print(out, "cannot be said  %s: %s\n", remark->key, remark->text);
}
