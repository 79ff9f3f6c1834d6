import { randomUUID } from 'node:crypto';
import { beforeAll, expect } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { unchecked } from '../../../support/fixture/sent.js';
import { withService } from '../../../support/fixture/with-service.js';
import { type Call } from '../../../support/service/service.js';

export type Person = { first: string; last: string; code?: string; email?: string | null; active?: boolean };
export type FoundCustomer = {
  courier_customer_id: string;
  user_code: string;
  first_name: string;
  last_name: string;
  email: string | null;
  courier_id: string;
  courier_name: string;
  match_score: number | null;
};

// Texts with the wildcards of ilike, and names of many kinds.
const PEOPLE: Person[] = [
  { first: '100%', last: 'Wool', code: 'PCT-1' },
  { first: 'a_b', last: 'Under_Score', code: 'U_1', email: 'under_score@mail.example' },
  { first: 'aXb', last: 'UnderXScore', code: 'UX1', email: 'underXscore@mail.example' },
  { first: 'back\\slash', last: 'BACK\\SLASH', code: 'B\\1' },
  { first: '%', last: '_', code: '%_\\' },
  { first: 'ÉTÉ', last: 'Ñandú' },
  { first: 'John', last: 'Smith' },
  { first: 'Zebedee', last: 'Quarshie' },
  { first: 'Étienne', last: 'Núñez' },
  { first: 'Mary-Ann', last: "O'Garro" },
  { first: 'Jean-Pierre', last: 'van der Linden' },
  { first: 'Indira', last: 'Ramkissoon-Persaud' },
  { first: 'Montgomery', last: 'Featherstone' },
  { first: 'Thaddeus', last: 'Gone', active: false },
];

export const nameOf = ({ first_name: first, last_name: last }: FoundCustomer) => `${first} ${last}`;

/** A service whose courier IEX also has the people above as customers, and searches for them. */
export function withSearchedCustomers() {
  const fixture = withService();
  const { api, service } = fixture;
  beforeAll(async () => {
    await addCustomers(DEMO.couriers.IEX, PEOPLE);
  }, 60_000);

  async function addCustomers(
    courierId: string,
    people: Person[],
    tenantId: string = DEMO.tenants.demo,
  ): Promise<void> {
    await service().owner.query(
      `insert into customers (tenant_id, id, courier_id, user_code, first_name, last_name, email, is_active)
       select $1, gen_random_uuid(), $2, p.code, p.first, p.last, p.email, coalesce(p.active, true)
       from jsonb_to_recordset($3) p (first text, last text, code text, email text, active boolean)`,
      [tenantId, courierId, JSON.stringify(people.map((each) => ({ code: `X-${randomUUID()}`, ...each })))],
    );
  }

  const search = (query: Call['query'], as = 'iex') => api.as(as).searchCustomers(unchecked(query ?? {}));

  async function find(query: Call['query'], as = 'iex'): Promise<FoundCustomer[]> {
    const reply = await search(query, as).ok();
    expect(reply.body['count']).toBe(reply.data.length);
    return reply.data;
  }

  const similar = (q: string, as = 'iex') => find({ q, advanced: true }, as);

  return { ...fixture, addCustomers, search, find, similar };
}
