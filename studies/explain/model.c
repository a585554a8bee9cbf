/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/explain/model.h"

#include "base/arena.h"
#include "base/exit_code.h"
#include "studies/explain/like.h"
#include "studies/simulation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct expected {
    uint64_t first, second;
    double seconds;
};

/* How much has to be the same for operations to be alike; the first level that the scenario has counts. */
enum level { LEVEL_ALL, LEVEL_BYTES, LEVEL_WORK, LEVELS };

static uint32_t hash_of(const char *text)
{
    uint32_t hash = 0x811c9dc5u;
    while (*text)
        hash = (hash ^ (unsigned char)*text++) * 0x01000193u;
    return hash;
}

/* The same kind of operation for the same work of the same stage, of as many bytes, and for the same micro-batch. What
 * is for other work is told apart by its name. */
static void keys_of(const struct recorded *recorded, const struct recorded_operation *operation, enum level level,
                    uint64_t *first, uint64_t *second)
{
    uint32_t name = operation->work == RECORDED_OTHER ? hash_of(recorded_name_of(recorded, operation)) & 0xffff : 0;
    uint32_t bytes = 0;
    if (level < LEVEL_WORK)
        memcpy(&bytes, &operation->bytes, sizeof bytes);
    *first = (uint64_t)bytes << 32 | (uint64_t)name << 16 | (uint64_t)level << 12 | (uint64_t)operation->kind << 6 |
             operation->work;
    *second = (uint64_t)operation->stage << 32 | (level == LEVEL_ALL ? operation->micro_batch : 0);
}

static int by_keys(const void *left, const void *right)
{
    const struct expected *a = left, *b = right;
    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    return (a->second > b->second) - (a->second < b->second);
}

/* Seconds of the operations of the model's own steps, the median of what is alike. */
static bool fill_table(struct explain_model *model, struct fault *fault)
{
    const struct recorded *recorded = model->recorded;
    size_t step_count, count = 0;
    uint32_t *steps = replay_steps(recorded, &step_count);
    struct like *likes = array_zeroed(LEVELS * recorded->count, sizeof *likes);
    bool good = step_count > 0 || fault_set(fault, "the scenario has no operations");
    for (size_t s = 0; good && s < step_count; s++) {
        struct replay *replay = replay_create(recorded, steps[s], fault);
        good = replay != NULL;
        for (uint32_t i = 0; replay && i < replay->node_count; i++) {
            const struct replay_node *node = &replay->nodes[i];
            if (node->kind != REPLAY_WORK)
                continue;
            for (int level = 0; level < LEVELS; level++) {
                struct like *like = &likes[count++];
                *like = (struct like){.value = node->seconds, .operation = node->operation};
                keys_of(recorded, &recorded->operations[node->operation], (enum level)level, &like->first,
                        &like->second);
            }
        }
        model->step += replay ? replay->measured / (double)step_count : 0;
        replay_finish(replay);
    }
    like_medians(likes, count);
    model->table = array_zeroed(count, sizeof *model->table);
    for (size_t i = 0; i < count; i++)
        if (!i || likes[i].first != likes[i - 1].first || likes[i].second != likes[i - 1].second)
            model->table[model->table_count++] = (struct expected){likes[i].first, likes[i].second, likes[i].value};
    free(likes);
    free(steps);
    return good;
}

int model_run(const struct scenario *scenario, struct explain_model *model)
{
    struct run_files files = {.operations = tmpfile()};
    struct simulation_request request = {.scenario = scenario, .files = &files, .quiet = true};
    struct simulation_result result = {0};
    struct diag diag = {.out = stderr};
    struct fault fault = {.text = ""};
    *model = (struct explain_model){0};
    if (!files.operations) {
        fprintf(stderr, "stagesim: no file can be made for the simulation's operations\n");
        return EXIT_FAILED;
    }
    int code = simulate(&request, &result);
    gantt_destroy(result.gantt);
    free(result.parts);
    if (code == EXIT_DONE) {
        rewind(files.operations);
        model->recorded = recorded_read_stream("operations of the simulation", files.operations, &diag);
        code = model->recorded ? EXIT_DONE : EXIT_FAILED;
    }
    fclose(files.operations);
    if (code == EXIT_DONE && !fill_table(model, &fault)) {
        diag_print(stderr, "stagesim: %s\n", fault.text);
        code = EXIT_FAILED;
    }
    return code;
}

void model_finish(struct explain_model *model)
{
    recorded_destroy(model->recorded);
    free(model->table);
}

static double seconds_of(void *user, const struct recorded *recorded, const struct recorded_operation *operation)
{
    const struct explain_model *model = user;
    for (int level = 0; level < LEVELS; level++) {
        struct expected key = {0};
        keys_of(recorded, operation, (enum level)level, &key.first, &key.second);
        const struct expected *found = bsearch(&key, model->table, model->table_count, sizeof key, by_keys);
        if (found)
            return found->seconds;
    }
    return NAN;
}

struct loss_model model_losses(struct explain_model *model)
{
    return (struct loss_model){seconds_of, model, model->step};
}
