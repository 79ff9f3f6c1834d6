import { differenceOf } from '../../../platform/audit/difference.js';
import type { components } from '../../../../generated/contract.js';
import type { FieldProblem } from '../../../platform/errors/errors.js';
import { assertUsable, textOr, validateEmail } from '../../../platform/values/contact.js';
import { fieldsOf } from '../../../platform/values/fields.js';
import type { BodyOf } from '../../../platform/contract/types.js';
import type { Courier } from '../../../platform/db/models/types.js';
import { validateUrl, type OutboundRules } from '../../../platform/outbound/urls.js';
import type { Endpoint } from '../../../platform/queue/delivery-queues.js';
import type { EventType } from './event-types.js';

/** What a webhook URL receives. */
export type WebhookFormat = components['schemas']['WebhookFormat'];

/** The contact details of a courier: by their names in the contract, the fields of the model. */
export const CONTACT = {
  courier_name: 'name',
  company_name: 'companyName',
  email: 'email',
  phone_number1: 'phoneNumber1',
  phone_number2: 'phoneNumber2',
  address1: 'address1',
  address2: 'address2',
  city_town: 'cityTown',
  parish_province: 'parishProvince',
  house_color: 'houseColor',
} as const;
/** The same for the settings for the courier's own system. */
export const SYSTEM = {
  api_url_get_customers: 'apiUrlGetCustomers',
  api_url_add_package: 'apiUrlAddPackage',
  api_url_update_package: 'apiUrlUpdatePackage',
  add_package_format: 'addPackageFormat',
  update_package_format: 'updatePackageFormat',
  add_package_events: 'addPackageEvents',
  update_package_events: 'updatePackageEvents',
} as const;

type FieldsOf<Names extends Record<string, keyof Courier>> = {
  -readonly [Name in keyof Names]: Name extends `${Endpoint}_format`
    ? WebhookFormat
    : Name extends `${Endpoint}_events`
      ? EventType[]
      : Courier[Names[Name]];
};
/** A profile without the settings for the courier's own system. */
export type ContactFields = FieldsOf<typeof CONTACT>;
export type SystemFields = FieldsOf<typeof SYSTEM>;
/** The fields of a profile that a caller may set, with decrypted secrets. */
export type ProfileFields = ContactFields & SystemFields & { api_token: string | null };

// Object.keys() returns the keys of these literals.
const keysOf = <Names extends object>(names: Names) => Object.keys(names) as (keyof Names)[];
export const CONTACT_NAMES = keysOf(CONTACT);
const NAMES = [...CONTACT_NAMES, ...keysOf(SYSTEM), 'api_token'] as const;
type ListName = `${Endpoint}_events`;
const isList = (name: string): name is ListName => name.endsWith('_package_events');
const TEXT_NAMES = NAMES.filter((name): name is Exclude<(typeof NAMES)[number], ListName> => !isList(name));

export type SentFields = Pick<
  Extract<BodyOf<'updateCourierSettings'>, { courier_name?: string }>,
  keyof ProfileFields
>;

/** Returns the known fields of a body, or the given ones of them, and nothing else. */
export const pickFields = (body: SentFields, names: readonly (keyof ProfileFields)[] = NAMES): SentFields =>
  Object.fromEntries(names.filter((name) => body[name] !== undefined).map((name) => [name, body[name]]));

export type CourierUpdate = Extract<BodyOf<'manageCouriers'>, { action: 'update' }>;
type SentContact = Omit<CourierUpdate, 'action' | 'courier_id' | 'current_password'>;
/** A field of the schema that CONTACT lacks: with one, no call of pickContact compiles. */
type Unlisted = Exclude<keyof SentContact, keyof ContactFields>;

/** Returns the contact details of a body, and nothing else. Only the courier itself sets its webhooks. */
export const pickContact = (body: SentContact & Record<Unlisted, never>): SentFields =>
  pickFields(body, CONTACT_NAMES);

/** @throws ApiError validation_failed with every invalid field in `errors` */
export function assertAcceptable(sent: SentFields, rules: OutboundRules): void {
  assertUsable(problemsOf(sent, rules));
}

/** Returns the problem of each field, undefined for a valid one. */
export const problemsOf = (
  sent: SentFields,
  rules: OutboundRules,
): Record<string, FieldProblem | undefined> =>
  fieldsOf(NAMES, (name) => {
    const value = sent[name] ?? '';
    return typeof value === 'string' ? problemOf(name, value, rules) : undefined;
  });

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
export const mergeFields = (stored: ProfileFields, sent: SentFields): ProfileFields => ({
  ...fieldsOf(TEXT_NAMES, (name) => textOr(stored[name], sent[name])),
  add_package_events: typesOr(stored.add_package_events, sent.add_package_events),
  update_package_events: typesOr(stored.update_package_events, sent.update_package_events),
  // The contract rejects a blank name and a blank format.
  courier_name: sent.courier_name ?? stored.courier_name,
  add_package_format: sent.add_package_format ?? stored.add_package_format,
  update_package_format: sent.update_package_format ?? stored.update_package_format,
});

/** Returns the stored types unless others were sent. Their order means nothing, so it is no difference. */
const typesOr = (stored: EventType[], sent: EventType[] | undefined): EventType[] =>
  sent === undefined || (sent.length === stored.length && sent.every((type) => stored.includes(type)))
    ? stored
    : sent;

/**
 * A flat URL has only packages, so an event of another type could not be sent to it.
 * @throws ApiError validation_failed
 */
export function assertFlatTypes(fields: SystemFields, sent: SentFields): void {
  const problems = (['add_package', 'update_package'] as const).flatMap(
    (endpoint): [string, FieldProblem][] => {
      const isFlat = fields[`${endpoint}_format`] !== 'event';
      const hasOthers = fields[`${endpoint}_events`].some((type) => !type.startsWith('package.'));
      if (!isFlat || !hasOthers) return [];
      const field = sent[`${endpoint}_events`] === undefined ? `${endpoint}_format` : `${endpoint}_events`;
      return [[field, ['only_packages']]];
    },
  );
  assertUsable(Object.fromEntries(problems));
}

/** Returns the differing fields for the audit trail. It learns only whether a token is set. */
export const profileDifference = (before: ProfileFields, after: ProfileFields) =>
  differenceOf(before, after, NAMES, (fields) => ({
    ...fields,
    api_token: fields.api_token === null ? null : '(hidden)',
  }));

/** The allowed media types of a logo. */
export type MediaType = 'image/png' | 'image/jpeg' | 'image/svg+xml';
