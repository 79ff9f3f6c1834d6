import type { BodyOf } from '../../../platform/contract/types.js';
import { CONTACT_NAMES, type ContactFields, type SentFields } from '../shared/profile.js';

export type CourierUpdate = Extract<BodyOf<'manageCouriers'>, { action: 'update' }>;

type Profile = Omit<CourierUpdate, 'action' | 'courier_id'>;
/** A field of the schema that CONTACT_NAMES lacks: with one, no call of pickProfile compiles. */
type Unlisted = Exclude<keyof Profile, keyof ContactFields>;

/** Returns the profile fields of a body, and nothing else. Only the courier itself sets its webhooks. */
export function pickProfile(body: Profile & Record<Unlisted, never>): SentFields {
  const given = CONTACT_NAMES.filter((name) => body[name] !== undefined);
  return Object.fromEntries(given.map((name) => [name, body[name]]));
}
