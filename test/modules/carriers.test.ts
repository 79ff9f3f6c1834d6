import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../fixtures/demo/seed.js';
import { rounds } from '../support/harness/effort.js';
import { fingerprint } from '../support/readers/fingerprint.js';
import { untilAdmitted, type Call, type Reply } from '../support/service/service.js';
import { withService } from '../support/fixture/with-service.js';
import { unchecked } from '../support/fixture/sent.js';

const UNKNOWN = '01930a3e-0000-7000-8000-000000000000';

const { api, service } = withService();

const list = (query: Call['query'] = {}, as = 'admin') => api.as(as).listCarriers(query);
const manage = (body: unknown, as = 'admin') => api.as(as).manageCarriers(unchecked(body));

type Row = Record<string, unknown>;

async function rows(statement: string, values: unknown[] = []): Promise<Row[]> {
  return (await service().owner.query<Row>(statement, values)).rows;
}

const idOf = ({ body }: Reply) => String(body['data'].carrier_id);
const create = async (name: string) => idOf(await manage({ action: 'create', name }).answer());
const rename = (id: string, name: string) => manage({ action: 'rename', carrier_id: id, name });
const remove = (id: string) => manage({ action: 'delete', carrier_id: id });
const namedUsps = async () =>
  String(
    (await rows("select id from carriers where name = 'USPS' and tenant_id = $1", [DEMO.tenants.demo]))[0]?.[
      'id'
    ],
  );

describe('list of carriers', () => {
  test("returns the tenant's carriers by name and page by page to every role", async () => {
    const names = ['Amazon Logistics', 'DHL Express', 'FedEx', 'OnTrac', 'UPS', 'USPS'];
    const replies = await Promise.all(
      ['admin', 'manager', 'warehouse', 'iex', 'two/two'].map((as) => list({}, as).answer()),
    );
    for (const { status, body } of replies) {
      expect([status, (body['data'] as Row[]).map(({ name }) => name)]).toEqual([200, names]);
      expect(body['meta']).toEqual({ current_page: 1, per_page: 50, total_records: 6, total_pages: 1 });
    }
    const [admin, , , iex, two] = replies.map(({ data }) => data);
    expect(iex).toEqual(admin);
    expect(two?.[0]?.carrier_id).not.toBe(admin?.[0]?.carrier_id);
    const pages = await Promise.all([1, 2, 3].map((page) => list({ page, limit: 4 }).answer()));
    expect(pages.flatMap(({ body }) => body['data'])).toEqual(admin);
  });

  test('returns the ids by which packages are filtered', async () => {
    const { data } = await list({}, 'iex').ok();
    for (const { carrier_id: carrierID, name } of data) {
      const found = await api.as('iex').listPackages({ carrierID, limit: 10_000 }).ok();
      const names = (found.data as Row[]).map(({ carrier_name: each }) => each);
      expect([name, names.length > 0, names.filter((each) => each !== name)]).toEqual([name, true, []]);
    }
  });

  test('couriers and warehouse staff may not change carriers', async () => {
    for (const as of ['iex', 'warehouse'])
      await manage({ action: 'create', name: 'X' }, as).refused(403, 'permission_denied');
  });
});

describe('carriers', () => {
  test('are created, renamed and deleted with an audit entry each', async () => {
    const created = await manage({ action: 'create', name: 'Purolator' }, 'manager').answer();
    const id = idOf(created);
    expect(created.body).toMatchObject({
      message: 'Carrier created.',
      data: { carrier_id: id, name: 'Purolator' },
    });
    const renamed = await rename(id, ' Purolator Courier ').ok();
    expect(renamed.data).toEqual({ carrier_id: id, name: 'Purolator Courier' });
    expect((await list().ok()).data).toContainEqual(renamed.data);
    const deleted = await remove(id).answer();
    expect(deleted.body).toMatchObject({ message: 'Carrier deleted.', data: renamed.data });
    expect(await rows('select * from carriers where id = $1', [id])).toEqual([]);
    const entries = await rows(
      'select action, entity, actor_id, before, after from audit_entries where entity_id = $1 order by id',
      [id],
    );
    const by = { entity: 'carrier', actor_id: DEMO.users.admin, before: null, after: null };
    const [first, second] = [{ name: 'Purolator' }, { name: 'Purolator Courier' }];
    expect(entries).toEqual([
      { ...by, action: 'carrier.created', actor_id: DEMO.users.manager, after: first },
      { ...by, action: 'carrier.renamed', before: first, after: second },
      { ...by, action: 'carrier.deleted', before: second },
    ]);
  });

  test("cannot have another carrier's name in any case or with surrounding blanks, except their own", async () => {
    const usps = await namedUsps();
    const before = await fingerprint(service().owner);
    for (const name of ['FedEx', 'fedex', ' FEDEX ']) {
      const taken = { status: 409, body: { code: 'duplicate_carrier_name' } };
      expect(await manage({ action: 'create', name }).answer()).toMatchObject(taken);
      expect(await rename(usps, name).answer()).toMatchObject(taken);
    }
    expect(await fingerprint(service().owner)).toEqual(before);
    expect((await rename(usps, 'Usps').ok()).data.name).toBe('Usps');
    await rename(usps, 'USPS').ok();
  });

  test('are not changed by a rename to the same name', async () => {
    const usps = await namedUsps();
    const before = await fingerprint(service().owner);
    expect((await rename(usps, 'USPS').ok()).message).toContain('Nothing was changed');
    expect(await fingerprint(service().owner)).toEqual(before);
  });

  test('are rejected with an invalid name', async () => {
    for (const name of ['', ' ', 'a\nb', 'a\u0000b', 'a\u2028b', 'x'.repeat(101)])
      expect([name, await manage({ action: 'create', name }).status()]).toEqual([name, 400]);
  });

  test.each(['rename', 'delete'])('%s responds 404 to an unknown carrier', async (action) => {
    const [foreign] = await rows('select id from carriers where tenant_id = $1 limit 1', [DEMO.tenants.two]);
    for (const carrier_id of [UNKNOWN, foreign?.['id']])
      await manage({ action, carrier_id, name: 'X' }).refused(404, 'carrier_not_found');
  });

  test('are not deleted while packages use them', async () => {
    const before = await fingerprint(service().owner);
    await remove(await namedUsps()).refused(400, 'carrier_in_use');
    expect(await fingerprint(service().owner)).toEqual(before);
  });

  test('a delete that races with an intake leaves either no carrier or one with the package', async () => {
    for (let round = 0; round < 12; round += 1) {
      const id = await create(`Round ${round}`);
      const body = { tracking_number: `CARRIER-${round}`, weight: 1, carrier_id: id };
      const intake = () => api.as('warehouse').receivePackage(body).answer();
      const both = round % 2 ? [intake(), remove(id).answer()] : [remove(id).answer(), intake()].reverse();
      const [received, deleted] = await Promise.all(both);
      const packages = await rows('select id from packages where carrier_id = $1', [id]);
      expect([received?.status, deleted?.code ?? 'deleted', packages.length]).toEqual(
        deleted?.status === 200 ? [404, 'deleted', 0] : [201, 'carrier_in_use', 1],
      );
    }
  }, 60_000);

  const CALLERS = rounds(50, 200);

  test(`of ${CALLERS} simultaneous creations in different cases, one succeeds`, async () => {
    const spellings = ['Loomis', 'LOOMIS', 'loomis', ' Loomis '];
    const make = (n: number) =>
      untilAdmitted(() => manage({ action: 'create', name: spellings[n % 4] }).answer());
    const replies = await Promise.all(Array.from({ length: CALLERS }, (_, n) => make(n)));
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(replies.filter(({ body }) => body['code'] === 'duplicate_carrier_name')).toHaveLength(CALLERS - 1);
    expect(await rows("select id from carriers where name ilike '%loomis%'")).toHaveLength(1);
  }, 60_000);
});
