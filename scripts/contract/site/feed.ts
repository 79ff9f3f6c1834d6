import { versionsFor, type Version } from './changelog.js';
import { escape, renderMarkdown, slugOf } from './markdown.js';

// Feeds need absolute addresses. The service replaces this host by that of the request.
const HOST = 'https://demo.crossdock.example';
const PAGE = `${HOST}/docs/changelog`;

/**
 * Returns the released versions of the changelog as an Atom feed (RFC 4287). Changes that are not released have no date, so
 * they are only on the page.
 *
 * A library such as `feed` would write the same 15 elements, and needs the same escaped HTML and absolute links.
 *
 * @param changelog CHANGELOG.md
 */
export function changelogFeed(changelog: string): string {
  const entries = versionsFor(changelog, 'integrators').flatMap(entryOf);
  const [newest] = entries;
  if (!newest)
    throw new Error('CHANGELOG.md has no released version with a date, such as 1.0.0 (2026-11-23).');
  return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en">
  <id>${PAGE}</id>
  <title>Crossdock changelog</title>
  <subtitle>Released changes of the contract, for integrators</subtitle>
  <updated>${newest.updated}</updated>
  <link rel="self" type="application/atom+xml" href="${PAGE}.atom"/>
  <link rel="alternate" type="text/html" href="${PAGE}"/>
  <author><name>Crossdock</name></author>
${entries.map(({ xml }) => xml).join('\n')}
</feed>
`;
}

/** Returns the entry of a released version, or nothing. */
function entryOf({ title, changes }: Version): { updated: string; xml: string }[] {
  const [, version = '', date] = /^(\S+) \((\d{4}-\d\d-\d\d)\)$/.exec(title) ?? [];
  if (!date) return [];
  const url = `${PAGE}#${slugOf(title)}`;
  const html = renderMarkdown(changes).replaceAll(/ (href|src)="\//g, ` $1="${HOST}/`);
  const updated = `${date}T00:00:00Z`;
  const xml = `  <entry>
    <id>${url}</id>
    <title>Crossdock ${escape(version)}</title>
    <updated>${updated}</updated>
    <link rel="alternate" type="text/html" href="${url}"/>
    <content type="html">${escape(html)}</content>
  </entry>`;
  return [{ updated, xml }];
}
