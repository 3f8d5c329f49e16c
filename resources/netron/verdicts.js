// Colours the nodes that Netron draws with the studio's verdicts. Served beside Netron's own files by
// studio/jobs/serve_netron.py; what it colours with comes from studio/jobs/netron_verdicts.py.
(function () {
    'use strict';
    const SVG = 'http://www.w3.org/2000/svg';
    let data = null;
    let target = '';
    let painted = null;

    // A drawn node is one of ours by its first output; else by its name; else by its place among all
    // nodes of its operator, where both sides have as many of them. Anything else stays uncoloured.
    function indexBy(nodes, keyOf) {
        const found = new Map();
        nodes.forEach((node, number) => {
            const key = keyOf(node);
            if (key) {
                found.set(key, found.has(key) ? -1 : number);
            }
        });
        return found;
    }

    function plain(operator) {
        return operator.split('::').pop().toLowerCase().replace(/[^a-z0-9]/g, '');
    }

    function firstOutput(value) {
        for (const argument of value.outputs || []) {
            for (const output of Array.isArray(argument.value) ? argument.value : []) {
                if (output && output.name) {
                    return output.name.split('\n')[0];
                }
            }
        }
        return '';
    }

    function match(nodes, drawn) {
        const numbers = new Map();
        const byOutput = indexBy(nodes, (node) => node.output);
        const byName = indexBy(nodes, (node) => node.name);
        const take = (label, number) => {
            if (number !== undefined && number >= 0) {
                numbers.set(label, number);
            }
        };
        for (const label of drawn) {
            take(label, byOutput.get(firstOutput(label.value)));
            if (!numbers.has(label) && label.value.name) {
                take(label, byName.get(label.value.name));
            }
        }
        const taken = new Set(numbers.values());
        const ours = new Map();
        nodes.forEach((node, number) => {
            if (node.main && !taken.has(number)) {
                ours.set(node.op, (ours.get(node.op) || []).concat([number]));
            }
        });
        const theirs = new Map();
        for (const label of drawn.filter((label) => !numbers.has(label))) {
            const op = plain(label.value.type.name);
            theirs.set(op, (theirs.get(op) || []).concat([label]));
        }
        for (const [op, labels] of theirs) {
            const same = ours.get(op) || [];
            if (same.length === labels.length) {
                labels.forEach((label, place) => take(label, same[place]));
            }
        }
        return numbers;
    }

    function sign(verdict, label) {
        const group = document.createElementNS(SVG, 'g');
        group.setAttribute('class', `studio-sign studio-${verdict.key}`);
        group.setAttribute('transform', `translate(${label.width - 7},-7)`);
        const disc = document.createElementNS(SVG, 'circle');
        for (const [key, value] of [['cx', 7], ['cy', 7], ['r', 9]]) {
            disc.setAttribute(key, value);
        }
        const path = document.createElementNS(SVG, 'path');
        path.setAttribute('d', verdict.sign);
        path.setAttribute('class', verdict.filled ? 'full' : 'line');
        path.setAttribute('transform', 'translate(2.1,2.1) scale(0.7)');
        group.append(disc, path);
        return group;
    }

    function tell(element, text) {
        let titles = Array.from(element.querySelectorAll('title'));
        if (titles.length === 0) {
            const title = document.createElementNS(SVG, 'title');
            element.append(title);
            titles = [title];
        }
        for (const title of titles) {
            if (title.dataset.netron === undefined) {
                title.dataset.netron = title.textContent;
            }
            title.textContent = [title.dataset.netron, text].filter((part) => part).join('\n');
        }
    }

    // The drawn node and its own title, which comes first in it; a node of a body inside keeps its colour.
    function parts(label) {
        return [label.element, label.element.querySelector('.node-item-type')].filter((part) => part);
    }

    function clear(label) {
        label.element.querySelectorAll(':scope > .studio-sign').forEach((old) => old.remove());
        for (const part of parts(label)) {
            const ours = Array.from(part.classList).filter((name) => name.startsWith('studio-'));
            part.classList.remove(...ours);
        }
    }

    // The labels of a graph's nodes, and of the bodies that are expanded inside them.
    function labelsOf(graph, found) {
        for (const entry of graph.nodes.values()) {
            const label = entry.label;
            if (label && label.element && label.value && label.value.type && typeof label.value.type.name === 'string') {
                found.push(label);
            }
            within(label, found);
        }
        return found;
    }

    function within(label, found) {
        for (const block of (label && label.blocks) || []) {
            if (block.target && block.target.nodes) {
                labelsOf(block.target, found);
            }
            for (const item of block._items || []) {
                within(item.content, found);
            }
        }
    }

    function paint(drawn) {
        const numbers = match(data.nodes, drawn);
        const said = data.targets[target];
        for (const label of drawn) {
            clear(label);
            const number = numbers.get(label);
            if (number === undefined) {
                tell(label.element, '');
                continue;
            }
            const verdict = data.verdicts[said.codes[number]];
            parts(label).forEach((part) => part.classList.add(`studio-${verdict.key}`));
            label.element.append(sign(verdict, label));
            tell(label.element, `${target}: ${verdict.title}. ${said.reasons[said.reason_of[number]]}`);
        }
        note(drawn.length, numbers.size);
    }

    function note(drawn, matched) {
        const text = matched === drawn
            ? `All ${drawn} nodes of this graph are coloured.`
            : `${matched} of ${drawn} nodes of this graph are coloured; the others could not be matched.`;
        document.getElementById('studio-note').textContent = text;
    }

    function legend() {
        const old = document.getElementById('studio-legend');
        if (old) {
            old.remove();
        }
        const box = document.createElement('div');
        box.id = 'studio-legend';
        const chooser = document.createElement('select');
        chooser.setAttribute('aria-label', 'Target');
        for (const name of Object.keys(data.targets)) {
            chooser.append(new Option(name, name, false, name === target));
        }
        chooser.addEventListener('change', () => {
            target = chooser.value;
            painted = null;
            legend();
        });
        box.append(chooser);
        data.verdicts.forEach((verdict) => {
            const count = data.targets[target].counts[verdict.key];
            if (count) {
                const row = document.createElement('div');
                const mark = document.createElementNS(SVG, 'svg');
                mark.setAttribute('viewBox', '-3 -3 20 20');
                mark.append(sign(verdict, { width: 7 }));
                mark.firstChild.setAttribute('transform', 'translate(0,0)');
                row.append(mark, `${verdict.title} ${count}`);
                box.append(row);
            }
        });
        const words = document.createElement('div');
        words.id = 'studio-note';
        box.append(words);
        document.getElementById('target').after(box);  // below the sidebar
    }

    function look() {
        const view = window.__view__ && window.__view__.target;
        const isShown = document.body.classList.contains('default');
        const box = document.getElementById('studio-legend');
        if (box) {
            box.hidden = !isShown;
        }
        if (!isShown || !view || !view.nodes) {
            return;
        }
        const drawn = labelsOf(view, []);
        const state = [view, drawn.length, drawn.length ? drawn[drawn.length - 1].element : null, target];
        if (painted && state.every((part, place) => part === painted[place])) {
            return;
        }
        painted = state;
        paint(drawn);
    }

    function start(loaded) {
        data = loaded;
        target = data.first;
        const style = document.createElement('style');
        style.textContent = data.style;
        document.head.append(style);
        legend();
        window.setInterval(look, 250);
    }

    window.addEventListener('load', () => {
        fetch('studio/verdicts.json').then((answer) => answer.json()).then(start);
    });
    window.__studio__ = { match };
})();
