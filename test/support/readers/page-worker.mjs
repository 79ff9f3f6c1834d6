// Reads a mail's HTML as a browser does. A thread of its own, because jsdom does not load inside jest on Node 20.
import { parentPort } from 'node:worker_threads';
import { JSDOM } from 'jsdom';

parentPort.on('message', ({ id, html }) => {
  const { document } = new JSDOM(html).window;
  const elements = [...document.querySelectorAll('*')];
  const textOf = (element) => element.textContent;
  const [, ...rows] = document.querySelectorAll('table[rules] tr');
  parentPort.postMessage({
    id,
    page: {
      tags: [...new Set(elements.map(({ tagName }) => tagName))],
      attributes: [...new Set(elements.flatMap((element) => element.getAttributeNames()))],
      titles: [...document.querySelectorAll('title, h1')].map(textOf),
      bar: document.querySelector('td[height]')?.getAttribute('bgcolor') ?? null,
      facts: [...document.querySelectorAll('div > table:not([rules]) tr')].map(({ cells }) =>
        [...cells].map(textOf),
      ),
      rows: rows.map(({ cells: [numbers, ...rest] }) => {
        // a text, a line break, a text
        const [trackingNumber, , houseNumber] = [...numbers.childNodes].map(textOf);
        return [trackingNumber, houseNumber, ...rest.map(textOf)];
      }),
    },
  });
});
