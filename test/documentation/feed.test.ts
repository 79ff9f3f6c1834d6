import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { projectRoot } from '../../src/config/project-root.js';
import { elementsOf, readMarkup, type Markup } from '../support/readers/markup.js';
import { startService, type Service } from '../support/service/service.js';

const FEED = '/docs/changelog.atom';
const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

let service: Service;
let feed: Markup;

const load = async (path: string): Promise<string> => {
  const { status, bytes } = await service.request('GET', path);
  expect([path, status]).toEqual([path, 200]);
  return bytes.toString();
};

beforeAll(async () => {
  service = await startService();
  feed = await readMarkup(await load(FEED), 'application/xml');
});

afterAll(() => service.stop());

const childrenOf = (parent: Markup, name: string) => parent.children.filter((child) => child.name === name);
/** Returns the text of a child that must exist exactly once. */
function textOf(parent: Markup, name: string): string {
  const found = childrenOf(parent, name);
  expect([name, found.length]).toEqual([name, 1]);
  return found[0]?.text ?? '';
}
const linksOf = (parent: Markup, rel: string) =>
  childrenOf(parent, 'link')
    .filter(({ attributes }) => attributes['rel'] === rel)
    .map(({ attributes }) => attributes['href']);
const entries = () => childrenOf(feed, 'entry');

/** The rules of RFC 4287, section 4.1, and of the W3C feed validator. */
describe('the feed of the changelog', () => {
  test('is served as Atom, with the address of its host', async () => {
    const { headers } = await service.request('GET', FEED);
    expect(headers.get('content-type')).toBe('application/atom+xml; charset=utf-8');
    expect([feed.name, feed.namespace]).toEqual(['feed', 'http://www.w3.org/2005/Atom']);
    expect(linksOf(feed, 'self')).toEqual([service.url + FEED]);
    expect(linksOf(feed, 'alternate')).toEqual([`${service.url}/docs/changelog`]);
    expect(await load(FEED)).not.toContain('demo.crossdock.example');
  });

  test('has the elements that a feed must have once, and only those that Atom knows', () => {
    expect(textOf(feed, 'title')).not.toBe('');
    expect(textOf(feed, 'updated')).toMatch(RFC_3339);
    expect(URL.canParse(textOf(feed, 'id'))).toBe(true);
    expect(childrenOf(feed, 'author').map((author) => textOf(author, 'name'))).toEqual(['Crossdock']);
    const known = ['id', 'title', 'subtitle', 'updated', 'link', 'author', 'entry'];
    expect(feed.children.filter(({ name }) => !known.includes(name))).toEqual([]);
  });

  test('has an entry per released version, newest first, each with its own id and time', () => {
    const changelog = readFileSync(join(projectRoot, 'CHANGELOG.md'), 'utf8');
    const released = [...changelog.matchAll(/^## (\S+) \((\d{4}-\d\d-\d\d)\)$/gm)];
    expect(released.length).toBeGreaterThan(0);
    expect(entries().map((entry) => [textOf(entry, 'title'), textOf(entry, 'updated')])).toEqual(
      released.map(([, version, date]) => [`Crossdock ${version}`, `${date}T00:00:00Z`]),
    );
    expect(textOf(feed, 'updated')).toBe(`${released[0]?.[2]}T00:00:00Z`);
    const ids = [textOf(feed, 'id'), ...entries().map((entry) => textOf(entry, 'id'))];
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('links each entry to its section of the page', async () => {
    const page = await load('/docs/changelog');
    for (const entry of entries()) {
      const [link] = linksOf(entry, 'alternate');
      const { origin, pathname, hash } = new URL(link ?? '');
      expect([origin, pathname]).toEqual([service.url, '/docs/changelog']);
      expect(page).toContain(` id="${hash.slice(1)}"`);
    }
  });

  test('has the changes for integrators as HTML without scripts and relative addresses', async () => {
    for (const entry of entries()) {
      const [content] = childrenOf(entry, 'content');
      expect(content?.attributes).toEqual({ type: 'html' });
      const elements = elementsOf(await readMarkup(content?.text ?? '', 'text/html'));
      expect(elements.filter(({ name }) => name === 'li').length).toBeGreaterThan(5);
      const unsafe = ['script', 'style', 'iframe', 'form', 'object', 'link'];
      expect(elements.filter(({ name }) => unsafe.includes(name))).toEqual([]);
      const attributes = elements.flatMap((element) => Object.entries(element.attributes));
      expect(attributes.filter(([name]) => name === 'style' || name.startsWith('on'))).toEqual([]);
      const addresses = attributes.filter(([name]) => name === 'href' || name === 'src');
      expect(addresses.filter(([, address]) => !/^https?:\/\//.test(address))).toEqual([]);
      expect(content?.text).not.toContain('For operators');
    }
  });

  test('is linked in the head of every page', async () => {
    for (const path of ['/docs', '/docs/changelog', '/docs/reference', '/docs/reference/submitPrealert']) {
      const [head] = childrenOf(await readMarkup(await load(path), 'text/html'), 'head');
      const links = head ? childrenOf(head, 'link').map(({ attributes }) => attributes) : [];
      expect(links).toContainEqual({
        rel: 'alternate',
        type: 'application/atom+xml',
        href: FEED,
        title: 'Changelog',
      });
    }
  });
});
