/* SPDX-License-Identifier: Apache-2.0 */
#include "platforms/platform_numbers.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *xml_attribute(const char **attributes, const char *name)
{
    for (; *attributes; attributes += 2)
        if (strcmp(attributes[0], name) == 0)
            return attributes[1];
    return "";
}

uint64_t radical_count(const char *text, struct fault *fault)
{
    uint64_t count = 0;
    for (const char *from = text;; from++) {
        char *end;
        unsigned long first = *from >= '0' && *from <= '9' ? strtoul(from, &end, 10) : ULONG_MAX, last = first;
        if (first != ULONG_MAX && *end == '-')
            last = end[1] >= '0' && end[1] <= '9' ? strtoul(end + 1, &end, 10) : ULONG_MAX;
        if (first == ULONG_MAX || last == ULONG_MAX || last > INT32_MAX - 1 || (*end && *end != ',')) {
            fault_set(fault, "radical=\"%.60s\" is no list of numbers and ranges such as 0-3,7", text);
            return 0;
        }
        count += last >= first ? last - first + 1 : 0;
        if (!*end)
            return count;
        from = end;
    }
}

/* Speeds are a list, one for each power state. */
static bool check_speeds(const char *element, const char **attributes, struct fault *fault)
{
    const char *text = xml_attribute(attributes, "speed");
    for (const char *from = text; *from; from += strcspn(from, ",") + (from[strcspn(from, ",")] == ',')) {
        char *end;
        double speed = strtod(from, &end);
        if (end != from && !(speed > 0 && isfinite(speed)))
            return fault_set(fault, "%s '%.200s': speed=\"%.100s\"; speeds are finite and above 0", element,
                             xml_attribute(attributes, "id"), text);
    }
    return true;
}

static bool check_whole_numbers(const char **attributes, struct fault *fault)
{
    static const char *const keys[] = {"core", "pstate", NULL};
    for (const char *const *key = keys; *key; key++) {
        const char *text = xml_attribute(attributes, *key);
        char *end;
        double value = strtod(text, &end);
        if (*text && (end == text || *end || value != trunc(value) || !(value >= 0 && value <= 1e6)))
            return fault_set(fault, "%s=\"%.60s\" is no whole number up to 1000000", *key, text);
    }
    return true;
}

/* SimGrid multiplies the numbers of a fat tree or a dragonfly as 32-bit integers. */
static bool check_topology(const char **attributes, struct fault *fault)
{
    double product = 1;
    const char *text = xml_attribute(attributes, "topo_parameters");
    for (const char *at = text + strcspn(text, "0123456789"); *at; at += strcspn(at, "0123456789")) {
        char *end;
        product *= fmax(1, strtod(at, &end));
        at = end;
    }
    return product <= INT32_MAX ||
           fault_set(fault, "topo_parameters=\"%.100s\": the product of all numbers is beyond %d", text, INT32_MAX);
}

bool host_numbers_check(const char *element, const char **attributes, struct fault *fault)
{
    return check_topology(attributes, fault) && check_speeds(element, attributes, fault) &&
           check_whole_numbers(attributes, fault);
}

bool xml_is_any(const char *text, const char *const *words)
{
    for (; *words; words++)
        if (!strcmp(text, *words))
            return true;
    return false;
}

/* SimGrid says which versions it reads, but stumbles over what is no number. */
bool version_check(const char **attributes, struct fault *fault)
{
    const char *version = xml_attribute(attributes, "version");
    char *end;
    double value = strtod(version, &end);
    if (*version && (end == version || *end || !(value >= 0 && value < 1e6)))
        return fault_set(fault, "version=\"%.60s\" is no version of platform files; expected 4.1", version);
    return true;
}

/* SimGrid registers the state's events for the link itself, which hands them to its two halves
 * (SplitDuplexLinkImpl::apply_event); these know events of their own only and end the process: "Unknown event!". Links
 * are sealed once they are read, so nothing can be attached to the halves either. */
bool link_check(const char **attributes, struct fault *fault)
{
    const char *id = xml_attribute(attributes, "id"), *sharing = xml_attribute(attributes, "sharing_policy");
    if (*xml_attribute(attributes, "state_file") && strstr(sharing, "DUPLEX"))
        return fault_set(fault,
                         "link '%.200s': SimGrid 3.32 cannot let a link of two directions fail; expected a SHARED link "
                         "for each direction, with the state_file of its own",
                         id);
    if (strcmp(sharing, "WIFI") == 0)
        return fault_set(fault, "link '%.200s': wireless networks are not simulated; links are wired", id);
    return true;
}
