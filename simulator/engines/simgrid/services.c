/* SPDX-License-Identifier: Apache-2.0 */
/* The program's functions, as part.c was given them. */
#include "simulator/engines/simgrid/services.h"

const struct simgrid_services *simgrid_services;
