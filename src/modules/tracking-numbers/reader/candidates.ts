import { hasCheckDigit, strengthOf } from './check-digits.js';
import { formatsOfLength, type Format, type Groups, type Lookups } from './formats.js';
import { innerNumbers, toldNumber } from './told-number.js';
import { uspsNumberIn } from './usps.js';

/** A format that a number fits. */
export type Candidate = {
  /** Code and name of the carrier in the data set. */
  carrier: string;
  carrierName: string;
  /** Identifier and name of the format in the data set. */
  format: string;
  formatName: string;
  /** The number that the carrier's customer was told. */
  trackingNumber: string;
  /** `valid`: the check digit is right. `none`: the format has no check digit, so nothing is verified. */
  check: 'valid' | 'none';
  explanation: string;
};

type Match = { format: Format; groups: Groups; number: string };

/**
 * Returns the formats that a number fits, best first. A format whose check digit is wrong is not one of them. A label that
 * contains another number is also tried as that number.
 *
 * @param number without white space, in capital letters
 */
export function findCandidates(number: string): Candidate[] {
  const fitting = matchesOf(number);
  if (fitting.length === 0 && !number.startsWith('420')) return [];
  const matches = fitting.map((match) => ({ match, told: toldNumber(match.format.id, match) }));
  const told = new Set(matches.map(({ told: text }) => text));
  const inner = [
    ...matches.flatMap(({ match }) => innerNumbers(match.format.id, number)),
    ...uspsInner(number),
  ]
    .filter(({ text }) => !told.has(text))
    .flatMap(({ format, text }) => matchesOf(text).filter(({ format: { id } }) => id.startsWith(format)))
    .map((match) => ({ match, told: match.number }));
  return [...matches, ...inner]
    .sort((a, b) => scoreOf(b.match) - scoreOf(a.match))
    .map(({ match, told: trackingNumber }) => toCandidate(match, trackingNumber));
}

/** The expressions read a ZIP code of 9 digits where one of 5 is right. */
function uspsInner(number: string): { format: string; text: string }[] {
  const text = uspsNumberIn(number);
  return text === undefined ? [] : [{ format: 'usps', text }];
}

function matchesOf(number: string): Match[] {
  return formatsOfLength(number.length).flatMap((format) => {
    const groups: Groups | undefined = format.pattern.exec(number)?.groups;
    return groups && isPlausible(format, groups) ? [{ format, groups, number }] : [];
  });
}

function isPlausible({ checksum, prefix, required }: Format, groups: Groups): boolean {
  if (required.some((lookups) => meaningOf(lookups, groups) === undefined)) return false;
  if (!checksum) return true;
  const { SerialNumber: serial = '', CheckDigit: check = '' } = groups;
  const isPrefixed = prefix?.condition.test(serial) === true;
  return hasCheckDigit(checksum, isPrefixed ? prefix.content + serial : serial, check);
}

const meaningOf = ({ group, entries }: Lookups, groups: Groups): string | undefined =>
  entries.find(({ pattern }) => pattern.test(groups[group] ?? ''))?.text;

/** A check digit first, then more literal characters, then the stronger check digit, then a known service or country. */
function scoreOf({ format, groups }: Match): number {
  const { checksum, literals, lookups } = format;
  const known = lookups.some((entry) => meaningOf(entry, groups) !== undefined) ? 1 : 0;
  return (checksum ? 100_000 + strengthOf(checksum) * 10 : 0) + Math.min(literals, 99) * 1_000 + known;
}

function toCandidate({ format, groups, number }: Match, trackingNumber: string): Candidate {
  return {
    carrier: format.carrier,
    carrierName: format.carrierName,
    format: format.id,
    formatName: format.name,
    trackingNumber,
    check: format.checksum ? 'valid' : 'none',
    explanation: explain(format, groups, trackingNumber === number),
  };
}

function explain(format: Format, groups: Groups, isWhole: boolean): string {
  const known = format.lookups.flatMap((lookups) => {
    const meaning = meaningOf(lookups, groups);
    return meaning ? [`${lookups.name}: ${meaning}.`] : [];
  });
  const verdict = format.checksum
    ? `${format.name}. The check digit is right.`
    : `Looks like ${format.name}. The format has no check digit, so nothing is verified.`;
  return [verdict, ...(isWhole ? [] : ['The tracking number is a part of the barcode.']), ...known].join(' ');
}
