// SPDX-License-Identifier: Apache-2.0
// Where the keys of a scenario are in its text, and changes of single values that leave the rest as it is.
import {yamlLanguage} from '@codemirror/lang-yaml';
import {ensureSyntaxTree} from '@codemirror/language';

const MAPS = new Set(['BlockMapping', 'FlowMapping']);
// Of the whole text, also where the machine is so busy that the editor has not come to its end.
const treeOf = state => ensureSyntaxTree(state, state.doc.length, 100) || yamlLanguage.parser.parse(state.doc.toString());
const textOf = (state, node) => state.sliceDoc(node.from, node.to);
const keyOf = (state, pair) => {
    const key = pair.getChild('Key');
    return key ? textOf(state, key).trim().replace(/^(['"])(.*)\1$/, '$2') : '';
};
const valueOf = pair => {
    let value = null;
    for (let child = pair.firstChild; child; child = child.nextSibling)
        if (child.name !== 'Key' && child.name !== ':' && child.name !== 'Comment') value = child;
    return value;
};
// The map that a node is, or that stands in it behind comments, marks and names.
const mapOf = node => {
    if (!node || MAPS.has(node.name)) return node;
    if (node.name.endsWith('Sequence')) return null;
    for (let child = node.firstChild; child; child = child.nextSibling) {
        const found = mapOf(child);
        if (found) return found;
    }
    return null;
};
const rootOf = state => mapOf(treeOf(state).topNode);
const pairOf = (state, map, key) =>
    map && map.getChildren('Pair').find(pair => keyOf(state, pair) === key) || null;

// The keys around a place, outermost first; `inKey`: whether the place is in the key of the last one.
export const pathAt = (state, at) => {
    const path = [];
    let node = treeOf(state).resolveInner(at, -1), inKey = false;
    for (let n = node; n; n = n.parent) {
        if (n.name === 'Key') inKey = !path.length;
        if (n.name === 'Pair') path.unshift(keyOf(state, n));
    }
    return {path, inKey, node};
};

// {from, to, text} of the value at a path; null: there is none.
export const valueAt = (state, path) => {
    let map = rootOf(state), pair = null;
    for (const key of path) {
        pair = pairOf(state, map, key);
        if (!pair) return null;
        map = mapOf(valueOf(pair));
    }
    const value = pair && valueOf(pair);
    return value ? {from: value.from, to: value.to, text: textOf(state, value)} : null;
};

// The value as the text of one scalar, '' where it is none.
export const scalarAt = (state, path) => {
    const value = valueAt(state, path);
    return value && !/^[[{]|\n/.test(value.text) ? value.text.replace(/^(['"])(.*)\1$/, '$2') : '';
};

// The change that gives the path (keys from the outermost on) a value.
export const changeAt = (state, path, text) => {
    const old = valueAt(state, path);
    if (old) return {from: old.from, to: old.to, insert: text};
    let map = rootOf(state), depth = 0, pair = pairOf(state, map, path[0]);
    for (let inner = pair && mapOf(valueOf(pair)); inner; inner = pair && mapOf(valueOf(pair))) {
        map = inner;
        pair = pairOf(state, map, path[++depth]);
    }
    const nested = path.slice(depth + 1).reduceRight((inner, key) => `{${key}: ${inner}}`, text);
    if (pair && !valueOf(pair)) return {from: pair.to, insert: ` ${nested}`};
    const insert = `${path[depth]}: ${nested}`;
    if (map && map.name === 'FlowMapping')
        return {from: map.from + 1, insert: `${insert}${map.getChild('Pair') ? ', ' : ''}`};
    if (depth) {
        const first = map.getChild('Pair').from, line = state.doc.lineAt(first); // the map itself may begin a line before
        return {from: line.from, insert: `${' '.repeat(first - line.from)}${insert}\n`};
    }
    const end = state.doc.length, before = end && state.sliceDoc(end - 1) !== '\n' ? '\n' : '';
    return {from: end, insert: `${before}${insert}\n`};
};
