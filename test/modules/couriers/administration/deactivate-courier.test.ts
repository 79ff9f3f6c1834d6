import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { whileInactive } from '../../../support/harness/inactive-courier.js';
import { rounds } from '../../../support/harness/effort.js';
import { untilAdmitted } from '../../../support/service/service.js';
import { withService } from '../../../support/fixture/with-service.js';
import { unchecked } from '../../../support/fixture/sent.js';
import { makeCourierCalls } from './courier-calls.js';
import { startSecondServer } from '../../../support/fixture/second-server.js';

const { HRB } = DEMO.couriers;

const fixture = withService();
const { api, service } = fixture;
const { list, manage, rows, auditOf } = makeCourierCalls(fixture);

describe('courier deactivation', () => {
  let url: string;
  let close: () => Promise<void>;

  // A second server on the same database must apply the change with its next request.
  beforeAll(async () => {
    ({ url, close } = await startSecondServer(service(), 4));
  });

  afterAll(() => close());

  /** Returns the responses of a server to the courier's user and to its API key. */
  async function answersAt(base: string): Promise<string[]> {
    const user = { authorization: `Bearer ${await service().tokenOf('hrb')}` };
    const json = { 'content-type': 'application/json' };
    const post = (path: string, headers: Record<string, string>, body: unknown) =>
      fetch(`${base}/api/${path}`, {
        method: 'POST',
        headers: { ...json, ...headers },
        body: JSON.stringify(body),
      });
    const answers = await Promise.all([
      fetch(`${base}/api/ManagePrealerts.php`, { headers: user }),
      post('Prealert.php', { 'x-api-key': DEMO.apiKeys.HRB }, { UserCode: 'X', TrackingNumber: 'X' }),
    ]);
    return Promise.all(
      answers.map(async (answer) => {
        const { code = '' } = (await answer.json()) as { code?: string };
        return `${answer.status} ${code}`.trim();
      }),
    );
  }

  const LET_IN = ['200', '400 unknown_user_code'];
  const REFUSED = ['403 account_disabled', '403 key_invalid'];

  test('rejects its users and its API key at once on every replica, and no other callers', async () => {
    for (const base of [service().url, url]) expect(await answersAt(base)).toEqual(LET_IN);
    for (let round = 0; round < 10; round += 1) {
      const reply = await manage({ action: 'deactivate', courier_id: HRB }, 'manager').answer();
      expect(reply).toMatchObject({ status: 200, body: { data: { courier_id: HRB, is_active: false } } });
      expect(await Promise.all([url, service().url].map(answersAt))).toEqual([REFUSED, REFUSED]);
      await api.as('iex').listPrealerts().ok();
      await list().ok();
      expect(await manage({ action: 'activate', courier_id: HRB }).answer()).toMatchObject({
        status: 200,
        body: { data: { is_active: true } },
      });
      expect(await Promise.all([url, service().url].map(answersAt))).toEqual([LET_IN, LET_IN]);
    }
  }, 60_000);

  test('rejects logins with the reason', async () => {
    const body = { action: 'login', username: 'hrb', password: DEMO.password };
    const reply = await whileInactive(service().owner, HRB, () =>
      api.anonymous.login(unchecked(body)).answer(),
    );
    expect(reply).toMatchObject({ status: 403, body: { code: 'account_disabled' } });
  });

  const CALLERS = rounds(50, 200);

  test.each([
    ['deactivate', 'courier.deactivated', false],
    ['activate', 'courier.activated', true],
  ] as const)(
    `%s is applied and audited once, even for ${CALLERS} simultaneous requests`,
    async (action, fact, isActive) => {
      const entries = async () => (await auditOf(HRB)).filter((entry) => entry['action'] === fact);
      const before = await entries();
      const replies = await Promise.all(
        Array.from({ length: CALLERS }, () =>
          untilAdmitted(() => manage({ action, courier_id: HRB }).answer()),
        ),
      );
      expect(replies.map(({ status, data }) => [status, data.is_active])).toEqual(
        Array.from({ length: CALLERS }, () => [200, isActive]),
      );
      const idle = replies.filter(({ body }) => String(body['message']).includes('Nothing was changed'));
      expect(idle).toHaveLength(CALLERS - 1);
      const [entry, ...more] = (await entries()).slice(before.length);
      expect(more).toEqual([]);
      expect(entry).toMatchObject({ before: { is_active: !isActive }, after: { is_active: isActive } });
      const settled = await rows('select * from couriers where id = $1', [HRB]);
      await manage({ action, courier_id: HRB }).ok();
      expect(await rows('select * from couriers where id = $1', [HRB])).toEqual(settled);
      expect(await entries()).toHaveLength(before.length + 1);
    },
    60_000,
  );

  test('receives its packages and records events meanwhile, but queues no deliveries', async () => {
    await rows('update couriers set api_url_add_package = $2 where id = $1', [
      HRB,
      'https://x.example/hooks',
    ]);
    const receive = async (tracking_number: string) =>
      (await api.as('warehouse').receivePackage({ tracking_number, weight: 1, courier_id: HRB }).created())
        .data.package_id;
    const outcome = (packageId: string) =>
      rows(
        `select e.type, d.status from events e left join webhook_deliveries d on d.event_id = e.id where e.package_id = $1`,
        [packageId],
      );
    expect(await outcome(await receive('DEACT-1'))).toEqual([{ type: 'package.created', status: 'pending' }]);
    const missed = await whileInactive(service().owner, HRB, () => receive('DEACT-2'));
    expect(await outcome(missed)).toEqual([{ type: 'package.created', status: null }]);
    const recovery = { action: 'recover_since', since: '2026-01-01 00:00:00', courier_id: HRB };
    await api.as('admin').manageWebhookDeliveries(unchecked(recovery)).ok();
    expect(await outcome(missed)).toEqual([{ type: 'package.created', status: 'pending' }]);
  });
});
