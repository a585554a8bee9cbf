/* SPDX-License-Identifier: Apache-2.0 */
#include "platforms/generate/xml.h"

#include <string.h>

void xml_text(FILE *out, const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '&')
            fputs("&amp;", out);
        else if (c == '<')
            fputs("&lt;", out);
        else if (c == '>')
            fputs("&gt;", out);
        else if (c == '"')
            fputs("&quot;", out);
        else
            fputc(c < 0x20 || c >= 0x7f ? '?' : c, out);
    }
}

void xml_comment_text(FILE *out, const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        fputc((c < 0x20 && c != '\n') || c >= 0x7f ? '?' : c, out);
        if (c == '-' && text[1] == '-')
            fputc(' ', out);
    }
}

void xml_bandwidth(FILE *out, double bytes_per_second)
{
    fprintf(out, "%.10gGBps", bytes_per_second / 1e9);
}

void xml_latency(FILE *out, double seconds)
{
    fprintf(out, "%.10gus", seconds * 1e6);
}

static void link_name(FILE *out, const char *class_name, uint32_t node, uint32_t number)
{
    fprintf(out, "%s-%u", class_name, node);
    if (number != NODE_NONE)
        fprintf(out, "-%u", number);
}

void xml_link(FILE *out, const char *class_name, uint32_t node, uint32_t number, double bandwidth, double latency)
{
    fputs("    <link id=\"", out);
    link_name(out, class_name, node, number);
    fputs("\" bandwidth=\"", out);
    xml_bandwidth(out, bandwidth);
    fputs("\" latency=\"", out);
    xml_latency(out, latency);
    fputs("\" sharing_policy=\"SPLITDUPLEX\"/>\n", out);
}

void xml_flow_link(FILE *out, const char *name, double bandwidth)
{
    fprintf(out, "    <link id=\"%s\" bandwidth=\"", name);
    xml_bandwidth(out, bandwidth);
    fputs("\" latency=\"0us\" sharing_policy=\"FATPIPE\"/>\n", out);
}

void xml_link_on_route(FILE *out, const char *class_name, uint32_t node, uint32_t number, bool up)
{
    fputs("<link_ctn id=\"", out);
    link_name(out, class_name, node, number);
    fprintf(out, "\" direction=\"%s\"/>", up ? "UP" : "DOWN");
}

void xml_speed(FILE *out, const struct node_part *device)
{
    fprintf(out, "%.10gTf", device->model->peak[device->model->precision]);
}

static void property(FILE *out, unsigned indent, const char *name)
{
    fprintf(out, "%*s<prop id=\"%s\" value=\"", (int)indent, "", name);
}

void xml_properties(FILE *out, const struct node_part *device, unsigned indent)
{
    const struct device_model *model = device->model;
    const char *memory = device->memory ? device->memory : model->memory;
    property(out, indent, "kind");
    fputs("gpu\"/>\n", out);
    property(out, indent, "model");
    xml_text(out, model->name);
    fputs("\"/>\n", out);
    if (device->label) {
        property(out, indent, "label");
        xml_text(out, device->label);
        fputs("\"/>\n", out);
    }
    if (memory) {
        property(out, indent, "memory");
        fprintf(out, "%s\"/>\n", memory);
    }
    if (model->memory_bandwidth > 0) {
        property(out, indent, "memory_bandwidth");
        fprintf(out, "%.10gGBps\"/>\n", model->memory_bandwidth);
    }
    for (unsigned i = 0; i < PRECISIONS; i++)
        if (model->peak[i] > 0)
            fprintf(out, "%*s<prop id=\"peak_%s\" value=\"%.10gTf\"/>\n", (int)indent, "", precision_name(i),
                    model->peak[i]);
    if (model->watts_full > 0)
        fprintf(out, "%*s<prop id=\"wattage_per_state\" value=\"%.10g:%.10g\"/>\n", (int)indent, "", model->watts_idle,
                model->watts_full);
}

static void head_device(FILE *out, const struct node_part *device)
{
    const struct device_model *model = device->model;
    fprintf(out, "device ");
    xml_comment_text(out, model->name);
    if (device->memory || model->memory)
        fprintf(out, ": %s", device->memory ? device->memory : model->memory);
    if (model->memory_bandwidth > 0)
        fprintf(out, ", %.10g GB/s", model->memory_bandwidth);
    for (unsigned i = 0; i < PRECISIONS; i++)
        if (model->peak[i] > 0)
            fprintf(out, ", %s %.10g Tf", precision_name(i), model->peak[i]);
    if (model->watts_full > 0)
        fprintf(out, ", %.10g W idle, %.10g W full", model->watts_idle, model->watts_full);
    fprintf(out, " [%c: ", confidence_letter(model->confidence));
    xml_comment_text(out, model->source);
    fputs("]\n", out);
}

static void head_wire(FILE *out, const struct wire *wire)
{
    fprintf(out, "%s: ", wire->name);
    if (wire->raw > 0)
        fprintf(out, "%.10g GB/s raw, ", wire->raw);
    fprintf(out, "%.10g GB/s effective, %.10g us [%c: ", wire->effective, wire->latency * 1e6,
            confidence_letter(wire->confidence));
    xml_comment_text(out, wire->source);
    fputs("]\n", out);
}

static void head_node(FILE *out, const struct node_graph *node)
{
    for (uint32_t i = 0; i < node_device_count(node); i++) {
        bool seen = false;
        for (uint32_t k = 0; k < i && !seen; k++)
            seen = node->parts[k].model == node->parts[i].model;
        if (!seen)
            head_device(out, &node->parts[i]);
    }
    for (uint32_t i = 0; i < node->cable_count; i++) {
        bool seen = false;
        for (uint32_t k = 0; k < i && !seen; k++)
            seen = node->cables[k].wire == node->cables[i].wire;
        if (!seen)
            head_wire(out, node->cables[i].wire);
    }
}

static void head_flow(FILE *out, const struct flow_limit *flow)
{
    if (flow->rate > 0)
        fprintf(out, ", a transfer between nodes reaches %.10g GB/s at most", flow->rate / 1e9);
    if (flow->window > 0)
        fprintf(out, ", and has %.10g bytes on their way at most", flow->window);
}

static void head_fabric(FILE *out, const struct fabric *fabric)
{
    static const char *const rails[] = {"", ", rails that meet in the spine", ", rails that meet over NVLink",
                                        ", a plane for each rail"};
    if (fabric->wire)
        head_wire(out, fabric->wire);
    fputs("fabric: ", out);
    xml_comment_text(out, fabric->name);
    if (fabric->kind == FABRIC_SWITCHED)
        fprintf(out, ", pods of %u nodes, oversubscription %.10g, %.10g us a hop%s", fabric->pod,
                fabric->oversubscription, fabric->hop * 1e6, rails[fabric->rails]);
    if (fabric->group.nodes)
        fprintf(out, ", %ss of %u nodes with %.10g GB/s each, %.10g us to what joins them%s",
                strcmp(fabric->group.links, "site") ? "group" : "site", fabric->group.nodes, fabric->group.rate / 1e9,
                fabric->group.hop * 1e6, fabric->group.direct ? ", an equal share of it to each other group" : "");
    head_flow(out, &fabric->flow);
    fprintf(out, " [%c: ", confidence_letter(fabric->confidence));
    xml_comment_text(out, fabric->source);
    fputs("]\n", out);
}

static void head_design(FILE *out, const struct design *design)
{
    head_node(out, design->node);
    head_fabric(out, &design->fabric);
    if (design->library) {
        fprintf(out, "collectives: see doc/collectives.md [%c: ", confidence_letter(design->library->confidence));
        xml_comment_text(out, design->library->source);
        fputs("]\n", out);
    }
    if (design->network) {
        fprintf(out, "collectives over nodes [%c: ", confidence_letter(design->network->confidence));
        xml_comment_text(out, design->network->source);
        fputs("]\n", out);
    }
    for (const char *const *note = design->notes; note && *note; note++) {
        xml_comment_text(out, *note);
        fputc('\n', out);
    }
}

void xml_head(FILE *out, const char *title, const struct design *designs, uint32_t count, const struct joint *joint)
{
    fputs("<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n<!--\n", out);
    xml_comment_text(out, title);
    fputs("\nRates are per direction; a link carries the effective rate (times the number of cables it bundles).\n"
          "In brackets: H read in the cited source, M vendor's figure or secondary source, L estimate.\n",
          out);
    for (uint32_t i = 0; i < count; i++) {
        if (count > 1) {
            fprintf(out, "part %u: ", i + 1);
            xml_comment_text(out, designs[i].title);
            fputc('\n', out);
        }
        head_design(out, &designs[i]);
    }
    if (joint) {
        fputs("between the parts, one in each node", out);
        head_flow(out, &joint->flow);
        fputs(": ", out);
        head_wire(out, joint->wire);
    }
    fputs("-->\n<platform version=\"4.1\">\n", out);
}

void xml_tail(FILE *out)
{
    fputs("</platform>\n", out);
}
