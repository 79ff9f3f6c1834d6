export type DamageProblem =
  | [problem: 'number_shortened', args: { text: string }]
  | [problem: 'formula_cell' | 'formula_error', args: { text: string }];

export type DateDamageProblem = [problem: 'date_cell', args: { text: string }];

/**
 * A number as spreadsheets and programs write it that is too long for them: 9.40011E+21, 9,4E+21, 1E+12. Codes such as 1E3 and
 * 12E-5 have no such form. 1.2E-04 is what a spreadsheet makes of 12E-5.
 */
const SCIENTIFIC = /^[+-]?(?:\d+(?:[.,]\d*)?E\+\d{1,3}|\d[.,]\d+E-\d{2,3})$/i;

/** A cell that was too narrow for its number, or an error value, in English and Spanish. */
const ERROR_VALUE =
  /^(?:#{2,}|#(?:NAME\?|REF!|VALUE!|DIV\/0!|NUM!|NULL!|N\/A|SPILL!|ERROR!|N\/D|¿NOMBRE\?|¡(?:REF|VALOR|DIV\/0|NUM|NULO|DESBORDAMIENTO)!))$/i;

/** ="00123" and '00123: what people type to keep leading zeros, which only a spreadsheet understands. */
const KEPT_AS_TEXT = /^(?:=\s*".*"|'[\d=+\-@].*)$/;

/** How all of them begin, for a quick check. */
const SUSPECT = /^(?:[#='+-]|\d+[.,E])/i;

/** Returns why a code or number cannot be what a person meant, or undefined. */
export function damageOf(text: string): DamageProblem | undefined {
  if (!SUSPECT.test(text)) return undefined;
  if (SCIENTIFIC.test(text)) return ['number_shortened', { text }];
  if (ERROR_VALUE.test(text)) return ['formula_error', { text }];
  return KEPT_AS_TEXT.test(text) ? ['formula_cell', { text: text.slice(0, 40) }] : undefined;
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

/** The digits that a spreadsheet keeps of a number. It replaces the others by zeros. */
const KEPT_DIGITS = 15;
/** One number in 10,000 ends with this many zeros by chance. */
const SUSPICIOUS_ZEROS = 4;

/** Returns whether the digits of a long number end with zeros where a spreadsheet would have put them. */
export const isRounded = (text: string): boolean =>
  /^\d+$/.test(text) && text.length >= KEPT_DIGITS + SUSPICIOUS_ZEROS && /^0+$/.test(text.slice(KEPT_DIGITS));
