/* SPDX-License-Identifier: Apache-2.0 */
/* A lock in memory that processes share, held for a moment. */
#ifndef STAGESIM_SEARCH_LOCK_H
#define STAGESIM_SEARCH_LOCK_H

#include <sched.h>
#include <stdatomic.h>

static inline void search_lock(atomic_flag *lock)
{
    while (atomic_flag_test_and_set_explicit(lock, memory_order_acquire))
        sched_yield();
}

static inline void search_unlock(atomic_flag *lock)
{
    atomic_flag_clear_explicit(lock, memory_order_release);
}

#endif
