// Inserts entries into the tables of the project: after the last entry of the same module, or at the end for a new module.
import { read, write } from './project.mjs';

/**
 * Inserts an entry after the last one of a table that `isNeighbour` accepts by its first two lines. Without such an entry, it is
 * inserted after the last one of the table.
 *
 * @param start the line before the first entry
 * @param isEntry whether a line begins an entry
 */
export function insertBesideNeighbours(path, { start, isEntry, isNeighbour }, text) {
  const lines = read(path).split('\n');
  const first = start === undefined ? 0 : lines.findIndex((line) => start.test(line)) + 1;
  if (start !== undefined && first === 0)
    throw new Error(`${path} has no line where the operation could be inserted.`);
  const end = endOfTable(lines, first, isEntry);
  const entries = lines.flatMap((line, index) =>
    index >= first && index < end && isEntry(line) ? [index] : [],
  );
  const last =
    entries.findLast((index) => isNeighbour(lines.slice(index, index + 2).join('\n'))) ?? entries.at(-1);
  lines.splice(beforeComments(lines, endOfEntry(lines, last, end)), 0, ...text.trimEnd().split('\n'));
  write(path, lines.join('\n'));
}

const indentOf = (line) => /^ */.exec(line)[0];

/** Returns the index of the first line behind an entry, which may have several lines and closing brackets. */
function endOfEntry(lines, start, end) {
  const indent = indentOf(lines[start]);
  const next = lines.findIndex(
    (line, index) => index > start && indentOf(line) === indent && !/^\s*[)\]}]/.test(line),
  );
  return next === -1 ? end : Math.min(next, end);
}

/** Returns the index of the first line that no longer belongs to the table: one that is less indented than an entry, or blank. */
function endOfTable(lines, first, isEntry) {
  const indent = indentOf(lines.slice(first).find(isEntry) ?? '');
  const end = lines.findIndex(
    (line, index) =>
      index > first && (line === '' || !line.startsWith(indent) || (indent === '' && !isEntry(line))),
  );
  return end === -1 ? lines.length : end;
}

/** A comment above an entry belongs to it. */
function beforeComments(lines, index) {
  return /^\s*(\/\/|#)/.test(lines[index - 1] ?? '') ? beforeComments(lines, index - 1) : index;
}
