import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../../config/project-root.js';
import type { Checksum } from './check-digits.js';

const FOLDER = join(projectRoot, 'data', 'tracking-numbers');

type Lookup = { matches?: string; matches_regex?: string; name?: string; country?: string; courier?: string };
type Additional = { name: string; regex_group_name: string; lookup: Lookup[] };

/** A format in a file of the data set: the parts that the reader uses. */
type FormatEntry = {
  id?: string;
  name: string;
  regex: string | string[];
  validation: {
    checksum?: Checksum;
    serial_number_format?: { prepend_if: { matches_regex: string; content: string } };
    additional?: { exists: string[] };
  };
  additional?: Additional[];
};

type CarrierFile = { name: string; courier_code: string; tracking_numbers: FormatEntry[] };

/** By file, in the order of its formats: the lengths of the shortest and the longest number without white space. */
type Lengths = Record<string, [min: number, max: number][]>;

export type Format = {
  /** The identifier of the data set; for the few formats without one, the name in the addresses of its site. */
  id: string;
  name: string;
  carrier: string;
  carrierName: string;
  /** Matches a whole number without white space. */
  pattern: RegExp;
  /** Of the shortest and the longest number. */
  length: { min: number; max: number };
  checksum: Checksum | undefined;
  /** What the checksum needs in front of some serials. */
  prefix: { condition: RegExp; content: string } | undefined;
  /** Groups that must have a known value. */
  required: Lookups[];
  lookups: Lookups[];
  /** Letters and digits that the expression names literally. More of them make an accidental match less likely. */
  literals: number;
};

export type Lookups = { name: string; group: string; entries: LookupEntry[] };
type LookupEntry = { pattern: RegExp; text: string };

/** The named parts of a number. */
export type Groups = Record<string, string | undefined>;

/** No format is longer: the longest, of DHL, has 41 characters. */
const MAX_LENGTH = 41;

let loaded: Format[][] | undefined;
let shortest: number | undefined;

/** Returns the formats of the data set that a number of this length can have. Reads the files once. */
export function formatsOfLength(length: number): Format[] {
  loaded ??= groupByLength(readFormats());
  return loaded[length] ?? [];
}

/** Returns the length of the shortest number that any format has. */
export function minFormatLength(): number {
  loaded ??= groupByLength(readFormats());
  shortest ??= loaded.findIndex((formats) => formats.length > 0);
  return shortest;
}

/** A number has one length, so it is compared with about four of the 39 formats. */
const groupByLength = (formats: Format[]): Format[][] =>
  Array.from({ length: MAX_LENGTH + 1 }, (_, length) =>
    formats.filter(({ length: { min, max } }) => min <= length && length <= max),
  );

function readFormats(): Format[] {
  // The data set is part of the project, and format-lengths.mjs computes the lengths from it. The tests read each format.
  const lengths = JSON.parse(readFileSync(join(FOLDER, 'lengths.json'), 'utf8')) as Lengths;
  return readdirSync(join(FOLDER, 'couriers'))
    .sort()
    .flatMap((file) => readCarrier(file, lengths[file] ?? []));
}

function readCarrier(file: string, lengths: [min: number, max: number][]): Format[] {
  const carrier = JSON.parse(readFileSync(join(FOLDER, 'couriers', file), 'utf8')) as CarrierFile;
  return carrier.tracking_numbers.map((entry, index) => {
    const [min, max] = lengths[index] ?? [];
    if (min === undefined || max === undefined)
      throw new Error(
        `data/tracking-numbers/lengths.json lacks a format of ${file}. Both are written together.`,
      );
    return toFormat(carrier, entry, { min, max });
  });
}

function toFormat(carrier: CarrierFile, entry: FormatEntry, length: Format['length']): Format {
  const { checksum, serial_number_format: format, additional } = entry.validation;
  const source = [entry.regex].flat().join('');
  const lookups = (entry.additional ?? []).map(toLookups);
  return {
    id: entry.id ?? slugOf(entry.name),
    name: entry.name,
    carrier: carrier.courier_code,
    carrierName: carrier.name,
    pattern: new RegExp(`^(?:${source})$`),
    length,
    checksum,
    prefix: format && {
      condition: new RegExp(format.prepend_if.matches_regex),
      content: format.prepend_if.content,
    },
    required: lookups.filter(({ name }) => additional?.exists.includes(name)),
    lookups,
    literals: countLiterals(source),
  };
}

const toLookups = ({ name, regex_group_name: group, lookup }: Additional): Lookups => ({
  name,
  group,
  entries: lookup.map(({ matches, matches_regex, name: meaning, country, courier }) => ({
    pattern: new RegExp(`^(?:${matches_regex ?? matches})$`),
    text: meaning ?? courier ?? country ?? '',
  })),
});

const slugOf = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/-$/, '');

/** Counts what is left of the expression without group names, sets, counts, look-aheads and escapes. */
const countLiterals = (source: string): number =>
  source.replace(/\(\?<\w+>|\[[^[\]]*\]|\{[^{}]*\}|\(\?[=!:]|\\./g, '').replace(/[^A-Z0-9]/g, '').length;
