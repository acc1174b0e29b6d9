'use strict';

// What our page shows of the view model of stateright's script, which is loaded after this one.
window.Fencepost = (() => {
    ko.options.deferUpdates = true;
    const waiting = ko.observable(true);
    const selected = () => window.app.selectedStep();
    // Before the first state, stateright has a step that is none.
    const steps = () => window.app.farthestStep().pathSteps().slice(1);
    const place = () => steps().indexOf(selected());

    // stateright's script asks the root of its server; here that is the folder of this page.
    const fetchAsIs = window.fetch.bind(window);
    window.fetch = async (address) => {
        if (address === '/.status') {
            // Counts of a search that this page does not make: never answered, so asked once.
            return new Promise(() => {});
        }
        try {
            const answer = await fetchAsIs(address.replace(/^\//, ''));
            if (!answer.ok) {
                throw new Error(sentence(await answer.text()) || answer.statusText);
            }
            // A model without properties is answered without the list of them.
            const steps = await answer.json();
            return Response.json(steps.map((step) => ({ properties: [], ...step })));
        } catch (error) {
            tell(error instanceof TypeError
                ? 'Fencepost does not answer. Is “fencepost explore” still running?'
                : error.message);
            throw error;
        }
    };

    function sentence(page) {
        const found = new DOMParser().parseFromString(page, 'text/html').querySelector('p');
        return found && found.textContent;
    }

    function tell(text) {
        const problem = document.getElementById('problem');
        problem.textContent = text;
        problem.hidden = false;
        waiting(false);
    }

    window.addEventListener('unhandledrejection', () => {
        if (document.getElementById('problem').hidden) {
            tell('This address leads to a step that the model does not have.');
        }
    });
    window.addEventListener('hashchange', () => {
        document.getElementById('problem').hidden = true;
        waiting(true);
    });

    function sentenceOf(step) {
        const [, actor, says, values] =
            step.action.match(/^([^:]+): (.*?)(?: \(([^()]*)\))?$/) || [null, '', 'The run begins', ''];
        return { actor, says, values: values || '' };
    }

    // After which step the run of the trace repeats, while its whole run is the one shown.
    function repeatsAfter() {
        const { repeats, places } = document.body.dataset;
        return places !== undefined && window.app.farthestStep().path === places ? Number(repeats) : Infinity;
    }

    function again() {
        const after = repeatsAfter();
        if (after === Infinity) {
            return { text: '', uri: '#' };
        }
        const last = steps().length - 1;
        const uri = window.app.farthestStep().computeUriWithOffset(last - after);
        return after === last
            ? { text: `↻ It stays as after step ${after}, for ever`, uri }
            : { text: `↻ The state is again that after step ${after}: `
                + `steps ${after + 1} to ${last} repeat for ever`, uri };
    }

    function path() {
        const all = steps();
        const at = place();
        const after = repeatsAfter();
        return all.map((step, i) => ({
            ...sentenceOf(step),
            uri: window.app.farthestStep().computeUriWithOffset(all.length - 1 - i),
            chosen: i === at,
            ahead: i > at,
            repeats: i > after,
        }));
    }

    function next() {
        return selected().nextSteps().map((step) => ({
            ...sentenceOf(step),
            uri: '#/steps' + step.path,
        }));
    }

    function go(to) {
        const there = path()[to];
        if (there) {
            window.location.hash = there.uri.slice(1);
        }
    }

    function factsOf(step) {
        const facts = new Map();
        if (!step || !step.prevStep) {
            return facts;
        }
        let actor = '';
        for (const line of step.state.split('\n').filter(Boolean)) {
            if (!line.startsWith('    ')) {
                actor = line;
                continue;
            }
            const end = line.lastIndexOf(' = ');
            const field = line.slice(4, end);
            facts.set(actor + ' ' + field, { actor, field, value: line.slice(end + 3) });
        }
        return facts;
    }

    // The facts of the chosen state by actor, each beside what it was before the last step.
    function actors() {
        const now = factsOf(selected());
        const before = factsOf(selected().prevStep);
        const begins = before.size === 0;
        const list = new Map();
        const add = ({ actor, field, value }, kind, was) => {
            if (!list.has(actor)) {
                list.set(actor, { name: actor === 'network' ? 'in flight' : actor, facts: [] });
            }
            // How many copies of a message are in flight is said where there is more than one.
            const shown = actor === 'network' ? (value === '1' ? '' : '× ' + value) : value;
            list.get(actor).facts.push({ field, value: shown, kind, before: was });
        };
        for (const [key, fact] of now) {
            const old = before.get(key);
            if (begins || (old && old.value === fact.value)) {
                add(fact, '', null);
            } else {
                add(fact, old ? 'changed' : 'new', old ? old.value : null);
            }
        }
        for (const [key, fact] of before) {
            if (!now.has(key)) {
                add({ ...fact, value: '' }, 'gone', fact.actor === 'network' ? null : fact.value);
            }
        }
        return [...list.values()];
    }

    function outcome() {
        const lines = (selected().outcome || '').split('\n').filter(Boolean);
        return lines.map((text) => ({ text, kind: kindOf(text) }));
    }

    function kindOf(line) {
        if (/^[SL]\d+ is violated/.test(line)) {
            return 'violated';
        }
        if (line.includes('last_stable_offset')) {
            return 'stable';
        }
        return line.includes('marker') ? 'marker' : '';
    }

    function unchanged() {
        return place() > 0 ? 'Nothing that the state shows.' : 'Nothing: the run begins here.';
    }

    function where() {
        const last = steps().length - 1;
        return last < 0 ? '' : `Step ${Math.max(place(), 0)} of ${last}`;
    }

    function shown() {
        waiting(false);
        // After the bindings have drawn the new step.
        setTimeout(() => {
            const current = document.querySelector('nav.steps [aria-current]');
            if (current) {
                current.scrollIntoView({ block: 'nearest' });
            }
            if (place() === steps().length - 1 && repeatsAfter() !== Infinity) {
                document.querySelector('.again').scrollIntoView({ block: 'nearest' });
            }
            const chart = document.getElementById('chart');
            for (const step of chart.querySelectorAll('[data-step]')) {
                step.classList.toggle('repeats', Number(step.dataset.step) > repeatsAfter());
            }
            chart.scrollTop = chart.scrollHeight;
            chart.dispatchEvent(new Event('scroll'));
            document.getElementById('back').disabled = place() <= 0;
            document.getElementById('forth').disabled = place() >= steps().length - 1;
        });
    }

    window.addEventListener('load', () => {
        window.app.selectedStep.subscribe(shown);
        if (place() >= 0) {
            shown();
        }
        document.getElementById('back').addEventListener('click', () => go(place() - 1));
        document.getElementById('forth').addEventListener('click', () => go(place() + 1));
        const chart = document.getElementById('chart');
        chart.addEventListener('scroll', () => {
            const names = chart.querySelector('.names');
            if (names) {
                names.setAttribute('transform', `translate(0 ${chart.scrollTop})`);
            }
        });
        chart.addEventListener('click', (event) => {
            const step = event.target.closest('[data-step]');
            if (step) {
                go(Number(step.dataset.step));
            }
        });
        document.addEventListener('keydown', (event) => {
            const by = { ArrowLeft: -1, ArrowUp: -1, k: -1, ArrowRight: 1, ArrowDown: 1, j: 1 }[event.key];
            if (by && !event.ctrlKey && !event.metaKey && !event.altKey) {
                event.preventDefault();
                go(place() + by);
            }
        });
    });

    if (!window.location.hash) {
        window.history.replaceState(null, '', '#/steps/0');
    }
    const isEnd = () => !waiting() && place() >= 0 && selected().nextSteps().length === 0;
    return { waiting, path, again, next, actors, outcome, unchanged, where, isEnd };
})();
