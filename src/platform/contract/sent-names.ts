import { operations, type OperationId } from '../../../generated/operations.js';
import { spellingOf } from './keywords.js';

const MAX_NAMES = 20;
const MAX_CHARS = 100;

/** Returns a name that a client sent as a message may show it. */
export const shownName = (name: string): string =>
  [...name.replace(/\p{Cc}/gu, ' ')].slice(0, MAX_CHARS).join('');

/** Returns which keys of a body were ignored, as a sentence with a space in front. Empty if there are none. */
export function ignoredNames(id: OperationId, body: object): string {
  const known: readonly string[] = operations[id].bodyNames;
  const ignored = Object.keys(body).filter((name) => !known.includes(name));
  const names = ignored.slice(0, MAX_NAMES).map(shownName).join(', ');
  return names === '' ? '' : ` Ignored, because the operation has no such fields: ${names}.`;
}

/** Returns the first keys of a body that are another spelling of a field that was not sent, with the name of the field. */
export function misspelledNames(id: OperationId, body: object): { sent: string; field: string }[] {
  const known: readonly string[] = operations[id].bodyNames;
  const sent = Object.keys(body);
  if (sent.every((name) => known.includes(name))) return [];
  const bySpelling = new Map(known.map((name) => [spellingOf(name), name]));
  const found: { sent: string; field: string }[] = [];
  for (const name of sent) {
    if (found.length === MAX_NAMES) break;
    if (name.length > MAX_CHARS || known.includes(name)) continue;
    const field = bySpelling.get(spellingOf(name));
    if (field !== undefined && !Object.hasOwn(body, field)) found.push({ sent: shownName(name), field });
  }
  return found;
}

/**
 * Returns the message of an update that changes nothing: that the record has the values already, or that the body has no field to
 * change.
 *
 * @param selectors the fields that say what to update
 */
export function nothingToChange(
  id: OperationId,
  body: object,
  { selectors, already }: { selectors: readonly string[]; already: string },
): string {
  const known: readonly string[] = operations[id].bodyNames;
  const own = Object.keys(body).filter((name) => known.includes(name) && !selectors.includes(name));
  const isEmpty = own.every((name) => name === 'action');
  return isEmpty ? `The request has no field to change.${ignoredNames(id, body)}` : already;
}
