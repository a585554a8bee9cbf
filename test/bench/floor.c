/* SPDX-License-Identifier: Apache-2.0 */
/* What SimGrid itself costs: one-forward-one-backward pipelines as a user would write them on SimGrid's C interface.
 * One actor for each GPU, nothing recorded, no figures: the floor that test/bench/bench.py compares stagesim with.
 *
 * usage: floor PLATFORM REPLICAS STAGES MICRO_BATCHES BYTES [--cfg=...]
 *
 * Replica r has the hosts r * STAGES to (r + 1) * STAGES - 1, in the order of the numbers in their names. A forward
 * pass takes 1 ms, a backward pass 2 ms, as in the scenario of bench.py. */
#define _GNU_SOURCE
#include <simgrid/actor.h>
#include <simgrid/comm.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>
#include <simgrid/mailbox.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double forward_seconds = 1e-3, backward_seconds = 2e-3;

static int stages, micro_batches;
static double message_bytes;
static sg_mailbox_t *activations, *gradients; /* of each GPU: from the stage before, and from the one behind */

struct gpu {
    int rank, stage;
    double speed;
    sg_comm_t activation, gradient; /* sent last; NULL: none */
};

static void send_to(sg_mailbox_t box, sg_comm_t *last)
{
    if (*last)
        sg_comm_wait(*last);
    *last = sg_mailbox_put_async(box, &message_bytes, (long)message_bytes);
}

static void forward(struct gpu *gpu)
{
    if (gpu->stage > 0)
        sg_mailbox_get(activations[gpu->rank]);
    sg_actor_execute(forward_seconds * gpu->speed);
    if (gpu->stage < stages - 1)
        send_to(activations[gpu->rank + 1], &gpu->activation);
}

static void backward(struct gpu *gpu)
{
    if (gpu->stage < stages - 1)
        sg_mailbox_get(gradients[gpu->rank]);
    sg_actor_execute(backward_seconds * gpu->speed);
    if (gpu->stage > 0)
        send_to(gradients[gpu->rank - 1], &gpu->gradient);
}

/* Forward passes until the pipeline is full, then one of each, then the backward passes that are left. */
static void train(int argc, char *argv[])
{
    (void)argc;
    struct gpu gpu = {.rank = atoi(argv[1]), .speed = sg_host_get_speed(sg_host_self())};
    gpu.stage = gpu.rank % stages;
    int ahead = stages - 1 - gpu.stage < micro_batches ? stages - 1 - gpu.stage : micro_batches;
    for (int i = 0; i < ahead; i++)
        forward(&gpu);
    for (int i = ahead; i < micro_batches; i++) {
        forward(&gpu);
        backward(&gpu);
    }
    for (int i = 0; i < ahead; i++)
        backward(&gpu);
    if (gpu.activation)
        sg_comm_wait(gpu.activation);
    if (gpu.gradient)
        sg_comm_wait(gpu.gradient);
}

static int by_name(const void *a, const void *b)
{
    return strverscmp(sg_host_get_name(*(const sg_host_t *)a), sg_host_get_name(*(const sg_host_t *)b));
}

static void start_actors(sg_host_t *hosts, int ranks)
{
    activations = calloc((size_t)ranks, sizeof(sg_mailbox_t));
    gradients = calloc((size_t)ranks, sizeof(sg_mailbox_t));
    if (!activations || !gradients)
        abort();
    for (int rank = 0; rank < ranks; rank++) {
        char name[32], number[16];
        snprintf(name, sizeof name, "activation-%d", rank);
        activations[rank] = sg_mailbox_by_name(name);
        snprintf(name, sizeof name, "gradient-%d", rank);
        gradients[rank] = sg_mailbox_by_name(name);
        snprintf(number, sizeof number, "%d", rank);
        const char *arguments[] = {"gpu", number, NULL};
        sg_actor_create("gpu", hosts[rank], train, 2, (char *const *)arguments);
    }
}

int main(int argc, char *argv[])
{
    simgrid_init(&argc, argv);
    if (argc != 6)
        return fprintf(stderr, "usage: floor PLATFORM REPLICAS STAGES MICRO_BATCHES BYTES [--cfg=...]\n"), 2;
    int replicas = atoi(argv[2]);
    stages = atoi(argv[3]);
    micro_batches = atoi(argv[4]);
    message_bytes = atof(argv[5]);
    simgrid_load_platform(argv[1]);
    if (replicas < 1 || stages < 1 || (size_t)replicas * (size_t)stages > sg_host_count())
        return fprintf(stderr, "floor: the platform has %zu hosts\n", sg_host_count()), 2;
    sg_host_t *hosts = sg_host_list();
    qsort(hosts, sg_host_count(), sizeof *hosts, by_name);
    start_actors(hosts, replicas * stages);
    simgrid_run();
    printf("%.6f\n", simgrid_get_clock());
    return 0;
}
