/* SPDX-License-Identifier: Apache-2.0 */
/* fontconfig is not there. */
#ifndef ABSENT_FONTCONFIG_H
#define ABSENT_FONTCONFIG_H

static inline int FcGetVersion(void)
{
    return 0;
}
static inline void FcFini(void)
{
}

#endif
