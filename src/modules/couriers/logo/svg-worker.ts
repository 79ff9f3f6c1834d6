import { createRequire } from 'node:module';
import { makeWorkerTask } from '../../../platform/concurrency/worker-task.js';
import { readRaster } from './picture.js';
import { ATTRIBUTES, cleanStyle, ELEMENTS } from './svg-allowed.js';
import { scanSvg } from './svg-scan.js';

// The worker thread of logo-drawer.ts that sanitises SVGs. It parses an SVG as a browser does inside a page,
// sanitises the tree and serialises it as XML, in which no text can become markup again.
// Loaded with require, because the libraries' types add the browser's globals to the whole project. Jsdom and
// Window declare the parts that are used here.
const require = createRequire(import.meta.url);
const { JSDOM, VirtualConsole } = require('jsdom') as Jsdom;
const createDOMPurify = require('dompurify') as (window: Window) => {
  sanitize(svg: string, options: object): Element;
};

export default makeWorkerTask(clean);

const SVG = 'http://www.w3.org/2000/svg';
const NAMESPACES = new Set([SVG, 'http://www.w3.org/1999/xlink']);
const SHAPES = 'path, rect, circle, ellipse, line, polyline, polygon, text, image';

type Jsdom = {
  JSDOM: new (html: string, options: object) => { window: Window };
  VirtualConsole: new () => object;
};
type Window = { close(): void; XMLSerializer: new () => { serializeToString(root: Element): string } };
function clean(svg: string): string | undefined {
  // jsdom would otherwise write the style errors of untrusted files to the log.
  const { window } = new JSDOM('', { virtualConsole: new VirtualConsole() });
  try {
    const body = createDOMPurify(window).sanitize(svg, {
      ALLOWED_TAGS: ['#text', ...ELEMENTS],
      ALLOWED_ATTR: ATTRIBUTES,
      ALLOW_DATA_ATTR: false,
      ALLOW_ARIA_ATTR: false,
      RETURN_DOM: true,
      // Removes an element together with its content.
      KEEP_CONTENT: false,
    });
    const root = body.firstElementChild;
    if (root?.localName !== 'svg' || root.namespaceURI !== SVG) return undefined;
    for (const element of [root, ...root.querySelectorAll('*')]) cleanElement(element);
    removeNestedClips(root);
    if (!root.querySelector(SHAPES)) return undefined;
    const written = new window.XMLSerializer().serializeToString(root);
    return isWellFormed(written) ? written : undefined;
  } finally {
    window.close();
  }
}

function cleanElement(element: Element): void {
  if (element.localName === 'style') {
    if (isHostileCss(element.textContent)) element.remove();
    else setIfChanged(element, 'textContent', cleanStyle(element.textContent));
  }
  for (const attribute of [...element.attributes]) {
    if (attribute.localName === 'href') cleanReference(element, attribute);
    else if (!isHarmless(attribute)) element.removeAttributeNode(attribute);
    else if (attribute.localName === 'style') setIfChanged(attribute, 'value', cleanStyle(attribute.value));
  }
}

/** Does not write unchanged values. */
function setIfChanged<Name extends string>(of: Record<Name, string>, name: Name, text: string): void {
  if (of[name] !== text) of[name] = text;
}

/** Keeps a reference to a part of this picture, or a small embedded picture. */
function cleanReference(element: Element, attribute: Attribute): void {
  if (/^#[\w.:-]+$/.test(attribute.value)) return;
  const embedded = element.localName === 'image' ? cleanEmbedded(attribute.value) : undefined;
  if (embedded) attribute.value = embedded;
  else element.removeAttributeNode(attribute);
}

/** An embedded picture is decoded when the SVG is drawn, with four bytes per pixel. */
const MAX_EMBEDDED_PX = 1_000_000;

function cleanEmbedded(uri: string): string | undefined {
  const [, base64] = /^data:image\/(?:png|jpe?g);base64,([\w+/=\s]+)$/i.exec(uri) ?? [];
  if (!base64) return undefined;
  try {
    const picture = readRaster(Buffer.from(base64, 'base64'));
    const isSmall = picture && picture.widthPx * picture.heightPx <= MAX_EMBEDDED_PX;
    return isSmall ? `data:${picture.mediaType};base64,${picture.content.toString('base64')}` : undefined;
  } catch {
    return undefined;
  }
}

function isHarmless({ name, value }: Attribute): boolean {
  const isNamespace = name === 'xmlns' || name.startsWith('xmlns:');
  return isNamespace ? NAMESPACES.has(value) : !isHostileCss(value);
}

/** Returns whether CSS could load external resources, execute something or obfuscate its content. */
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

/**
 * The part of jsdom's element that this module uses. jsdom's own types would add the browser's globals to the
 * whole project.
 */
type Element = {
  localName: string;
  namespaceURI: string | null;
  textContent: string;
  attributes: Iterable<Attribute>;
  firstElementChild: Element | null;
  removeAttribute(name: string): void;
  removeAttributeNode(attribute: Attribute): void;
  querySelector(selector: string): Element | null;
  querySelectorAll(selector: string): Iterable<Element>;
  remove(): void;
};

type Attribute = { name: string; localName: string; value: string };

const CLIPPING = new Set(['clipPath', 'mask']);

/** Removes nested clips and masks, because renderers draw them once per combination. */
function removeNestedClips(root: Element): void {
  // Not one selector: in an HTML document, jsdom finds no descendants of names with capital letters.
  for (const clip of root.querySelectorAll('*')) {
    if (!CLIPPING.has(clip.localName)) continue;
    for (const element of [clip, ...clip.querySelectorAll('*')])
      for (const name of ['clip-path', 'mask']) element.removeAttribute(name);
  }
}
