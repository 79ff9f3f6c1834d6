import { beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { makeParcels, newNumber } from '../../../support/builders/parcels.js';
import { withService } from '../../../support/fixture/with-service.js';
import { rounds } from '../../../support/harness/effort.js';
import {
  Flags,
  isRelated,
  isSame,
  roleOf,
  ROLES,
  type Courier,
  type Role,
  type State,
  type StoredPrealert,
} from '../../../support/scans/family-model.js';
import { makeFamily, type Family } from '../../../support/scans/related-numbers.js';

// Pre-alerts and packages of related FedEx numbers, changed in any order, are compared with a simple model.

const { api, service } = withService();
beforeAll(() => {
  parcels = makeParcels(service());
});
let parcels: ReturnType<typeof makeParcels>;

type World = { family: Family; codes: Record<Courier, string>; customer: string; flags: Flags };

const RELATED: readonly Role[] = ['short', 'one', 'two'];

/** Mostly the short number and the two that end in it. */
const role = fc.constantFrom<Role>(...ROLES, ...RELATED, ...RELATED, ...RELATED);
const courier = fc.constantFrom<Courier>('IEX', 'HRB');
const place = fc.nat({ max: 1 });
const operation = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('announce' as const), courier, role }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('receive' as const),
      role,
      owner: fc.option(courier, { freq: 1 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('replace' as const), place, role }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove' as const), place, isStaff: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('review' as const), place, assign: fc.boolean() }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('correct' as const),
      place,
      role: fc.option(role, { freq: 3 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('rename' as const) }) },
);
type Operation = typeof operation extends fc.Arbitrary<infer Each> ? Each : never;

const related = fc.constantFrom<Role>(...RELATED);
const announced = fc.record({ kind: fc.constant('announce' as const), courier, role: related });
const received = fc.record({
  kind: fc.constant('receive' as const),
  role: related,
  owner: fc.constant(null),
});

/** One or two pre-alerts and a parcel of related numbers, then any changes. */
const operations = fc
  .tuple(
    fc.array(announced, { minLength: 1, maxLength: 2 }),
    received,
    fc.array(operation, { minLength: 4, maxLength: 16, size: 'max' }),
  )
  .map(([first, parcel, others]): Operation[] => [...first, parcel, ...others]);

/** Sequences that broke the rules in earlier versions. */
const EXAMPLES: [Operation[]][] = [
  [
    [
      { kind: 'announce', courier: 'IEX', role: 'short' },
      { kind: 'receive', role: 'one', owner: null },
      { kind: 'replace', place: 0, role: 'two' },
      { kind: 'receive', role: 'two', owner: null },
    ],
  ],
  [
    [
      { kind: 'announce', courier: 'IEX', role: 'short' },
      { kind: 'announce', courier: 'HRB', role: 'short' },
      { kind: 'receive', role: 'one', owner: null },
      { kind: 'replace', place: 0, role: 'two' },
      { kind: 'announce', courier: 'IEX', role: 'one' },
    ],
  ],
];

let serial = 0;
const newCode = () => `FAMILY-${(serial += 1)}`;

async function makeWorld(): Promise<World> {
  const code = newCode();
  const customer = { user_code: code, first_name: 'A', last_name: 'B' };
  const { data } = await api.as('iex').createCustomer(customer).ok();
  return {
    family: makeFamily(),
    codes: { IEX: code, HRB: 'HRB-2001' },
    customer: data.id,
    flags: new Flags(),
  };
}

async function stateOf({ family }: World): Promise<State> {
  const numbers = ROLES.map((each) => family[each]);
  const prealerts = await parcels.select(
    `select a.id, c.code as courier, a.tracking_number as number, a.status, a.tracking_key as key
     from prealerts a join couriers c using (tenant_id) where c.id = a.courier_id and a.tracking_number = any($1) order by a.id`,
    [numbers],
  );
  const packages = await parcels.select(
    `select p.id, c.code as courier, p.user_code, p.tracking_number as number, p.tracking_key as key
     from packages p left join couriers c on c.id = p.courier_id where p.tracking_number = any($1) order by p.id`,
    [numbers],
  );
  const withRole = (row: Record<string, unknown>) => ({
    ...row,
    role: roleOf(family, String(row['number'])),
  });
  // The columns are those of the types.
  return { prealerts: prealerts.map(withRole), packages: packages.map(withRole) } as State;
}

/** Executes an operation. Returns the pre-alert that staff have reviewed, or that was deleted, if any. */
async function execute(world: World, state: State, next: Operation): Promise<string | undefined> {
  const at = 'place' in next ? state.prealerts[next.place] : undefined;
  if (next.kind === 'announce')
    await parcels.submit(next.courier, world.family[next.role], world.codes[next.courier]);
  if (next.kind === 'receive') await receive(world, next);
  if (next.kind === 'correct') await correct(world, state.packages[next.place]?.id, next.role);
  if (next.kind === 'rename') await rename(world);
  if (next.kind === 'replace' && at) await replace(world, at, next.role);
  if (next.kind === 'remove' && at) return remove(world, at, next.isStaff);
  if (next.kind === 'review' && at?.status === 'flagged') return review(world, at, next.assign);
  return undefined;
}

async function replace(world: World, prealert: StoredPrealert, to: Role): Promise<void> {
  const { id, courier: owner, status } = prealert;
  const fields = { tracking_number: world.family[to], user_code: world.codes[owner], vendor: 'V' };
  const reply = await api
    .as(owner.toLowerCase())
    .replacePrealert({ prealert_id: id, ...fields })
    .answer();
  if (reply.status === 200 && status === 'flagged' && !isSame(to, prealert.role)) keepFlag(world, prealert);
}

async function remove(world: World, prealert: StoredPrealert, isStaff: boolean): Promise<string> {
  const { id, courier: owner, status } = prealert;
  await api
    .as(isStaff ? 'admin' : owner.toLowerCase())
    .deletePrealert({ prealert_id: id })
    .ok();
  if (status !== 'flagged') return id;
  if (isStaff) world.flags.clear(owner, rolesOf(world, prealert));
  else keepFlag(world, prealert);
  return id;
}

async function review(world: World, prealert: StoredPrealert, assign: boolean): Promise<string | undefined> {
  const body = { prealert_id: prealert.id, reason: 'Looked.', assign };
  const { status } = await api.as('admin').reviewPrealert(body).answer();
  if (status !== 200) return undefined;
  world.flags.clear(prealert.courier, rolesOf(world, prealert));
  return prealert.id;
}

/** Gives a package another number, or one that is not of the family. */
async function correct({ family }: World, id: string | undefined, to: Role | null): Promise<void> {
  const number = to ? family[to] : newNumber();
  if (id !== undefined) await parcels.update('admin', id, { tracking_number: number });
}

async function rename(world: World): Promise<void> {
  world.codes.IEX = newCode();
  const { customer: courier_customer_id, codes } = world;
  await api.as('iex').updateCustomer({ courier_customer_id, user_code: codes.IEX }).ok();
}

/** The numbers of a pre-alert and of its package. The package may have another number now. */
const rolesOf = ({ family }: World, { role: own, key }: StoredPrealert): Role[] => [
  own,
  ...ROLES.filter((each) => family[each] === key),
];
const keepFlag = (world: World, prealert: StoredPrealert) =>
  world.flags.add(prealert.courier, ...rolesOf(world, prealert));

/** Receives a parcel, and compares the intake with what ResolveScan has shown. */
async function receive({ family, codes }: World, next: Operation & { kind: 'receive' }): Promise<void> {
  const number = family[next.role];
  const { data } = await api.as('warehouse').resolveScan({ scan: number }).ok();
  const { packages } = data.matches;
  const fields = next.owner ? { user_code: codes[next.owner] } : {};
  const { status, body } = await parcels.scan(number, fields);
  const stored = body['data'];
  const [found, another] = packages;
  if (another) expect({ status, next: data.next }).toEqual({ status: 400, next: 'review' });
  else if (found)
    expect({ status, stored }).toMatchObject({
      status: 200,
      stored: { package_id: found.package_id, duplicate: true },
    });
  if (found) return;
  expect(status).toBe(201);
  if (next.owner) return;
  expect({ owner: stored.user_code, flagged: stored.flagged }).toEqual({
    owner: data.owner?.user_code ?? null,
    flagged: data.next === 'review',
  });
}

/** Only a review ends a flag, and a new pre-alert of a number with a stored one is flagged. */
function assertFlags({ flags }: World, before: State, after: State, settled: string | undefined): void {
  const now = new Map(after.prealerts.map((each) => [each.id, each]));
  for (const { id, status } of before.prealerts)
    if (status === 'flagged' && id !== settled) expect(now.get(id)?.status).toBe('flagged');
  const known = new Map(before.prealerts.map((each) => [each.id, each]));
  for (const each of after.prealerts) {
    const old = known.get(each.id);
    if ((!old || !isSame(old.role, each.role)) && flags.has(each.courier, each.role))
      expect(each).toMatchObject({ status: 'flagged' });
  }
}

/** A pre-alert is received if and only if the package that it is matched with is there. */
function assertReceived({ prealerts, packages }: State): void {
  for (const prealert of prealerts) {
    const own = packages.filter((each) => each.courier === prealert.courier);
    const matched = own.filter((each) => each.key === prealert.key && isRelated(each.role, prealert.role));
    const isReceived = prealert.status === 'received';
    if (isReceived) expect({ prealert, own, matched: matched.length }).toMatchObject({ matched: 1 });
    const missed = own.filter((each) => each.user_code !== null && isSame(each.role, prealert.role));
    if (prealert.status === 'pending') expect({ prealert, missed }).toEqual({ prealert, missed: [] });
  }
}

/** Only a claim of another courier, or a flag, leads to a flag. */
function assertReason({ flags }: World, before: State, after: State): void {
  const flagged = new Set(before.prealerts.filter(({ status }) => status === 'flagged').map(({ id }) => id));
  const claims = [...before.prealerts, ...after.prealerts, ...before.packages, ...after.packages];
  for (const each of after.prealerts) {
    if (each.status !== 'flagged' || flagged.has(each.id)) continue;
    const others = claims.filter(
      (other) =>
        other.courier !== each.courier ||
        ('status' in other && other.status === 'flagged' && other.id !== each.id),
    );
    const isFlagged = ROLES.some((own) => isRelated(own, each.role) && flags.has(each.courier, own));
    expect({ each, isExplained: isFlagged || others.length > 0 }).toMatchObject({ isExplained: true });
  }
}

test('changes of related numbers in any order keep flags, statuses and scans as the model has them', async () => {
  await fc.assert(
    fc.asyncProperty(operations, async (changes) => {
      const world = await makeWorld();
      let before = await stateOf(world);
      for (const next of changes) {
        const settled = await execute(world, before, next);
        const after = await stateOf(world);
        assertFlags(world, before, after, settled);
        assertReceived(after);
        assertReason(world, before, after);
        before = after;
      }
    }),
    { numRuns: rounds(60, 600), examples: EXAMPLES },
  );
}, 600_000);
