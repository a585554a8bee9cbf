// SPDX-License-Identifier: Apache-2.0
// What the page shows, as the part of a link behind '#': a version, and JSON that is deflated, in base64url. A later
// version of the page reads the links of all earlier ones: each number keeps its reader.

const bytesOf = async stream => new Uint8Array(await new Response(stream).arrayBuffer());
const through = (bytes, transform) => bytesOf(new Blob([bytes]).stream().pipeThrough(transform));

const toText = bytes => {
    let text = '';
    for (let i = 0; i < bytes.length; i += 0x8000) text += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
    return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
};
const toBytes = text => Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), c => c.charCodeAt(0));
const read = async text =>
    JSON.parse(new TextDecoder().decode(await through(toBytes(text), new DecompressionStream('deflate-raw'))));

// Of version 1: a and b are texts of scenarios (b null: there is one only), shown is 'a' or 'b', both: side by side. set:
// changes of a such as "batch.global=1024", for links that the manual makes of its command lines.
const first = ({a, b = null, shown = 'a', both = false, set = []}) => {
    if (typeof a !== 'string' || (b !== null && typeof b !== 'string')) throw new Error('it holds no scenario');
    const kept = {a, b, shown: b === null || shown !== 'b' ? 'a' : 'b', both: b !== null && !!both};
    return Array.isArray(set) && set.length ? {...kept, set: set.map(String)} : kept;
};
// Of version 2 besides: orders of a and b as schedule files (null: the schedule has its own), and hand: whether they are
// shown to be changed.
const second = ({orders = {}, hand = false, ...kept}) => {
    const order = text => typeof text === 'string' ? text : null;
    return {...first(kept), orders: {a: order(orders.a), b: order(orders.b)}, hand: !!hand};
};

// A text by the one that followed it: how much both begin and end with, and what stood between.
const before = (old, text) => {
    const least = Math.min(old.length, text.length);
    let head = 0, tail = 0;
    while (head < least && old[head] === text[head]) head++;
    while (tail < least - head && old[old.length - 1 - tail] === text[text.length - 1 - tail]) tail++;
    return [head, tail, old.slice(head, old.length - tail)];
};
const placed = ([head, tail, between], text) => {
    if (!(head >= 0 && tail >= 0 && head + tail <= text.length) || typeof between !== 'string')
        throw new Error('a step does not fit to what follows it');
    return text.slice(0, head) + between + text.slice(text.length - tail);
};
// Of version 3 besides: steps of a and b that can be undone, [{text, order}, ...], the newest last; and chosen: null, or
// worker and place of a slot. Packed, the newest step is first, each as texts before.
const third = ({steps = {}, chosen = null, ...kept}) => {
    const read = second(kept), unpacked = {a: [], b: []};
    for (const variant of ['a', 'b']) {
        let text = read[variant], order = read.orders[variant];
        for (const step of text !== null && steps[variant] || []) {
            text = placed(step.text, text);
            order = step.order && placed(step.order, order ?? '');
            unpacked[variant].unshift({text, order});
        }
    }
    const {worker, at} = chosen || {};
    return {...read, steps: unpacked, chosen: worker >= 0 && at >= 0 ? {worker: +worker, at: +at} : null};
};
const readers = {1: first, 2: second, 3: third};

// As many as a link holds.
const STEPS = 20;
const pack = (steps, text, order) => steps.slice(-STEPS).reverse().map(step => {
    const packed = {text: before(step.text, text), order: step.order === null ? null : before(step.order, order ?? '')};
    ({text, order} = step);
    return packed;
});

// The lowest version that holds the state.
export const encode = async ({a, b, shown, both, orders = {}, hand = false, steps = {}, chosen = null}) => {
    const packed = {a: pack(steps.a || [], a, orders.a), b: b === null ? [] : pack(steps.b || [], b, orders.b)};
    const more = chosen !== null || packed.a.length > 0 || packed.b.length > 0;
    const ordered = more || hand || typeof orders.a === 'string' || typeof orders.b === 'string';
    const json = JSON.stringify({...b === null ? {a} : {a, b, shown, both}, ...ordered ? {orders, hand} : {},
                                 ...more ? {steps: packed, chosen} : {}});
    return `#${more ? 3 : ordered ? 2 : 1}.` +
        toText(await through(new TextEncoder().encode(json), new CompressionStream('deflate-raw')));
};

// null where there is no state in it; an Error says why it cannot be read.
export const decode = async hash => {
    const [, version, text] = /^#(\d+)\.([\w-]+)$/.exec(hash) || [];
    if (!version) return null;
    if (!readers[version]) throw new Error(`the link is of version ${version}, which this page does not know`);
    try {
        return readers[version](await read(text));
    } catch (error) {
        throw new Error(`the link cannot be read: ${error.message}`);
    }
};
