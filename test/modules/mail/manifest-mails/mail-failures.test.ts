import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import {
  MAX_ATTEMPTS,
  sendManifestMail,
} from '../../../../src/modules/mail/manifest-mails/send-manifest-mail.js';
import { projectRoot } from '../../../../src/config/project-root.js';
import { freshNumber } from '../../../support/builders/couriers.js';
import {
  makeJobsDue,
  jobsOf,
  makeManifest,
  makePackages,
  manage,
  openMailRoom,
  type MailRow,
} from '../../../support/receivers/mails.js';
import { headerOf, parseMail } from '../../../support/receivers/mime.js';
import { until } from '../../../support/service/processes.js';
import { startSes, type SesAnswer } from '../../../support/receivers/ses.js';
import { matching } from '../../../support/assertions/matching.js';
import { payloadOf, SOURCE } from './queued-mails.js';
import { ADDRESSES, FROM, SECRET, SHORT_TIMEOUT_MS, withSesMails } from './ses-mails.js';

const { IEX, HRB, TWO } = DEMO.couriers;

const { service, ses, room, hurriedRoom, throughSes, queueMail, rowOf, folder } = withSesMails();

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

/** Returns what the task logged about a mail. */
const linesOf = ({ id }: MailRow) =>
  [...room.log, ...hurriedRoom.log].map((line) => JSON.parse(line)).filter(({ mailId }) => mailId === id);

async function timed<Result>(work: () => Promise<Result>): Promise<{ reply: Result; ms: number }> {
  const start = performance.now();
  const reply = await work();
  return { reply, ms: performance.now() - start };
}
