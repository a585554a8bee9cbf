/* SPDX-License-Identifier: Apache-2.0 */
/* What the C++ files of the bridge know of each other. One simulation per process, so there is one of each. */
#ifndef STAGESIM_SIMGRID_PARTS_HPP
#define STAGESIM_SIMGRID_PARTS_HPP

#include "simulator/engines/simgrid/bridge.h"
#include "simulator/engines/simgrid/versions.hpp"

#include <cstddef>
#include <exception>
#include <string>

namespace parts
{

namespace sg4 = simgrid::s4u;

/* ---- settings.cpp ---- */

/* Sets "key:value" of a platform file, unless the scenario sets that key. */
void set_where_free(const char *setting, const std::string &place);
/* What all latencies are multiplied by, for a function that multiplies them: 1 where neither the scenario nor the
 * platform file says anything, as CM02 has it. Afterwards set_latency_factor does nothing. */
double take_latency_factor();
/* Leaves that to SimGrid's settings, unless it was taken. Before the simulation runs, and before SimGrid reads a file
 * that says something of it; throws what SimGrid throws. */
void set_latency_factor();

/* ---- failures.cpp ---- */

/* The first failure inside the simulation; those after it are its consequences. */
struct failure {
    bool seen = false;
    std::string text;
    void set(const std::string &what)
    {
        if (!seen)
            text = what;
        seen = true;
    }
};

failure &first_failure();
/* "link 'l' went down at 5.000000 s; a message needed it at 7.000000 s". */
std::string link_failure();
/* Hosts and links that go down end the simulation where the job needs them. After the platform is there. */
void watch_failures();

/* ---- within_zone.cpp ---- */

/* Has SimGrid load a platform file. Clusters with a topology that stand in no zone, bytes from..to of the file, are put
 * into one where SimGrid wants it. Throws what SimGrid throws, with the file's name, and std::runtime_error. */
void load_file(const char *file, size_t from, size_t to);

/* ---- loaded.cpp ---- */

/* Whether bridge_load made it. */
bool is_loaded(const struct platform *platform);

/* ---- adopted.cpp ---- */

/* SimGrid's host; made where the job is the first to use it. */
sg4::Host *host_of(const struct platform *platform, uint32_t host);

} // namespace parts

#endif
