/* SPDX-License-Identifier: Apache-2.0 */
/* Properties of collective libraries: read, completed, written. */
#include "platforms/library.h"

#include "abi/workload.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static struct platform_library read_all(const char *const (*properties)[2])
{
    struct platform_library library = {0};
    struct fault fault = {""};
    for (; (*properties)[0]; properties++)
        cr_assert(library_set(&library, (*properties)[0], (*properties)[1], &fault), "%s", fault.text);
    library_complete(&library);
    return library;
}

static char *written(const struct platform_library *library)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    library_write(out, library, 0);
    fclose(out);
    return text;
}

static void check_protocol(const struct platform_protocol *protocol, const char *name, double start, double latency,
                           double efficiency)
{
    cr_assert_str_eq(protocol->name, name);
    cr_assert_float_eq(protocol->start, start, 1e-15);
    cr_assert_float_eq(protocol->latency, latency, 1e-15);
    cr_assert_float_eq(protocol->efficiency, efficiency, 1e-15);
}

Test(library, network_has_the_node_s_values_without_its_own)
{
    struct platform_library library = read_all((const char *const[][2]){{"collective_launch", "10us"},
                                                                        {"collective_launch_broadcast", "20us"},
                                                                        {"collective_bulk_start", "30us"},
                                                                        {"collective_low_efficiency", "0.5"},
                                                                        {NULL, NULL}});
    uint32_t count = 0;
    const struct platform_protocol *protocols = library_protocols(&library, SCOPE_NETWORK, &count);
    cr_assert_eq(count, 2);
    check_protocol(&protocols[0], "low", 0, 1, 0.5);
    check_protocol(&protocols[1], "bulk", 30e-6, 1, 1);
    for (unsigned scope = 0; scope < SCOPES; scope++) {
        cr_assert_float_eq(library.regimes[scope].launch[STAGESIM_ALL_REDUCE], 10e-6, 1e-15);
        cr_assert_float_eq(library.regimes[scope].launch[STAGESIM_BROADCAST], 20e-6, 1e-15);
    }
}

/* A protocol that is given for the network counts there, alone or with others; what it leaves out is the node's. */
Test(library, network_of_its_own)
{
    struct platform_library library = read_all((const char *const[][2]){{"collective_bulk_latency_network", "4"},
                                                                        {"collective_middle_start_network", "7us"},
                                                                        {"collective_launch", "10us"},
                                                                        {"collective_launch_network", "15us"},
                                                                        {"collective_launch_broadcast", "20us"},
                                                                        {"collective_launch_reduce_network", "25us"},
                                                                        {"collective_bulk_start", "30us"},
                                                                        {"collective_bulk_efficiency", "0.75"},
                                                                        {"collective_low_efficiency", "0.5"},
                                                                        {NULL, NULL}});
    uint32_t count = 0;
    const struct platform_protocol *protocols = library_protocols(&library, SCOPE_NETWORK, &count);
    cr_assert_eq(count, 2, "%u", count);
    check_protocol(&protocols[0], "middle", 7e-6, 1, 1);
    check_protocol(&protocols[1], "bulk", 30e-6, 4, 0.75);
    const double *launch = library.regimes[SCOPE_NETWORK].launch;
    cr_assert_float_eq(launch[STAGESIM_ALL_REDUCE], 15e-6, 1e-15);
    cr_assert_float_eq(launch[STAGESIM_BROADCAST], 15e-6, 1e-15,
                       "the network's default comes before a kind within nodes");
    cr_assert_float_eq(launch[STAGESIM_REDUCE], 25e-6, 1e-15);
    struct platform_protocol inside = library_transfers(&library, &protocols[1], SCOPE_NODE);
    check_protocol(&inside, "bulk", 30e-6, 1, 0.75);
    inside = library_transfers(&library, &protocols[0], SCOPE_NODE);
    check_protocol(&inside, "middle", 7e-6, 1, 1);
    protocols = library_protocols(&library, SCOPE_NODE, &count);
    cr_assert_eq(count, 2);
    check_protocol(&protocols[0], "low", 0, 1, 0.5);
    check_protocol(&protocols[1], "bulk", 30e-6, 1, 0.75);
}

Test(library, written_reads_back)
{
    struct platform_library library = read_all((const char *const[][2]){{"collective_launch", "10us"},
                                                                        {"collective_launch_network", "0us"},
                                                                        {"collective_bulk_start", "30us"},
                                                                        {"collective_low_start_network", "5us"},
                                                                        {"collective_in_network", "node"},
                                                                        {"collective_overlap_network", "0.25"},
                                                                        {NULL, NULL}});
    char *text = written(&library);
    cr_assert_str_eq(text, "<prop id=\"collective_launch\" value=\"10us\"/>\n"
                           "<prop id=\"collective_bulk_start\" value=\"30us\"/>\n"
                           "<prop id=\"collective_bulk_latency\" value=\"1\"/>\n"
                           "<prop id=\"collective_bulk_efficiency\" value=\"1\"/>\n"
                           "<prop id=\"collective_launch_network\" value=\"0us\"/>\n"
                           "<prop id=\"collective_low_start_network\" value=\"5us\"/>\n"
                           "<prop id=\"collective_low_latency_network\" value=\"1\"/>\n"
                           "<prop id=\"collective_low_efficiency_network\" value=\"1\"/>\n"
                           "<prop id=\"collective_in_network\" value=\"node\"/>\n"
                           "<prop id=\"collective_overlap_network\" value=\"0.25\"/>\n");
    free(text);
}

Test(library, names)
{
    static const struct {
        const char *key;
        int scope; /* -1: of neither regime */
    } keys[] = {{"collective_launch", SCOPE_NODE},
                {"collective_launch_reduce_network", SCOPE_NETWORK},
                {"collective_in_network", -1},
                {"collective_overlap_network", -1},
                {"collective_low_latency", SCOPE_NODE},
                {"collective_low_latency_network", SCOPE_NETWORK},
                {"collective_in_network_efficiency", -1},
                {"collective_torus", -1},
                {"collective_launch_network", SCOPE_NETWORK}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        for (int scope = 0; scope < SCOPES; scope++)
            cr_assert_eq(library_in_regime(keys[i].key, (enum platform_scope)scope), keys[i].scope == scope, "%s",
                         keys[i].key);
    struct platform_library library = {0};
    struct fault fault = {""};
    cr_assert_not(library_set(&library, "collective_bulk_start_netwrk", "1us", &fault));
    cr_assert(strstr(fault.text, "did you mean collective_bulk_start_network?") != NULL, "%s", fault.text);
    cr_assert_not(library_set(&library, "collective_bulk_network", "1us", &fault));
    cr_assert_not(library_set(&library, "collective_torus_network", "4x4", &fault));
}

/* Single numbers and words come back as they were written. */
Test(library, written_and_read)
{
    struct platform_library library = read_all((const char *const[][2]){{"collective_rings", "links"},
                                                                        {"collective_in_network", "node"},
                                                                        {"collective_in_network_efficiency", "0.85"},
                                                                        {"collective_in_network_decline", "0.05"},
                                                                        {"collective_direct_efficiency", "0.9"},
                                                                        {"collective_direct_efficiency_network", "0.5"},
                                                                        {"collective_tree_rate", "400GBps"},
                                                                        {"collective_tree_rate_many", "300GBps"},
                                                                        {"collective_copy_rate", "200GBps"},
                                                                        {NULL, NULL}});
    char *text = written(&library);
    cr_assert_eq(library.rings, PLATFORM_RINGS_ON_LINKS);
    cr_assert_float_eq(library.tree_rate_many, 300e9, 1);
    cr_assert_float_eq(library.direct_efficiency[SCOPE_NETWORK], 0.5, 1e-12);
    static const char *const expected[] = {
        "id=\"collective_rings\" value=\"links\"", "id=\"collective_in_network_decline\" value=\"0.05\"",
        "id=\"collective_direct_efficiency_network\" value=\"0.5\"", "id=\"collective_copy_rate\" value=\"2e+11Bps\""};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        cr_assert(strstr(text, expected[i]), "%s not in %s", expected[i], text);
    free(text);
}

/* Limits of protocols, and the protocols of messages, come back as they were written, in both scopes. */
Test(library, messages_have_protocols_of_their_own)
{
    struct platform_library library =
        read_all((const char *const[][2]){{"collective_low_most", "1MiB"},
                                          {"collective_bulk_start", "30us"},
                                          {"collective_in_network_start", "85us"},
                                          {"collective_in_network_efficiency_network", "0.9"},
                                          {"collective_own_rate", "1000GBps"},
                                          {"collective_direct_low_rate", "5GBps"},
                                          {"collective_direct_bulk_start", "40us"},
                                          {"collective_direct_bulk_start_network", "150us"},
                                          {NULL, NULL}});
    const struct platform_regime *node = &library.regimes[SCOPE_NODE], *over = &library.regimes[SCOPE_NETWORK];
    cr_assert_eq(node->protocol_count, 2);
    cr_assert_eq(node->direct_count, 2);
    cr_assert_eq(over->direct_count, 1);
    cr_assert_float_eq(node->protocols[0].most, 1048576, 1e-9);
    cr_assert_float_eq(node->direct[0].rate, 5e9, 1);
    cr_assert_float_eq(node->direct[1].start, 40e-6, 1e-15);
    cr_assert_float_eq(over->direct[0].start, 150e-6, 1e-15);
    cr_assert_float_eq(library_messages(&library, &node->direct[1], SCOPE_NETWORK).start, 150e-6, 1e-15);
    cr_assert_float_eq(library_messages(&library, &node->direct[0], SCOPE_NETWORK).rate, 5e9, 1);
    char *text = written(&library);
    static const char *const expected[] = {"id=\"collective_low_most\" value=\"1024KiB\"",
                                           "id=\"collective_in_network_start\" value=\"85us\"",
                                           "id=\"collective_in_network_efficiency_network\" value=\"0.9\"",
                                           "id=\"collective_direct_low_rate\" value=\"5e+09Bps\"",
                                           "id=\"collective_direct_bulk_start_network\" value=\"150us\""};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        cr_assert(strstr(text, expected[i]), "%s not in %s", expected[i], text);
    cr_assert(!strstr(text, "collective_direct_bulk_rate"), "%s", text);
    free(text);
    struct fault fault = {""};
    cr_assert_not(library_set(&library, "collective_low_rate", "5GBps", &fault));
    cr_assert_not(library_set(&library, "collective_direct_low_most", "5", &fault));
}

Test(library, rings_are_in_order_or_on_links)
{
    struct platform_library library = {0};
    struct fault fault = {""};
    cr_assert_not(library_set(&library, "collective_rings", "circles", &fault));
    cr_assert(strstr(fault.text, "expected links or order"), "%s", fault.text);
}
