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
const readers = {1: first, 2: second};

// The lowest version that holds the state.
export const encode = async ({a, b, shown, both, orders = {}, hand = false}) => {
    const kept = b === null ? {a} : {a, b, shown, both}, more = hand || typeof orders.a === 'string' || typeof orders.b === 'string';
    const json = JSON.stringify(more ? {...kept, orders, hand} : kept);
    return `#${more ? 2 : 1}.` + toText(await through(new TextEncoder().encode(json), new CompressionStream('deflate-raw')));
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
