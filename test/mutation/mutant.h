/* SPDX-License-Identifier: Apache-2.0 */
/* Switches in the sources that mutation.py changes. */
#ifndef TEST_MUTANT_H
#define TEST_MUTANT_H

extern int mutant_active;             /* $MUTANT; -1: none */
extern unsigned char *mutant_reached; /* of each mutant whether its place was executed: the file $MUTANT_REACHED */

static inline int mutant(int number)
{
    if (mutant_reached)
        mutant_reached[number] = 1;
    return mutant_active == number;
}

#endif
