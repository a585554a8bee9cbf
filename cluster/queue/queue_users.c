/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/queue/queue_users.h"

#include "abi/fields/fields.h"
#include "base/arena.h"
#include "job/schema/schema_value.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { USERS_MAX = 10000 };

static const struct stagesim_field user_fields[] = {
    {"share", STAGESIM_FIELD_RATIO, offsetof(struct queue_user, share), .least = 1e-6, .most = 1e6,
     .doc = "policy fair: how much the user may use for what others may; default 1"},
    {"nodes", STAGESIM_FIELD_COUNT, offsetof(struct queue_user, nodes), .least = 1, .most = RANKS_MAX,
     .doc = "policy fair: the most nodes that the user has at a time; default: those of queue.quota"},
    {0},
};
static const struct fields_section user_section = {"user", true, user_fields};

void queue_users_schema(struct json_writer *json)
{
    schema_sections_by_name(json, "users", &user_section, NULL);
}

void queue_read_users(struct queue_scenario *queue, const struct node *map, const struct fields_reader *reader)
{
    const struct node *list = node_get(map, "users");
    if (!list || list->kind == NODE_REFUSED)
        return;
    if (list->kind != NODE_MAP || list->count > USERS_MAX) {
        diag_error(reader->diag, list->at, "users is %s; expected a map of at most %d such as {ann: {share: 2}}",
                   list->kind == NODE_MAP ? "longer" : node_describe(list, reader->arena), USERS_MAX);
        return;
    }
    struct queue_user *users = arena_array(reader->arena, list->count + 1, sizeof *users);
    for (const struct node *node = list->first; node; node = node->next) {
        struct queue_user *user = &users[queue->user_count++];
        *user = (struct queue_user){.name = node->key, .share = 1};
        if (node->kind == NODE_REFUSED)
            continue;
        if (node->kind != NODE_MAP) {
            diag_error(reader->diag, node->at, "user %s is %s; expected a map such as {share: 2, nodes: 16}", node->key,
                       node_describe(node, reader->arena));
            continue;
        }
        fields_check_keys(reader, &user_section, NULL, node);
        fields_read(reader, &user_section, node, node->at, user);
    }
    queue->users = users;
}

/* ---- accounts ---- */

static int by_name(const void *left, const void *right)
{
    const struct queue_account *a = left, *b = right;
    return strcmp(a->name, b->name);
}

/* One for each user that a job has; jobs without one have the account "". */
static uint32_t list_accounts(const struct queue_job *jobs, uint32_t count, struct queue_account *accounts)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++)
        accounts[i].name = jobs[i].user ? jobs[i].user : "";
    qsort(accounts, count, sizeof *accounts, by_name);
    for (uint32_t i = 0; i < count; i++)
        if (i == 0 || strcmp(accounts[i].name, accounts[kept - 1].name) != 0)
            accounts[kept++] = accounts[i];
    return kept;
}

bool queue_open_accounts(const struct queue_scenario *queue, struct queue_job *jobs, struct queue_request *request,
                         struct arena *arena, struct diag *diag)
{
    struct queue_account *accounts = arena_array(arena, (size_t)request->job_count + 1, sizeof *accounts);
    uint32_t count = list_accounts(jobs, request->job_count, accounts);
    bool good = true;
    for (uint32_t i = 0; i < count; i++) {
        accounts[i].share = 1;
        accounts[i].nodes_most = queue->quota ? (uint32_t)queue->quota : UINT32_MAX;
    }
    for (uint32_t i = 0; i < queue->user_count; i++) {
        const struct queue_user *user = &queue->users[i];
        struct queue_account *account =
            bsearch(&(struct queue_account){.name = user->name}, accounts, count, sizeof *accounts, by_name);
        if (account) {
            account->share = user->share;
            account->nodes_most = user->nodes ? (uint32_t)user->nodes : account->nodes_most;
        }
    }
    for (uint32_t job = 0; job < request->job_count; job++) {
        struct queue_account wanted = {.name = jobs[job].user ? jobs[job].user : ""};
        const struct queue_account *account = bsearch(&wanted, accounts, count, sizeof *accounts, by_name);
        jobs[job].account = (uint32_t)(account - accounts);
        if (jobs[job].nodes <= account->nodes_most || !queue_policy_shares(queue->options.policy))
            continue;
        diag_error(diag, queue->log->arrivals[job].at, "job %s asks for %u nodes; its user%s%s may have %u",
                   jobs[job].name, jobs[job].nodes, *account->name ? " " : "", account->name, account->nodes_most);
        good = false;
    }
    request->accounts = accounts;
    request->account_count = count;
    return good;
}
