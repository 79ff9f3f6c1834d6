export type DamageProblem = [
  problem: 'number_shortened' | 'number_formatted' | 'formula_cell' | 'formula_error' | 'date_cell',
  args: { text: string },
];

export type DateDamageProblem = [problem: 'date_cell', args: { text: string }];

// Each shape below is what a spreadsheet or a program makes of a number. Codes of couriers and carriers must not have it: what is
// refused cannot be used as a code at all. So shapes that are also plausible codes are accepted: 1E3, 12E-5, 101.0, 1,234, the identity
// numbers 12.345.678 and 1.234.567.890, 2026-05-03 and 03-05-2026 (year, month or branch with a serial number), #12.

/**
 * Too long for the program: 9.40011E+21, 9,4E+21, 1E+12. 1.2E-04 is what a spreadsheet makes of 12E-5. Without a sign, as Java
 * writes it, only with a fraction and from E7 on, where Java begins: 9.40011E21.
 */
const SCIENTIFIC = /^[+-]?(?:\d+(?:[.,]\d*)?E\+\d{1,3}|\d[.,]\d+E-\d{2,3}|\d[.,]\d+E(?:[7-9]|\d{2,3}))$/i;

/** A whole number with decimals, as programs write a column of numbers with an empty cell: 9400111899223.0, 1001.00. */
const WITH_DECIMALS = /^\d{4,}[.,]0{1,2}$/;

/** Separators of thousands, at least two commas or apostrophes, or four dots: 9,400,111,899.00. */
const WITH_THOUSANDS =
  /^(?:\d{1,3}(?:,\d{3}){2,}(?:\.\d+)?|\d{1,3}(?:['’]\d{3}){2,}(?:[.,]\d+)?|\d{1,3}(?:\.\d{3}){4,}(?:,\d+)?)$/;

/** A cell that was too narrow for its number. */
const TOO_NARROW = /^#{2,}$/;

/** An error value. In most languages it ends with ! or ?: #WERT!, #NOM?, #¡VALOR!. The others say that a value is missing. */
const ERROR_VALUE =
  /^(?:#[¡¿]?\p{L}[\p{L}\p{M}\d/._ ]{0,30}[!?]|#DIV\/0!|#(?:N\/[ABDV]|NV|I\/T|Н\/Д|YOK|PUUTTUU|HIÁNYZIK|NENÍ_K_DISPOZICI|NEDOSTUPNÝ)|Err:\d{3})$/iu;

/** What programs write for a number that is missing. Not NAN and nan, which can be codes. */
const NO_NUMBER = /^(?:NaN|[+-]?Infinity)$/;

/** ="00123" and '00123: what people type to keep leading zeros, which only a spreadsheet understands. */
const KEPT_AS_TEXT = /^(?:=\s*".*"|'[\d=+\-@].*)$/;

const YEAR = String.raw`(?:19|20)\d\d`;
const SHORT = String.raw`(?:0?[1-9]|[12]\d|3[01])`;

/** A day, month and year with slashes or dots, in any order, or any date with a time: 03/05/2026, 3.5.2026, 2026-05-03 00:00:00. */
const DATE = new RegExp(
  `^(?:${SHORT}([/.])${SHORT}\\1${YEAR}|${YEAR}/${SHORT}/${SHORT}|${YEAR}-${SHORT}-${SHORT}[T ]\\d\\d:\\d\\d.{0,20})$`,
);

/** How all of them begin, for a quick check. */
const SUSPECT = /^(?:[#='+-]|\d+[.,'’/E]|\d{4}-|NaN$|Infinity$|Err:)/i;

// Such numbers among words: ="UPS "&A1 is UPS 9.4E+21, and ="IEX-"&A1 is IEX-1.23457E+11. Only what no code and no text of a label has.
// A date or a number with separators can be there beside a number.

const START = String.raw`(?<![\p{L}\p{N}.,+])`;
const END = String.raw`(?![\p{L}\p{N}])`;

const SCIENTIFIC_INSIDE = new RegExp(
  String.raw`\d[.,]\d+E\+\d{1,3}${END}|${START}\d[.,]?E\+\d{2,3}${END}|` +
    String.raw`${START}\d[.,]\d+E(?:-\d{2,3}|[7-9]|\d{2,3})${END}`,
  'iu',
);

const TOO_NARROW_INSIDE = /(?<!\S)#{3,}(?!\S)/;

const KEPT_AS_TEXT_INSIDE = /(?<!\S)="[^"]*"(?!\S)/;

/** What all of them have, for a quick check. */
const SUSPECT_INSIDE = /\dE[+\d-]|\d[.,]E\+|###|="/i;

/** A message shows no more of a text. Counted in code points: half a surrogate pair cannot be stored. */
const MAX_SHOWN_CHARS = 40;

const shown = (text: string): string =>
  Array.from(text.slice(0, 2 * MAX_SHOWN_CHARS))
    .slice(0, MAX_SHOWN_CHARS)
    .join('');

/** Returns why a code or number cannot be what a person meant, or undefined. */
export function damageOf(text: string): DamageProblem | undefined {
  const problem =
    (SUSPECT.test(text) ? problemOf(text) : undefined) ??
    (SUSPECT_INSIDE.test(text) ? problemInside(text) : undefined);
  return problem && [problem, { text: shown(text) }];
}

function problemInside(text: string): DamageProblem[0] | undefined {
  if (SCIENTIFIC_INSIDE.test(text)) return 'number_shortened';
  if (TOO_NARROW_INSIDE.test(text)) return 'formula_error';
  return KEPT_AS_TEXT_INSIDE.test(text) ? 'formula_cell' : undefined;
}

function problemOf(text: string): DamageProblem[0] | undefined {
  if (SCIENTIFIC.test(text)) return 'number_shortened';
  if (WITH_DECIMALS.test(text) || WITH_THOUSANDS.test(text)) return 'number_formatted';
  if (TOO_NARROW.test(text) || ERROR_VALUE.test(text) || NO_NUMBER.test(text)) return 'formula_error';
  if (DATE.test(text)) return 'date_cell';
  return KEPT_AS_TEXT.test(text) ? 'formula_cell' : undefined;
}

const MONTHS =
  'Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Sept|Oct|Nov|Dec|ene|abr|ago|dic|feb|mar|may|jun|jul|sep|sept|oct|nov';
const DATE_CELL = new RegExp(`^\\d{1,2}-(?:${MONTHS})$`);

/**
 * Returns whether a cell is a date that a spreadsheet made of a code: it writes 3-Jan for JAN-3, in exactly this spelling. Only for
 * files, because no other program does that.
 */
export const dateDamageOf = (text: string): DateDamageProblem | undefined =>
  DATE_CELL.test(text) ? ['date_cell', { text }] : undefined;

/** Months as spreadsheets shorten them in English, Spanish, German, French and Portuguese. */
const MONTH_NAMES = `(?:${MONTHS}|Mrz|Mär|Mai|Okt|Dez|janv|févr|mars|avr|mai|juin|juil|août|déc|fev|set|out|dez)\\.?`;

/** Dates that are also plausible codes: Jan-03, 03. Jan, 3-Jan-26, 2026-01-03, 03-01-2026, 3/1, 3/1/26, 3.1. */
const LIKE_DATE = new RegExp(
  `^(?:\\d{1,2}(?:-|\\. ?| )${MONTH_NAMES}(?:[- ]?(?:\\d\\d|${YEAR}))?|${MONTH_NAMES}[- ](?:\\d{1,2}|${YEAR})|` +
    `${YEAR}-${SHORT}-${SHORT}|${SHORT}-${SHORT}-${YEAR}|${SHORT}/${SHORT}(?:/\\d\\d)?|${SHORT}\\.${SHORT}\\.(?:\\d\\d)?)$`,
);

/** Returns whether a code looks like a date that a spreadsheet may have made of it: in its spelling, not `JAN-03` as people type it. */
export const isLikeDate = (text: string): boolean => LIKE_DATE.test(text);

/** The digits that a spreadsheet keeps of a number. It replaces the others by zeros. */
const KEPT_DIGITS = 15;
/** One number in 10,000 ends with this many zeros by chance. */
const SUSPICIOUS_ZEROS = 4;

/**
 * Whether the digits of a number of more than 15 digits end with zeros where a spreadsheet would have put them. A number of 16 to 18
 * digits often does by chance, so that only the numbers of the whole file can tell. Undefined for what a spreadsheet keeps.
 */
export function roundingOf(text: string): 'certain' | 'possible' | 'none' | undefined {
  if (!/^\d+$/.test(text) || text.length <= KEPT_DIGITS) return undefined;
  if (!/^0+$/.test(text.slice(KEPT_DIGITS))) return 'none';
  return text.length >= KEPT_DIGITS + SUSPICIOUS_ZEROS ? 'certain' : 'possible';
}
