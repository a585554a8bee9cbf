/* SPDX-License-Identifier: Apache-2.0 */
/* hwloc is not there: platforms/import/hwloc_absent.c says so where it is asked for. */
#ifndef ABSENT_HWLOC_H
#define ABSENT_HWLOC_H

static inline unsigned hwloc_get_api_version(void)
{
    return 0;
}

#endif
