// SPDX-License-Identifier: Apache-2.0
// Times of stages in the text of a scenario with `workload: stages`, and the change that gives one another length.
import {scalarAt, valueAt} from './places.js';

const UNITS = {ns: 1e-9, us: 1e-6, 'µs': 1e-6, ms: 1e-3, s: 1, min: 60, h: 3600};
const one = text => {
    const found = /^\s*(\d+(?:\.\d+)?(?:e[+-]?\d+)?)\s*([a-zµ]+)\s*$/i.exec(text);
    return found && UNITS[found[2]] ? {value: +found[1] * UNITS[found[2]], unit: found[2], text: text.trim()} : null;
};
// [{value, unit, text}, ...] of a list or of one time; null where it is anything else.
const listOf = text => {
    const items = (/^\[(.*)\]$/s.exec(text.trim()) || [null, text])[1].split(',').map(one);
    return items.every(Boolean) ? items : null;
};
// What was not changed stays as it was written.
const written = ({value, unit, text}) => text ?? `${+(value / UNITS[unit]).toPrecision(3)}${unit}`;

const WORDS = {F: 'forward', B: 'backward', W: 'weight'};

// Whether slots of a kind have a time of their own here, and if not why, in words.
export const refusal = (state, kind) => {
    if (scalarAt(state, ['workload']) !== 'stages') return 'stage times follow from the model here: change the model';
    if (/^[RST]$/.test(kind)) return 'it takes a share of what a forward takes: change a forward';
    if (!WORDS[kind]) return 'a block takes what its parts take: change a slot that stands alone';
    const text = valueAt(state, ['stages', 'backward'])?.text ?? '';
    if (!listOf(valueAt(state, ['stages', 'forward'])?.text ?? '') || !listOf(text))
        return 'only plain times such as 10ms can be dragged';
    return '';
};

// The changes that make slots of a kind `factor` times as long: of all stages, or of the share `share` of `shares`.
// split: backwards are, so that a B is what the whole backward takes without its weight gradient.
export const lengthen = (state, kind, factor, {split = false, share = null, shares = 1}) => {
    const times = {};
    for (const word of Object.values(WORDS)) {
        const place = valueAt(state, ['stages', word]), list = place && listOf(place.text);
        if (list) times[word] = {place, list};
    }
    const whole = times.backward.list, weight = times.weight?.list;
    const scaled = (list, by) => {
        const all = share === null ? list : Array.from({length: shares}, (_, i) => list[i] || list[0]);
        return all.map((item, i) => share === null || share === i ? {unit: item.unit, value: by(item.value, i)} : item);
    };
    const part = i => weight[i] ?? weight[0];
    const found = {};
    if (kind === 'F') found.forward = scaled(times.forward.list, value => value * factor);
    else if (!split || !weight) found.backward = scaled(whole, value => value * factor);
    else if (kind === 'B') found.backward = scaled(whole, (value, i) =>
        part(i).value + Math.max(value - part(i).value, 0) * factor);
    else {
        found.weight = scaled(weight, value => value * factor);
        found.backward = scaled(whole, (value, i) => value + part(i).value * (factor - 1));
    }
    return Object.entries(found).map(([word, list]) => ({from: times[word].place.from, to: times[word].place.to,
        insert: list.length > 1 ? `[${list.map(written).join(', ')}]` : written(list[0])}));
};
