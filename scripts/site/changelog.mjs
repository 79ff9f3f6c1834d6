// CHANGELOG.md as two pages: what concerns integrators, and what concerns operators.

const FOR_OPERATORS = 'For operators';

/**
 * Returns the changes of each version for one kind of reader, without the title and the first paragraph of the file.
 *
 * @param {string} text CHANGELOG.md
 * @param {string} version that of the contract, which unreleased changes will have
 * @param {'integrators' | 'operators'} readers
 */
export function changesFor(text, version, readers) {
  const [, ...versions] = text.split(/^## /m);
  return versions
    .map((written) => {
      const [title, ...rest] = written.split('\n');
      const groups = rest.join('\n').split(/^(?=\*\*[^*]+\*\*$)/m);
      const shown = groups.filter(
        (group) => group.startsWith(`**${FOR_OPERATORS}**`) === (readers === 'operators'),
      );
      const changes = shown.join('').replace(`**${FOR_OPERATORS}**`, '').trim();
      const heading = title === 'Unreleased' ? `${version}, not released yet` : title;
      return changes && `## ${heading}\n\n${changes}`;
    })
    .filter(Boolean)
    .join('\n\n');
}
