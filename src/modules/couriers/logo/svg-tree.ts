/** What we use of an element of jsdom, whose own types bring the browser's globals into the whole project. */
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

/** A clip inside a clip inside a clip is drawn once for each of its combinations. */
export function removeNestedClips(root: Element): void {
  // not by one selector: in a page's document jsdom finds nothing below a name with capitals
  for (const clip of root.querySelectorAll('*')) {
    if (!CLIPPING.has(clip.localName)) continue;
    for (const element of [clip, ...clip.querySelectorAll('*')])
      for (const name of ['clip-path', 'mask']) element.removeAttribute(name);
  }
}
