// SPDX-License-Identifier: Apache-2.0
// Small pictures of schedules, and the timeline of a result as SVG and PNG.
import {shape} from './charts.js';

const COLOURS = {F: '#7db8ea', B: '#f2a74f', W: '#6cc3a4'};

// Of `stagesim schedule NAME --format json`.
export const scheduleSvg = plan => {
    const width = 160, row = 9, workers = plan.schedule.workers, end = plan.time.makespan_s;
    const svg = shape('svg', {viewBox: `0 0 ${width} ${workers * row}`, width, height: workers * row, 'aria-hidden': true});
    const paths = {};
    for (const slot of plan.slots) {
        const x = slot.start / end * width, w = Math.max((slot.end - slot.start) / end * width - 0.4, 0.3);
        paths[slot.kind] = (paths[slot.kind] || '') + `M${x.toFixed(1)} ${slot.worker * row + 1}h${w.toFixed(1)}v7h-${w.toFixed(1)}z`;
    }
    for (const kind in paths) svg.append(shape('path', {d: paths[kind], fill: COLOURS[kind] || '#888'}));
    return svg;
};

const STYLES = ['fill', 'stroke', 'stroke-width', 'font', 'text-anchor', 'opacity'];

// The picture that a report has for those without scripts, with the page's styles in it.
export const timelineSvg = page => {
    const drawn = page.querySelector('figure.tl > svg');
    if (!drawn) return null;
    const [, , width, height] = drawn.getAttribute('viewBox').split(' ').map(Number);
    const copy = drawn.cloneNode(true), from = [drawn, ...drawn.querySelectorAll('*')];
    const hidden = drawn.style.display;
    drawn.style.display = 'block';
    [copy, ...copy.querySelectorAll('*')].forEach((node, i) => {
        const style = page.defaultView.getComputedStyle(from[i]);
        for (const name of STYLES)
            if (!(name === 'fill' && node.hasAttribute('fill')) && style.getPropertyValue(name))
                node.style.setProperty(name, style.getPropertyValue(name));
    });
    drawn.style.display = hidden;
    const defs = page.querySelector('.timelines svg defs');
    if (defs) copy.prepend(defs.cloneNode(true));
    copy.prepend(shape('rect', {width, height, fill: page.defaultView.getComputedStyle(page.body).backgroundColor}));
    copy.setAttribute('xmlns', drawn.namespaceURI);
    copy.setAttribute('width', width);
    copy.setAttribute('height', height);
    return new XMLSerializer().serializeToString(copy);
};

export const pngOf = svg => new Promise((done, failed) => {
    const picture = new Image();
    picture.onload = () => {
        const canvas = document.createElement('canvas');
        canvas.width = picture.width * 2;
        canvas.height = picture.height * 2;
        canvas.getContext('2d').drawImage(picture, 0, 0, canvas.width, canvas.height);
        canvas.toBlob(done, 'image/png');
    };
    picture.onerror = () => failed(new Error('the picture cannot be drawn'));
    picture.src = 'data:image/svg+xml;charset=utf-8,' + encodeURIComponent(svg);
});

export const save = (blob, name) => {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
};
