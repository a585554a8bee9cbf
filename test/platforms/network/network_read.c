/* SPDX-License-Identifier: Apache-2.0 */
/* stagesim's own reader gives to the bit what SimGrid's loader gives, or leaves the file to it: on the platforms that
 * are shipped, on those of the tests, on random ones, and on random ones with a mistake in them. */
#include "platforms/network/network_read.h"

#include "base/arena.h"
#include "simulator/engines/simgrid/bridge.h"
#include "test/support/same_platform.h"
#include "test/support/samples.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Whether the own reader takes the file; fails where it takes one that SimGrid reads in another way, or not at all. */
static bool read_both(const char *path, const char **why)
{
    struct arena *arena = arena_create();
    struct fault fault = {""};
    char difference[512] = "";
    struct platform *own = network_read_file(path, arena, why);
    if (own) {
        struct platform *other = bridge_configure(NULL, 0, &fault) ? bridge_load(path, arena, &fault) : NULL;
        if (strstr(fault.text, "SimGrid 4.1, which reads this file"))
            cr_skip_test("%s", fault.text);
        cr_assert(other, "%s: taken, but SimGrid refuses it: %s", path, fault.text);
        cr_assert(same_platform(own, other, own->host_count > 150 ? 20000 : 0, 7, difference, sizeof difference),
                  "%s: %s", path, difference);
    } else
        cr_assert(*why && **why, "%s: left to SimGrid without a reason", path);
    if (!own)
        cr_log_info("%s: %s", path, *why);
    arena_destroy(arena);
    return own != NULL;
}

/* ---- files ---- */

static const char *const patterns[] = {SOURCE_ROOT "/platforms/*.xml", SOURCE_ROOT "/test/platforms/data/*.xml",
                                       SOURCE_ROOT "/test/bad/*.xml"};

static size_t list_files(glob_t *found)
{
    for (unsigned i = 0; i < sizeof patterns / sizeof *patterns; i++)
        glob(patterns[i], i ? GLOB_APPEND : 0, NULL, found);
    return found->gl_pathc;
}

ParameterizedTestParameters(network_read, files)
{
    static int cases[1024];
    static glob_t found;
    size_t count = list_files(&found);
    for (size_t i = 0; i < count; i++)
        cases[i] = (int)i;
    return cr_make_param_array(int, cases, count);
}

ParameterizedTest(int *number, network_read, files, .timeout = 60)
{
    static const char *const taken[] = {"full.xml", "floyd.xml", "nested.xml",
                                        "star.xml", "torus.xml", "dragonfly.xml"};
    glob_t found;
    list_files(&found);
    const char *path = found.gl_pathv[*number], *name = strrchr(path, '/') + 1, *why = "";
    bool own = read_both(path, &why), expected = strstr(path, SOURCE_ROOT "/platforms/") != NULL;
    for (unsigned i = 0; i < sizeof taken / sizeof *taken; i++)
        expected |= strstr(path, "/data/") && !strcmp(name, taken[i]);
    cr_assert(own || !expected, "%s is left to SimGrid: %s", path, why);
    globfree(&found);
}

/* ---- random platforms ---- */

struct text {
    char *text;
    size_t size;
    FILE *out;
    uint64_t state;
    uint32_t zones, hosts, links;
};

static uint32_t draw(struct text *text, uint32_t below)
{
    text->state = text->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(text->state >> 33) % below;
}

static const char *one_of(struct text *text, const char *const *words, uint32_t count)
{
    return words[draw(text, count)];
}

#define ONE_OF(text, ...)                                                                                              \
    one_of(text, (const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

/* A link; 0: shared, 1: a pair, 2: a fat pipe. Links l0, p1, f2, ... of which the letter says the kind. */
static void write_link(struct text *text)
{
    static const char kinds[] = "lpf";
    static const char *const policies[] = {"", " sharing_policy=\"SPLITDUPLEX\"", " sharing_policy=\"FATPIPE\""};
    uint32_t kind = draw(text, 3);
    fprintf(text->out, "<link id=\"%c%u\" bandwidth=\"%u.%u%s\" latency=\"%u%s\"%s", kinds[kind], text->links++,
            1 + draw(text, 90), draw(text, 100),
            ONE_OF(text, "GBps", "Gbps", "MiBps", "Tbps", "kBps", "Bps", "", "Kibps", "GiBps", "Mbps"),
            draw(text, 1000), ONE_OF(text, "us", "ns", "ms", "s", "ps", "", "m"), policies[kind]);
    if (kind != 1 && draw(text, 4) == 0)
        fprintf(text->out, "><prop id=\"wattage_range\" value=\"%u:%u\"/></link>\n", draw(text, 9), 9 + draw(text, 9));
    else
        fputs("/>\n", text->out);
}

/* Links are looked for by their letter: what was declared is found again in the text. */
static void write_steps(struct text *text, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        char number[32];
        const char *at = NULL;
        fflush(text->out);
        while (!at) {
            snprintf(number, sizeof number, "%u\" bandwidth", draw(text, text->links));
            for (at = strstr(text->text, number); at && !(at[-1] >= 'a' && at[-2] == '"'); at = strstr(at + 1, number))
                ;
        }
        fprintf(text->out, "<link_ctn id=\"%c%u\"%s/>", at[-1], (unsigned)strtoul(at, NULL, 10),
                at[-1] != 'p' ? "" : ONE_OF(text, " direction=\"UP\"", " direction=\"DOWN\""));
    }
}

static void write_host(struct text *text)
{
    fprintf(text->out, "<host id=\"h%u\" speed=\"%u.%u%s\">\n", text->hosts++, 1 + draw(text, 99), draw(text, 1000),
            ONE_OF(text, "Tf", "Gf", "f", "teraflops", "", "megaflops"));
    if (draw(text, 3) == 0)
        fprintf(text->out, "<prop id=\"memory\" value=\"%u%s\"/>\n", 1 + draw(text, 80),
                ONE_OF(text, "GiB", "GB", "B"));
    if (draw(text, 4) == 0)
        fprintf(text->out, "<prop id=\"kind\" value=\"%s\"/>\n", ONE_OF(text, "gpu", "cpu"));
    if (draw(text, 4) == 0)
        fputs("<prop id=\"peak_bf16\" value=\"312Tf\"/><prop id=\"wattage_per_state\" value=\"50:400\"/>\n", text->out);
    fputs("</host>\n", text->out);
}

/* A zone of hosts and a router, joined as a tree, a circle or at random; its router is r-ZONE. */
static uint32_t write_hosts_zone(struct text *text)
{
    uint32_t zone = text->zones++, first = text->hosts, count = 1 + draw(text, 5);
    bool floyd = draw(text, 3), tree = floyd && zone == 0;
    fprintf(text->out, "<zone id=\"z%u\" routing=\"%s\">\n", zone,
            tree    ? ONE_OF(text, "Floyd", "Dijkstra", "DijkstraCache")
            : floyd ? "Floyd"
                    : "Full");
    for (uint32_t i = 0; i < count; i++)
        write_host(text);
    fprintf(text->out, "<router id=\"r-%u\"/>\n", zone);
    for (uint32_t i = 0; i < 3; i++)
        write_link(text);
    for (uint32_t a = 0; a < count; a++) {
        for (uint32_t b = a + 1; b < count; b++) {
            if (floyd && b != a + 1 && (tree || draw(text, 2)))
                continue;
            fprintf(text->out, "<route src=\"h%u\" dst=\"h%u\"%s>", first + a, first + b,
                    ONE_OF(text, "", "", " symmetrical=\"YES\""));
            write_steps(text, tree ? 1 : 1 + draw(text, 3));
            fputs("</route>\n", text->out);
        }
        if (floyd && a && (tree || draw(text, 2)))
            continue;
        fprintf(text->out, "<route src=\"h%u\" dst=\"r-%u\">", first + a, zone);
        write_steps(text, tree ? 1 : 1 + draw(text, 2));
        fputs("</route>\n", text->out);
    }
    fputs("</zone>\n", text->out);
    return zone;
}

static uint32_t write_cluster(struct text *text)
{
    static const char *const shapes[] = {"", "topology=\"TORUS\" topo_parameters=\"3,2,2\"",
                                         "topology=\"DRAGONFLY\" topo_parameters=\"2,1;2,2;3,4;1\"",
                                         "topology=\"TORUS\" topo_parameters=\"12\"", "bb_bw=\"3GBps\" bb_lat=\"2us\""};
    uint32_t zone = text->zones++, shape = draw(text, 5);
    fprintf(text->out,
            "<cluster id=\"z%u\" prefix=\"c%u-\" suffix=\"%s\" radical=\"0-11\" speed=\"%uGf\" bw=\"%u.5GBps\" "
            "lat=\"%uus\" "
            "router_id=\"r-%u\" %s %s/>\n",
            zone, zone, ONE_OF(text, "", ".lan"), 1 + draw(text, 9), 1 + draw(text, 50), draw(text, 20), zone,
            shapes[shape], ONE_OF(text, "", "sharing_policy=\"SHARED\"", "sharing_policy=\"SPLITDUPLEX\""));
    if (shape >= 1 && shape <= 3) /* these have no router */
        return UINT32_MAX;
    return zone;
}

/* A zone of zones; returns one whose router may be its gateway. */
static uint32_t write_zone(struct text *text, unsigned depth)
{
    uint32_t kind = draw(text, 4), inside[6], gateways[6], count = 2 + draw(text, 4);
    if (depth == 0 || (depth < 3 && kind == 0))
        return write_hosts_zone(text);
    uint32_t zone = text->zones++;
    bool floyd = draw(text, 3) > 0;
    fprintf(text->out, "<zone id=\"z%u\" routing=\"%s\">\n", zone, floyd ? "Floyd" : "Full");
    for (uint32_t i = 0; i < count; i++) {
        inside[i] = text->zones;
        gateways[i] = draw(text, 5) == 0 ? write_cluster(text) : write_zone(text, depth - 1);
        if (gateways[i] == UINT32_MAX) { /* one that has a router behind it */
            inside[i] = text->zones;
            gateways[i] = write_hosts_zone(text);
        }
    }
    for (uint32_t i = 0; i < 3; i++)
        write_link(text);
    for (uint32_t a = 0; a < count; a++)
        for (uint32_t b = a + 1; b < count; b++) {
            if (floyd && b != a + 1 && draw(text, 3))
                continue;
            fprintf(text->out, "<zoneRoute src=\"z%u\" dst=\"z%u\" gw_src=\"r-%u\" gw_dst=\"r-%u\">", inside[a],
                    inside[b], gateways[a], gateways[b]);
            write_steps(text, 1 + draw(text, 3));
            fputs("</zoneRoute>\n", text->out);
        }
    fputs("</zone>\n", text->out);
    return gateways[draw(text, count)];
}

static struct text write_platform(uint64_t seed)
{
    struct text text = {.state = seed * 7919 + 1};
    text.out = open_memstream(&text.text, &text.size);
    fputs("<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
          "<platform version=\"4.1\">\n",
          text.out);
    write_zone(&text, 1 + (unsigned)(seed % 3));
    fputs("</platform>\n", text.out);
    fclose(text.out);
    return text;
}

static const char *keep(const char *name, const struct text *text)
{
    FILE *out = fopen(name, "w");
    cr_assert(out && fwrite(text->text, 1, text->size, out) == text->size && fclose(out) == 0);
    return name;
}

enum { PLATFORMS = 40, MISTAKES = 60 };

ParameterizedTestParameters(network_read, random)
{
    static int cases[PLATFORMS + MISTAKES];
    size_t count = 0;
    for (int i = 0; i < PLATFORMS + MISTAKES; i++)
        if (in_sample((unsigned)i))
            cases[count++] = i;
    return cr_make_param_array(int, cases, count);
}

/* A piece of the text is taken out, doubled, or moved, or a character becomes another. */
static void spoil(struct text *text)
{
    static const char characters[] = "\"<>/= aUZ09-,;&.";
    size_t at = draw(text, (uint32_t)text->size), length = 1 + draw(text, 60), other = draw(text, (uint32_t)text->size);
    if (draw(text, 3)) { /* whole lines */
        while (at > 0 && text->text[at - 1] != '\n')
            at--;
        length = strcspn(text->text + at, "\n") + 1;
    }
    if (at + length > text->size)
        length = text->size - at;
    char *piece = strndup(text->text + at, length), *spoilt = malloc(text->size + length + 1);
    uint32_t what = draw(text, 4);
    if (what == 3) {
        text->text[at] = characters[draw(text, sizeof characters - 1)];
        length = 0;
    }
    while (what == 2 && other > 0 && text->text[other - 1] != '\n')
        other--;
    size_t cut = what == 0 || what == 2 ? length : 0, put = what == 1 || what == 2 ? strlen(piece) : 0;
    memmove(text->text + at, text->text + at + cut, text->size - at - cut + 1);
    text->size -= cut;
    other = what == 2 ? (other > text->size ? text->size : other) : at;
    memcpy(spoilt, text->text, other);
    memcpy(spoilt + other, piece, put);
    memcpy(spoilt + other + put, text->text + other, text->size - other + 1);
    text->size += put;
    free(piece);
    free(text->text);
    text->text = spoilt;
}

ParameterizedTest(int *number, network_read, random, .timeout = 60)
{
    char name[] = "/tmp/stagesim-network-XXXXXX";
    const char *why = "";
    struct text text = write_platform((uint64_t)*number + 1);
    close(mkstemp(name));
    if (*number >= PLATFORMS)
        spoil(&text);
    bool own = read_both(keep(name, &text), &why);
    unlink(name);
    cr_assert(own || *number >= PLATFORMS, "random platform %d is left to SimGrid: %s", *number, why);
    free(text.text);
}
