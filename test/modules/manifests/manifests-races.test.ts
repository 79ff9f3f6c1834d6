import { beforeAll, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { rounds } from '../../support/harness/effort.js';
import {
  eventsOf,
  setWebhookUrls,
  mailsOf,
  pendingDelivery,
  waitingDeliveryQueues,
} from '../../support/receivers/outbound.js';
import { type Reply, untilAdmitted } from '../../support/service/service.js';
import { withService } from '../../support/fixture/with-service.js';
import { unchecked } from '../../support/fixture/sent.js';

const CALLERS = rounds(60, 200);
const HOLDER_ROUNDS = rounds(1, 5);
const SHIP_ROUNDS = rounds(4, 20);
const DELETE_ROUNDS = rounds(10, 1_000);
const DELETE_LIMIT_MS = 30_000 + DELETE_ROUNDS * 500;

const { api, service } = withService({ poolSize: 40 });
beforeAll(async () => {
  await setWebhookUrls(service().owner, [IEX, HRB]);
  // Sign the token beforehand, so that the callers contend in the database.
  await service().tokenOf('warehouse');
}, 60_000);

const { IEX, HRB } = DEMO.couriers;

test(`of ${CALLERS / 2} manifests that two callers each give the same package at once, one gets it, in ${HOLDER_ROUNDS} rounds`, async () => {
  const manifests = await Promise.all(Array.from({ length: CALLERS / 2 }, newManifest));
  for (let round = 0; round < HOLDER_ROUNDS; round += 1) {
    const [packageId] = await makePackages(1);
    const replies = await Promise.all(
      [...manifests, ...manifests].map((manifest_id) =>
        manage({ action: 'add_packages', manifest_id, package_ids: [packageId] }),
      ),
    );
    const holder = (await rows('select manifest_id from packages where id = $1', [packageId]))[0]?.[
      'manifest_id'
    ];
    expect(manifests).toContain(holder);
    const added = replies.filter(({ status, data }) => status === 200 && data.added === 1);
    expect(added.map(({ data }) => data.manifest_id)).toEqual([holder]);
    // The second call for the winner's manifest finds the package there. All others are rejected with the reason.
    expect(tally(replies)).toEqual({ '200': 2, '400 packages_not_assignable': CALLERS - 2 });
    const refusals = replies.filter(({ status }) => status === 400).map(({ errors }) => errors[0]?.code);
    expect(new Set(refusals)).toEqual(new Set(['on_another_manifest']));
    const audit = await rows(
      `select entity_id from audit_entries where action = 'manifest.packages_added' and after -> 'package_ids' ? $1`,
      [packageId],
    );
    expect(audit).toEqual([{ entity_id: holder }]);
  }
});

test(`${CALLERS} simultaneous callers of each transition cause one audit entry, one set of mails and one event per package`, async () => {
  const id = await newManifest();
  const packages = [...(await makePackages(20, IEX)), ...(await makePackages(10, HRB))];
  await manage({ action: 'add_packages', manifest_id: id, package_ids: packages });
  for (const [index, status] of ['ready', 'shipped', 'completed'].entries()) {
    const replies = await callAtOnce(() => manage({ action: 'update_meta', manifest_id: id, status }));
    expect(tally(replies)).toEqual({ '200': CALLERS });
    expect(replies.filter(({ body }) => body['message'] === 'Manifest updated.')).toHaveLength(1);
    const audit = await rows(
      `select after from audit_entries where action = 'manifest.status_changed' and entity_id = $1 order by id`,
      [id],
    );
    expect(audit).toHaveLength(index + 1);
    expect(audit.at(-1)).toEqual({ after: { status } });
    const mails = (await mailsOf(service().owner, id)).filter((each) => each.manifest_status === status);
    expect(mails.map((each) => each.courier_id).sort()).toEqual([IEX, HRB].sort());
    expect(await mailsOf(service().owner, id)).toHaveLength(2 * (index + 1));
    const [events] = await rows(
      'select count(*)::int as all, count(distinct (package_id, status))::int as once from package_events where package_id = any($1)',
      [packages],
    );
    expect(events).toEqual({ all: index * packages.length, once: index * packages.length });
    const webhookEvents = await eventsOf(service().owner, packages);
    expect(webhookEvents).toHaveLength(index * packages.length);
    for (const { type, courier_id, deliveries } of webhookEvents) {
      expect(type).toBe('package.status_changed');
      expect(deliveries).toEqual(pendingDelivery(courier_id, 'update_package'));
    }
    for (const courierId of [IEX, HRB])
      expect(await waitingDeliveryQueues(service().owner, courierId)).toEqual(
        index === 0 ? [] : ['update_package'],
      );
  }
});

test(`packages added while the manifest ships are either shipped with it or not added, in ${SHIP_ROUNDS} rounds of 10`, async () => {
  for (let round = 0; round < SHIP_ROUNDS; round += 1) {
    const id = await newManifest();
    await manage({ action: 'update_meta', manifest_id: id, status: 'ready' });
    const packages = await makePackages(9);
    const [shipping, ...adding] = await Promise.all([
      manage({ action: 'update_meta', manifest_id: id, status: 'shipped' }),
      ...packages.map((each) => manage({ action: 'add_packages', manifest_id: id, package_ids: [each] })),
    ]);
    expect(shipping.status).toBe(200);
    for (const [index, reply] of adding.entries()) {
      const [stored] = await rows('select manifest_id, status from packages where id = $1', [
        packages[index],
      ]);
      expect(stored).toEqual(
        reply.status === 200
          ? { manifest_id: id, status: 'shipped' }
          : { manifest_id: null, status: 'received' },
      );
      if (reply.status !== 200) expect(reply.code).toBe('manifest_closed');
    }
  }
});

test(
  `a delete that races with an add keeps the manifest with the package or frees the package, in ${DELETE_ROUNDS} rounds`,
  async () => {
    const outcomes = { lives: 0, gone: 0 };
    for (let round = 0; round < DELETE_ROUNDS; round += 1) {
      const id = await newManifest();
      const [packageId] = await makePackages(1);
      const add = () => manage({ action: 'add_packages', manifest_id: id, package_ids: [packageId] });
      const remove = () => manage({ action: 'delete_manifest', manifest_id: id });
      // The first caller alternates. Otherwise the same one would always win.
      const [added, deleted] =
        round % 2 === 0 ? await both(add, remove) : (await both(remove, add)).reverse();
      const isThere = (await rows('select 1 from manifests where id = $1', [id])).length === 1;
      const [stored] = await rows('select manifest_id from packages where id = $1', [packageId]);
      if (isThere) {
        outcomes.lives += 1;
        expect(stored).toEqual({ manifest_id: id });
        expect(added).toMatchObject({ status: 200, body: { data: { added: 1 } } });
        expect(deleted).toMatchObject({ status: 400, body: { code: 'manifest_not_empty' } });
      } else {
        outcomes.gone += 1;
        expect(stored).toEqual({ manifest_id: null });
        expect(added).toMatchObject({ status: 404, body: { code: 'manifest_not_found' } });
        expect(deleted).toMatchObject({ status: 200 });
      }
    }
    expect(outcomes.lives + outcomes.gone).toBe(DELETE_ROUNDS);
    // Both outcomes occurred, so the operations really raced.
    expect(Math.min(outcomes.lives, outcomes.gone)).toBeGreaterThan(0);
  },
  DELETE_LIMIT_MS,
);

test(`of ${CALLERS} callers who delete one manifest, one succeeds and the others get 404`, async () => {
  const id = await newManifest();
  const replies = await callAtOnce(() => manage({ action: 'delete_manifest', manifest_id: id }));
  expect(tally(replies)).toEqual({ '200': 1, '404 manifest_not_found': CALLERS - 1 });
  expect(
    await rows(`select 1 from audit_entries where action = 'manifest.deleted' and entity_id = $1`, [id]),
  ).toHaveLength(1);
});

test(`${CALLERS} callers who add the same 50 packages in different orders to two manifests cause no deadlock, and one manifest gets all`, async () => {
  const manifests = await Promise.all([newManifest(), newManifest()]);
  const packages = await makePackages(50);
  const replies = await Promise.all(
    Array.from({ length: CALLERS }, (_, caller) => {
      const rotated = [...packages.slice(caller % 50), ...packages.slice(0, caller % 50)];
      const package_ids = caller % 3 === 0 ? rotated.reverse() : rotated;
      return manage({ action: 'add_packages', manifest_id: manifests[caller % 2], package_ids });
    }),
  );
  expect(tally(replies)).toEqual({ '200': CALLERS / 2, '400 packages_not_assignable': CALLERS / 2 });
  expect(replies.reduce((sum, { status, data }) => sum + (status === 200 ? data.added : 0), 0)).toBe(50);
  const holders = await rows('select distinct manifest_id from packages where id = any($1)', [packages]);
  expect(holders).toHaveLength(1);
});

test(`${CALLERS} manifests created at once get ${CALLERS} different numbers`, async () => {
  const replies = await callAtOnce(create);
  expect(tally(replies)).toEqual({ '200': CALLERS });
  expect(new Set(replies.map(({ body }) => body['data'].manifest_number)).size).toBe(CALLERS);
});

const manage = (body: unknown) =>
  untilAdmitted(() => api.as('warehouse').manageManifest(unchecked(body)).answer());
const create = () => untilAdmitted(() => api.as('warehouse').createManifest().answer());

function callAtOnce(call: () => Promise<Reply>): Promise<Reply[]> {
  return Promise.all(Array.from({ length: CALLERS }, call));
}

const both = (first: () => Promise<Reply>, second: () => Promise<Reply>) => Promise.all([first(), second()]);

/** Returns the number of responses per status and code. */
function tally(replies: Reply[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status, body } of replies) {
    const key = body['code'] ? `${status} ${body['code']}` : String(status);
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}

async function newManifest(): Promise<string> {
  return (await create()).data.manifest_id;
}

let packagesMade = 0;

async function makePackages(many: number, courierId: string = IEX): Promise<[string, ...string[]]> {
  packagesMade += many;
  const made = await rows(
    `insert into packages (tenant_id, id, courier_id, tracking_number, tracking_key, house_number, weight_lb, warehouse_id)
     select $1, gen_random_uuid(), $2, 'RACE' || n, 'RACE' || n, 'R' || n, 1, $3
     from generate_series($4::int - $5::int + 1, $4::int) as n returning id`,
    [DEMO.tenants.demo, courierId, DEMO.warehouses.primary, packagesMade, many],
  );
  // The statement inserted this many rows.
  return made.map(({ id }) => String(id)) as [string, ...string[]];
}

async function rows(statement: string, values: unknown[]): Promise<Record<string, unknown>[]> {
  return (await service().owner.query(statement, values)).rows;
}
