/* SPDX-License-Identifier: Apache-2.0 */
#include "platforms/generate/written.h"

#include "base/arena.h"
#include "base/bulk.h"
#include "platforms/generate/xml.h"
#include "platforms/properties.h"
#include "platforms/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_LENGTH = 64 };

/* What `write` writes of a number, read by `read`. */
static double read_back(void (*write)(FILE *out, double value), bool (*read)(const char *text, double *value),
                        double value)
{
    char text[NUMBER_LENGTH] = "";
    double back = value;
    FILE *out = fmemopen(text, sizeof text, "w");
    if (out) {
        write(out, value);
        fclose(out);
        read(text, &back);
    }
    return back;
}

double written_bandwidth(double bytes_per_second)
{
    return read_back(xml_bandwidth, units_bandwidth, bytes_per_second);
}

double written_latency(double seconds)
{
    return read_back(xml_latency, units_time, seconds);
}

/* Calls `set` for each property of a text of lines <prop id="KEY" value="VALUE"/>; cuts the text up. Values of the
 * generator have no characters that XML escapes. */
static bool each_property(char *text, bool (*set)(void *user, const char *key, const char *value, struct fault *fault),
                          void *user, struct fault *fault)
{
    for (char *rest = text; (rest = strstr(rest, "id=\""));) {
        char *key = rest + 4, *end = strchr(key, '"'), *value = strstr(end, "value=\"") + 7;
        *end = '\0';
        rest = strchr(value, '"');
        *rest++ = '\0';
        if (!set(user, key, value, fault))
            return false;
    }
    return true;
}

struct host_setting {
    struct platform_host *host;
    struct arena *arena;
};

static bool set_host(void *user, const char *key, const char *value, struct fault *fault)
{
    const struct host_setting *setting = user;
    return properties_set(setting->host, key, value, setting->arena, fault);
}

static bool set_library(void *user, const char *key, const char *value, struct fault *fault)
{
    return library_set(user, key, value, fault);
}

bool written_host(struct platform_host *host, const struct node_part *device, const char *interface,
                  struct arena *arena, struct fault *fault)
{
    char *text = NULL, speed[NUMBER_LENGTH] = "";
    size_t size = 0;
    struct host_setting setting = {host, arena};
    FILE *out = fmemopen(speed, sizeof speed, "w"), *properties = memory_stream_open(&text, &size);
    bool done = out != NULL;
    if (out) {
        xml_speed(out, device);
        fclose(out);
    }
    xml_properties(properties, device, 0);
    memory_stream_close(properties);
    host->name = "";
    done = done && units_speed(speed, &host->speed) && each_property(text, set_host, &setting, fault);
    host->nic = interface;
    free(text);
    return done || fault_set(fault, "the speed '%s' of a device cannot be read", speed);
}

bool written_library(struct platform_library *to, const struct platform_library *from, struct fault *fault)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = memory_stream_open(&text, &size);
    library_write(out, from, 0);
    memory_stream_close(out);
    bool done = each_property(text, set_library, to, fault);
    free(text);
    return done;
}
