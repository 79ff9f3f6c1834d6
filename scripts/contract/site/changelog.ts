// CHANGELOG.md as two pages and a feed: what concerns integrators, and what concerns operators.

const FOR_OPERATORS = 'For operators';

export type Readers = 'integrators' | 'operators';

/**
 * Returns the changes of each version for one kind of reader, without the title and the first paragraph of the file.
 *
 * @param text CHANGELOG.md
 * @param version that of the contract, which unreleased changes will have
 */
export function changesFor(text: string, version: string, readers: Readers): string {
  return versionsFor(text, readers)
    .map(({ title, changes }) => {
      const heading = title === 'Unreleased' ? `${version}, not released yet` : title;
      return `## ${heading}\n\n${changes}`;
    })
    .join('\n\n');
}

/** The title is that of the file, such as `1.0.0 (2026-11-23)`. */
export type Version = { title: string; changes: string };

/** Returns the versions that concern one kind of reader, newest first. */
export function versionsFor(text: string, readers: Readers): Version[] {
  const [, ...versions] = text.split(/^## /m);
  return versions
    .map((written) => {
      const [title = '', ...rest] = written.split('\n');
      const groups = rest.join('\n').split(/^(?=\*\*[^*]+\*\*$)/m);
      const shown = groups.filter(
        (group) => group.startsWith(`**${FOR_OPERATORS}**`) === (readers === 'operators'),
      );
      return { title, changes: shown.join('').replace(`**${FOR_OPERATORS}**`, '').trim() };
    })
    .filter(({ changes }) => changes !== '');
}
