// SPDX-License-Identifier: Apache-2.0
// Completion and hover texts from the JSON Schema that stagesim itself writes.
import {pathAt, scalarAt} from './places.js';

// Whether the scenario meets an `if` of the schema, which asks for words of keys and for keys that are there.
const meets = (condition, get) => {
    if (condition.not) return !meets(condition.not, get);
    if (condition.anyOf) return condition.anyOf.some(each => meets(each, get));
    if (condition.allOf && !condition.allOf.every(each => meets(each, get))) return false;
    if (condition.required && !condition.required.every(key => get(key) !== '')) return false;
    return Object.entries(condition.properties || {}).every(([key, value]) =>
        value.const === undefined && !value.enum ? true : [value.const, ...value.enum || []].includes(get(key)));
};

// A schema with all that its references, alternatives and conditions lead to.
const spread = (root, schema, get, found = []) => {
    if (!schema || typeof schema !== 'object' || found.includes(schema)) return found;
    found.push(schema);
    if (schema.$ref) spread(root, schema.$ref.split('/').slice(1).reduce((at, key) => at && at[key], root), get, found);
    for (const name of ['allOf', 'anyOf', 'oneOf']) for (const each of schema[name] || []) spread(root, each, get, found);
    if (schema.if) spread(root, meets(schema.if, get) ? schema.then : schema.else, get, found);
    return found;
};

// The schemas of a path, and those of what may stand below it.
const schemasAt = (root, path, get) => {
    let here = spread(root, root, get);
    for (const key of path) {
        const below = here.flatMap(each => each.properties && Object.hasOwn(each.properties, key)
            ? [each.properties[key]] : []);
        const items = below.flatMap(each => spread(root, each, get));
        here = [...items, ...items.flatMap(each => each.items ? spread(root, each.items, get) : [])];
    }
    return here;
};

const described = schemas => (schemas.find(each => each.description) || {}).description || '';
const wordsOf = schemas => [...new Set(schemas.flatMap(each => each.enum || (each.type === 'boolean' ? [true, false] : [])))]
    .map(String);

export class Knowledge {
    // words: names by path that the schema leaves open, such as {platform: ["dgx-h100:1", ...]}.
    constructor(schema, words) {
        this.schema = schema;
        this.words = words;
    }

    getter(state) {
        return key => scalarAt(state, [key]);
    }

    // For CodeMirror's completion.
    complete(context) {
        const word = context.matchBefore(/[\w.:+-]*/), line = context.state.doc.lineAt(context.pos);
        const before = context.state.sliceDoc(line.from, word.from), get = this.getter(context.state);
        if (!context.explicit && word.from === word.to && !/[:,{[] $/.test(before)) return null;
        let {path, inKey} = pathAt(context.state, word.from === context.pos ? context.pos : word.from + 1);
        const value = /:\s+$/.test(before) || /[[,]\s*$/.test(before) && !/\{[^}]*$/.test(before);
        if (inKey) path = path.slice(0, -1);
        if (!value && !inKey && /^\s*$/.test(before)) path = this.indented(context.state, line, before.length);
        if (value && !path.length) path = [/^\s*([\w.-]+):/.exec(line.text)?.[1] || ''];
        const here = schemasAt(this.schema, path, get);
        const options = value
            ? [...new Set([...wordsOf(here), ...this.words[path.join('.')] || []])].map(label => ({label, type: 'enum'}))
            : here.flatMap(each => Object.entries(each.properties || {})).map(([label, each]) => ({
                label, type: 'property', info: described(spread(this.schema, each, get)) || undefined,
                apply: label + ': '}));
        const seen = new Set(), unique = options.filter(each => !seen.has(each.label) && seen.add(each.label));
        return unique.length ? {from: word.from, options: unique, validFor: /^[\w.:+-]*$/} : null;
    }

    // The keys of the lines above that are indented less, one after the other.
    indented(state, line, depth) {
        const path = [];
        for (let number = line.number - 1; number >= 1 && depth > 0; number--) {
            const found = /^(\s*)([\w.-]+):\s*(#.*)?$/.exec(state.doc.line(number).text);
            if (found && found[1].length < depth) {
                path.unshift(found[2]);
                depth = found[1].length;
            }
        }
        return path;
    }

    // What the key at a place means: {from, to, title, text}, or null.
    explain(state, at) {
        const {path, inKey, node} = pathAt(state, at);
        if (!path.length) return null;
        const schemas = schemasAt(this.schema, path, this.getter(state)), text = described(schemas);
        const words = wordsOf(schemas);
        if (!text && !words.length) return null;
        return {from: node.from, to: node.to, title: path.join('.'),
                text: text + (words.length && (inKey || !text) ? `${text ? '; ' : ''}one of ${words.join(', ')}` : '')};
    }
}

// The messages of stagesim about files, with their places: [{file, line, column, severity, text}]; those about nothing of
// them are said of the first.
export const diagnosticsOf = (messages, ...files) => {
    const found = [], lines = messages.split('\n');
    for (let i = 0; i < lines.length; i++) {
        const place = /^(.*?):(\d+):(\d+): (error|note|warning): (.*)$/.exec(lines[i]);
        const loose = !place && /^(?:stagesim[^:]*|note|[^ ]+): (?:error: )?(.*)$/.exec(lines[i]);
        const file = place && files.find(name => place[1].endsWith(name));
        if (file) {
            found.push({file, line: +place[2], column: +place[3], severity: place[4], text: place[5]});
        } else if (/^\s+\d* \| /.test(lines[i]) || !lines[i].trim()) {
            continue;
        } else if (/^\s/.test(lines[i]) && found.length) {
            found[found.length - 1].text += ' ' + lines[i].trim();
        } else {
            const severity = /^note: /.test(lines[i]) ? 'note' : 'error';
            found.push({file: files[0], line: 1, column: 1, severity, text: place ? lines[i] : loose ? loose[1] : lines[i]});
        }
    }
    return found;
};
