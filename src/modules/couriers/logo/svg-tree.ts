/**
 * The part of jsdom's element that this module uses. jsdom's own types would add the browser's globals to the
 * whole project.
 */
export type Element = {
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

export type Attribute = { name: string; localName: string; value: string };

const CLIPPING = new Set(['clipPath', 'mask']);

/** Removes nested clips and masks, because renderers draw them once per combination. */
export function removeNestedClips(root: Element): void {
  // Not one selector: in an HTML document, jsdom finds no descendants of names with capital letters.
  for (const clip of root.querySelectorAll('*')) {
    if (!CLIPPING.has(clip.localName)) continue;
    for (const element of [clip, ...clip.querySelectorAll('*')])
      for (const name of ['clip-path', 'mask']) element.removeAttribute(name);
  }
}
