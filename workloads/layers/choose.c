/* SPDX-License-Identifier: Apache-2.0 */
/* Which algorithm each convolution of a network takes. */
#include "workloads/layers/algorithm.h"
#include "workloads/layers/graph.h"
#include "workloads/layers/kfac.h"

#include "base/arena.h"
#include "base/bulk.h"
#include "base/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Bytes of numbers that a convolution is computed with on other units than those of matrices. */
enum { PLAIN_BYTES = 4 };

static double workspace_bytes(const struct layers_job *j, uint32_t index, unsigned algorithm)
{
    struct convolution convolution;
    if (!layers_convolution_of(j, index, &convolution))
        return 0;
    struct algorithm_work work = algorithm_work_of(&convolution, algorithm);
    return work.workspace * (work.matrix ? j->element_bytes : PLAIN_BYTES) / j->tensor;
}

double layers_workspace(const struct layers_job *j, uint32_t first, uint32_t end)
{
    double largest = 0, sum = 0;
    for (uint32_t i = first; j->algorithms && i < end; i++) {
        double bytes = workspace_bytes(j, i, j->algorithms[i]);
        largest = fmax(largest, bytes);
        sum += bytes;
    }
    return j->parameters->workspace_of == WORKSPACE_OF_ALL ? sum : largest;
}

/* Whether the algorithm is of the kind that the scenario asks for. */
static bool is_wanted(const struct layers_parameters *p, unsigned algorithm)
{
    switch (p->algorithms) {
    case ALGORITHMS_AUTO:
        return true;
    case ALGORITHMS_GEMM:
        return algorithm == ALGORITHM_GEMM;
    case ALGORITHMS_FFT:
        return algorithm == ALGORITHM_FFT;
    default:
        return algorithm == ALGORITHM_WINOGRAD_2 || algorithm == ALGORITHM_WINOGRAD_4;
    }
}

/* What each algorithm of a layer takes; the direct one alone where the layer can have none of those that are wanted. */
static void set_options(struct layers_job *j, uint32_t index, double bound, struct algorithm_option *options)
{
    struct convolution convolution;
    bool is_convolution = layers_convolution_of(j, index, &convolution), any = false;
    for (unsigned k = 0; k < ALGORITHMS && is_convolution; k++) {
        bool possible = algorithm_work_of(&convolution, k).possible && is_wanted(j->parameters, k);
        j->algorithms[index] = k;
        options[k] = (struct algorithm_option){.possible = possible,
                                               .seconds = layers_convolution_seconds(j, index),
                                               .workspace = workspace_bytes(j, index, k)};
        any |= possible && options[k].workspace <= bound;
    }
    options[ALGORITHM_DIRECT].possible |= !any;
    j->algorithms[index] = ALGORITHM_DIRECT;
}

/* Convolutions have to say what shape they are of. */
static bool check_shapes(struct layers_job *j)
{
    for (uint32_t i = 0; i < j->count; i++)
        if (j->layers[i].type == LAYER_CONVOLUTION && !kfac_fits(j, i)) {
            layers_report(j, i,
                          "its parameters are not a matrix of its shape, which the choice of an algorithm needs; "
                          "expected channels, height, width and kernel");
            return false;
        }
    return true;
}

bool layers_choose_algorithms(struct layers_job *j)
{
    const struct layers_parameters *p = j->parameters;
    if (p->algorithms == ALGORITHMS_DIRECT)
        return true;
    if (!check_shapes(j))
        return false;
    double bound = p->workspace >= 0 ? p->workspace : INFINITY;
    j->algorithms = array_zeroed(j->count, sizeof *j->algorithms);
    struct algorithm_option(*options)[ALGORITHMS] = array_zeroed(j->count, sizeof *options);
    unsigned *choice = array_zeroed(j->count, sizeof *choice);
    bool ok = true;
    for (uint32_t i = 0; i < j->count; i++)
        set_options(j, i, bound, options[i]);
    if (p->workspace_of == WORKSPACE_OF_ALL)
        ok = algorithm_choose_together((const struct algorithm_option(*)[ALGORITHMS])options, j->count, bound, choice);
    else
        algorithm_choose_each((const struct algorithm_option(*)[ALGORITHMS])options, j->count, bound, choice);
    for (uint32_t i = 0; i < j->count; i++)
        j->algorithms[i] = choice[i];
    if (!ok)
        j->api->error(j->job, "workspace_of",
                      "there are more than %d sums of workspaces to choose from; expected workspace_of: largest",
                      (int)ALGORITHM_SUMS_MAX);
    free(choice);
    free(options);
    return ok;
}

/* Convolutions that have an algorithm. */
static uint32_t count_layers(const struct layers_job *j, unsigned algorithm)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < j->count; i++)
        count += j->layers[i].type == LAYER_CONVOLUTION && j->algorithms[i] == algorithm;
    return count;
}

static uint32_t count_convolutions(const struct layers_job *j)
{
    uint32_t count = 0;
    for (unsigned algorithm = 0; algorithm < ALGORITHMS; algorithm++)
        count += count_layers(j, algorithm);
    return count;
}

static void print_layers(FILE *out, const struct layers_job *j, unsigned algorithm)
{
    const char *before = "";
    if (!count_layers(j, algorithm))
        return;
    fprintf(out, "%s ", algorithm_names[algorithm]);
    for (uint32_t i = 0; i < j->count; i++)
        if (j->layers[i].type == LAYER_CONVOLUTION && j->algorithms[i] == algorithm) {
            fprintf(out, "%s%s", before, j->layers[i].name);
            before = ", ";
        }
    fputs("; ", out);
}

/* The most frequent algorithm has no list of its layers. */
char *layers_algorithms_text(const struct layers_job *j)
{
    char bytes[READABLE_MAX], *text = NULL;
    size_t size = 0;
    unsigned most = ALGORITHM_DIRECT;
    if (!j->algorithms)
        return NULL;
    for (unsigned algorithm = 0; algorithm < ALGORITHMS; algorithm++)
        if (count_layers(j, algorithm) > count_layers(j, most))
            most = algorithm;
    FILE *out = memory_stream_open(&text, &size);
    for (unsigned algorithm = 0; algorithm < ALGORITHMS; algorithm++)
        if (algorithm != most)
            print_layers(out, j, algorithm);
    bool all = count_layers(j, most) == count_convolutions(j);
    fprintf(out, "%s all%s convolutions; workspace %s", algorithm_names[most], all ? "" : " other",
            readable_binary_bytes(bytes, layers_workspace(j, 0, j->count)));
    memory_stream_close(out);
    return text;
}
