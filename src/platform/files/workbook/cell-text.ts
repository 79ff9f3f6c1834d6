import { createRequire } from 'node:module';
import { MAX_CELL_CHARS, MAX_FORMATS } from './bounds.js';
import { tooLarge } from './problem.js';

// Loaded with require, because the types of the package have a syntax error (3.2.5).
const { dateFromSerial, format, getFormatDateInfo } = createRequire(import.meta.url)('numfmt') as {
  dateFromSerial(serial: number): [year: number, month: number, day: number, ...time: number[]] | null;
  format(pattern: string, value: number | string, options: { locale: string }): string;
  getFormatDateInfo(
    pattern: string,
  ): Record<'year' | 'month' | 'day' | 'hours' | 'minutes' | 'seconds', boolean>;
};

export type CellText = { text: string; isDate?: boolean };

export type CellWriters = {
  /** Returns the text of a number cell. */
  writeNumber: (raw: string, style: number) => CellText;
  /** Returns the text of a cell with a text. A format can add to it: `"MIA-"@`. */
  writeText: (text: string, style: number) => string;
};

type Kind = 'general' | 'number' | 'date' | 'time';

/** `repeats` is how often the format writes a text that it changes. */
type Format = { kind: Kind; changesTexts: boolean; repeats: number };

const GENERAL_FORMAT: Format = { kind: 'general', changesTexts: false, repeats: 1 };

const GENERAL = 'General';
/** A longer format would not fit into a spreadsheet program. */
const MAX_FORMAT_CHARS = 255;
/** A spreadsheet keeps 15 digits of a number. */
const LOST_DIGITS = 1e15;
const DAYS_TO_1904 = 1_462;
/** 9999-12-31. */
const LAST_DAY = 2_958_466;

/**
 * Returns functions that write cells as a CSV file of the sheet has them, with these differences: dates are ISO 8601, and numbers without
 * a format have all their digits. What is left of a number of more than 15 digits is in scientific notation, which no code has.
 * The functions throw WorkbookError if cells have too many formats, or a format makes a text too long for a cell.
 */
export function makeCellWriters(formats: (string | undefined)[], is1904: boolean): CellWriters {
  // Each once, and also those that cannot be read, because the library reads them again for each cell.
  const read = new Map<string, Format>();
  function formatOf(pattern: string): Format {
    if (pattern === GENERAL) return GENERAL_FORMAT;
    const known = read.get(pattern);
    if (known) return known;
    if (read.size === MAX_FORMATS) throw tooLarge('formats');
    const found = readFormat(pattern);
    read.set(pattern, found);
    return found;
  }
  return {
    writeNumber(raw, style) {
      const value = Number(raw);
      if (raw.trim() === '' || !Number.isFinite(value)) return { text: raw };
      const pattern = formats[style] ?? GENERAL;
      const { kind } = formatOf(pattern);
      if (kind === 'date') return { text: isoOf(value + (is1904 ? DAYS_TO_1904 : 0)), isDate: true };
      if (Math.abs(value) >= LOST_DIGITS) return { text: value.toExponential().toUpperCase() };
      if (kind === 'general') return { text: String(Number(value.toPrecision(15))).toUpperCase() };
      return { text: formatted(pattern, value) ?? String(value), isDate: kind === 'time' };
    },
    writeText(text, style) {
      const pattern = formats[style] ?? GENERAL;
      const { changesTexts, repeats } = formatOf(pattern);
      if (!changesTexts) return text;
      // Before the library writes the text 255 times.
      if (text.length * repeats > MAX_CELL_CHARS) throw tooLarge('cellText');
      return formatted(pattern, text) ?? text;
    },
  };
}

/** A format that cannot be read is "General". */
function readFormat(pattern: string): Format {
  const isGeneral = pattern.length > MAX_FORMAT_CHARS || /^(?:general|@)$/i.test(pattern.trim());
  if (isGeneral || formatted(pattern, 1) === undefined) return GENERAL_FORMAT;
  // It may have a section for texts: it names them, or it is the fourth.
  const changesTexts = pattern.includes('@') || pattern.split(';').length > 3;
  return { kind: kindOf(pattern), changesTexts, repeats: pattern.split(/@|general/i).length - 1 };
}

function kindOf(pattern: string): Kind {
  const { year, month, day, hours, minutes, seconds } = getFormatDateInfo(pattern);
  if (year || month || day) return 'date';
  return hours || minutes || seconds ? 'time' : 'number';
}

/** Returns undefined for a format that cannot be read. */
function formatted(pattern: string, value: number | string): string | undefined {
  try {
    return format(pattern, value, { locale: 'en' });
  } catch {
    return undefined;
  }
}

function isoOf(serial: number): string {
  const date = serial >= 0 && serial < LAST_DAY ? dateFromSerial(serial) : null;
  // What a spreadsheet shows for such a number.
  if (!date) return '#####';
  const [year, month, day, ...time] = date.map((part, n) => String(part).padStart(n === 0 ? 4 : 2, '0'));
  return `${year}-${month}-${day}${Number.isInteger(serial) ? '' : `T${time.join(':')}`}`;
}

/** Writes a cell whose value is an ISO 8601 date already. */
export const isoCell = (raw: string): CellText => ({
  text: raw.replace(/T00:00(?::00(?:\.0+)?)?Z?$/, ''),
  isDate: true,
});
