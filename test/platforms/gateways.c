/* SPDX-License-Identifier: Apache-2.0 */
/* Gateways that stand deeper than in the zone that they are of are found, and no others. */
#include "platforms/reach.h"

#include "base/arena.h"
#include "platforms/platform_file.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A pod of a node and a switch that leads to another pod, through the gateway. */
static const char text[] =
    "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
    "<platform version=\"4.1\"><zone id=\"all\" routing=\"Floyd\">\n"
    "<zone id=\"pod\" routing=\"Floyd\"><zone id=\"leaf\" routing=\"Full\"><router id=\"switch\"/>"
    "</zone></zone>\n<zone id=\"flat\" routing=\"Full\"><router id=\"port\"/></zone>\n"
    "<cluster id=\"many\" prefix=\"n\" suffix=\"\" radical=\"0-3\" speed=\"1Gf\" bw=\"1GBps\" "
    "lat=\"1us\" router_id=\"door\"/>\n<link id=\"l\" bandwidth=\"1GBps\" latency=\"1us\"/>\n"
    "<zoneRoute src=\"%s\" dst=\"flat\" gw_src=\"%s\" gw_dst=\"port\"><link_ctn id=\"l\"/>"
    "</zoneRoute></zone></platform>\n";

static const struct {
    const char *zone, *gateway, *deep;
} cases[] = {{"pod", "switch", ":8:1: gateway 'switch' of zone 'pod' stands in a zone within it"},
             {"leaf", "switch", NULL},
             {"many", "door", NULL},
             {"pod", "nowhere", NULL},
             {"nowhere", "switch", NULL}};

Test(gateways, deep_ones)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena *arena = arena_create();
        struct platform_file facts;
        struct fault fault = {""};
        char name[] = "/tmp/stagesim-gateways-XXXXXX";
        FILE *out = fdopen(mkstemp(name), "w");
        cr_assert(out && fprintf(out, text, cases[i].zone, cases[i].gateway) > 0 && fclose(out) == 0);
        cr_assert(platform_file_check(name, &facts, arena, &fault), "%s", fault.text);
        unlink(name);
        cr_assert_eq(facts.deep != NULL, cases[i].deep != NULL, "case %zu: %s", i, facts.deep ? facts.deep : "none");
        cr_assert(!facts.deep || strstr(facts.deep, cases[i].deep), "case %zu: %s", i, facts.deep);
        arena_destroy(arena);
    }
}
