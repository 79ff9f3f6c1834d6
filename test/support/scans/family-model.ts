import type { Family } from './related-numbers.js';

// A simple model of the parcels of related FedEx numbers: which of their numbers can be one parcel, and who has a flag.

export type Role = Exclude<keyof Family, 'lower'>;
export const ROLES: readonly Role[] = ['short', 'one', 'two', 'label', 'other'];

/** The label has the number of 14 digits. */
const stored = (role: Role): Role => (role === 'label' ? 'one' : role);

/** Whether two numbers can be those of one parcel: the short one is the end of both long ones. */
export function isRelated(a: Role, b: Role): boolean {
  const [first, second] = [stored(a), stored(b)];
  if (first === second) return true;
  return [first, second].includes('short') && ![first, second].includes('other');
}

export const isSame = (a: Role, b: Role): boolean => stored(a) === stored(b);

export type Courier = 'IEX' | 'HRB';
export type StoredPrealert = {
  id: string;
  courier: Courier;
  role: Role;
  status: 'pending' | 'received' | 'flagged';
  key: string;
};
export type StoredPackage = {
  id: string;
  courier: Courier | null;
  user_code: string | null;
  role: Role;
  key: string;
};
export type State = { prealerts: StoredPrealert[]; packages: StoredPackage[] };

/** The numbers whose next pre-alert of a courier must be flagged. */
export class Flags {
  readonly #flags: { courier: Courier; role: Role }[] = [];

  add(courier: Courier, ...roles: Role[]): void {
    for (const role of roles) if (!this.has(courier, role)) this.#flags.push({ courier, role });
  }

  /** A review, or a deletion by staff, clears all flags of the numbers that can be this one. */
  clear(courier: Courier, roles: Role[]): void {
    const left = this.#flags.filter(
      (flag) => flag.courier !== courier || !roles.some((role) => isRelated(role, flag.role)),
    );
    this.#flags.splice(0, this.#flags.length, ...left);
  }

  has = (courier: Courier, role: Role): boolean =>
    this.#flags.some((flag) => flag.courier === courier && isSame(flag.role, role));
}

/** The role of a number or a key of the family. */
export function roleOf(family: Family, number: string): Role {
  const role = ROLES.find((each) => family[each] === number);
  if (!role) throw new Error(`${number} is not of the family.`);
  return role;
}
