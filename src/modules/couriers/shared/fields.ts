import type { FieldProblem } from '../../../platform/errors/errors.js';
import { assertUsable, validateEmail, validateLine } from '../../../platform/values/contact.js';
import type { BodyOf } from '../../../platform/contract/types.js';
import { validateUrl, type OutboundRules } from '../../../platform/outbound/urls.js';

/** What a caller may set of a profile, secrets in clear. */
export type ProfileFields = {
  courier_name: string;
  company_name: string | null;
  email: string | null;
  phone_number1: string | null;
  phone_number2: string | null;
  address1: string | null;
  address2: string | null;
  city_town: string | null;
  parish_province: string | null;
  api_url_get_customers: string | null;
  api_url_add_package: string | null;
  api_url_update_package: string | null;
  api_token: string | null;
  house_color: string | null;
};

// every one of the type's names, or it does not compile
const NAMES = Object.keys({
  courier_name: 0,
  company_name: 0,
  email: 0,
  phone_number1: 0,
  phone_number2: 0,
  address1: 0,
  address2: 0,
  city_town: 0,
  parish_province: 0,
  api_url_get_customers: 0,
  api_url_add_package: 0,
  api_url_update_package: 0,
  api_token: 0,
  house_color: 0,
} satisfies Record<keyof ProfileFields, 0>) as (keyof ProfileFields)[]; // as: the keys of the literal

export type SentFields = Pick<
  Extract<BodyOf<'updateCourierSettings'>, { courier_name?: string }>,
  keyof ProfileFields
>;

/** The fields that a body sends, and nothing else of it. */
export function takeFields(body: SentFields): SentFields {
  const sent: SentFields = {};
  for (const name of NAMES) {
    const value = body[name];
    if (value !== undefined) sent[name] = value;
  }
  return sent;
}

/** @throws ApiError validation_failed naming every field that cannot be stored */
export function assertAcceptable(sent: SentFields, rules: OutboundRules): void {
  assertUsable(faultsOf(sent, rules));
}

/** What is wrong with each field. */
export const faultsOf = (sent: SentFields, rules: OutboundRules): Record<string, FieldProblem | undefined> =>
  Object.fromEntries(NAMES.map((name) => [name, faultOf(name, sent[name] ?? '', rules)]));

function faultOf(name: keyof ProfileFields, text: string, rules: OutboundRules): FieldProblem | undefined {
  // every field is one line
  const fault = validateLine(text);
  if (fault || text.trim() === '') return fault;
  if (name.startsWith('api_url_')) return validateUrl(text, rules);
  switch (name) {
    case 'email':
      return validateEmail(text);
    case 'api_token':
      return /^[!-~]+$/.test(text) ? undefined : ['token_characters'];
    case 'house_color':
      return /^#[0-9a-f]{6}$/i.test(text) ? undefined : ['house_colour'];
    default:
      return undefined;
  }
}

/** The stored fields with what was sent in their place; blank text clears one. */
export function mergeFields(stored: ProfileFields, sent: SentFields): ProfileFields {
  const merged: Record<keyof ProfileFields, string | null> = { ...stored };
  for (const name of NAMES) {
    const text = sent[name];
    if (text !== undefined) merged[name] = text.trim() === '' ? null : text;
  }
  // the contract has refused a blank name
  return { ...merged, courier_name: sent.courier_name ?? stored.courier_name };
}

/** The fields in which two profiles differ, for the audit trail: of a token only that there is one. */
export function differenceOf(before: ProfileFields, after: ProfileFields) {
  const changed = NAMES.filter((name) => before[name] !== after[name]);
  const pick = (fields: ProfileFields) =>
    Object.fromEntries(
      changed.map((name) => [name, name === 'api_token' ? hide(fields[name]) : fields[name]]),
    );
  return changed.length > 0 ? { before: pick(before), after: pick(after) } : undefined;
}

const hide = (secret: string | null) => (secret === null ? null : '(hidden)');
