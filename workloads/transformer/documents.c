/* SPDX-License-Identifier: Apache-2.0 */
#include "workloads/transformer/documents.h"

#include "abi/fields/fields_distribution.h"
#include "base/arena.h"
#include "workloads/transformer/kinds/kinds.h"
#include "workloads/transformer/transformer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PURPOSE_DOCUMENTS = 41, DRAWN_MAX = 1 << 24 };

const char transformer_documents_axis[] = "data";

/* ---- what has to hold ---- */

static const char *key_of(const struct transformer_job *j)
{
    return j->parameters->model.document_lengths ? "model.document_lengths" : "model.documents";
}

/* Kinds whose documents nobody has described. */
static bool check_kinds(const struct transformer_job *j)
{
    for (uint64_t layer = 0; layer < j->model.layers + j->model.predictions; layer++) {
        struct transformer_model own = transformer_model_of_layer(&j->model, layer);
        if (transformer_kind_of(&own) == &kind_compressed)
            return transformer_refuse(
                j, true, key_of(j),
                "what entries of compressed attention (w, c, h) are at the borders of documents is not known; "
                "expected a model without such layers");
    }
    return true;
}

static bool check_list(const struct transformer_job *j)
{
    const struct stagesim_list *list = &j->parameters->model.documents;
    double sum = 0;
    for (size_t i = 0; i < list->count; i++)
        sum += list->values[i];
    if (sum <= (double)j->model.sequence)
        return true;
    j->api->error(j->job, "model.documents",
                  "documents of %.0f tokens do not fit into a sequence of %llu; expected "
                  "fewer or shorter ones, or a longer model.sequence",
                  sum, (unsigned long long)j->model.sequence);
    return false;
}

static bool check(const struct transformer_job *j)
{
    const struct transformer_parameters *p = j->parameters;
    bool shares = j->layout.context > 1 && j->model.causal && p->routing.context_method != CONTEXT_HEADS;
    if (p->model.documents.count && p->model.document_lengths)
        return transformer_refuse(j, true, "model.document_lengths",
                                  "documents and document_lengths say the same in two ways; expected one of them");
    if (shares && !p->routing.context_balance)
        return transformer_refuse(
            j, true, key_of(j),
            "which of the ranks that share a sequence has which part of a document is known only where each "
            "document is divided evenly; expected transformer.context_balance: true");
    return check_kinds(j) && check_list(j);
}

/* ---- drawing ---- */

struct packer {
    const struct transformer_job *job;
    struct draws draws;
    double sequence, rest; /* rest: of a document that did not fit before */
    size_t capacity;
};

/* A document is a whole number of tokens, and none is longer than a sequence where it must lie in one. */
static double next_document(struct packer *packer)
{
    double drawn =
        floor(distribution_draw(&packer->job->parameters->model.document_lengths->distribution, &packer->draws) + 0.5);
    drawn = fmax(1, drawn);
    return packer->job->parameters->model.documents_whole ? fmin(drawn, packer->sequence) : drawn;
}

static void add_piece(struct packer *packer, struct transformer_packing *p, double length)
{
    p->lengths = array_grow(p->lengths, &packer->capacity, p->count + 1, sizeof *p->lengths);
    p->lengths[p->count++] = length;
}

/* Documents in the order in which they are drawn. One that does not fit begins the next sequence: as a whole, behind
 * padding, which attends to nothing, or with what was cut off. */
static void fill_sequence(struct packer *packer, struct transformer_packing *p)
{
    double room = packer->sequence;
    bool whole = packer->job->parameters->model.documents_whole;
    while (room > 0 && p->count <= DRAWN_MAX) {
        double length = packer->rest > 0 ? packer->rest : next_document(packer);
        packer->rest = 0;
        if (length > room) {
            packer->rest = whole ? length : length - room;
            if (!whole)
                add_piece(packer, p, room);
            return;
        }
        add_piece(packer, p, length);
        room -= length;
    }
}

static int compare(const void *a, const void *b)
{
    double one = *(const double *)a, other = *(const double *)b;
    return (one > other) - (one < other);
}

/* Lengths that occur, and how often. */
static void count_lengths(struct transformer_packing *p)
{
    p->values = array_zeroed(p->count + 1, sizeof *p->values);
    p->counts = array_zeroed(p->count + 1, sizeof *p->counts);
    memcpy(p->values, p->lengths, p->count * sizeof *p->values);
    qsort(p->values, p->count, sizeof *p->values, compare);
    for (size_t i = 0; i < p->count; i++) {
        if (!p->distinct || p->values[p->distinct - 1] < p->values[i])
            p->values[p->distinct++] = p->values[i];
        p->counts[p->distinct - 1]++;
    }
}

/* False where there are many more documents than their mean length lets expect. */
static bool draw(struct transformer_job *j, size_t sequences)
{
    struct transformer_packing *p = &j->packing;
    struct packer packer = {.job = j,
                            .draws = draws_of(j->parameters->model.document_seed, PURPOSE_DOCUMENTS, 0),
                            .sequence = (double)j->model.sequence};
    p->sequences = sequences;
    p->ends = array_zeroed(sequences, sizeof *p->ends);
    for (size_t i = 0; i < sequences && p->count <= DRAWN_MAX; i++) {
        fill_sequence(&packer, p);
        p->ends[i] = p->count;
    }
    if (p->count > DRAWN_MAX)
        return transformer_refuse(
            j, true, "model.document_lengths",
            "sequences have more than 16 million documents: most of them are much shorter than the mean");
    count_lengths(p);
    j->model.documents = (struct stagesim_list){p->distinct, p->values};
    j->model.document_counts = p->counts;
    j->model.packed = (double)sequences;
    return true;
}

bool transformer_pack(struct transformer_job *j)
{
    const double most = 4e6;
    const struct transformer_parameters *p = j->parameters;
    if (!p->model.documents.count && !p->model.document_lengths)
        return true;
    if (!check(j))
        return false;
    if (!p->model.document_lengths)
        return true;
    double sequences = j->layout.samples * j->api->micro_batches(j->job) * j->data,
           mean = distribution_mean(&p->model.document_lengths->distribution);
    if (!(mean >= 1))
        return transformer_refuse(j, true, "model.document_lengths",
                                  "documents have less than a token; expected a mean of at least 1");
    if (!(sequences >= 1))
        return transformer_refuse(j, true, "model.document_lengths",
                                  "documents are drawn for each sample: expected batch.micro or batch.global");
    if (sequences * fmax(1, (double)j->model.sequence / mean) > most) {
        j->api->error(j->job, "model.document_lengths",
                      "%.0f sequences of documents of %.4g tokens are about %.3g documents; at most %.0g can be drawn",
                      sequences, mean, sequences * (double)j->model.sequence / mean, most);
        return false;
    }
    return draw(j, (size_t)sequences);
}

void transformer_packing_finish(struct transformer_packing *p)
{
    free(p->lengths);
    free(p->ends);
    free(p->values);
    free(p->counts);
}

/* ---- what follows ---- */

/* Seconds of a layer's products over scores with the documents of some neighbouring sequences alone. */
static double core_seconds(const struct transformer_job *on, uint32_t layer, size_t first, size_t sequences)
{
    const struct transformer_packing *p = &on->packing;
    struct transformer_job at = *on;
    size_t begin = first ? p->ends[first - 1] : 0;
    at.known = NULL;
    at.model.documents = (struct stagesim_list){p->ends[first + sequences - 1] - begin, &p->lengths[begin]};
    at.model.document_counts = NULL;
    at.model.packed = (double)sequences;
    struct stagesim_part core = transformer_part(&at, BLOCK_CORE, layer);
    return core.forward + core.backward;
}

static double *find_factors(const struct transformer_job *on, uint32_t layer)
{
    size_t samples = (size_t)on->layout.samples, count = on->packing.sequences / samples;
    struct stagesim_part core = transformer_part(on, BLOCK_CORE, layer);
    double *factors = array_zeroed(count, sizeof *factors), mean = core.forward + core.backward;
    for (size_t i = 0; i < count; i++)
        factors[i] = mean > 0 ? core_seconds(on, layer, i * samples, samples) / mean : 1;
    return factors;
}

const double *transformer_document_factors(const struct transformer_job *on, uint32_t layer)
{
    if (!on->packing.sequences || !on->known || !on->layer_kinds)
        return NULL;
    struct transformer_known *known = on->known;
    if (!known->factors)
        known->factors = array_zeroed(on->layer_kind_count, sizeof *known->factors);
    double **kept = &known->factors[on->layer_kinds[layer]][on->layout.recompute];
    if (!*kept)
        *kept = find_factors(on, layer);
    return *kept;
}
