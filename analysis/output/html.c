/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/output/html.h"

#include "analysis/pictures/canvas.h"
#include "analysis/pictures/gantt_style.h"
#include "analysis/pictures/svg_tidy.h"
#include "base/table.h"

#include <math.h>

static const char style_sheet[] =
    ":root{color-scheme:light "
    "dark;--page:#f6f7f9;--card:#fff;--text:#1a1c21;--faint:#5b606b;--line:#dcdfe5;--bar:#2e6fb7;--track:#ebedf1}\n"
    "@media(prefers-color-scheme:dark){:root{--page:#15171b;--card:#1e2127;--text:#e7e9ee;--faint:#a0a6b3;--line:#"
    "343943;--bar:#6aa5e3;"
    "--track:#2b2f37}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0;background:var(--page);color:var(--text);font:15px/1.45 'DejaVu Sans',system-ui,sans-serif}\n"
    "main{max-width:1160px;margin:0 auto;padding:28px 20px 48px}\n"
    "h1{font-size:24px;margin:0 0 4px}h2{font-size:17px;margin:34px 0 10px}\n"
    ".sub,.note{color:var(--faint);margin:0 0 18px}.note{font-size:13px;margin:8px 0 0}\n"
    ".warn{border-left:4px solid #d55e00;background:var(--card);padding:10px 14px;margin:0 0 18px}\n"
    ".tiles{display:flex;flex-wrap:wrap;gap:12px}\n"
    ".tile{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:12px 16px;flex:1 1 150px}\n"
    ".tile b{display:block;font-size:22px;font-weight:600}.tile span{color:var(--faint);font-size:13px}\n"
    "figure{margin:0;background:#fff;border:1px solid var(--line);border-radius:8px;overflow-x:auto}\n"
    "figure svg{display:block;width:100%;min-width:640px;height:auto}\n"
    "table{border-collapse:collapse;width:100%;background:var(--card);border:1px solid var(--line);font-size:14px}\n"
    "th,td{text-align:left;padding:6px 12px;border-top:1px solid var(--line);vertical-align:middle}\n"
    "th{font-weight:600}thead th{color:var(--faint);font-weight:500;border-top:0}\n"
    ".n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}\n"
    ".wide{overflow-x:auto}\n"
    ".f th{font-weight:400;white-space:nowrap}.f .d{color:var(--faint);font-size:13px;width:100%}"
    ".f .g{font-weight:600;padding-top:16px;border-top:0}.f tr:first-child .g{padding-top:8px}\n"
    "a{color:var(--bar)}\n"
    "dfn{font-style:normal;text-decoration:underline dotted var(--faint);text-underline-offset:3px;cursor:help}\n"
    ".bar{display:flex;height:14px;min-width:180px;background:var(--track);border-radius:2px;overflow:hidden}\n"
    ".bar i{display:block;height:100%;border-right:1px solid var(--card)}.bar .s{background:var(--bar)}\n"
    ".key{display:flex;flex-wrap:wrap;gap:6px 20px;margin:10px 0 "
    "0;font-size:13px;color:var(--faint);padding:0;list-style:none}\n"
    ".key i{display:inline-block;width:20px;height:12px;margin-right:6px;vertical-align:-1px}\n"
    "details{margin:10px 0}summary{cursor:pointer}dl{margin:10px 0;font-size:14px}dt{font-weight:600}dd{margin:0 0 "
    "8px;color:var(--faint)}\n"
    "@media print{:root{--page:#fff;--card:#fff;--text:#000;--faint:#444;--line:#bbb;--track:#eee;--bar:#555}"
    "main{max-width:none;padding:0}body{font-size:11px}.tile b{font-size:16px}table,.f .d,.note,.key,.tile "
    "span{font-size:10px}th,td{padding:3px 8px}h2{margin-top:20px}"
    "*{-webkit-print-color-adjust:exact;print-color-adjust:exact}figure,tr,.tiles{break-inside:avoid}h2{break-after:"
    "avoid}"
    "figure svg{min-width:0}}\n";

void html_text(FILE *out, const char *text)
{
    xml_escape(out, text);
}

static const char *hatch_gradient(enum hatch hatch)
{
    switch (hatch) {
    case HATCH_DIAGONAL:
        return "repeating-linear-gradient(135deg,#0000 0 3px,#0005 3px 4px)";
    case HATCH_HORIZONTAL:
        return "repeating-linear-gradient(0deg,#0000 0 2px,#0004 2px 3px)";
    case HATCH_VERTICAL:
        return "repeating-linear-gradient(90deg,#0000 0 2px,#fff5 2px 3px)";
    case HATCH_CROSS:
        return "repeating-linear-gradient(0deg,#0000 0 2px,#0004 2px 3px),repeating-linear-gradient(90deg,#0000 0 "
               "2px,#0004 2px 3px)";
    default:
        return "none";
    }
}

/* The colours and patterns of the pictures. */
static void cause_styles(FILE *out)
{
    for (int cause = 0; cause < CAUSES; cause++) {
        struct colour fill = cause_fill(cause);
        fprintf(out, ".c%d{background:%s #%02x%02x%02x}\n", cause, hatch_gradient(cause_hatch(cause)),
                (unsigned)lround(fill.red * 255), (unsigned)lround(fill.green * 255),
                (unsigned)lround(fill.blue * 255));
    }
}

void html_begin(FILE *out, const char *title, const char *subtitle)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>",
          out);
    html_text(out, title);
    fputs("</title>\n<style>\n", out);
    fputs(style_sheet, out);
    cause_styles(out);
    fputs("</style>\n</head>\n<body>\n<main>\n<h1>", out);
    html_text(out, title);
    fputs("</h1>\n", out);
    if (!subtitle)
        return;
    fputs("<p class=\"sub\">", out);
    html_text(out, subtitle);
    fputs("</p>\n", out);
}

void html_end(FILE *out)
{
    fputs("</main>\n</body>\n</html>\n", out);
}

void html_cause_bar(FILE *out, const double causes[CAUSES], double whole)
{
    char share[READABLE_MAX];
    fputs("<div class=\"bar\">", out);
    for (int cause = 0; cause < CAUSES; cause++) {
        if (causes[cause] > 0 && whole > 0)
            fprintf(out, "<i class=\"c%d\" style=\"width:%.3f%%\" title=\"%s %s\"></i>", cause,
                    fmin(100, 100 * causes[cause] / whole), cause_names[cause], readable_percent(share, causes[cause]));
    }
    fputs("</div>", out);
}

void html_cause_legend(FILE *out)
{
    fputs("<ul class=\"key\">", out);
    for (int cause = 0; cause < CAUSES; cause++)
        fprintf(out, "<li><i class=\"c%d\"></i><dfn title=\"%s\">%s</dfn></li>", cause, html_cause_definition(cause),
                cause_names[cause]);
    fputs("</ul>\n", out);
}

void html_share_bar(FILE *out, double share)
{
    fprintf(out, "<div class=\"bar\"><i class=\"s\" style=\"width:%.3f%%\"></i></div>", 100 * fmax(0, fmin(1, share)));
}

const char *html_cause_definition(enum cause cause)
{
    static const char *const definitions[CAUSES] = {
        [CAUSE_FILL] = "Before the first computation of the iteration on the worker",
        [CAUSE_DRAIN] = "After its last computation, and no collective of it runs or waits",
        [CAUSE_RECEIVE] = "The next computation waits for a message",
        [CAUSE_COLLECTIVE] =
            "The next computation waits for a collective, or one runs or waits after the last computation",
        [CAUSE_DEPENDENCY] = "The next computation waits for another stream of the same worker",
    };
    return definitions[cause];
}
