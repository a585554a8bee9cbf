/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/output/saved/saved_member.h"

#include "base/arena.h"
#include "base/document.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double number_most = 1e30; /* what is more is damage */

enum { COUNT_MAX = INT32_MAX };

bool saved_number(const struct saved_reader *reader, const struct node *node, double least, double *number)
{
    char *end = NULL;
    double value = NAN;
    bool plain = node->kind == NODE_SCALAR && !node->quoted && *node->text &&
                 node->text[strspn(node->text, "0123456789.eE+-")] == '\0';
    if (plain)
        value = strtod(node->text, &end);
    if (plain && !*end && fabs(value) <= number_most && value >= least) {
        *number = value;
        return true;
    }
    diag_error(reader->diag, node->at, "%s: expected a number%s%s, not %s", node->key ? node->key : "value",
               isfinite(least) ? " that is not negative" : "", plain && fabs(value) > number_most ? " up to 1e30" : "",
               node_describe(node, reader->arena));
    return false;
}

bool saved_count(const struct saved_reader *reader, const struct node *node, uint32_t *count)
{
    double value;
    if (!saved_number(reader, node, 0, &value))
        return false;
    if (value <= COUNT_MAX && value == floor(value)) {
        *count = (uint32_t)value;
        return true;
    }
    diag_error(reader->diag, node->at, "%s: expected a whole number up to %d, not '%.40s'", node->key, COUNT_MAX,
               node->text);
    return false;
}

static void read_flag(const struct saved_reader *reader, const struct node *node, bool *flag)
{
    bool known =
        node->kind == NODE_SCALAR && !node->quoted && (!strcmp(node->text, "true") || !strcmp(node->text, "false"));
    if (known)
        *flag = !strcmp(node->text, "true");
    else
        diag_error(reader->diag, node->at, "%s: expected true or false, not %s", node->key,
                   node_describe(node, reader->arena));
}

void saved_text(const struct saved_reader *reader, const struct node *node, const char **text)
{
    if (node->kind == NODE_SCALAR && node->quoted)
        *text = node->text;
    else
        diag_error(reader->diag, node->at, "%s: expected a text in quotes, not %s", node->key,
                   node_describe(node, reader->arena));
}

void saved_member_read(const struct saved_reader *reader, const struct node *root, const struct saved_member *member,
                       char *target)
{
    const struct node *node = node_find(root, member->path);
    void *value = target + member->offset;
    if (!node) {
        if (member->required)
            diag_error(reader->diag, node_place(root, member->path),
                       "'%s' is missing: this is no whole summary of a run", member->path);
        return;
    }
    switch (member->type) {
    case SAVED_TEXT:
        saved_text(reader, node, value);
        break;
    case SAVED_NUMBER:
        saved_number(reader, node, -INFINITY, value);
        break;
    case SAVED_POSITIVE:
        saved_number(reader, node, 0, value);
        break;
    case SAVED_COUNT:
        saved_count(reader, node, value);
        break;
    case SAVED_FLAG:
        read_flag(reader, node, value);
        break;
    }
}

void saved_members_read(const struct saved_reader *reader, const struct node *root, const struct saved_member *members,
                        size_t count, void *target)
{
    for (size_t i = 0; i < count; i++)
        saved_member_read(reader, root, &members[i], target);
}
