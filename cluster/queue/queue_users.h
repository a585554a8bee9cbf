/* SPDX-License-Identifier: Apache-2.0 */
/* The users of a queue: what is written of them, and the accounts of those whose jobs come. */
#ifndef STAGESIM_QUEUE_USERS_H
#define STAGESIM_QUEUE_USERS_H

#include "cluster/queue/queue_scenario.h"

struct json_writer;

/* Reads `users` of the map; mistakes are reported. */
void queue_read_users(struct queue_scenario *queue, const struct node *map, const struct fields_reader *reader);
/* Its schema, as a member of the object that is open. */
void queue_users_schema(struct json_writer *json);

/* Gives each job the account of its user, and the request its accounts. False with the mistakes reported: a job asks
 * for more nodes than its user may have. Memory from the arena. */
bool queue_open_accounts(const struct queue_scenario *queue, struct queue_job *jobs, struct queue_request *request,
                         struct arena *arena, struct diag *diag);

#endif
