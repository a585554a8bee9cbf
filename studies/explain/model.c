/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/explain/model.h"

#include "base/exit_code.h"
#include "studies/simulation.h"

#include <stdlib.h>

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
    if (code == EXIT_DONE && !expected_fill(&model->table, model->recorded, &fault)) {
        diag_print(stderr, "stagesim: %s\n", fault.text);
        code = EXIT_FAILED;
    }
    return code;
}

int model_ask_network(const struct scenario *scenario, const struct recorded *trace, const uint32_t *steps,
                      size_t step_count, struct explain_model *model, struct arena *arena)
{
    int code = network_times_find(&model->network, scenario, &model->table, trace);
    return code == EXIT_DONE
               ? shared_network_find(scenario, &model->table, trace, steps, step_count, arena, &model->shared)
               : code;
}

void model_finish(struct explain_model *model)
{
    recorded_destroy(model->recorded);
    expected_finish(&model->table);
    network_times_finish(&model->network);
}

static double seconds_of(void *user, const struct recorded *recorded, const struct recorded_operation *operation)
{
    const struct explain_model *model = user;
    return expected_seconds(&model->table, recorded, operation);
}

static double alone_of(void *user, const struct recorded *recorded, const struct recorded_operation *operation,
                       bool own_size)
{
    const struct explain_model *model = user;
    return network_times_seconds(&model->network, &model->table, recorded, operation, own_size);
}

struct loss_model model_losses(struct explain_model *model)
{
    return (struct loss_model){.seconds = seconds_of,
                               .alone = alone_of,
                               .user = model,
                               .step = model->table.step,
                               .shared = model->shared.seconds,
                               .shared_step = model->shared.step};
}
