import { fieldsOf, lineOf, listOf, numberOf, type Fields } from './fields.js';

/** A text of an order in which the buyer or the shop may have written a user code. */
export type OrderText = {
  text: string;
  /** Whether a code of digits alone counts. Not where house numbers, amounts and dates stand. */
  mayBeDigits: boolean;
};

/** What a shop's order says, whoever sent it. */
export type ShopOrder = {
  /** The shop's own id of the order, the same in each of its events. */
  id: string;
  /** The number of the order, as people see it. */
  reference: string | null;
  description: string | null;
  /** The tracking numbers, each once. Null for a text that is too long to be one. */
  numbers: (string | null)[];
  /** The texts of fields whose name says that they contain the user code. */
  named: string[];
  texts: OrderText[];
};

const MAX_TEXT = 500;
/** Those of the contract. */
const [MAX_REFERENCE, MAX_DESCRIPTION] = [255, 2_000];

/** Returns the id of a record, which shops send as a number or as text. */
export function idOf(value: unknown): string | null {
  // Those of Shopify's test events are longer than a number of JavaScript, and still tell orders apart.
  if (typeof value === 'number') return Number.isInteger(value) && value > 0 ? String(value) : null;
  return lineOf(value, 100);
}

export const referenceOf = (value: unknown): string | null =>
  lineOf(typeof value === 'number' ? String(value) : value, MAX_REFERENCE);

/** An order with more is refused. */
export const MAX_NUMBERS = 50;

/** Returns the tracking numbers, each once, without blank texts: at most one more than an order may have. */
export function numbersOf(sent: unknown[]): (string | null)[] {
  const numbers = new Set<string | null>();
  for (const value of sent) {
    const text = typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value;
    if (typeof text === 'string' && lineOf(text, 1) !== null) numbers.add(numberOf(text));
    if (numbers.size > MAX_NUMBERS) break;
  }
  return [...numbers];
}

/** Returns what was bought, for example `2 × Paperback, Lamp`. */
export function descriptionOf(lines: unknown, nameOf: (line: Fields) => unknown): string | null {
  const items = listOf(lines).flatMap((line) => {
    const name = lineOf(nameOf(line), MAX_TEXT);
    const { quantity } = line;
    if (name === null) return [];
    return typeof quantity === 'number' && quantity > 1 ? `${quantity} × ${name}` : name;
  });
  return lineOf(items.join(', '), MAX_DESCRIPTION);
}

/** Returns the texts in which a code of letters and digits counts, or one of digits alone too. */
export function textsOf(values: unknown[], mayBeDigits: boolean): OrderText[] {
  return values.flatMap((value) => {
    const text = lineOf(value, MAX_TEXT);
    return text === null ? [] : { text, mayBeDigits };
  });
}

/** Names of a field for the user code, without capitals, accents, spaces and signs. Those of the columns of an upload, without the vague ones. */
const CODE_FIELDS = new Set([
  'usercode',
  'customercode',
  'accountnumber',
  'mailbox',
  'mailboxnumber',
  'codigodecliente',
  'casillero',
  'numerodecasillero',
  'numerodecuenta',
]);

/** A shop has a few such fields, and their names are short. */
const [MAX_FIELDS, MAX_NAME] = [200, 40];

/** Returns the texts of the fields that are named after the user code. */
export const namedCodes = (fields: { name: unknown; value: unknown }[]): string[] =>
  fields.slice(0, MAX_FIELDS).flatMap(({ name, value }) => {
    const plain = lineOf(name, MAX_NAME)
      ?.normalize('NFKD')
      .toLowerCase()
      .replace(/[^\p{L}\p{Nd}]/gu, '');
    const text = lineOf(typeof value === 'number' ? String(value) : value, 100);
    return plain !== undefined && CODE_FIELDS.has(plain) && text !== null ? text : [];
  });

/** Returns the values of a list. PHP sends a list with gaps as an object. */
export const valuesOf = (value: unknown): unknown[] =>
  Array.isArray(value) ? value : Object.values(fieldsOf(value));
