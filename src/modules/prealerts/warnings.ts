import type { components } from '../../../generated/contract.js';
import { misspelledNames } from '../../platform/contract/sent-names.js';
import { warnOfUnlikelyNumber } from '../tracking-numbers/public.js';
import type { NewPrealert } from './batches/new-prealert.js';

export type PrealertWarning = components['schemas']['PrealertWarning'];

/**
 * Returns the warning about fields of a new pre-alert that are other spellings of declared ones. Version 1 ignores unknown names of a new
 * record, so they are no error, but `reference` for `Reference` would be lost without a word.
 */
export function warnOfIgnored(id: 'submitPrealert' | 'createPrealert', body: object): NewPrealert['ignored'] {
  const names = misspelledNames(id, body).map(({ sent, field }) => `${sent} (did you mean ${field}?)`);
  if (names.length === 0) return undefined;
  const message = `Not stored, because names are case-sensitive: ${names.join(', ')}.`;
  return { code: 'ignored_field', message };
}

/** Returns the field `warnings` of a response, or nothing. */
export function warningsOf(stored: NewPrealert): { warnings?: PrealertWarning[] } {
  const found = [warnOfUnlikelyNumber(stored), stored.ignored].filter((warning) => warning !== undefined);
  return found.length > 0 ? { warnings: found } : {};
}
