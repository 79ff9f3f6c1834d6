import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { makeContext } from '../../../src/platform/context/request-context.js';
import { sql } from '../../../src/platform/db/statements.js';
import {
  MAX_ATTEMPTS,
  sendManifestMail,
} from '../../../src/modules/mail/manifest-mails/send-manifest-mail.js';
import { projectRoot } from '../../../src/config/project-root.js';
import { canariesIn, freshNumber, makeCouriers } from '../../support/builders/couriers.js';
import {
  makeJobsDue,
  jobsOf,
  mailsOf,
  makeManifest,
  makePackages,
  manage,
  move,
  openMailRoom,
  type MailRoom,
  type MailRow,
} from '../../support/receivers/mails.js';
import { headerOf, parseMail } from '../../support/receivers/mime.js';
import { until } from '../../support/service/processes.js';
import { startService, type Service } from '../../support/service/service.js';
import { startSes, type Ses, type SesAnswer } from '../../support/receivers/ses.js';
import { matching } from '../../support/assertions/matching.js';
import { withService } from '../../support/fixture/with-service.js';

const { IEX, HRB, TWO } = DEMO.couriers;
const { demo, two } = DEMO.tenants;
const ADDRESSES = { [IEX]: 'mail@iex.example', [HRB]: 'mail@hrb.example', [TWO]: 'mail@two.example' };
const FROM = 'notices@crossdock.example';
const SECRET = 'aws-secret-that-nobody-may-read';
const TIMEOUT_MS = 2_000;
/** For a receiver that does not respond anyway. */
const SHORT_TIMEOUT_MS = 400;

const SOURCE = { IEX: DEMO.packages.available.IEX[0], HRB: DEMO.packages.available.HRB[0] };
const UNOWNED = DEMO.packages.ownerUnknown[0];

let ses: Ses;
let room: MailRoom;
let hurriedRoom: MailRoom;
let folder: string;

const { service } = withService();
beforeAll(async () => {
  Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'AKIDTEST', AWS_SECRET_ACCESS_KEY: SECRET });
  folder = await mkdtemp(join(tmpdir(), 'crossdock-mail-'));
  ses = await startSes();
  room = openMailRoom(service(), throughSes(ses), TIMEOUT_MS);
  hurriedRoom = openMailRoom(service(), throughSes(ses), SHORT_TIMEOUT_MS);
  await makeCouriers(service().owner);
  for (const [id, email] of Object.entries(ADDRESSES)) await setCourier(id, { email });
}, 60_000);
afterAll(async () => {
  room.close();
  hurriedRoom.close();
  await ses.stop();
  await rm(folder, { recursive: true });
});
beforeEach(async () => {
  await service().owner.query('delete from graphile_worker._private_jobs');
  ses.answer = 'accept';
  ses.requests.length = 0;
  ses.accepted.length = 0;
});

const throughSes = ({ url }: Ses) => ({
  from: FROM,
  ses: { region: 'us-east-1', endpoint: url },
  outbox: join(folder, 'unused'),
});

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
        expect(new Set(canariesIn(all))).toEqual(new Set([reader, 'demo']));
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

describe('failed sending', () => {
  const PASSING: [string, SesAnswer, string][] = [
    ['500', { status: 500, code: 'InternalFailure' }, 'InternalFailure (HTTP 500)'],
    ['a proxy’s 502 in HTML', { status: 502, body: '<html><br>Bad gateway' }, 'Error (HTTP 502)'],
    ['503 without a body', { status: 503, body: '' }, 'Unknown (HTTP 503)'],
    ['throttling', { status: 400, code: 'Throttling' }, 'Throttling (HTTP 400)'],
    [
      'a paused account',
      { status: 400, code: 'AccountSendingPausedException' },
      'AccountSendingPausedException (HTTP 400)',
    ],
    [
      'wrong credentials',
      { status: 403, code: 'SignatureDoesNotMatch', message: SECRET },
      'SignatureDoesNotMatch (HTTP 403)',
    ],
    ['a redirect', { status: 302, body: '' }, 'Unknown (HTTP 302)'],
    ['200 with an unknown body', { status: 200, body: 'Welcome to our portal' }, 'Error (HTTP 200)'],
    ['200 without a body', { status: 200, body: '' }, 'a response without a message id'],
    ['no response', 'hang', `no response within ${SHORT_TIMEOUT_MS} ms`],
    ['an endless response', 'trickle', `no response within ${SHORT_TIMEOUT_MS} ms`],
  ];
  test.each(PASSING)('retries after %s and then sends the mail once', async (_, answer, reason) => {
    const { mail } = await queueMail();
    ses.answer = answer;
    await (answer === 'hang' || answer === 'trickle' ? hurriedRoom : room).work();
    expect(ses.requests).toHaveLength(1);
    expect(await rowOf(mail)).toMatchObject({
      status: 'queued',
      recipient: ADDRESSES[IEX],
      attempt_count: 1,
      last_error: reason,
      settled_at: null,
    });
    expect(linesOf(mail)).toEqual([expect.objectContaining({ level: 40, attempt: 1, reason })]);
    // After e^1 seconds.
    const [job] = await jobsOf(service(), mail.id);
    expect(job).toMatchObject({ attempts: 1, max_attempts: 25 });
    expect(job?.delay_s).toBeLessThan(2.8);
    expect(job?.last_error).toContain(`Manifest mail ${mail.id} was not sent: ${reason}`);

    ses.answer = 'accept';
    await makeJobsDue(service());
    await room.work();
    expect(ses.accepted).toHaveLength(1);
    expect(await rowOf(mail)).toMatchObject({ status: 'sent', attempt_count: 2, last_error: null });
    expect(await jobsOf(service(), mail.id)).toEqual([]);
  });

  test('retries after a broken connection and then sends the mail once', async () => {
    const { mail } = await queueMail();
    ses.answer = 'reset';
    await room.work();
    expect(ses.requests).toHaveLength(1);
    expect(await rowOf(mail)).toMatchObject({ status: 'queued', attempt_count: 1 });
    ses.answer = 'accept';
    await makeJobsDue(service());
    await room.work();
    expect(ses.accepted).toHaveLength(1);
    expect(await rowOf(mail)).toMatchObject({ status: 'sent', attempt_count: 2, last_error: null });
  });

  // Runs in a separate process, because in jest's realm the SDK does not recognise node's errors.
  test.each([
    ['reset', 'ECONNRESET'],
    ['down', 'ECONNREFUSED'],
    ['without credentials', 'CredentialsProviderError'],
  ])('reports a failure of SES (%s) as %s', async (how, reason) => {
    ses.answer = 'reset';
    const closed = await startSes();
    await closed.stop();
    const config = throughSes(how === 'down' ? closed : ses);
    const message = {
      id: 'm-1',
      senderName: 'A',
      recipient: { name: 'B', address: 'b@c.example' },
      subject: 's',
    };
    const script = `
      import { makeMailer } from '${pathToFileURL(join(projectRoot, 'dist/src/platform/mail/transport.js')).href}';
      const message = { ...${JSON.stringify(message)}, text: 't', html: 'h', date: new Date() };
      console.log(JSON.stringify(await makeMailer(${JSON.stringify(config)}).send(message)));`;
    const { PATH, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY } = process.env;
    const credentials = how === 'without credentials' ? {} : { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY };
    const env = { PATH, HOME: folder, AWS_EC2_METADATA_DISABLED: 'true', ...credentials };
    const run = promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], { env });
    expect(JSON.parse((await run).stdout)).toEqual({ outcome: 'failed', reason });
  });

  test('retries later if the connection to SES is refused', async () => {
    const away = await startSes();
    await away.stop();
    const { mail } = await queueMail();
    const unreachableRoom = openMailRoom(service(), throughSes(away));
    await unreachableRoom.work();
    unreachableRoom.close();
    expect(await rowOf(mail)).toMatchObject({
      status: 'queued',
      attempt_count: 1,
      recipient: ADDRESSES[IEX],
    });
    expect(await jobsOf(service(), mail.id)).toHaveLength(1);
  });

  test.each([
    'MessageRejected',
    'MailFromDomainNotVerified',
    'MailFromDomainNotVerifiedException',
    'ConfigurationSetDoesNotExistException',
    'InvalidParameterValue',
  ])('does not retry %s, which SES would reject again', async (code) => {
    const { mail } = await queueMail();
    ses.answer = { status: 400, code, message: `Email address is not verified: ${ADDRESSES[IEX]}` };
    await room.work();
    expect(await rowOf(mail)).toMatchObject({
      status: 'failed',
      recipient: ADDRESSES[IEX],
      attempt_count: 1,
      last_error: `${code} (HTTP 400): Email address is not verified: ${ADDRESSES[IEX]}`,
      settled_at: expect.any(Date),
    });
    expect(await jobsOf(service(), mail.id)).toEqual([]);
    expect(linesOf(mail)).toEqual([expect.objectContaining({ level: 50, reason: `${code} (HTTP 400)` })]);
  });

  test('gives up after the twelfth failure', async () => {
    const { mail } = await queueMail();
    ses.answer = { status: 500, code: 'InternalFailure' };
    for (let run = 0; run < MAX_ATTEMPTS + 3; run += 1) {
      const before = await rowOf(mail);
      expect(before?.status).toBe(run < MAX_ATTEMPTS ? 'queued' : 'failed');
      await makeJobsDue(service());
      await room.work();
    }
    expect(ses.requests).toHaveLength(12);
    expect(await rowOf(mail)).toMatchObject({
      status: 'failed',
      attempt_count: 12,
      last_error: 'InternalFailure (HTTP 500)',
      settled_at: expect.any(Date),
    });
    expect(await jobsOf(service(), mail.id)).toEqual([]);
    expect(linesOf(mail).map(({ level }) => level)).toEqual([...Array.from({ length: 11 }, () => 40), 50]);
  });

  test('marks a mail as failed if workers were killed in all twelve attempts', async () => {
    const { mail } = await queueMail();
    await service().owner.query('update manifest_mails set attempt_count = 12 where id = $1', [mail.id]);
    await room.work();
    expect(ses.requests).toEqual([]);
    expect(await rowOf(mail)).toMatchObject({ status: 'failed', last_error: 'given up after 12 attempts' });
  });

  test('a worker killed after sending leads to a second mail with the same Message-ID', async () => {
    const { mail } = await queueMail();
    await room.work();
    await service().owner.query(
      "update manifest_mails set status = 'queued', settled_at = null, recipient = null where id = $1",
      [mail.id],
    );
    await sendManifestMail(room.deps, payloadOf(mail));
    const ids = ses.accepted.map(({ bytes }) => headerOf(parseMail(bytes), 'message-id'));
    expect(ids).toEqual([`<${mail.id}@crossdock.example>`, `<${mail.id}@crossdock.example>`]);
    expect(await rowOf(mail)).toMatchObject({ status: 'sent', attempt_count: 2 });
  });

  test('20 mails that wait for SES hold no database connection and do not delay transitions', async () => {
    const calm = await timed(transition);
    ses.answer = 'hang';
    const ids = await Promise.all(Array.from({ length: 20 }, () => queueMail()));
    const slowRoom = openMailRoom(service(), throughSes(ses));
    let ended = 0;
    const sending = ids.map(({ mail }) =>
      sendManifestMail(slowRoom.deps, payloadOf(mail)).catch(() => (ended += 1)),
    );
    await until(async () => ses.requests.length === 20);
    // According to the pool, none of its ten connections is in use.
    expect(service().db.pool.idleCount).toBe(service().db.pool.totalCount);
    const hanging = await timed(transition);
    expect([ses.requests.length, ended]).toEqual([20, 0]);
    expect(hanging.reply).toEqual(calm.reply);
    expect(hanging.ms).toBeLessThan(2_000);
    ses.hangUp();
    await Promise.all(sending);
    expect(ended).toBe(20);
    slowRoom.close();

    async function transition() {
      const id = await makeManifest(service(), await makePackages(service(), SOURCE.IEX, [{}]));
      const { status, body } = await manage(service(), {
        action: 'update_meta',
        manifest_id: id,
        status: 'ready',
      });
      return { status, message: body['message'], success: body['success'] };
    }
  });
});

describe('outbox without SES settings', () => {
  const outbox = () => ({ from: FROM, ses: undefined, outbox: join(folder, 'new', 'outbox') });

  test('stores each mail in a private file named by time and id', async () => {
    const { outbox: path } = outbox();
    const written = openMailRoom(service(), outbox());
    const mails: MailRow[] = [];
    for (let n = 0; n < 20; n += 1) mails.push((await queueMail()).mail);
    await Promise.all(mails.map((mail) => sendManifestMail(written.deps, payloadOf(mail))));
    const files = await readdir(path);
    expect(files).toHaveLength(20);
    expect((await stat(path)).mode & 0o777).toBe(0o700);
    for (const mail of mails) {
      const file = files.find((name) => name.includes(mail.id)) ?? '';
      expect(file).toMatch(/^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z-[0-9a-f-]{36}\.eml$/);
      expect((await stat(join(path, file))).mode & 0o777).toBe(0o600);
      const parsed = parseMail(await readFile(join(path, file)));
      expect(headerOf(parsed, 'message-id')).toBe(`<${mail.id}@crossdock.example>`);
      expect(await rowOf(mail)).toMatchObject({ status: 'sent', recipient: ADDRESSES[IEX] });
    }
    const references = written.log.map((line) => JSON.parse(line)['reference']).sort();
    expect(references).toEqual(files.sort().map((file) => join(path, file)));
    room.log.push(...written.log);
  });

  test('stores the same bytes as SES gets, except for the boundary and the time', async () => {
    const { mail } = await queueMail();
    await room.work();
    await service().owner.query(
      "update manifest_mails set status = 'queued', settled_at = null where id = $1",
      [mail.id],
    );
    const written = openMailRoom(service(), { ...outbox(), outbox: join(folder, 'same') });
    await sendManifestMail(written.deps, payloadOf(mail));
    const [file = ''] = await readdir(join(folder, 'same'));
    const bytes = await readFile(join(folder, 'same', file));
    expect(comparable(bytes)).toBe(comparable(ses.accepted[0]?.bytes ?? Buffer.alloc(0)));

    function comparable(message: Buffer): string {
      const text = message.toString();
      const boundary = /boundary="([^"]+)"/.exec(text)?.[1] ?? '';
      return text
        .replaceAll(boundary, 'BOUNDARY')
        .replace(/^Date: .*$/m, 'Date:')
        .replaceAll(/\d\d:\d\d:\d\d(?= UTC)/g, '00:00:00');
    }
  });

  test('retries if the folder is not writable, and leaves no partial file', async () => {
    const path = join(folder, 'not-a-folder');
    await writeFile(path, '');
    const written = openMailRoom(service(), { ...outbox(), outbox: path });
    const { mail } = await queueMail();
    await written.work();
    expect(await rowOf(mail)).toMatchObject({ status: 'queued', last_error: 'EEXIST in the outbox' });
    await rm(path);
    await mkdir(path);
    await makeJobsDue(service());
    await written.work();
    expect(await rowOf(mail)).toMatchObject({ status: 'sent', attempt_count: 2 });
    expect(await readdir(path)).toEqual([expect.stringMatching(/\.eml$/)]);
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

/** Queues a mail to IEX about a manifest with one package. */
async function queueMail(): Promise<{ mail: MailRow; packageId: string }> {
  const [packageId = ''] = await makePackages(service(), SOURCE.IEX, [{}]);
  const id = await makeManifest(service(), [packageId]);
  await move(service(), id, 'ready');
  const [mail] = await mailsOf(service(), id);
  if (!mail) throw new Error('No mail was queued.');
  return { mail, packageId };
}

const payloadOf = ({ tenant_id, id }: MailRow) => ({ tenantId: tenant_id, mailId: id });

async function rowOf({ id }: MailRow): Promise<MailRow | undefined> {
  const { rows } = await service().owner.query<MailRow>('select * from manifest_mails where id = $1', [id]);
  return rows[0];
}

/** Returns what the task logged about a mail. */
const linesOf = ({ id }: MailRow) =>
  [...room.log, ...hurriedRoom.log].map((line) => JSON.parse(line)).filter(({ mailId }) => mailId === id);

async function numbersOf(packageIds: string[]): Promise<string[]> {
  const { rows } = await service().owner.query('select tracking_number from packages where id = any($1)', [
    packageIds,
  ]);
  return rows.map(({ tracking_number }) => tracking_number);
}

const setCourier = (id: string, changes: Record<string, unknown>) => set('couriers', id, changes);
const setPackage = (id: string, changes: Record<string, unknown>) => set('packages', id, changes);

async function set(table: string, id: string, changes: Record<string, unknown>): Promise<void> {
  const names = Object.keys(changes);
  await service().owner.query(
    `update ${table} set ${names.map((name, n) => `${name} = $${n + 2}`).join(', ')} where id = $1`,
    [id, ...Object.values(changes)],
  );
}

async function timed<Result>(work: () => Promise<Result>): Promise<{ reply: Result; ms: number }> {
  const start = performance.now();
  const reply = await work();
  return { reply, ms: performance.now() - start };
}
