import { createRequire } from 'node:module';
import { parentPort } from 'node:worker_threads';
import { readRaster } from './picture.js';
import { scanSvg } from './svg-scan.js';

// The thread of svg.ts. An SVG is read as a browser reads one inside a page, cleaned as a tree, and written as XML,
// in which nothing that is text can turn into markup again.

// Required and not imported: their types bring the browser's globals into the whole project.
// as: what we use of the two
const require = createRequire(import.meta.url);
const { JSDOM, VirtualConsole } = require('jsdom') as Jsdom;
const createDOMPurify = require('dompurify') as (window: Window) => {
  sanitize(svg: string, options: object): Element;
};

parentPort?.on('message', (svg: string) => parentPort?.postMessage(clean(svg)));
parentPort?.postMessage('ready');

const SVG = 'http://www.w3.org/2000/svg';
const NAMESPACES = new Set([SVG, 'http://www.w3.org/1999/xlink']);
const SHAPES = 'path, rect, circle, ellipse, line, polyline, polygon, text, image';

type Jsdom = {
  JSDOM: new (html: string, options: object) => { window: Window };
  VirtualConsole: new () => object;
};
type Window = { close(): void; XMLSerializer: new () => { serializeToString(root: Element): string } };
type Attribute = { name: string; localName: string; value: string };
type Element = {
  localName: string;
  namespaceURI: string | null;
  textContent: string;
  attributes: Iterable<Attribute>;
  firstElementChild: Element | null;
  querySelector(selector: string): Element | null;
  querySelectorAll(selector: string): Iterable<Element>;
  removeAttributeNode(attribute: Attribute): void;
  remove(): void;
};

function clean(svg: string): string | undefined {
  // without a console of its own, what a stranger's styles do wrong would be in our log
  const { window } = new JSDOM('', { virtualConsole: new VirtualConsole() });
  try {
    const body = createDOMPurify(window).sanitize(svg, {
      USE_PROFILES: { svg: true, svgFilters: true },
      RETURN_DOM: true,
      // what goes, goes with all that is in it
      KEEP_CONTENT: false,
    });
    const root = body.firstElementChild;
    if (root?.localName !== 'svg' || root.namespaceURI !== SVG) return undefined;
    for (const element of [root, ...root.querySelectorAll('*')]) cleanElement(element);
    if (!root.querySelector(SHAPES)) return undefined;
    const written = new window.XMLSerializer().serializeToString(root);
    return isWellFormed(written) ? written : undefined;
  } finally {
    window.close();
  }
}

function cleanElement(element: Element): void {
  if (element.localName === 'style' && isHostileCss(element.textContent)) element.remove();
  for (const attribute of [...element.attributes]) {
    if (attribute.localName === 'href') cleanReference(element, attribute);
    else if (!isHarmless(attribute)) element.removeAttributeNode(attribute);
  }
}

/** Stays: a part of this picture, or a small picture inside it. */
function cleanReference(element: Element, attribute: Attribute): void {
  if (/^#[\w.:-]+$/.test(attribute.value)) return;
  const embedded = element.localName === 'image' ? cleanEmbedded(attribute.value) : undefined;
  if (embedded) attribute.value = embedded;
  else element.removeAttributeNode(attribute);
}

function cleanEmbedded(uri: string): string | undefined {
  const [, base64] = /^data:image\/(?:png|jpe?g);base64,([\w+/=\s]+)$/i.exec(uri) ?? [];
  if (!base64) return undefined;
  try {
    const picture = readRaster(Buffer.from(base64, 'base64'));
    return picture && `data:${picture.mediaType};base64,${picture.content.toString('base64')}`;
  } catch {
    return undefined;
  }
}

function isHarmless({ name, value }: Attribute): boolean {
  const isNamespace = name === 'xmlns' || name.startsWith('xmlns:');
  return isNamespace ? NAMESPACES.has(value) : !isHostileCss(value);
}

/** Whether a style sheet, or a value that is read as one, could reach out of the picture, or hides what it says. */
function isHostileCss(css: string): boolean {
  return /[\\@<]|url\s*\((?!\s*['"]?#)|image-set|(?:image|src|expression)\s*\(|script:|binding|behavior|\/\//i.test(
    css,
  );
}

function isWellFormed(written: string): boolean {
  try {
    scanSvg(Buffer.from(written));
    return true;
  } catch {
    return false;
  }
}
