// Parses XML or HTML as a browser does. In a thread, because jsdom does not load inside jest on Node 20.
import { parentPort, workerData } from 'node:worker_threads';
import { JSDOM } from 'jsdom';

const treeOf = (element) => ({
  name: element.localName,
  namespace: element.namespaceURI,
  attributes: Object.fromEntries([...element.attributes].map(({ name, value }) => [name, value])),
  text: element.textContent,
  children: [...element.children].map(treeOf),
});

const { text, contentType } = workerData;
parentPort.postMessage(treeOf(new JSDOM(text, { contentType }).window.document.documentElement));
