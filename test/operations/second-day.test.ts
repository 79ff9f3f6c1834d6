import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import speakeasy from 'speakeasy';
import type { OperationId } from '../../src/platform/contract/types.js';
import { pagesOf } from '../support/readers/pdf.js';
import { run } from '../support/service/processes.js';
import { startService, type Call, type Reply, type Service } from '../support/service/service.js';

// A new tenant of `npm run tenant:create` is operated only by HTTP, from an empty tenant to a paid bill. Each
// test is a step that continues where the previous one ended.

let service: Service;

beforeAll(async () => {
  service = await startService({ demo: false });
}, 60_000);
afterAll(() => service.stop(), 60_000);

/** Values from earlier steps. */
const known: Record<string, string> = {};
const token = (user: string) => ({ token: known[`token of ${user}`] ?? '' });

async function succeed(id: OperationId, call: Call, status = 200): Promise<Reply['body']> {
  const reply = await service.call(id, call);
  expect([reply.body['code'], reply.body['errors'], reply.status]).toEqual([undefined, undefined, status]);
  return reply.body;
}

const post = async (id: OperationId, user: string, body: object, status = 200) =>
  (await succeed(id, { ...token(user), body }, status))['data'];
const get = async (id: OperationId, user: string, query: Call['query'] = {}) =>
  succeed(id, { ...token(user), query });

async function logIn(username: string, password: string): Promise<Reply['body']> {
  return succeed('login', { body: { action: 'login', username, password } });
}

/** Logs in with a one-time password, which allows only a change of the password. */
async function setFirstPassword(user: string, oneTimePassword: string): Promise<string> {
  const { data } = await logIn(user, oneTimePassword);
  expect(data.user.must_change_password).toBe(true);
  const early = await service.call('listPrealerts', { token: data.access_token });
  expect([early.status, early.body['code']]).toEqual([403, 'password_change_required']);
  const own = `${user} keeps a long secret`;
  const changed = await succeed('changePassword', {
    token: data.access_token,
    body: { current_password: oneTimePassword, new_password: own },
  });
  known[`token of ${user}`] = changed['data'].access_token;
  expect((await logIn(user, own))['data'].user.must_change_password).toBe(false);
  return own;
}

const today = () => new Date().toISOString().slice(0, 10);

describe('a new tenant reaches its first paid bill by HTTP alone', () => {
  test('1. the operator creates the tenant, and its administrator logs in', async () => {
    const program = run(
      'src/commands/tenant-create.js',
      { DATABASE_OWNER_URL: String(service.owner.options.connectionString) },
      [
        ...['--slug', 'gateway', '--name', 'Gateway Ltd', '--host', '*'],
        ...['--warehouse', 'Doral', '--admin', 'ada'],
      ],
    );
    expect((await program.ended).code).toBe(0);
    const printed = /Password, shown this once: (\S+)/.exec(program.output())?.[1] ?? '';
    const { data } = await logIn('ada', printed);
    expect(data.user).toMatchObject({ role: 'admin', two_factor_enabled: false });
    known['password of ada'] = await setFirstPassword('ada', printed);
  });

  test('2. the administrator enables two-factor authentication and logs in with it', async () => {
    const password = known['password of ada'] ?? '';
    const { secret, otpauth_uri } = await post('manageTwoFactor', 'ada', { action: 'setup', password });
    expect(otpauth_uri).toContain(`secret=${secret}`);
    const code = speakeasy.totp({ secret, encoding: 'base32' });
    const enabled = await post('manageTwoFactor', 'ada', { action: 'enable', code });
    expect(enabled.backup_codes).toHaveLength(10);

    const half = await logIn('ada', password);
    expect(half['status']).toBe('2fa_required');
    const { data } = await succeed('login', {
      body: {
        action: 'verify_2fa',
        preauth_token: half['data'].preauth_token,
        code: enabled.backup_codes[0],
      },
    });
    known['token of ada'] = data.access_token;
    expect((await get('getTwoFactor', 'ada'))['data']).toMatchObject({ enabled: true, backup_codes_left: 9 });
  });

  test('3. colleagues get one-time passwords and choose their own', async () => {
    for (const [username, role] of [
      ['max', 'manager'],
      ['wes', 'warehouse'],
    ] as const) {
      const made = await post('manageUsers', 'ada', {
        action: 'create',
        username,
        full_name: username,
        role,
      });
      await setFirstPassword(username, made.one_time_password);
    }
    const { data } = await get('listUsers', 'ada');
    expect(data.map(({ username, role }: Record<string, string>) => [username, role]).sort()).toEqual([
      ['ada', 'admin'],
      ['max', 'manager'],
      ['wes', 'warehouse'],
    ]);
  });

  test('4. the warehouse gets its address, a second warehouse and carriers', async () => {
    const { data } = await get('listWarehouses', 'max');
    expect(data).toMatchObject([{ name: 'Doral', is_primary: true }]);
    const address = { address: '8400 NW 25th St', city: 'Doral', country: 'United States' };
    await post('manageWarehouses', 'max', {
      action: 'update',
      warehouse_id: data[0].warehouse_id,
      ...address,
    });
    await post('manageWarehouses', 'max', { action: 'create', name: 'Overflow' });
    const carrier = await post('manageCarriers', 'max', { action: 'create', name: 'UPS' });
    known['carrier'] = carrier.carrier_id;
  });

  test('5. a courier is created with its API key and first user', async () => {
    const made = await post('manageCouriers', 'max', {
      ...{ action: 'create', courier_code: 'SUN', courier_name: 'Sun Express', house_color: '#FFB000' },
      ...{ company_name: 'Sun Express Ltd', address1: '12 Harbour Street', city_town: 'Kingston' },
      login: { username: 'sunny', full_name: 'Sunny Day' },
    });
    known['courier'] = made.courier_id;
    known['key'] = made.api_key;
    expect(made).toMatchObject({ courier_id: expect.any(String), api_key: expect.any(String) });
    await setFirstPassword('sunny', made.login.one_time_password);
  });

  test('6. the rates are set', async () => {
    const rates = [
      { startweight: 0, endweight: 5, fee: 8 },
      { startweight: 5, endweight: 50, fee: 21.5 },
    ];
    const saved = await post('manageCourierRates', 'max', { action: 'save_rates', rates });
    expect(saved.rates).toMatchObject(rates);
    await post('manageCourierRates', 'max', {
      ...{ action: 'update_air_freight', courier_id: known['courier'], air_freight_rate: 1.25 },
    });
  });

  test('7. the courier uploads its customers', async () => {
    const file =
      'user_code,first_name,last_name,branch\nSUN-1,José,Peña,Kingston\nSUN-2,Zoë,Brown,Montego Bay\n';
    const { data } = await succeed('uploadCustomers', { ...token('sunny'), form: { file: { file } } });
    expect(data).toMatchObject({ processed: 2, created: 2 });
  });

  test("8. the courier's system announces parcels, and a repeated request announces none twice", async () => {
    for (const [number, UserCode] of [
      ['1Z999AA10123456784', 'SUN-1'],
      ['1Z999AA10123456793', 'SUN-2'],
    ] as const) {
      const call = {
        key: known['key'] ?? '',
        body: { UserCode, TrackingNumber: number, Vendor: 'Acme' },
        headers: { 'idempotency-key': `announce ${number}`.replaceAll(' ', '-') },
      };
      const first = await succeed('submitPrealert', call, 201);
      expect(await succeed('submitPrealert', call, 201)).toEqual(first);
    }
    expect((await get('listPrealerts', 'sunny'))['meta'].stats).toMatchObject({ total: 2, pending: 2 });
  });

  test('9. the warehouse receives matched parcels and prints their labels', async () => {
    for (const [number, weight] of [
      ['1Z999AA10123456784', 4.5],
      ['1Z999AA10123456793', 12.25],
    ] as const) {
      const body = { tracking_number: number, weight, carrier_id: known['carrier'] };
      const received = await post('receivePackage', 'wes', body, 201);
      expect(received).toMatchObject({
        matched_by: 'prealert',
        courier_id: known['courier'],
        duplicate: false,
      });
      known[`package ${weight}`] = received.package_id;
      const label = await service.call('getPackageLabel', {
        ...token('wes'),
        query: { package_id: received.package_id },
      });
      expect((await pagesOf(label.bytes)).join()).toContain(received.house_number);
    }
    expect((await get('listPrealerts', 'sunny'))['meta'].stats).toMatchObject({ received: 2, pending: 0 });
  });

  test('10. the parcels ship on a manifest, one is held by customs, and both are delivered', async () => {
    const manifest = await post('createManifest', 'wes', { awb_number: '001-12345675' });
    const { manifest_id } = manifest;
    const [light, heavy] = [known['package 4.5'] ?? '', known['package 12.25'] ?? ''];
    await post('manageManifest', 'wes', { action: 'add_packages', manifest_id, package_ids: [light, heavy] });
    for (const status of ['ready', 'shipped'])
      await post('manageManifest', 'wes', { action: 'update_meta', manifest_id, status });
    await post('recordPackageEvent', 'wes', {
      package_id: heavy,
      status: 'customs_hold',
      location: 'Kingston',
    });
    await post('recordPackageEvent', 'wes', { package_ids: [light, heavy], status: 'delivered' });
    const { data } = await get('listPackageEvents', 'sunny', { package_id: heavy });
    expect(data.events.map(({ status }: { status: string }) => status)).toEqual([
      ...['received', 'shipped', 'customs_hold', 'delivered'],
    ]);
    await post('manageManifest', 'wes', { action: 'update_meta', manifest_id, status: 'completed' });
  });

  test('11. the month is billed with an adjustment and published with the first invoice number', async () => {
    const period = { start_date: today(), end_date: today() };
    const draft = await post('manageCourierBills', 'max', {
      ...{ action: 'create_draft', courier_id: known['courier'], ...period },
      ...{ service_type: 'Air standard', tax_rate: 15 },
    });
    // 8.00 and 21.50 by weight, 16.75 lb of air freight at 1.25
    expect(draft).toMatchObject({
      total_packages: 2,
      subtotal: 50.44,
      tax_amount: 7.57,
      total_amount: 58.01,
    });
    const { bill_id } = draft;
    const adjustment = { action: 'add_adjustment', bill_id, description: 'Welcome', amount: -5.44 };
    await post('manageCourierBills', 'max', adjustment);
    const published = await post('manageCourierBills', 'max', { action: 'publish', bill_id });
    expect(published).toMatchObject({ invoice_number: 'INV-000001', status: 'published' });
    known['bill'] = bill_id;
  });

  test('12. the courier reads its bill and downloads the PDF', async () => {
    const query = { bill_id: known['bill'] ?? '' };
    const { data } = await get('getCourierBill', 'sunny', query);
    expect(data).toMatchObject({ subtotal: 45, tax_amount: 6.75, total_amount: 51.75, balance: 51.75 });
    expect(data.lines.map(({ amount }: { amount: number }) => amount)).toEqual([8, 21.5, 20.94, -5.44]);
    const { bytes } = await service.call('downloadCourierBill', { ...token('sunny'), query });
    const text = (await pagesOf(bytes)).join('\n');
    for (const part of [
      'INV-000001',
      'Sun Express Ltd',
      '8400 NW 25th St',
      '1Z999AA10123456784',
      'Welcome',
      '51.75',
    ])
      expect(text).toContain(part);
  });

  test('13. the courier pays in two parts, never more than the balance, and the bill is paid', async () => {
    const pay = (amount: number) => ({
      ...{ action: 'record_payment', bill_id: known['bill'], amount, method: 'bank_transfer' },
    });
    expect(await post('manageCourierBills', 'max', pay(50))).toMatchObject({
      balance: 1.75,
      status: 'published',
    });
    const tooMuch = await service.call('manageCourierBills', { ...token('max'), body: pay(1.76) });
    expect([tooMuch.status, tooMuch.body['code']]).toEqual([400, 'payment_exceeds_balance']);
    expect(await post('manageCourierBills', 'max', pay(1.75))).toMatchObject({ balance: 0, status: 'paid' });
  });

  test('14. the statement closes at zero, and every package is billed', async () => {
    const query = { from: today(), to: today() };
    const statement = await get('getCourierStatement', 'sunny', {
      ...query,
      courier_id: known['courier'] ?? '',
    });
    expect(statement['data']).toMatchObject({
      ...{ opening_balance: 0, billed: 51.75, paid: 51.75, closing_balance: 0 },
    });
    const { data } = await get('getBillingReconciliation', 'max', query);
    expect(data.summary).toMatchObject({ packages_received: 2, unbilled: { packages: 0 }, exceptions: 0 });
    expect(data.checks.filter(({ ties }: { ties: boolean }) => !ties)).toEqual([]);
  });

  test('15. the audit log contains all steps, and its chain is intact', async () => {
    const { data } = await get('listAuditEntries', 'ada', { limit: 500 });
    const actions = new Set(data.map(({ action }: { action: string }) => action));
    const expected = [
      'tenant.created',
      'user.two_factor_enabled',
      'user.created',
      'bill.published',
      'bill.payment_recorded',
    ];
    expect(expected.filter((action) => !actions.has(action))).toEqual([]);
    expect(await post('verifyAuditLog', 'ada', { action: 'verify' })).toMatchObject({
      intact: true,
      first_altered: null,
    });
  });

  test('16. a deactivated courier loses access at once, with its API key and its users', async () => {
    await post('manageCouriers', 'max', { action: 'deactivate', courier_id: known['courier'] });
    const byKey = await service.call('submitPrealert', {
      key: known['key'] ?? '',
      body: { UserCode: 'SUN-1', TrackingNumber: 'LATE' },
    });
    const byUser = await service.call('listPrealerts', token('sunny'));
    expect([byKey.body['code'], byUser.body['code']]).toEqual(['key_invalid', 'account_disabled']);
  });
});
