/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/output/traces/paje_format.h"

#include "base/text_writer.h"

const char paje_events[] =
    "%EventDef PajeDefineContainerType 0\n"
    "%  Alias string\n%  Type string\n%  Name string\n"
    "%EndEventDef\n"
    "%EventDef PajeDefineStateType 1\n"
    "%  Alias string\n%  Type string\n%  Name string\n"
    "%EndEventDef\n"
    "%EventDef PajeDefineVariableType 2\n"
    "%  Alias string\n%  Type string\n%  Name string\n%  Color color\n"
    "%EndEventDef\n"
    "%EventDef PajeDefineLinkType 3\n"
    "%  Alias string\n%  Type string\n%  StartContainerType string\n%  EndContainerType string\n"
    "%  Name string\n"
    "%EndEventDef\n"
    "%EventDef PajeDefineEntityValue 4\n"
    "%  Alias string\n%  Type string\n%  Name string\n%  Color color\n"
    "%EndEventDef\n"
    "%EventDef PajeCreateContainer 5\n"
    "%  Time date\n%  Alias string\n%  Type string\n%  Container string\n%  Name string\n"
    "%EndEventDef\n"
    "%EventDef PajeDestroyContainer 6\n"
    "%  Time date\n%  Type string\n%  Name string\n"
    "%EndEventDef\n"
    "%EventDef PajePushState 7\n"
    "%  Time date\n%  Type string\n%  Container string\n%  Value string\n%  Operation string\n"
    "%EndEventDef\n"
    "%EventDef PajePopState 8\n"
    "%  Time date\n%  Type string\n%  Container string\n"
    "%EndEventDef\n"
    "%EventDef PajeSetVariable 9\n"
    "%  Time date\n%  Type string\n%  Container string\n%  Value double\n"
    "%EndEventDef\n"
    "%EventDef PajeStartLink 10\n"
    "%  Time date\n%  Type string\n%  Container string\n%  StartContainer string\n%  Value string\n"
    "%  Key string\n%  Bytes double\n"
    "%EndEventDef\n"
    "%EventDef PajeEndLink 11\n"
    "%  Time date\n%  Type string\n%  Container string\n%  EndContainer string\n%  Value string\n"
    "%  Key string\n"
    "%EndEventDef\n";

void paje_begin(struct text_writer *text, unsigned event, double time)
{
    text_integer(text, event);
    text_char(text, ' ');
    text_number(text, time);
    text_char(text, ' ');
}

void paje_name(struct text_writer *text, const char *name)
{
    text_string(text, " \"");
    for (; *name; name++)
        text_char(text, *name == '"' || (unsigned char)*name < ' ' ? '\'' : *name);
    text_char(text, '"');
}
