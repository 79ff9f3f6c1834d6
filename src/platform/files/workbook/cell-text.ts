import { createRequire } from 'node:module';

// Loaded with require, because the types of the package have a syntax error (3.2.5).
const { dateFromSerial, format, getFormatDateInfo } = createRequire(import.meta.url)('numfmt') as {
  dateFromSerial(serial: number): [year: number, month: number, day: number, ...time: number[]] | null;
  format(pattern: string, value: number, options: { locale: string }): string;
  getFormatDateInfo(
    pattern: string,
  ): Record<'year' | 'month' | 'day' | 'hours' | 'minutes' | 'seconds', boolean>;
};

export type CellText = { text: string; isDate?: boolean };

/** Returns the text of a number cell. */
export type NumberWriter = (raw: string, style: number) => CellText;

type Kind = 'general' | 'number' | 'date' | 'time';

/** A longer format would not fit into a spreadsheet program. */
const MAX_FORMAT_CHARS = 255;
/** A spreadsheet keeps 15 digits of a number. */
const LOST_DIGITS = 1e15;
const DAYS_TO_1904 = 1_462;
/** 9999-12-31. */
const LAST_DAY = 2_958_466;

/**
 * Returns a function that writes numbers as a CSV file of the sheet has them, with these differences: dates are ISO 8601, and numbers without
 * a format have all their digits. What is left of a number of more than 15 digits is in scientific notation, which no code has.
 */
export function makeNumberWriter(formats: (string | undefined)[], is1904: boolean): NumberWriter {
  const kinds = formats.map(kindOf);
  return (raw, style) => {
    const value = Number(raw);
    if (raw.trim() === '' || !Number.isFinite(value)) return { text: raw };
    const pattern = formats[style] ?? '';
    const kind = kinds[style] ?? 'general';
    if (kind === 'date') return { text: isoOf(value + (is1904 ? DAYS_TO_1904 : 0)), isDate: true };
    if (Math.abs(value) >= LOST_DIGITS) return { text: value.toExponential().toUpperCase() };
    if (kind === 'general') return { text: String(Number(value.toPrecision(15))).toUpperCase() };
    return { text: formatted(pattern, value) ?? String(value), isDate: kind === 'time' };
  };
}

function kindOf(pattern: string | undefined): Kind {
  if (pattern === undefined || pattern.length > MAX_FORMAT_CHARS || /^(?:general|@)$/i.test(pattern.trim()))
    return 'general';
  if (formatted(pattern, 1) === undefined) return 'general';
  const { year, month, day, hours, minutes, seconds } = getFormatDateInfo(pattern);
  if (year || month || day) return 'date';
  return hours || minutes || seconds ? 'time' : 'number';
}

/** Returns undefined for a format that cannot be read. */
function formatted(pattern: string, value: number): string | undefined {
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
