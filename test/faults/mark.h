/* SPDX-License-Identifier: Apache-2.0 */
/* What preload.so says to inject when main begins. */
#ifndef STAGESIM_TEST_MARK_H
#define STAGESIM_TEST_MARK_H

#define MARK_OF_MAIN 0x53474d4e /* as the first argument of prctl, which knows no such option */

#endif
