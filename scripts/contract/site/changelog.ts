// CHANGELOG.md as two pages and a feed: what concerns integrators, and what concerns operators.

const FOR_OPERATORS = 'For operators';

/**
 * Returns the changes of each version for one kind of reader, without the title and the first paragraph of the file.
 *
 * @param {string} text CHANGELOG.md
 * @param {string} version that of the contract, which unreleased changes will have
 * @param {'integrators' | 'operators'} readers
 */
export function changesFor(text, version, readers) {
  return versionsFor(text, readers)
    .map(({ title, changes }) => {
      const heading = title === 'Unreleased' ? `${version}, not released yet` : title;
      return `## ${heading}\n\n${changes}`;
    })
    .join('\n\n');
}

/**
 * Returns the versions that concern one kind of reader, newest first.
 *
 * @returns {{ title: string, changes: string }[]} the titles as in the file, such as `1.0.0 (2026-11-23)`
 */
export function versionsFor(text, readers) {
  const [, ...versions] = text.split(/^## /m);
  return versions
    .map((written) => {
      const [title, ...rest] = written.split('\n');
      const groups = rest.join('\n').split(/^(?=\*\*[^*]+\*\*$)/m);
      const shown = groups.filter(
        (group) => group.startsWith(`**${FOR_OPERATORS}**`) === (readers === 'operators'),
      );
      return { title, changes: shown.join('').replace(`**${FOR_OPERATORS}**`, '').trim() };
    })
    .filter(({ changes }) => changes !== '');
}
