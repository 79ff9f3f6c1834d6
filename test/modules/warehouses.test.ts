import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../fixtures/demo/seed.js';
import { rounds } from '../support/harness/effort.js';
import { fingerprint } from '../support/readers/fingerprint.js';
import { untilAdmitted, type Call, type Reply } from '../support/service/service.js';
import { withService } from '../support/fixture/with-service.js';
import { unchecked } from '../support/fixture/sent.js';

const { primary: MIAMI, second: MEDLEY, two: TAMPA } = DEMO.warehouses;
const UNKNOWN = '01930a3e-0000-7000-8000-000000000000';

const { api, db, service } = withService();

const list = (query: Call['query'] = {}, as = 'admin') => api.as(as).listWarehouses(query);
const manage = (body: unknown, as = 'admin') => api.as(as).manageWarehouses(unchecked(body));

type Row = Record<string, unknown>;

const auditOf = (id: unknown) =>
  db.query(
    'select action, entity, actor_id, before, after, request_id from audit_entries where entity_id = $1 order by id',
    [id],
  );

const idOf = ({ body }: Reply) => String(body['data'].warehouse_id);
const create = async (name: string) => idOf(await manage({ action: 'create', name }).answer());
const remove = (id: string) => manage({ action: 'delete', warehouse_id: id });
const makePrimary = (id: string) => manage({ action: 'make_primary', warehouse_id: id });

const primariesOf = async (tenantId: string) =>
  (await db.all('warehouses', { tenant_id: tenantId, is_primary: true })).map(({ id }) => id);

describe('list of warehouses', () => {
  test('returns the primary one first and the others by name, page by page', async () => {
    const added = [await create('Annex'), await create('Zone')];
    const reply = await list().ok();
    expect(reply.body).toMatchObject({
      message: '4 warehouses found.',
      meta: { current_page: 1, per_page: 50, total_records: 4, total_pages: 1 },
    });
    const all = reply.data as Row[];
    expect(all.map(({ name }) => name)).toEqual(['Miami Gateway', 'Annex', 'Medley Overflow', 'Zone']);
    expect(all[0]).toEqual({
      warehouse_id: MIAMI,
      name: 'Miami Gateway',
      address: '8200 NW 41st Street',
      city: 'Miami',
      country: 'United States',
      phone: '+1 305 555 0180',
      email: 'dock@miami-gateway.example',
      is_primary: true,
      loading_gate: false,
      weight_question_lb: 150,
      created_at: expect.stringMatching(/^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/),
    });
    const pages = await Promise.all([1, 2, 3].map((page) => list({ page, limit: 2 }).answer()));
    expect(pages.flatMap(({ body }) => body['data'])).toEqual(all);
    for (const id of added) await remove(id).ok();
  });

  test('is readable for staff only, and only managers may change it', async () => {
    for (const as of ['admin', 'manager', 'warehouse']) await list({}, as).ok();
    const refused = { status: 403, body: { code: 'permission_denied' } };
    expect(await list({}, 'iex').answer()).toMatchObject(refused);
    for (const as of ['iex', 'warehouse'])
      expect(await manage({ action: 'create', name: 'X' }, as).answer()).toMatchObject(refused);
  });
});

describe('warehouses', () => {
  const WHOLE = {
    loading_gate: false,
    weight_question_lb: 200,
    name: 'Kingston Annex',
    address: '14 Port Royal Street',
    city: 'Kingston',
    country: 'Jamaica',
    phone: '+1 876 555 0170',
    email: 'annex@miami-gateway.example',
  };

  test('are created, updated and deleted with an audit entry each', async () => {
    const created = await manage({ action: 'create', ...WHOLE, is_primary: true }, 'manager').ok();
    const id = idOf(created);
    expect(created.data).toMatchObject({ ...WHOLE, warehouse_id: id, is_primary: false });
    const changed = await manage({
      action: 'update',
      warehouse_id: id,
      city: 'Spanish Town',
      phone: ' ',
    }).answer();
    const after = { ...created.data, city: 'Spanish Town', phone: null };
    expect(changed.body).toMatchObject({ message: 'Warehouse updated.', data: after });
    expect((await list().ok()).data).toContainEqual(after);
    const deleted = await remove(id).answer();
    expect(deleted.body).toMatchObject({ message: 'Warehouse deleted.', data: after });
    expect(await db.query('select * from warehouses where id = $1', [id])).toEqual([]);
    const by = { entity: 'warehouse', actor_id: DEMO.users.admin, before: null, after: null };
    expect(await auditOf(id)).toEqual([
      {
        ...by,
        action: 'warehouse.created',
        actor_id: DEMO.users.manager,
        after: { ...WHOLE, is_primary: false },
        request_id: created.headers.get('x-request-id'),
      },
      {
        ...by,
        action: 'warehouse.updated',
        request_id: changed.headers.get('x-request-id'),
        before: { city: 'Kingston', phone: '+1 876 555 0170' },
        after: { city: 'Spanish Town', phone: null },
      },
      {
        ...by,
        action: 'warehouse.deleted',
        request_id: deleted.headers.get('x-request-id'),
        before: { ...WHOLE, city: 'Spanish Town', phone: null },
      },
    ]);
  });

  test('need only a name, which is stored trimmed', async () => {
    const created = await manage({ action: 'create', name: ' Dépôt  2 ', city: '', email: ' ' }).ok();
    const nothing = { address: null, city: null, country: null, phone: null, email: null };
    expect(created.data).toMatchObject({ name: 'Dépôt  2', ...nothing });
    await remove(idOf(created)).ok();
  });

  test("cannot have another warehouse's name in any case or with surrounding blanks, except their own", async () => {
    const before = await fingerprint(service().owner);
    for (const name of ['Miami Gateway', 'MIAMI gateway', '  Miami Gateway ']) {
      const taken = { status: 409, body: { code: 'duplicate_warehouse_name' } };
      expect(await manage({ action: 'create', name }).answer()).toMatchObject(taken);
      expect(await manage({ action: 'update', warehouse_id: MEDLEY, name }).answer()).toMatchObject(taken);
    }
    expect(await fingerprint(service().owner)).toEqual(before);
    const inCapitals = await manage({ action: 'update', warehouse_id: MEDLEY, name: 'MEDLEY OVERFLOW' }).ok();
    expect(inCapitals.data.name).toBe('MEDLEY OVERFLOW');
    await manage({ action: 'update', warehouse_id: MEDLEY, name: 'Medley Overflow' }).ok();
    // A name of another tenant is free.
    const id = await create('Tampa Bay Hub');
    await remove(id).ok();
  });

  test('are not changed if the values are equal', async () => {
    const before = await fingerprint(service().owner);
    for (const body of [
      { action: 'update', warehouse_id: MEDLEY },
      { action: 'update', warehouse_id: MEDLEY, city: 'Medley', is_primary: true },
      { action: 'make_primary', warehouse_id: MIAMI },
    ]) {
      const reply = await manage(body).answer();
      expect([reply.status, reply.message]).toEqual([200, expect.stringContaining('Nothing was changed')]);
    }
    expect(await fingerprint(service().owner)).toEqual(before);
  });

  test('are rejected with invalid fields, each of which is named', async () => {
    const bad = {
      name: 'a\nb',
      address: 'a\u2028b',
      city: 'a\u0007',
      country: 'a\rb',
      phone: '1\t2',
      email: 'desk\u0007@example.com',
    };
    for (const action of [{ action: 'create' }, { action: 'update', warehouse_id: MEDLEY }]) {
      const reply = await manage({ ...action, ...bad }).refused(400, 'validation_failed');
      const fields = (reply.errors as { field: string }[]).map(({ field }) => field);
      expect(fields.sort()).toEqual(Object.keys(bad).sort());
    }
    const noAddress = await manage({ action: 'update', warehouse_id: MEDLEY, email: 'desk' }).answer();
    expect(noAddress).toMatchObject({ status: 400, body: { errors: [{ field: 'email' }] } });
    for (const name of ['', ' ', '\u00a0'])
      expect(await manage({ action: 'create', name }).status()).toBe(400);
  });

  test.each(['update', 'make_primary', 'delete'])(
    '%s responds 404 to an unknown warehouse',
    async (action) => {
      for (const warehouse_id of [UNKNOWN, TAMPA])
        await manage({ action, warehouse_id }).refused(404, 'warehouse_not_found');
    },
  );

  test('are not deleted if primary or used by packages or manifests', async () => {
    const id = await create('In use');
    const inUse = { status: 400, body: { code: 'warehouse_in_use' } };
    await remove(MIAMI).refused(400, 'warehouse_is_primary');
    const parcel = { tracking_number: 'WAREHOUSE-1', weight: 1, warehouse_id: id };
    const received = await api.as('warehouse').receivePackage(parcel).succeeded();
    expect(await remove(id).answer()).toMatchObject(inUse);
    await db.query('update packages set warehouse_id = $2 where id = $1', [received.data.package_id, MIAMI]);
    const manifest = await api.as('admin').createManifest({ warehouse_id: id }).ok();
    expect(await remove(id).answer()).toMatchObject(inUse);
    await db.query('delete from manifests where id = $1', [manifest.data.manifest_id]);
    await remove(id).ok();
  });

  test('a delete that races with an intake leaves either no warehouse or one with the package', async () => {
    const ROUNDS = 12;
    for (let round = 0; round < ROUNDS; round += 1) {
      const id = await create(`Round ${round}`);
      const body = { tracking_number: `ROUND-${round}`, weight: 1, warehouse_id: id };
      const intake = () => api.as('warehouse').receivePackage(body).answer();
      const both = round % 2 ? [intake(), remove(id).answer()] : [remove(id).answer(), intake()].reverse();
      const [received, deleted] = await Promise.all(both);
      const packages = await db.query('select id from packages where warehouse_id = $1', [id]);
      const left = await db.query('select id from warehouses where id = $1', [id]);
      const isDeleted = deleted?.status === 200;
      expect([received?.status, deleted?.code ?? 'deleted', packages.length, left.length]).toEqual(
        isDeleted ? [404, 'deleted', 0, 0] : [201, 'warehouse_in_use', 1, 1],
      );
    }
  }, 60_000);
});

describe('primary warehouse', () => {
  test('can be changed, and intake and manifests use the new one', async () => {
    const reply = await makePrimary(MEDLEY).answer();
    expect(reply.body).toMatchObject({
      message: 'Medley Overflow is the primary warehouse now.',
      data: { warehouse_id: MEDLEY, is_primary: true },
    });
    expect(await primariesOf(DEMO.tenants.demo)).toEqual([MEDLEY]);
    expect((await list().ok()).data[0]?.warehouse_id).toBe(MEDLEY);
    const received = await api
      .as('warehouse')
      .receivePackage({ tracking_number: 'PRIMARY-1', weight: 1 })
      .succeeded();
    expect(
      await db.query('select warehouse_id from packages where id = $1', [received.data.package_id]),
    ).toEqual([{ warehouse_id: MEDLEY }]);
    const entry = (await auditOf(MEDLEY)).at(-1);
    expect(entry).toMatchObject({
      action: 'warehouse.made_primary',
      before: { primary_warehouse_id: MIAMI },
      after: { primary_warehouse_id: MEDLEY },
    });
    await makePrimary(MIAMI).ok();
    expect(await primariesOf(DEMO.tenants.demo)).toEqual([MIAMI]);
    expect(await primariesOf(DEMO.tenants.two)).toEqual([TAMPA]);
  });

  const CALLERS = rounds(50, 200);

  test(`is exactly one after ${CALLERS} concurrent changes`, async () => {
    const ids = [MIAMI, MEDLEY, ...(await Promise.all(['A', 'B', 'C'].map(create)))];
    const moves = async () =>
      db.query(
        `select before ->> 'primary_warehouse_id' as "from", after ->> 'primary_warehouse_id' as "to"
         from audit_entries where action = 'warehouse.made_primary' order by id`,
      );
    const before = await moves();
    const calls = Array.from({ length: CALLERS }, (_, n) =>
      untilAdmitted(() => makePrimary(ids[n % 5] ?? '').answer()),
    );
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual(Array(CALLERS).fill(200));
    const [last] = await primariesOf(DEMO.tenants.demo);
    expect(await primariesOf(DEMO.tenants.demo)).toHaveLength(1);
    // The changes form a chain: each warehouse was left as often as it was reached, except the first and the last.
    const done = (await moves()).slice(before.length);
    expect(done.length).toBeGreaterThan(0);
    const balance = (id: string) =>
      done.filter(({ to }) => to === id).length - done.filter(({ from }) => from === id).length;
    for (const id of ids) expect(balance(id)).toBe((id === last ? 1 : 0) - (id === MIAMI ? 1 : 0));
    await makePrimary(MIAMI).ok();
    for (const id of ids.slice(2)) await remove(id).ok();
  }, 60_000);

  test(`is the first one that a tenant creates, also of ${CALLERS} created at once`, async () => {
    // A tenant without warehouses. No other row of tenant two refers to one any more.
    await db.query(`begin; set local session_replication_role = replica;
      delete from warehouses where tenant_id = '${DEMO.tenants.two}'; commit`);
    const make = (n: number) =>
      untilAdmitted(() => manage({ action: 'create', name: `First ${n}` }, 'two/admin').answer());
    const replies = await Promise.all(Array.from({ length: CALLERS }, (_, n) => make(n)));
    expect(replies.map(({ status }) => status)).toEqual(Array(CALLERS).fill(200));
    const marked = replies.filter(({ data }) => data.is_primary).map(idOf);
    expect(marked).toHaveLength(1);
    expect(await primariesOf(DEMO.tenants.two)).toEqual(marked);
  }, 60_000);

  test('is enforced by the database: a tenant with warehouses always has exactly one', async () => {
    const refused = (statement: string) =>
      expect(db.query(statement)).rejects.toThrow(/no primary one|one_primary/);
    await refused(`update warehouses set is_primary = false where id = '${MIAMI}'`);
    await refused(`update warehouses set is_primary = true where id = '${MEDLEY}'`);
    await refused(`insert into tenants (id, slug, name) values ('${UNKNOWN}', 'x', 'X');
      insert into warehouses (tenant_id, id, name) values ('${UNKNOWN}', '${UNKNOWN}', 'X')`);
    // Within a transaction a tenant may be without a primary warehouse.
    await db.query(`begin; update warehouses set is_primary = false where id = '${MIAMI}';
      update warehouses set is_primary = true where id = '${MEDLEY}'; commit`);
    expect(await primariesOf(DEMO.tenants.demo)).toEqual([MEDLEY]);
    await makePrimary(MIAMI).ok();
  });
});
