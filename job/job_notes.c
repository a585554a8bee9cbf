/* SPDX-License-Identifier: Apache-2.0 */
/* What the job could not do as the scenario asks for: algorithms of collectives that do not serve its groups, and what
 * is said of a training of which nobody knows how long it is. */
#include "job/job_parts.h"
#include "simulator/collectives/assignment.h"
#include "simulator/program/program.h"

/* How often a kind was asked to be carried out by an algorithm, and was. */
struct served {
    uint32_t asked, done;
};

static void count_group(const struct scenario *scenario, const struct program *program, uint32_t group,
                        struct served *served)
{
    const struct position *position = &program->positions[program->groups[group].positions[0]];
    uint32_t index = 0; /* a group that does nothing has no stream */
    while (index < position->stream_count &&
           (position->streams[index].type != OPERATION_COLLECTIVE || position->streams[index].peer != group))
        index++;
    if (index == position->stream_count)
        return;
    const struct stream *stream = &position->streams[index];
    for (uint32_t id = stream->first; id < stream->first + stream->count; id++) {
        const struct operation *operation = &position->operations[id];
        const struct collective_algorithm *wanted = scenario->collectives.algorithms[operation->collective];
        if (!wanted)
            continue;
        served[operation->collective].asked++;
        served[operation->collective].done += assignment_choose(program, group, operation).algorithm == wanted;
    }
}

static const char *const keys[STAGESIM_COLLECTIVES] = {"communication.all_reduce", "communication.reduce_scatter",
                                                       "communication.all_gather", "communication.all_to_all",
                                                       "communication.broadcast",  "communication.reduce"};

void job_tell_algorithms(struct stagesim_job *building, const struct program *program)
{
    struct served served[STAGESIM_COLLECTIVES] = {{0}};
    const struct collective_policy *policy = &building->scenario->collectives;
    bool any = false;
    for (unsigned kind = 0; kind < STAGESIM_COLLECTIVES; kind++)
        any |= policy->algorithms[kind] != NULL;
    for (uint32_t group = 0; any && group < program->group_count; group++)
        if (group_size(program, &program->groups[group]) > 1)
            count_group(building->scenario, program, group, served);
    for (unsigned kind = 0; kind < STAGESIM_COLLECTIVES; kind++) {
        const struct collective_algorithm *wanted = policy->algorithms[kind];
        if (!wanted || !keys[kind] || (served[kind].asked && served[kind].done == served[kind].asked))
            continue;
        if (!served[kind].asked)
            job_tell(building, keys[kind], "%s changes nothing: the job has no %s", wanted->name,
                     collective_name((enum stagesim_collective)kind));
        else
            job_tell(building, keys[kind],
                     "%s carries out %u of %u; auto's algorithms take the others, which it cannot "
                     "serve",
                     wanted->name, served[kind].done, served[kind].asked);
    }
}

void job_tell_training(struct stagesim_job *building)
{
    const struct training_settings *settings = &building->scenario->training;
    const struct stagesim_figures *figures = &building->job->figures;
    bool tokens = figures->tokens > 0 && figures->sequence_length > 0 && building->scenario->micro_batch_size;
    if (settings->given && !(settings->steps > 0) && !tokens)
        job_tell(building, "training",
                 "training, failures and checkpoint change nothing: nothing says how long the training is; expected "
                 "'steps' in training, or all tokens in transformer.tokens");
}
