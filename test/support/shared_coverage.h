/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer sees what child processes execute, too. */
#ifndef TEST_SHARED_COVERAGE_H
#define TEST_SHARED_COVERAGE_H

/* Puts the pages of the fuzzer's counters, without those that hold other variables as well, into memory that is shared
 * with processes that are forked from now on. */
void coverage_share(void);

#endif
