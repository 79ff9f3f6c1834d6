import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { makeContext } from '../../../../src/platform/context/request-context.js';
import { sql } from '../../../../src/platform/db/statements.js';
import { sendManifestMail } from '../../../../src/modules/mail/manifest-mails/send-manifest-mail.js';
import { canariesIn, freshNumber } from '../../../support/builders/couriers.js';
import {
  makeJobsDue,
  mailsOf,
  makeManifest,
  makePackages,
  manage,
  move,
  openMailRoom,
  type MailRow,
} from '../../../support/receivers/mails.js';
import { headerOf, parseMail } from '../../../support/receivers/mime.js';
import { startService, type Service } from '../../../support/service/service.js';
import { matching } from '../../../support/assertions/matching.js';
import { SOURCE, payloadOf } from './queued-mails.js';
import { ADDRESSES, FROM, SECRET, withSesMails } from './ses-mails.js';

const { IEX, HRB, TWO } = DEMO.couriers;
const { demo, two } = DEMO.tenants;
const UNOWNED = DEMO.packages.ownerUnknown[0];

const { service, ses, room, throughSes, queueMail, rowOf, numbersOf, setCourier, setPackage } =
  withSesMails();

describe('recipients', () => {
  test('each transition mails each courier on the manifest once about its own packages, and other changes send no mail', async () => {
    const iex = await makePackages(service(), SOURCE.IEX, [{}, {}]);
    const hrb = await makePackages(service(), SOURCE.HRB, [{}]);
    const unowned = await makePackages(service(), UNOWNED, [{}]);
    const id = await makeManifest(service(), [...iex, ...hrb, ...unowned], { notes: 'For nobody' });
    await manage(service(), {
      action: 'update_meta',
      manifest_id: id,
      notes: 'Still a draft',
      status: 'draft',
    });
    await manage(service(), { action: 'update_meta', manifest_id: id, status: 'shipped' });
    expect(await mailsOf(service(), id)).toEqual([]);

    for (const status of ['ready', 'shipped', 'completed']) {
      ses.accepted.length = 0;
      await move(service(), id, status, status);
      await manage(service(), { action: 'update_meta', manifest_id: id, notes: `Now ${status}` });
      await room.work();
      expect(ses.accepted.map(({ destinations }) => destinations).sort()).toEqual([
        [ADDRESSES[HRB]],
        [ADDRESSES[IEX]],
      ]);
      for (const { destinations, source, bytes } of ses.accepted) {
        const [own, reader, others] =
          destinations[0] === ADDRESSES[IEX] ? [iex, 'IEX', hrb] : [hrb, 'HRB', iex];
        const { parts, headers } = parseMail(bytes);
        const all = JSON.stringify([headers, parts]);
        expect(source).toBe(FROM);
        // No text of any courier, only of the tenant.
        expect(new Set(canariesIn(all))).toEqual(new Set(['demo']));
        expect(all).toContain(`${reader},`);
        for (const number of await numbersOf(own)) {
          expect(parts['text/plain; charset=utf-8']).toContain(number);
          expect(parts['text/html; charset=utf-8']).toContain(number);
        }
        for (const number of await numbersOf([...others, ...unowned])) expect(all).not.toContain(number);
        expect(headerOf(parseMail(bytes), 'subject')).toContain(`: ${own.length} package`);
      }
    }
    const rows = await mailsOf(service(), id);
    expect(rows.map(({ status, attempt_count, last_error }) => [status, attempt_count, last_error])).toEqual(
      Array.from({ length: 6 }, () => ['sent', 1, null]),
    );
    expect(rows.filter(({ courier_id, recipient }) => recipient !== ADDRESSES[courier_id])).toEqual([]);
    expect(rows.filter(({ settled_at }) => !(settled_at instanceof Date))).toEqual([]);
    expect(rows.map(({ manifest_status }) => manifest_status)).toEqual(
      ['ready', 'shipped', 'completed'].flatMap((status) => [status, status]),
    );
  });

  test('sends no mail for a manifest without packages of a courier', async () => {
    const empty = await makeManifest(service(), []);
    const unowned = await makeManifest(service(), await makePackages(service(), UNOWNED, [{}]));
    for (const id of [empty, unowned]) {
      await move(service(), id, 'ready', 'shipped', 'completed');
      expect(await mailsOf(service(), id)).toEqual([]);
    }
    await room.work();
    expect(ses.requests).toEqual([]);
  });

  test('lists the packages on the manifest at the time of sending, with the status of the transition', async () => {
    const [kept = '', removed = ''] = await makePackages(service(), SOURCE.IEX, [{}, {}]);
    const [added = ''] = await makePackages(service(), SOURCE.IEX, [{}]);
    const id = await makeManifest(service(), [kept, removed]);
    await move(service(), id, 'ready');
    await manage(service(), { action: 'remove_packages', manifest_id: id, package_ids: [removed] });
    await manage(service(), { action: 'add_packages', manifest_id: id, package_ids: [added] });
    await move(service(), id, 'shipped');
    await room.work();
    const subjects = ses.accepted.map(({ bytes }) => headerOf(parseMail(bytes), 'subject')).sort();
    expect(subjects).toEqual([
      expect.stringMatching(/^Manifest MAN-\S+ has shipped: 2 packages$/),
      expect.stringMatching(/^Manifest MAN-\S+ is ready to ship: 2 packages$/),
    ]);
    const [gone = ''] = await numbersOf([removed]);
    for (const { bytes } of ses.accepted) {
      const { parts } = parseMail(bytes);
      for (const number of await numbersOf([kept, added])) expect(Object.values(parts)[0]).toContain(number);
      expect(JSON.stringify(parts)).not.toContain(gone);
    }
  });

  test.each<[string, (mail: MailRow, packageId: string) => Promise<unknown>, string]>([
    [
      'no longer has packages on the manifest',
      (_, id) => setPackage(id, { manifest_id: null }),
      'no package aboard',
    ],
    [
      'lost its packages to another courier',
      (_, id) => setPackage(id, { courier_id: HRB }),
      'no package aboard',
    ],
    ['is disabled', () => setCourier(IEX, { is_active: false }), 'not active'],
    ['has no address', () => setCourier(IEX, { email: null }), 'no e-mail address'],
    ['has an invalid address', () => setCourier(IEX, { email: 'n/a' }), 'no usable e-mail address'],
    [
      'had packages on a deleted manifest',
      async ({ id }) =>
        service().owner.query('update manifest_mails set manifest_id = $2 where id = $1', [id, randomUUID()]),
      'no longer exists',
    ],
  ])('skips the mail and records the reason for a courier that %s', async (_, change, why) => {
    const { mail, packageId } = await queueMail();
    await change(mail, packageId);
    await room.work();
    await setCourier(IEX, { email: ADDRESSES[IEX], is_active: true });
    expect(ses.requests).toEqual([]);
    expect(await rowOf(mail)).toMatchObject({
      status: 'skipped',
      recipient: null,
      last_error: expect.stringContaining(why),
      settled_at: expect.any(Date),
    });
    await makeJobsDue(service());
    await room.work();
    expect(ses.requests).toEqual([]);
  });

  test('sends a mail once, however often its job runs', async () => {
    const { mail } = await queueMail();
    await room.work();
    for (let run = 0; run < 5; run += 1) await sendManifestMail(room.deps, payloadOf(mail));
    expect(ses.requests).toHaveLength(1);
    expect(await rowOf(mail)).toMatchObject({ status: 'sent', attempt_count: 1 });
  });
});

describe('isolation of mail rows', () => {
  test("row-level security alone hides a tenant's mails from another tenant's worker", async () => {
    await expectForeign(service());
    service().db.applicationFilters = false;
    try {
      await expectForeign(service());
    } finally {
      service().db.applicationFilters = true;
    }
  });

  test("the statements' own filters alone hide them too", async () => {
    const bare = await startService({ rowSecurity: false });
    try {
      await expectForeign(bare);
    } finally {
      await bare.stop();
    }
  });

  test('no tenant can write mails of another, and couriers see only their own', async () => {
    const id = await makeManifest(service(), [
      ...(await makePackages(service(), SOURCE.IEX, [{}])),
      ...(await makePackages(service(), SOURCE.HRB, [{}])),
    ]);
    await move(service(), id, 'ready');
    const [mail] = await mailsOf(service(), id);
    const contextOfTwo = () => makeContext(service().db, { kind: 'system', tenantId: two }, 'a-test');
    const stolen = contextOfTwo().write((tx) =>
      tx.count(sql`
        insert into manifest_mails (tenant_id, id, courier_id, manifest_id, manifest_number, manifest_status)
        values (${demo}::uuid, ${randomUUID()}::uuid, ${IEX}::uuid, ${id}::uuid, 'MAN-20260101-AAAA', 'ready')`),
    );
    await expect(stolen).rejects.toThrow(/row-level security/);
    const changed = await contextOfTwo().write((tx) =>
      tx.count(sql`update manifest_mails set status = 'failed' where id = ${mail?.id}::uuid`),
    );
    expect(changed).toBe(0);
    for (const [userId, courierId] of [
      [DEMO.users.iex, IEX],
      [DEMO.users.hrb, HRB],
    ] as const) {
      const caller = {
        kind: 'user',
        tenantId: demo,
        userId,
        role: 'courier',
        courierId,
        tokenVersion: 1,
      } as const;
      const ctx = makeContext(service().db, { ...caller, expiresAt: 4e9 }, 'a-test');
      const [rows] = await ctx.read([
        sql`select courier_id from manifest_mails where manifest_id = ${id}::uuid`,
      ]);
      expect(rows).toEqual([{ courier_id: courierId }]);
    }
  });

  async function expectForeign(target: Service) {
    const foreignRoom = openMailRoom(target, throughSes(ses));
    const id = await makeManifest(target, await makePackages(target, SOURCE.IEX, [{}]));
    await move(target, id, 'ready');
    const [mail] = await mailsOf(target, id);
    if (!mail) throw new Error('No mail was queued.');
    await sendManifestMail(foreignRoom.deps, { tenantId: two, mailId: mail.id });
    await sendManifestMail(foreignRoom.deps, { tenantId: demo, mailId: randomUUID() });
    expect(ses.requests).toEqual([]);
    expect(foreignRoom.log).toEqual([]);
    expect(await mailsOf(target, id)).toEqual([mail]);
    foreignRoom.close();
  }
});

test('the log of all tests above contains no address, secret or package', () => {
  const log = room.log.join('\n');
  expect(room.log.length).toBeGreaterThan(60);
  expect(log).toContain('manifest mail sent');
  expect(log).not.toMatch(
    matching(/@(iex|hrb|two)\.example/, ADDRESSES[IEX] ?? '', ADDRESSES[HRB] ?? '', ADDRESSES[TWO] ?? ''),
  );
  expect(log).not.toContain(FROM);
  expect(log).not.toContain(SECRET);
  expect(log).not.toMatch(matching(/AKIDTEST|canary|ISO\d+N\d+/, 'AKIDTEST', 'canary:IEX', freshNumber()));
});
