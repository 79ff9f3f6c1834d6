import type { OrderText, ShopOrder } from './senders/shop-order.js';
import type { NamedCustomer, RefusalReason } from './order-queries.js';

/** Whose parcels those of an order are, or why nobody's. */
export type Owner = { userCode: string } | { reason: RefusalReason };

const MAX_WORDS = 200;
const MAX_CODE = 100;
const BETWEEN_WORDS = /[\s,;:|/\\()[\]{}<>#"'*]+/;
/** Signs around a code. */
const EDGES = new Set('.-_!?');
/** Shorter texts are parts of addresses, and amounts. */
const MIN_CHARS = 4;
const DIGIT = /\p{Nd}/u;
const LETTER = /\p{L}/u;

/** Returns the texts that can be user codes: as they are written, and in capitals. */
export const codesOf = ({ named, texts }: ShopOrder): string[] => [
  ...new Set([...named, ...texts.flatMap(wordsOf)].flatMap(spellings)),
];

const spellings = (code: string): string[] => [code, code.toUpperCase()];

function withoutEdges(word: string): string {
  let [start, end] = [0, word.length];
  while (start < end && EDGES.has(word.charAt(start))) start += 1;
  while (end > start && EDGES.has(word.charAt(end - 1))) end -= 1;
  return word.slice(start, end);
}

/** A code has a digit, and where digits alone are something else also a letter. */
function wordsOf({ text, mayBeDigits }: OrderText): string[] {
  const words = text.split(BETWEEN_WORDS, MAX_WORDS).map(withoutEdges);
  return [text, ...words].filter(
    (word) =>
      word.length >= MIN_CHARS &&
      word.length <= MAX_CODE &&
      DIGIT.test(word) &&
      (mayBeDigits || LETTER.test(word)),
  );
}

/**
 * Returns the owner of an order's parcels: the customer in a field for the user code, otherwise the one in another text, otherwise that of
 * the feed. A code that nobody has, or that of several, is a reason to refuse, because the parcels are not those of the feed's customer.
 *
 * @param customers those with one of the codes, and that of the feed
 * @param defaultId the customer of the feed
 */
export function ownerOf(
  { named, texts }: ShopOrder,
  customers: readonly NamedCustomer[],
  defaultId: string | null,
): Owner {
  const byCode = new Map(customers.map((customer) => [customer.userCode, customer]));
  const among = (codes: string[]) => [
    ...new Set(codes.flatMap(spellings).flatMap((code) => byCode.get(code) ?? [])),
  ];
  const inField = among(named);
  const found = named.length > 0 ? inField : among(texts.flatMap(wordsOf));
  const [customer, another] = found;
  if (another) return { reason: 'several_customers' };
  if (!customer && named.length > 0) return { reason: 'unknown_user_code' };
  const chosen = customer ?? customers.find(({ id }) => id === defaultId);
  if (!chosen) return { reason: 'no_user_code' };
  return chosen.isActive ? { userCode: chosen.userCode } : { reason: 'unknown_user_code' };
}
