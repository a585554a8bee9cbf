/* SPDX-License-Identifier: Apache-2.0 */
/* Images and sound of each sample, given or drawn, and the work of micro-batches and ranks that follows. Samples are
 * dealt as documents are (documents.h). */
#include "workloads/transformer/kinds/tower.h"
#include "workloads/transformer/transformer.h"

#include "abi/fields/fields_distribution.h"
#include "base/arena.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { PURPOSE_TOWERS = 43, SAMPLES_MAX = 1 << 24 }; /* one purpose for each kind */

/* Keys of each kind: layers, what a sample has, drawn, listed. */
static const struct keys {
    const char *layers, *amount, *drawn, *listed, *what;
} keys_of[TRANSFORMER_TOWERS] = {
    {"model.tower_layers", "model.tower_images", "model.tower_image_counts", "model.tower_image_list", "images"},
    {"model.audio_layers", "model.audio_length", "model.audio_lengths", "model.audio_length_list", "sound"},
};

/* ---- what has to hold ---- */

/* What the shape of one lacks, or NULL. */
static const char *wrong_shape(const struct transformer_job *j, enum transformer_tower_kind kind)
{
    const struct transformer_tower *t = &j->model.towers[kind];
    bool used = t->amount > 0 || t->amounts || t->listed.count, sound = kind == TOWER_AUDIO;
    uint64_t tensor = (uint64_t)j->place.tensor;
    if (!t->hidden || !t->heads || t->hidden % t->heads)
        return sound ? "a tower needs audio_hidden and audio_heads, of which the former is a multiple"
                     : "a tower needs tower_hidden and tower_heads, of which the former is a multiple";
    if (sound && !t->inputs)
        return "sound needs model.audio_inputs, the numbers of a frame";
    if (used && (!t->inputs || (!sound && !t->patches)))
        return "images need model.tower_patches and model.tower_inputs";
    if (t->heads % tensor || t->ffn % tensor)
        return sound ? "heads and audio_ffn of the tower cannot be divided over the tensor-parallel ranks"
                     : "heads and tower_ffn of the tower cannot be divided over the tensor-parallel ranks";
    if (sound && t->positions && tower_positions(t) > (double)t->positions)
        return "a clip has more positions than audio_positions are learned; expected a shorter clip, or more of them";
    if (sound && t->strides.count > TOWER_STRIDES_MAX)
        return "so many convolutions in audio_strides are not known; expected at most 6 strides";
    if (sound && t->clip * t->rate < 1)
        return "a clip has no frame that a layer sees; expected a longer clip";
    return NULL;
}

static bool check_tower(const struct transformer_job *j, enum transformer_tower_kind kind)
{
    const struct transformer_tower *t = &j->model.towers[kind];
    const struct keys *keys = &keys_of[kind];
    const char *wrong = t->layers ? wrong_shape(j, kind) : NULL;
    int ways = (t->amount > 0) + (t->amounts != NULL) + (t->listed.count > 0);
    if (wrong) {
        j->api->error(j->job, keys->layers, "%s", wrong);
        return false;
    }
    if (t->layers && ways > 1) {
        j->api->error(j->job, t->amounts ? keys->drawn : keys->listed,
                      "%s, %s and %s say the same in several ways; expected one of them", keys->amount + 6,
                      keys->drawn + 6, keys->listed + 6);
        return false;
    }
    return true;
}

/* Of a sample that has the same in every case. */
static double fixed_tokens(const struct transformer_job *j, enum transformer_tower_kind kind)
{
    const struct transformer_tower *t = &j->model.towers[kind];
    bool fixed = t->layers && t->amount > 0 && !t->amounts && !t->listed.count;
    return fixed ? t->passed * tower_tokens(t) : 0;
}

static void report_tokens(const struct transformer_job *j, const char *key, const char *what, double tokens)
{
    j->api->error(
        j->job, key,
        "a sample has %.0f tokens of %s, which do not fit into a sequence of %llu; expected fewer, or a longer "
        "model.sequence",
        ceil(tokens), what, (unsigned long long)j->model.sequence);
}

/* Tokens of a sample that are not drawn have room in its sequence. */
static bool check_tokens(const struct transformer_job *j)
{
    double images = fixed_tokens(j, TOWER_IMAGES), sound = fixed_tokens(j, TOWER_AUDIO);
    enum transformer_tower_kind kind = sound > 0 ? TOWER_AUDIO : TOWER_IMAGES;
    if (images + sound <= (double)j->model.sequence)
        return true;
    report_tokens(j, keys_of[kind].amount, images > 0 && sound > 0 ? "images and sound" : keys_of[kind].what,
                  images + sound);
    return false;
}

bool transformer_check_towers(const struct transformer_job *j)
{
    bool ok = check_tower(j, TOWER_IMAGES);
    ok &= check_tower(j, TOWER_AUDIO);
    return ok && check_tokens(j);
}

/* ---- where towers are ---- */

/* Of towers that are not where the language model begins, or not on all its ranks. */
static bool check_place(const struct transformer_job *j)
{
    const struct transformer_parameters *p = j->parameters;
    const char *key = j->place.own ? "tower_place" : "tower_tensor";
    return transformer_refuse(j, j->layout.context > 1, key,
                              "which ranks that share a sequence get which images is not known; expected "
                              "parallel.context: 1") &&
           transformer_refuse(j, j->tensor.algorithm != TENSOR_MEGATRON, key, "expected megatron-1d") &&
           transformer_refuse(j, j->place.apart && j->zero == 3, "tower_tensor",
                              "weights of a tower that has replicas of its own are not gathered layer by layer; "
                              "expected zero of at most 2") &&
           transformer_refuse(j, j->place.apart && (p->islands > 1 || p->shard_ranks > 0), "tower_tensor",
                              "a tower that has replicas of its own is not for islands or hybrid sharding");
}

/* Groups of so many of the ranks along tensor. */
static bool cut_groups(struct transformer_job *j, uint32_t own)
{
    struct transformer_tower_axes *axes = j->place.axes;
    uint32_t tensor = (uint32_t)j->layout.tensor;
    if (tensor % own || (own > 1 && !j->api->cut(j->job, "tensor", own))) {
        j->api->error(j->job, "tower_tensor", "%u tensor-parallel ranks cannot be cut into groups of %u", tensor, own);
        return false;
    }
    j->place.tensor = own;
    j->place.groups = (double)tensor / own;
    snprintf(axes->copies, sizeof axes->copies, "data,tensor");
    if (own > 1) {
        snprintf(axes->shared, sizeof axes->shared, "tensor:%u", own);
        snprintf(axes->copies, sizeof axes->copies, "data,tensor,-tensor:%u", own);
    }
    return true;
}

bool transformer_place_towers(struct transformer_job *j)
{
    const struct transformer_parameters *p = j->parameters;
    uint32_t tensor = (uint32_t)j->layout.tensor, own = p->tower_tensor ? (uint32_t)p->tower_tensor : tensor;
    bool towers = transformer_has_tower(&j->model), apart = towers && own < tensor;
    j->place = (struct transformer_tower_place){.own = towers && p->tower_place == TOWERS_OWN,
                                                .apart = apart,
                                                .tensor = tensor,
                                                .groups = 1,
                                                .axes = array_zeroed(1, sizeof *j->place.axes)};
    snprintf(j->place.axes->shared, sizeof j->place.axes->shared, "tensor");
    if (towers && own > tensor) {
        j->api->error(j->job, "tower_tensor",
                      "%u ranks of a tower are more than the %u along tensor; expected a divisor of these", own,
                      tensor);
        return false;
    }
    return ((!apart && !j->place.own) || check_place(j)) && (!apart || cut_groups(j, own));
}

/* Whether a worker of stage 0 has another one as well. */
static bool shares_worker(const struct transformer_job *j)
{
    uint32_t first = 0;
    bool shares = j->api->stage_workers(j->job, 0, &first, 1) != 1 || j->stages != j->workers;
    return shares || j->api->weights_travel(j->job);
}

bool transformer_check_tower_stages(const struct transformer_job *j)
{
    return transformer_refuse(j, j->place.apart && transformer_stage_experts(j, 0) > 0, "tower_tensor",
                              "a tower with replicas of its own beside experts of the same stage is not known; "
                              "expected tower_place: own, or dense layers on the first stage") &&
           transformer_refuse(j, j->place.own && shares_worker(j), "tower_place",
                              "a tower of its own ranks needs a schedule with one stage on each worker") &&
           transformer_refuse(j, j->place.own && j->layers[0] > 0, "tower_place",
                              "the first stage is the tower's; expected no layers of the language model on it") &&
           transformer_refuse(j, j->place.own && j->embedding_copied, "tower_place",
                              "an embedding that the last stage needs, too (model.tied, model.predictions), is taken "
                              "to be on the first; expected tower_place: first");
}

/* ---- drawing ---- */

/* Samples of an iteration: their number, and the tokens that each has room for beside those that it has already. */
struct samples {
    size_t count;
    double *room;
    size_t cut; /* samples of a tower that are drawn larger than they have room for */
};

/* Whether nothing about the samples is left to chance. */
static bool is_given(const struct transformer_tower *t)
{
    return t->listed.count > 0 || t->amounts->distribution.kind == DISTRIBUTION_FIXED;
}

/* Items of a sample that the language model gets: whole images, as many as its sequence has room for. -1: a sample that
 * is given has not. */
static double take_items(const struct transformer_job *j, const struct transformer_tower *t, double amount,
                         struct samples *samples, size_t number)
{
    enum { ROUNDED = 1000000000 };
    bool sound = t->kind == TOWER_AUDIO, parts = sound && !t->padding_passed;
    double asked = sound ? amount / t->clip : floor(amount + 0.5), items = parts ? asked : ceil(asked),
           each = tower_tokens(t), room = samples->room[number] / each * (1 + 1.0 / ROUNDED),
           most = fmax(0, parts ? room : floor(room));
    if (items > most && is_given(t)) {
        double before = (double)j->model.sequence - samples->room[number];
        report_tokens(j, t->listed.count ? keys_of[t->kind].listed : keys_of[t->kind].drawn,
                      before > 0 ? "images and sound" : keys_of[t->kind].what, before + items * each);
        return -1;
    }
    samples->cut += items > most;
    items = fmin(items, most);
    samples->room[number] -= items * each;
    return items;
}

static double sample_of(const struct transformer_tower *t, struct draws *draws, size_t number)
{
    if (t->listed.count)
        return t->listed.values[number % t->listed.count];
    return distribution_draw(&t->amounts->distribution, draws);
}

/* Groups of ranks that divide the images of a micro-batch have whole ones: all, if each had as many as the one with
 * most. */
static double most_of(const struct transformer_job *j, enum transformer_tower_kind kind, double items)
{
    return kind == TOWER_IMAGES && j->place.apart ? ceil(items / j->place.groups) * j->place.groups : items;
}

/* Of samples dealt to micro-batches and ranks, the work of each over the mean. */
static bool draw(struct transformer_job *j, enum transformer_tower_kind kind, size_t batches,
                 struct samples *all_samples)
{
    struct transformer_tower *t = &j->model.towers[kind];
    struct transformer_tower_load *load = &j->towers[kind];
    struct draws draws = draws_of(t->seed, PURPOSE_TOWERS + (uint64_t)kind, 0);
    size_t samples = (size_t)j->layout.samples;
    double sum = 0, passed = 0;
    load->factors = array_zeroed(batches, sizeof *load->factors);
    for (size_t batch = 0; batch < batches; batch++)
        for (size_t k = 0; k < samples; k++) {
            size_t number = batch * samples + k;
            double items = take_items(j, t, sample_of(t, &draws, number), all_samples, number);
            if (items < 0)
                return false;
            passed += items;
            items = t->padded ? ceil(items) : items;
            load->factors[batch] += items;
            sum += items;
        }
    double all = 0;
    for (size_t batch = 0; batch < batches; batch++) {
        load->factors[batch] = most_of(j, kind, load->factors[batch]);
        all += load->factors[batch];
    }
    if (!(sum > 0)) {
        j->api->error(j->job, t->listed.count ? keys_of[kind].listed : keys_of[kind].drawn,
                      "no sample of an iteration has any %s that fits into its sequence", keys_of[kind].what);
        return false;
    }
    t->items = sum / (double)(batches * samples);
    t->passed = passed / (double)(batches * samples);
    load->spread = all / sum;
    for (size_t batch = 0; batch < batches; batch++) {
        load->factors[batch] *= (double)batches / all;
        load->most = fmax(load->most, load->factors[batch]);
    }
    return true;
}

static bool draw_kind(struct transformer_job *j, enum transformer_tower_kind kind, struct samples *samples)
{
    const struct transformer_tower *t = &j->model.towers[kind];
    const char *key = t->amounts ? keys_of[kind].drawn : keys_of[kind].listed;
    double batches = (double)j->api->micro_batches(j->job) * j->data, count = j->layout.samples * batches;
    if (!(j->layout.samples >= 1) || count > SAMPLES_MAX) {
        j->api->error(j->job, key,
                      "each sample has its own %s; expected batch.micro or batch.global, of at most %d samples",
                      keys_of[kind].what, (int)SAMPLES_MAX);
        return false;
    }
    if (!samples->room) {
        samples->count = (size_t)count;
        samples->room = array_zeroed(samples->count, sizeof *samples->room);
        for (size_t i = 0; i < samples->count; i++)
            samples->room[i] = (double)j->model.sequence - fixed_tokens(j, TOWER_IMAGES) - fixed_tokens(j, TOWER_AUDIO);
    }
    samples->cut = 0;
    bool ok = draw(j, kind, (size_t)batches, samples);
    if (ok && samples->cut)
        j->api->note(j->job, key, "%zu of %zu samples have only as much as their sequence has room for", samples->cut,
                     samples->count);
    return ok;
}

bool transformer_draw_towers(struct transformer_job *j)
{
    struct samples samples = {0};
    bool ok = true;
    for (enum transformer_tower_kind kind = TOWER_IMAGES; kind < TRANSFORMER_TOWERS; kind++) {
        double items = j->model.towers[kind].items * j->layout.samples;
        j->towers[kind].most = 1;
        j->towers[kind].spread = items > 0 && j->place.apart ? most_of(j, kind, items) / items : 1;
    }
    for (unsigned i = 0; i < 2 * TRANSFORMER_TOWERS; i++) { /* what is drawn has the room that what is given leaves */
        enum transformer_tower_kind kind = (enum transformer_tower_kind)(i % TRANSFORMER_TOWERS);
        const struct transformer_tower *t = &j->model.towers[kind];
        if (t->layers && (i < TRANSFORMER_TOWERS ? t->listed.count > 0 : t->amounts != NULL))
            ok = draw_kind(j, kind, &samples) && ok;
    }
    free(samples.room);
    return ok;
}

void transformer_tower_loads_finish(struct transformer_job *j)
{
    for (enum transformer_tower_kind kind = TOWER_IMAGES; kind < TRANSFORMER_TOWERS; kind++)
        free(j->towers[kind].factors);
    free(j->place.axes);
}

bool transformer_towers_vary(const struct transformer_job *j)
{
    return j->towers[TOWER_IMAGES].factors || j->towers[TOWER_AUDIO].factors;
}
