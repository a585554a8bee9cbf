/* SPDX-License-Identifier: Apache-2.0 */
/* Rates of transfers that share links, against max-min fairness worked out by hand (Bertsekas and Gallager, Data
 * Networks, 6.5.2), and the classes of names. */
#include "platforms/view.h"

#include <criterion/criterion.h>
#include <math.h>

enum { HOSTS = 4, LINKS = 3 };

/* Links by pair of hosts: host 0 to 1 over link 0; 1 to 2 over link 1; 0 to 2 over both; 2 to 3 over the fat pipe 2;
 * 3 to 0 has no route, and a host reaches itself over no link. */
static void route(struct platform *platform, uint32_t from, uint32_t to, struct platform_route *route)
{
    static const uint32_t first[] = {0}, second[] = {1}, both[] = {0, 1}, pipe[] = {2};
    (void)platform;
    *route = (struct platform_route){0};
    if (from == 0 && to == 1)
        *route = (struct platform_route){1e-6, 12, 1, first};
    else if (from == 1 && to == 2)
        *route = (struct platform_route){1e-6, 30, 1, second};
    else if (from == 0 && to == 2)
        *route = (struct platform_route){2e-6, 12, 2, both};
    else if (from == 2 && to == 3)
        *route = (struct platform_route){1e-6, 7, 1, pipe};
    else if (from == to)
        *route = (struct platform_route){0, INFINITY, 0, first};
}

static bool reaches(struct platform *platform, uint32_t from, uint32_t to)
{
    struct platform_route found;
    route(platform, from, to, &found);
    return found.bandwidth > 0;
}

static void rates_are(const uint32_t *from, const uint32_t *to, uint32_t count, const double *expected)
{
    static struct platform_host hosts[HOSTS] = {
        {.name = "a", .node = "n"}, {.name = "b", .node = "n"}, {.name = "c", .node = "n"}, {.name = "d", .node = "n"}};
    static struct platform_link links[LINKS] = {{.name = "one", .bandwidth = 12, .sharing = LINK_SHARED},
                                                {.name = "two", .bandwidth = 30, .sharing = LINK_SHARED},
                                                {.name = "pipe", .bandwidth = 7, .sharing = LINK_FATPIPE}};
    struct platform platform = {
        .host_count = HOSTS, .hosts = hosts, .link_count = LINKS, .links = links, .route = route, .reaches = reaches};
    double rates[8];
    view_rates(&platform, from, to, count, rates);
    for (uint32_t i = 0; i < count; i++)
        cr_assert(rates[i] == expected[i] || fabs(rates[i] - expected[i]) < 1e-9, "flow %u: %g, expected %g", i,
                  rates[i], expected[i]);
}

Test(view, alone)
{
    rates_are((uint32_t[]){0}, (uint32_t[]){2}, 1, (double[]){12});
    rates_are((uint32_t[]){3}, (uint32_t[]){0}, 1, (double[]){0});
    rates_are((uint32_t[]){1}, (uint32_t[]){1}, 1, (double[]){INFINITY});
}

/* Link 0 gives two flows 6 each; what is left of link 1, 30 - 6, goes to the two flows that only it holds: 12 each. */
Test(view, max_min)
{
    rates_are((uint32_t[]){0, 0, 1, 1}, (uint32_t[]){1, 2, 2, 2}, 4, (double[]){6, 6, 12, 12});
    rates_are((uint32_t[]){0, 0, 1}, (uint32_t[]){1, 2, 2}, 3, (double[]){6, 6, 24});
    rates_are((uint32_t[]){0, 0, 0, 3}, (uint32_t[]){1, 1, 1, 0}, 4, (double[]){4, 4, 4, 0});
}

/* A fat pipe gives each flow all of its rate. */
Test(view, fat_pipe)
{
    rates_are((uint32_t[]){2, 2, 0, 1}, (uint32_t[]){3, 3, 2, 1}, 4, (double[]){7, 7, 12, INFINITY});
}

Test(view, classes_of_names)
{
    static const char *const cases[][2] = {{"nvlink-0-3_UP", "nvlink"},
                                           {"nvlink-0-3_DOWN", "nvlink"},
                                           {"rail7", "rail#"},
                                           {"node-12-nic", "node-#-nic"},
                                           {"plain", "plain"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[64];
        view_link_class(cases[i][0], text, sizeof text);
        cr_assert_str_eq(text, cases[i][1], "%s", cases[i][0]);
    }
    char small[4];
    view_link_class("longer-name", small, sizeof small);
    cr_assert_str_eq(small, "lon");
}
