/* SPDX-License-Identifier: Apache-2.0 */
/* Properties of hosts, links and zones. */
#include "base/arena.h"
#include "platforms/library.h"
#include "platforms/network/network_reader.h"
#include "platforms/platform_file.h"
#include "platforms/properties.h"
#include "platforms/soundness.h"
#include "platforms/units.h"

#include <string.h>

static void keep_library_property(struct reader *reader, const char *key, const char *value, uint32_t zone)
{
    struct arena *arena = reader->arena;
    reader->library =
        array_grow(reader->library, &reader->library_capacity, reader->library_count + 1, sizeof *reader->library);
    reader->library[reader->library_count++] =
        (struct library_property){arena_copy(arena, key), arena_copy(arena, value), zone};
}

/* Of a property that is given twice SimGrid takes the first. */
static bool is_new_property(struct reader *reader, const char *key)
{
    unsigned bit = 0;
    while (properties_host_keys[bit] && strcmp(properties_host_keys[bit], key) != 0)
        bit++;
    bool known = properties_host_keys[bit] || !strcmp(key, "kind");
    if (known && reader->seen >> bit & 1)
        reader_leave(reader, "the property '%.60s' a second time", key);
    reader->seen |= known ? 1u << bit : 0;
    return !reader->why;
}

static void host_property(struct reader *reader, const char *key, const char *value)
{
    struct fault fault = {""};
    if (!is_new_property(reader, key))
        return;
    if (!strcmp(key, "kind"))
        reader->kind = strcmp(value, "gpu") ? KIND_OTHER : KIND_GPU;
    else if (!properties_set(&reader->host, key, value, reader->arena, &fault))
        reader_leave(reader, "%s", fault.text);
    else if (library_owns(key))
        reader_leave(reader, "the property '%.60s' of a host", key);
}

/* SimGrid gives what a pair says to the pair, which draws nothing. */
static void link_property(struct reader *reader, const char *key, const char *value)
{
    struct fault fault = {""};
    struct platform_link_watts watts;
    const struct network *network = reader->network;
    if (strcmp(key, "wattage_range") != 0)
        return;
    const char *link = network->links[network->link_count - 1].name;
    if (name_table_find(&reader->links, link) == NAME_UNKNOWN)
        reader_leave(reader, "the property '%.60s' of a pair of links", key);
    else if (!properties_link_watts(&watts, link, value, &fault))
        reader_leave(reader, "%s", fault.text);
    else
        network_set_watts(reader->network, watts);
}

void reader_start_property(struct reader *reader, const char **attributes)
{
    const char *values[2];
    const struct open_element *of = reader_top(reader);
    if (!TAKE(reader, "prop", attributes, values, {"id"}, {"value"}))
        return;
    bool is_zone = of->element == AT_ZONE && of->phase == PHASE_PROPERTIES;
    if (of->element == AT_HOST)
        host_property(reader, values[0], values[1]);
    else if (of->element == AT_CLUSTER && library_owns(values[0]))
        keep_library_property(reader, values[0], values[1], NETWORK_NONE);
    else if (of->element == AT_CLUSTER)
        host_property(reader, values[0], values[1]);
    else if (is_zone && library_owns(values[0]) && reader->network->zones[of->zone].depth < 2)
        keep_library_property(reader, values[0], values[1], of->zone);
    else if (of->element == AT_LINK)
        link_property(reader, values[0], values[1]);
    else if (!is_zone)
        reader_leave(reader, "<prop> at this place");
    reader_push(reader, AT_LEAF, of->zone);
}
