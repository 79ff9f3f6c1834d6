import { beforeEach, expect, test } from '@jest/globals';
import { livesOf, type Lives } from './lives-calls.js';
import { makeSandbox, type OpenedSandbox } from '../../../support/fixture/sandboxes.js';
import { withService } from '../../../support/fixture/with-service.js';

const { service } = withService();
let sandbox: OpenedSandbox;
let lives: Lives;

beforeEach(async () => {
  sandbox = await makeSandbox(service());
  lives = livesOf(service(), sandbox);
  await lives.manage({ action: 'set_speed', speed: 0 });
  const chosen = await sandbox.send('updateCourierSettings', {
    token: sandbox.token,
    body: { add_package_events: CHOSEN },
  });
  expect(chosen.status).toBe(200);
}, 60_000);

const CHOSEN = [
  'package.created',
  'prealert.received',
  'prealert.flagged',
  'prealert.claimed',
  'bill.published',
  'manifest.departed',
  'manifest.arrived',
];

const MONTH_AND_MORE = 800;

test('happy: received, put away, shipped, delivered and billed', async () => {
  const prealertId = await lives.announce('LIFE-HAPPY-1');
  expect(await lives.advance('LIFE-HAPPY-1', 1)).toMatchObject({
    life: 'happy',
    state: 'playing',
    steps_played: 0,
    prealert_id: prealertId,
    next_step: { step: 'package_received' },
  });
  const received = await lives.advance('LIFE-HAPPY-1', 3);
  expect(received).toMatchObject({ steps_played: 2, next_step: { step: 'manifest_created' } });
  expect(await lives.one('packages', received.package_id)).toMatchObject({
    status: 'received',
    user_code: sandbox.userCodes[0],
    weight_lb: '2.500',
  });
  const { rows: places } = await service().owner.query(
    'select location from parcel_positions where tenant_id = $1',
    [sandbox.sandboxId],
  );
  expect(places).toEqual([{ location: 'Shelf S-1' }]);
  expect((await lives.one('prealerts', prealertId))?.['status']).toBe('received');
  const life = await lives.advance('LIFE-HAPPY-1', MONTH_AND_MORE);
  expect(life).toMatchObject({ state: 'finished', steps_played: 9, next_step: null, refusal: null });
  expect(await lives.history(life.package_id)).toEqual(['received', 'shipped', 'delivered']);
  expect(await lives.one('manifests', life.manifest_id)).toMatchObject({ status: 'completed' });
  expect(await lives.one('bills', life.bill_id)).toMatchObject({ status: 'published', total_packages: 1 });
  expect(await lives.events()).toEqual([
    'package.created',
    'prealert.received',
    'package.status_changed',
    'manifest.departed',
    'package.status_changed',
    'manifest.arrived',
    'bill.published',
  ]);
});

test('weight: the weight of the parcel is corrected before it is billed', async () => {
  await lives.announce('LIFE-WEIGHT-1');
  const received = await lives.advance('LIFE-WEIGHT-1', 3);
  expect((await lives.one('packages', received.package_id))?.['weight_lb']).toBe('12.500');
  const life = await lives.advance('LIFE-WEIGHT-1', MONTH_AND_MORE);
  expect(life).toMatchObject({ state: 'finished', refusal: null });
  expect((await lives.one('packages', life.package_id))?.['weight_lb']).toBe('2.500');
  const { rows } = await service().owner.query('select weight_lb from bill_lines where package_id = $1', [
    life.package_id,
  ]);
  expect(rows).toEqual([{ weight_lb: '2.500' }]);
});

test('hold: put on hold, released and delivered', async () => {
  await lives.announce('LIFE-HOLD-1');
  const life = await lives.advance('LIFE-HOLD-1', MONTH_AND_MORE);
  expect(life).toMatchObject({ state: 'finished', refusal: null, bill_id: null });
  expect(await lives.history(life.package_id)).toEqual([
    'received',
    'on_hold',
    'received',
    'shipped',
    'delivered',
  ]);
});

test('disputed: the pre-alert is flagged, then a review assigns the parcel', async () => {
  const prealertId = await lives.announce('LIFE-DISPUTED-1');
  const disputed = await lives.advance('LIFE-DISPUTED-1', 5);
  expect((await lives.one('prealerts', prealertId))?.['status']).toBe('flagged');
  expect((await lives.one('packages', disputed.package_id))?.['user_code']).toBeNull();
  const life = await lives.advance('LIFE-DISPUTED-1', MONTH_AND_MORE);
  expect(life).toMatchObject({ state: 'finished', refusal: null });
  expect((await lives.one('packages', life.package_id))?.['user_code']).toBe(sandbox.userCodes[0]);
  expect(await lives.events()).toEqual(expect.arrayContaining(['prealert.flagged', 'prealert.claimed']));
});

test('lost: lost after it was shipped', async () => {
  await lives.announce('LIFE-LOST-1');
  const life = await lives.advance('LIFE-LOST-1', MONTH_AND_MORE);
  expect(life).toMatchObject({ state: 'finished', refusal: null });
  expect(await lives.history(life.package_id)).toEqual(['received', 'shipped', 'lost']);
});

test('returned: returned after it was delivered', async () => {
  await lives.announce('LIFE-RETURNED-1');
  const life = await lives.advance('LIFE-RETURNED-1', MONTH_AND_MORE);
  expect(life).toMatchObject({ state: 'finished', refusal: null });
  expect(await lives.history(life.package_id)).toEqual(['received', 'shipped', 'delivered', 'returned']);
});

test('claimed: received without an owner, claimed with its number, and approved', async () => {
  const [started] = (await lives.manage({ action: 'start', life: 'claimed' })).lives;
  const number = String(started?.tracking_number);
  const received = await lives.advance(number, 7);
  expect(received).toMatchObject({ life: 'claimed', prealert_id: null, steps_played: 2 });
  expect((await lives.one('packages', received.package_id))?.['courier_id']).toBeNull();
  expect(await lives.events()).toEqual([]);
  const life = await lives.advance(number, MONTH_AND_MORE);
  expect(life).toMatchObject({ state: 'finished', refusal: null });
  expect(await lives.one('packages', life.package_id)).toMatchObject({
    courier_id: sandbox.courierId,
    user_code: sandbox.userCodes[0],
  });
  const { rows } = await service().owner.query('select status from parcel_claims where tenant_id = $1', [
    sandbox.sandboxId,
  ]);
  expect(rows).toEqual([{ status: 'approved' }]);
  expect((await lives.events())[0]).toBe('package.created');
});

test('claimed: the pre-alert of the courier gets the parcel, if it has announced the number', async () => {
  const [started] = (await lives.manage({ action: 'start', life: 'claimed' })).lives;
  const number = String(started?.tracking_number);
  await lives.advance(number, 3);
  const prealertId = await lives.announce(number, sandbox.userCodes[1]);
  const life = await lives.advance(number, MONTH_AND_MORE);
  expect(life).toMatchObject({ state: 'finished', refusal: null });
  expect((await lives.one('packages', life.package_id))?.['user_code']).toBe(sandbox.userCodes[1]);
  expect((await lives.one('prealerts', prealertId))?.['status']).toBe('received');
});

test('one bill of the month has the parcels of all lives', async () => {
  await lives.announce('LIFE-HAPPY-1');
  await lives.announce('LIFE-WEIGHT-2', sandbox.userCodes[1]);
  await lives.advance('LIFE-HAPPY-1', MONTH_AND_MORE);
  const [happy, weight] = [await lives.lifeOf('LIFE-HAPPY-1'), await lives.lifeOf('LIFE-WEIGHT-2')];
  expect([happy.state, weight.state]).toEqual(['finished', 'finished']);
  expect(weight.bill_id).toBe(happy.bill_id);
  expect(await lives.one('bills', happy.bill_id)).toMatchObject({ status: 'published', total_packages: 2 });
});
