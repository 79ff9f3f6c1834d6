import { expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { maskTrackingNumber } from '../../../src/modules/tracking-numbers/public.js';
import { withService } from '../../support/fixture/with-service.js';
import { makeManifests } from '../../support/manifests/manifest-calls.js';
import { insertPackages } from '../../support/manifests/packages.js';

const { api, db } = withService();
const { draft } = makeManifests(api);

const { IEX } = DEMO.couriers;

/** More than PostgreSQL returns in two rows. */
const PACKAGES = 1_001;

/** What JSON escapes, what it does not, and what ends a text, a script or a template elsewhere. */
const ODD = [
  '"quoted"',
  'back\\slash',
  '</script>',
  'Peña',
  '漢字',
  '🙂',
  '\u2028',
  "O'Neil",
  '%s',
  '${x}',
  ',',
  '}',
];

type Stored = {
  id: string;
  tracking_number: string;
  house_number: string;
  weight_lb: string;
  first_name: string | null;
  last_name: string | null;
  user_code: string | null;
  carrier_id: string | null;
};

const storedOf = (manifestId: string) =>
  db.query<Stored>('select * from packages where manifest_id = $1 order by received_at, id', [manifestId]);

/** The record of a package, as the contract describes it. */
const recordOf = (stored: Stored, isMasked: boolean) => ({
  package_id: stored.id,
  tracking_number: isMasked ? maskTrackingNumber(stored.tracking_number) : stored.tracking_number,
  weight: Number(stored.weight_lb),
  house_number: stored.house_number,
  first_name: stored.first_name,
  last_name: stored.last_name,
  user_code: stored.user_code,
  courier_name: 'Island "Express" \\ 🙂',
  courier_code: 'IEX',
  carrier_name: stored.carrier_id === null ? null : expect.any(String),
});

test(`the records of ${PACKAGES} packages say what is stored, in texts that JSON escapes too`, async () => {
  const { id } = await draft();
  const ids = await insertPackages(db, PACKAGES, { manifestId: id, courierId: IEX });
  await db.query('update couriers set name = $1 where id = $2', ['Island "Express" \\ 🙂', IEX]);
  await db.query(
    `update packages p set first_name = o.text, last_name = o.text || ' Bell', user_code = 'IEX-1001', weight_lb = o.n * 1.25,
       tracking_number = 'ODD' || o.text || o.n, shipper = o.text,
       carrier_id = case when o.n % 2 = 0 then (select k.id from carriers k where k.tenant_id = p.tenant_id order by k.id limit 1) end
     from unnest($1::text[], $2::uuid[]) with ordinality as o(text, id, n) where p.id = o.id`,
    [ODD, ids.slice(0, ODD.length)],
  );
  const stored = await storedOf(id);
  expect(stored).toHaveLength(PACKAGES);
  expect(new Set(stored.map(({ first_name: name }) => name))).toEqual(new Set([...ODD, null]));
  for (const as of ['warehouse', 'iex']) {
    const { data } = await api.as(as).getManifest({ id }).ok();
    expect(data.packages).toEqual(stored.map((row) => recordOf(row, as === 'iex' && row.user_code === null)));
  }
});
