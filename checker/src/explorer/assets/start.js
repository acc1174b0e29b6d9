'use strict';

// Hides the rows that do not have every word of the filter.
const filter = document.getElementById('filter');

function apply() {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const section of document.querySelectorAll('main > section')) {
        let shown = 0;
        for (const row of section.querySelectorAll('tbody > tr')) {
            const text = row.textContent.toLowerCase();
            row.hidden = !words.every((word) => text.includes(word));
            shown += row.hidden ? 0 : 1;
        }
        document.querySelector(`nav a[href="#${section.id}"] .count`).textContent = shown;
        section.hidden = words.length > 0 && shown === 0;
    }
}

filter.addEventListener('input', apply);
apply();
