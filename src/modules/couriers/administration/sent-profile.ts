import type { BodyOf } from '../../../platform/contract/types.js';
import type { SentFields } from '../shared/profile.js';

export type CourierUpdate = Extract<BodyOf<'manageCouriers'>, { action: 'update' }>;

type Profile = Omit<CourierUpdate, 'action' | 'courier_id'>;

// The compiler requires every field of the schema. Object.keys() returns the keys of this literal.
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

/** Returns the profile fields of a body, and nothing else. Only the courier itself sets its webhooks. */
export function pickProfile(body: Profile): SentFields {
  const given = PROFILE.filter((name) => body[name] !== undefined);
  return Object.fromEntries(given.map((name) => [name, body[name]]));
}
