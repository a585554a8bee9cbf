/* SPDX-License-Identifier: Apache-2.0 */
/* SimGrid takes every key and value that the scenario's reader lets through: a computation ends and a message arrives.
 */
#include "base/arena.h"
#include "platforms/settings.h"
#include "simulator/engines/simgrid/bridge.h"

#include <criterion/criterion.h>
#include <simgrid/actor.h>
#include <simgrid/mailbox.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static bool arrived, computed;

static void compute_and_send(void *mailbox)
{
    sg_actor_execute(1e6);
    computed = true;
    bridge_wait(bridge_send(*(void **)mailbox, 1e3));
}

static void receive(void *mailbox)
{
    sg_mailbox_get(*(void **)mailbox);
    arrived = true;
}

static int simulate(const char *config)
{
    struct arena *arena = arena_create();
    struct fault fault = {0};
    void *mailbox = NULL;
    struct platform *platform = bridge_configure(&config, 1, &fault) ? bridge_load(PLATFORM, arena, &fault) : NULL;
    if (platform) {
        bridge_actor_start(platform, 0, compute_and_send, &mailbox);
        mailbox = bridge_mailbox("box", bridge_actor_start(platform, 1, receive, &mailbox));
        bridge_run(&fault);
    }
    if (strstr(fault.text, "SimGrid cannot run")) /* stagesim's own words, for what some releases crash with */
        return strcmp(config, "network/model:IB") != 0;
    if (fault.text[0])
        fprintf(stderr, "%s: %s\n", config, fault.text);
    return fault.text[0] || !computed || !arrived;
}

/* In a process of its own: SimGrid ends the process on what it does not like. The whole status: 0 is good. */
static int simulate_apart(const char *config)
{
    pid_t child = fork();
    if (child == 0) {
        alarm(20);
        _exit(simulate(config));
    }
    int status = -1;
    waitpid(child, &status, 0);
    return status;
}

static void expect_good(const char *key, const char *value)
{
    char config[128];
    snprintf(config, sizeof config, "%s:%s", key, value);
    cr_expect_eq(simulate_apart(config), 0, "SimGrid does not take %s", config);
}

Test(simgrid_keys, every_word_and_both_bounds, .timeout = 120)
{
    for (const struct stagesim_field *field = simgrid_settings; field->key; field++) {
        char least[32], most[32];
        snprintf(least, sizeof least, "%.17g", field->least);
        snprintf(most, sizeof most, field->type == STAGESIM_FIELD_COUNT ? "%.0f" : "%.17g", field->most);
        if (field->names) {
            for (const char *const *name = field->names; *name; name++)
                expect_good(field->key, *name);
        } else {
            expect_good(field->key, least);
            expect_good(field->key, most);
        }
    }
}

/* The test would see it if SimGrid did not take something. */
Test(simgrid_keys, the_test_can_fail)
{
    cr_assert_neq(simulate_apart("network/model:FOO"), 0);
    cr_assert_neq(simulate_apart("no/such-key:1"), 0);
}
