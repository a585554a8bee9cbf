/* SPDX-License-Identifier: Apache-2.0 */
/* What has to hold among the keys of a network of layers. */
#include "workloads/layers/kfac.h"
#include "workloads/layers/strategy.h"

#include <math.h>

static bool check_axes(const struct layers_job *j)
{
    static const char *const unused[] = {"x", "y", "z", "context", "expert", NULL};
    bool ok = true;
    for (const char *const *axis = unused; *axis; axis++)
        if (j->api->axis(j->job, *axis) > 1) {
            j->api->error(j->job, NULL, "layers has no axis '%s'; expected data, tensor and pipeline", *axis);
            ok = false;
        }
    if (j->samples <= 0) {
        j->api->error(
            j->job, NULL,
            "the size of a micro-batch is not known; expected a batch with two of global, micro and micro_batches");
        ok = false;
    }
    return ok;
}

static bool check_count(const struct layers_job *j)
{
    double sum = 0;
    for (uint32_t i = 0; i < j->count; i++)
        sum += j->layers[i].parameters.elements;
    if (!j->parameters->count || (double)j->parameters->count == sum)
        return true;
    j->api->error(j->job, "model.parameters", "the layers have %.0f parameters, not the %llu that are stated", sum,
                  (unsigned long long)j->parameters->count);
    return false;
}

static bool check_compute(const struct layers_job *j)
{
    if (!(j->parameters->efficiency > 0 && j->parameters->table))
        return true;
    j->api->error(j->job, "compute.efficiency",
                  "efficiency and table are two ways to say the same; expected one of them");
    return false;
}

static bool refuse_with(const struct layers_job *j, bool given, const char *key, const char *with)
{
    if (given)
        j->api->error(j->job, key, "%s is for jobs without %s", key, with);
    return !given;
}

/* What a pipeline, or ranks that share channels, cannot be combined with. */
static bool check_combinations(const struct layers_job *j, bool pipeline)
{
    const struct layers_parameters *p = j->parameters;
    const char *schedule = "a pipeline or schedule";
    bool ok = refuse_with(j, pipeline && p->period > 1, "period", schedule);
    ok &= refuse_with(j, pipeline && p->compression > 1, "compression", schedule);
    ok &= refuse_with(j, p->checkpoints && (pipeline || j->tensor > 1 || p->dense), "checkpoints",
                      pipeline   ? schedule
                      : p->dense ? "divided dense layers"
                                 : "a tensor axis");
    ok &= refuse_with(j, p->servers && (pipeline || j->tensor > 1), "servers", pipeline ? schedule : "a tensor axis");
    return ok;
}

static bool check_streamed(const struct layers_job *j)
{
    const struct layers_parameters *p = j->parameters;
    const char *with = "streamed weights";
    bool ok = refuse_with(j, p->weights && p->consistency != CONSISTENCY_SYNCHRONOUS, "consistency", with);
    ok &= refuse_with(j, p->weights && p->colocated, "colocated", with);
    ok &= refuse_with(j, p->weights && p->shards, "shards", with);
    ok &= refuse_with(j, p->weights && p->period > 1, "period", with);
    return refuse_with(j, p->weights && p->compression > 1, "compression", with) && ok;
}

static bool check_servers(const struct layers_job *j)
{
    const struct layers_parameters *p = j->parameters;
    bool ok = true;
    if (!p->servers)
        return true;
    ok &= refuse_with(j, p->dense, "dense", "servers");
    if (p->colocated && p->servers > j->data) {
        j->api->error(j->job, "servers", "%llu servers cannot be on the hosts of %u workers",
                      (unsigned long long)p->servers, j->data);
        ok = false;
    }
    return check_streamed(j) && ok;
}

bool layers_check_kfac(struct layers_job *j)
{
    for (uint32_t i = 0; i < j->count; i++)
        if (!kfac_fits(j, i)) {
            layers_report(j, i,
                          "its parameters are not a matrix of its shape, which K-FAC needs; expected channels, height "
                          "and width");
            return false;
        }
    return true;
}

/* K-FAC is for replicas that all hold all of the network and update it themselves. */
static bool check_kfac(const struct layers_job *j, bool pipeline)
{
    const struct layers_parameters *p = j->parameters;
    struct layers_kfac_parameters kfac = layers_kfac_parameters_of(p);
    uint32_t iterations = j->api->iterations(j->job);
    const char *with = "kfac";
    if (p->optimizer != LAYERS_KFAC)
        return true;
    bool ok = refuse_with(j, p->servers, "servers", with);
    ok &= refuse_with(j, p->dense, "dense", with);
    ok &= refuse_with(j, p->period > 1, "period", with);
    if (pipeline || j->tensor > 1) {
        j->api->error(j->job, "optimizer", "kfac is for jobs without %s",
                      pipeline ? "a pipeline or schedule" : "a tensor axis");
        ok = false;
    }
    if (kfac.inverse_every % kfac.factors_every) {
        j->api->error(j->job, "kfac.inverse_every",
                      "inverse_every is %llu, no multiple of factors_every, which is %llu",
                      (unsigned long long)kfac.inverse_every, (unsigned long long)kfac.factors_every);
        ok = false;
    } else if (iterations % kfac.inverse_every) {
        j->api->error(j->job, "kfac.inverse_every",
                      "factors are inverted every %llu iterations, of which the scenario has %u; expected iterations: "
                      "%llu",
                      (unsigned long long)kfac.inverse_every, iterations, (unsigned long long)kfac.inverse_every);
        ok = false;
    }
    return ok;
}

static bool refuse_storage(const struct layers_job *j, const char *key, const char *why)
{
    j->api->error(j->job, key, "%s", why);
    return false;
}

/* What caches hold of the data set, and how large a sample is. */
static bool check_samples(const struct layers_job *j)
{
    const struct layers_storage_parameters *p = &j->parameters->storage;
    bool caches = p->cache > 0 || p->local_cache > 0, ok = true;
    if (caches && p->dataset <= 0)
        ok = refuse_storage(j, p->cache > 0 ? "storage.cache" : "storage.local_cache",
                            "a cache holds a share of the data set, whose size is not given; expected storage.dataset");
    if (layers_sample_bytes(j) <= 0)
        ok = refuse_storage(j, "storage.hosts",
                            "it is not known how large a sample is; expected storage.sample, or inputs of the first "
                            "layer");
    else if (p->dataset > 0 && p->dataset < layers_sample_bytes(j))
        ok = refuse_storage(j, "storage.dataset", "the data set is smaller than a sample");
    return ok;
}

static bool check_storage(const struct layers_job *j, bool pipeline)
{
    const struct layers_parameters *p = j->parameters;
    const struct layers_storage_parameters *storage = &p->storage;
    if (!storage->hosts)
        return true;
    bool ok = check_samples(j);
    if (pipeline || j->tensor > 1)
        ok = refuse_storage(j, "storage.hosts",
                            pipeline ? "storage is for jobs without a pipeline or schedule"
                                     : "storage is for jobs without a tensor axis");
    if (p->consistency != CONSISTENCY_SYNCHRONOUS)
        ok = refuse_storage(j, "storage.hosts",
                            "a storage host reads for one worker after the other; workers that each go at their own "
                            "pace (consistency) are not possible with it");
    return ok;
}

static bool check_period(const struct layers_job *j)
{
    uint32_t iterations = j->api->iterations(j->job);
    uint64_t period = j->parameters->period;
    if (iterations % period == 0)
        return true;
    j->api->error(j->job, "period",
                  "weights are averaged every %llu iterations, of which the scenario has %u; expected iterations: %llu",
                  (unsigned long long)period, iterations, (unsigned long long)(2 * period));
    return false;
}

/* A job whose layers are split one by one has no other division of labour but a pipeline's. */
static bool check_split(const struct layers_job *j)
{
    const struct layers_parameters *p = j->parameters;
    const char *with = "layers that are split one by one (split)";
    if (!p->splits.count)
        return true;
    bool ok = refuse_with(j, p->servers, "servers", with);
    ok &= refuse_with(j, p->dense, "dense", with);
    ok &= refuse_with(j, p->period > 1, "period", with);
    ok &= refuse_with(j, p->compression > 1, "compression", with);
    ok &= refuse_with(j, p->optimizer == LAYERS_KFAC, "optimizer", with);
    ok &= refuse_with(j, p->checkpoints, "checkpoints", with);
    ok &= refuse_with(j, p->algorithms, "algorithms", with);
    return refuse_with(j, p->storage.hosts, "storage.hosts", with) && ok;
}

static bool check_weights(const struct layers_job *j, bool pipeline)
{
    bool shared = false;
    for (uint32_t i = 0; i < j->count; i++)
        shared |= j->layers[i].weights != NULL;
    return refuse_with(j, shared && pipeline, "model.layers", "a pipeline or schedule");
}

/* Bounds are for algorithms to choose from. */
static bool check_algorithms(const struct layers_job *j)
{
    const struct layers_parameters *p = j->parameters;
    if (p->workspace_of == WORKSPACE_OF_ALL && p->algorithms > ALGORITHMS_AUTO) {
        j->api->error(j->job, "workspace_of", "one workspace for all is shared out by algorithms: auto");
        return false;
    }
    return true;
}

bool layers_check(const struct layers_job *j, bool pipeline)
{
    bool ok = check_axes(j);
    ok &= check_weights(j, pipeline);
    ok &= check_count(j);
    ok &= check_compute(j);
    ok &= check_combinations(j, pipeline);
    ok &= check_servers(j);
    ok &= check_period(j);
    ok &= check_storage(j, pipeline);
    ok &= check_kfac(j, pipeline);
    ok &= check_split(j);
    return check_algorithms(j) && ok;
}

void layers_report(void *user, uint32_t layer, const char *text)
{
    const struct layers_job *j = user;
    char key[32];
    snprintf(key, sizeof key, "model.layers.%u", layer);
    j->api->error(j->job, key, "layer %u, '%.60s': %s", layer + 1, j->layers[layer].name, text);
}
