import type { BodyOf } from '../../../platform/contract/types.js';
import type { SentFields } from '../shared/fields.js';

export type CourierUpdate = Extract<BodyOf<'manageCouriers'>, { action: 'update' }>;

type Profile = Omit<CourierUpdate, 'action' | 'courier_id'>;

// every one of the schema's fields, or it does not compile; as: the keys of the literal
const PROFILE = Object.keys({
  courier_name: 0,
  house_color: 0,
  company_name: 0,
  email: 0,
  phone_number1: 0,
  phone_number2: 0,
  address1: 0,
  address2: 0,
  city_town: 0,
  parish_province: 0,
} satisfies Record<keyof Profile, 0>) as (keyof Profile)[];

/** What a body sends of a profile, and nothing else of it: its webhooks are the courier's own affair. */
export function takeProfile(body: Profile): SentFields {
  const given = PROFILE.filter((name) => body[name] !== undefined);
  return Object.fromEntries(given.map((name) => [name, body[name]]));
}
