// Computes how long the numbers of each format of the data set are, so that the service need not read expressions.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { RegExpParser } from '@eslint-community/regexpp';
import { getLengthRange } from 'regexp-ast-analysis';

/** Returns the shortest and the longest text without white space that an expression matches. */
export function lengthRangeOf(source) {
  // The data set allows white space everywhere in this form.
  const { alternatives } = new RegExpParser().parsePattern(source.replaceAll('\\s*', ''));
  const { min, max } = getLengthRange(alternatives, {});
  if (max === Infinity) throw new Error(`The numbers of a format have no longest one: ${source}`);
  return [min, max];
}

/** Returns the lengths of the formats of each file, in their order. */
export function readLengths(folder) {
  const files = readdirSync(join(folder, 'couriers')).sort();
  return Object.fromEntries(files.map((file) => [file, lengthsOf(join(folder, 'couriers', file))]));
}

const lengthsOf = (path) =>
  JSON.parse(readFileSync(path, 'utf8')).tracking_numbers.map(({ regex }) =>
    lengthRangeOf([regex].flat().join('')),
  );

/** One line per file. */
export function writeLengths(folder) {
  const lines = Object.entries(readLengths(folder)).map(
    ([file, lengths]) => `  ${JSON.stringify(file)}: ${JSON.stringify(lengths)}`,
  );
  writeFileSync(join(folder, 'lengths.json'), `{\n${lines.join(',\n')}\n}\n`);
}
