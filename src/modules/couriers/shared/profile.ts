import { differenceOf } from '../../../platform/audit/difference.js';
import type { components } from '../../../../generated/contract.js';
import type { FieldProblem } from '../../../platform/errors/errors.js';
import { assertUsable, textOr, validateEmail } from '../../../platform/values/contact.js';
import type { BodyOf } from '../../../platform/contract/types.js';
import type { Courier } from '../../../platform/db/models/types.js';
import { validateUrl, type OutboundRules } from '../../../platform/outbound/urls.js';
import type { Endpoint } from '../../../platform/queue/delivery-queues.js';

/** What a webhook URL receives. */
export type WebhookFormat = components['schemas']['WebhookFormat'];

/** The fields of a profile that a caller may set, with decrypted secrets. */
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
  add_package_format: WebhookFormat;
  update_package_format: WebhookFormat;
  api_token: string | null;
  house_color: string | null;
};

// The compiler requires every field of the types. Object.keys() returns the keys of these literals.
export const CONTACT_NAMES = Object.keys({
  courier_name: 0,
  company_name: 0,
  email: 0,
  phone_number1: 0,
  phone_number2: 0,
  address1: 0,
  address2: 0,
  city_town: 0,
  parish_province: 0,
  house_color: 0,
} satisfies Record<keyof ContactFields, 0>) as (keyof ContactFields)[];

const NAMES = [
  ...CONTACT_NAMES,
  ...(Object.keys({
    api_url_get_customers: 0,
    api_url_add_package: 0,
    api_url_update_package: 0,
    add_package_format: 0,
    update_package_format: 0,
    api_token: 0,
  } satisfies Record<Exclude<keyof ProfileFields, keyof ContactFields>, 0>) as (keyof ProfileFields)[]),
];

export type SentFields = Pick<
  Extract<BodyOf<'updateCourierSettings'>, { courier_name?: string }>,
  keyof ProfileFields
>;

/** A profile without the settings for the courier's own system. */
export type ContactFields = Omit<ProfileFields, `api_${string}` | `${Endpoint}_format`>;

/** Returns the fields of the model for a profile. */
export const contactColumns = (fields: ContactFields) =>
  ({
    name: fields.courier_name,
    companyName: fields.company_name,
    email: fields.email,
    phoneNumber1: fields.phone_number1,
    phoneNumber2: fields.phone_number2,
    address1: fields.address1,
    address2: fields.address2,
    cityTown: fields.city_town,
    parishProvince: fields.parish_province,
    houseColor: fields.house_color,
  }) satisfies Partial<Courier>;

/** Returns the known fields of a body, and nothing else. */
export function pickFields(body: SentFields): SentFields {
  const known = NAMES.filter((name) => body[name] !== undefined);
  return Object.fromEntries(known.map((name) => [name, body[name]]));
}

/** @throws ApiError validation_failed with every invalid field in `errors` */
export function assertAcceptable(sent: SentFields, rules: OutboundRules): void {
  assertUsable(problemsOf(sent, rules));
}

/** Returns the problem of each field, undefined for a valid one. */
export const problemsOf = (
  sent: SentFields,
  rules: OutboundRules,
): Record<string, FieldProblem | undefined> =>
  Object.fromEntries(NAMES.map((name) => [name, problemOf(name, sent[name] ?? '', rules)]));

function problemOf(name: keyof ProfileFields, text: string, rules: OutboundRules): FieldProblem | undefined {
  if (name === 'api_token') return /^(?: *|[!-~]+)$/.test(text) ? undefined : ['token_characters'];
  if (text === '') return undefined;
  if (name.startsWith('api_url_')) return validateUrl(text, rules);
  switch (name) {
    case 'email':
      return validateEmail(text);
    case 'house_color':
      return /^#[0-9a-f]{6}$/i.test(text) ? undefined : ['house_colour'];
    default:
      return undefined;
  }
}

/** Returns the stored fields, overwritten by the given ones. A blank text clears a field. */
export function mergeFields(stored: ProfileFields, sent: SentFields): ProfileFields {
  const merged: Record<keyof ProfileFields, string | null> = { ...stored };
  for (const name of NAMES) {
    const text = sent[name];
    merged[name] = textOr(stored[name], text);
  }
  // The contract rejects a blank name and a blank format.
  return {
    ...merged,
    courier_name: sent.courier_name ?? stored.courier_name,
    add_package_format: sent.add_package_format ?? stored.add_package_format,
    update_package_format: sent.update_package_format ?? stored.update_package_format,
  };
}

/** Returns the differing fields for the audit trail. It learns only whether a token is set. */
export const profileDifference = (before: ProfileFields, after: ProfileFields) =>
  differenceOf(before, after, NAMES, (fields) => ({
    ...fields,
    api_token: fields.api_token === null ? null : '(hidden)',
  }));

/** The allowed media types of a logo. */
export type MediaType = 'image/png' | 'image/jpeg' | 'image/svg+xml';
