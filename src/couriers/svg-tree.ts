/** What we use of an element of jsdom, whose own types bring the browser's globals into the whole project. */
export type Element = {
  localName: string;
  namespaceURI: string | null;
  textContent: string;
  attributes: Iterable<Attribute>;
  children: Iterable<Element>;
  firstElementChild: Element | null;
  parentElement: Element | null;
  getAttribute(name: string): string | null;
  removeAttribute(name: string): void;
  removeAttributeNode(attribute: Attribute): void;
  querySelector(selector: string): Element | null;
  querySelectorAll(selector: string): Iterable<Element>;
  remove(): void;
};

export type Attribute = { name: string; localName: string; value: string };

/**
 * How many elements are drawn, each `use` with what it shows: ten that show the one before ten times each make
 * 10,000,000,000. Infinity when one shows itself.
 */
export function countDrawn(root: Element): number {
  const byId = new Map<string, Element>();
  for (const element of [root, ...root.querySelectorAll('[id]')])
    byId.set(element.getAttribute('id') ?? '', element);
  const counts = new Map<Element, number>();
  const count = (element: Element): number => {
    const known = counts.get(element);
    if (known !== undefined) return known;
    // while it is counted: who comes here again is inside itself
    counts.set(element, Infinity);
    const shown = element.localName === 'use' ? byId.get(targetOf(element)) : undefined;
    const parts = [...element.children, ...(shown ? [shown] : [])];
    const sum = parts.reduce((total, part) => total + count(part), 1);
    counts.set(element, sum);
    return sum;
  };
  return count(root);
}

const targetOf = (use: Element): string =>
  (use.getAttribute('href') ?? use.getAttribute('xlink:href') ?? '').replace(/^#/, '');

/** A clip inside a clip inside a clip is drawn once for each of its combinations. */
export function removeNestedClips(root: Element): void {
  for (const element of root.querySelectorAll('clipPath, clipPath *, mask, mask *')) {
    element.removeAttribute('clip-path');
    element.removeAttribute('mask');
  }
}
