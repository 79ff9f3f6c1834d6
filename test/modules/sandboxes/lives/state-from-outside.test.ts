import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { makeSandbox } from '../../../support/fixture/sandboxes.js';
import { withService } from '../../../support/fixture/with-service.js';
import { livesOf } from './lives-calls.js';

const OF_IEX = { courier_id: DEMO.couriers.IEX };

// What the live courier and the staff read of a sandbox. Each layer of isolation must be sufficient alone.
describe.each([
  ['both layers', {}],
  ['row-level security alone', { applicationFilters: false }],
  ["the application's filters alone", { rowSecurity: false }],
] as const)('getSandbox with %s', (_name, options) => {
  const { api, service } = withService(options);

  test('shows the courier and the staff the clock and the lives, as the sandbox itself does', async () => {
    const sandbox = await makeSandbox(service());
    const lives = livesOf(service(), sandbox);
    const other = livesOf(service(), await makeSandbox(service(), 'hrb'));
    await lives.manage({ action: 'set_speed', speed: 0 });
    await lives.announce('LIFE-HAPPY-1');
    await lives.announce('LIFE-HAPY-2');
    await other.announce('LIFE-HOLD-1');
    await other.announce('LIFE-HOLDD-1');
    await other.manage({ action: 'set_speed', speed: 0 });
    const life = await lives.advance('LIFE-HAPPY-1', 3);
    expect(life).toMatchObject({ state: 'playing', steps_played: 2 });
    const inside = await lives.state();
    expect(inside).toMatchObject({ clock: { speed: 0 }, misspelled_numbers: ['LIFE-HAPY-2'] });
    expect((await api.as('iex').getSandbox({}).ok()).data.state).toEqual(inside);
    for (const as of ['manager', 'admin'])
      expect((await api.as(as).getSandbox(OF_IEX).ok()).data.state).toEqual(inside);
    const theirs = (await api.as('hrb').getSandbox({}).ok()).data.state;
    expect(theirs?.lives.map(({ tracking_number }) => tracking_number)).toEqual(['LIFE-HOLD-1']);
    expect(theirs?.misspelled_numbers).toEqual(['LIFE-HOLDD-1']);
  });

  test('shows nothing of it once it has ended', async () => {
    await makeSandbox(service());
    await api.as('iex').manageSandbox({ action: 'end' }).ok();
    expect((await api.as('iex').getSandbox({}).ok()).data).toEqual({ sandbox: null, state: null });
    expect((await api.as('manager').getSandbox(OF_IEX).ok()).data.state).toBeNull();
  });
});

describe('the misspelled numbers of a sandbox', () => {
  const { service } = withService();

  test('are those that begin like a magic one and start no life, and no others', async () => {
    const sandbox = await makeSandbox(service());
    const lives = livesOf(service(), sandbox);
    const { lives: started } = await lives.manage({ action: 'start', life: 'claimed' });
    for (const number of [
      'LIFE-HAPPY-1',
      String(started[0]?.tracking_number),
      '1Z999AA10123456784',
      'LIVE-HAPPY-1',
      'LIFE-HAPY-1',
      'life-happy-3',
      'LIFEHAPPY4',
      'LIFE-HAPPY',
      'LIFE-CLAIMED-5',
    ])
      await lives.announce(number);
    const expected = ['LIFE-CLAIMED-5', 'LIFE-HAPPY', 'LIFEHAPPY4', 'life-happy-3', 'LIFE-HAPY-1'];
    expect((await lives.state()).misspelled_numbers).toEqual(expected);
    // The lives that have started are those of the others.
    await lives.manage({ action: 'next_step' });
    expect((await lives.state()).misspelled_numbers).toEqual(expected);
    expect((await lives.state()).lives).toHaveLength(2);
  });

  test('leave out those of yesterday, and show at most 20', async () => {
    const sandbox = await makeSandbox(service());
    const lives = livesOf(service(), sandbox);
    const id = await lives.announce('LIFE-OLD-1');
    await service().owner.query(
      "update prealerts set created_at = now() - interval '25 hours' where tenant_id = $1 and id = $2",
      [sandbox.sandboxId, id],
    );
    for (let count = 1; count <= 22; count += 1) await lives.announce(`LIFE-HAPY-${count}`);
    const { misspelled_numbers: shown } = await lives.state();
    expect(shown).toHaveLength(20);
    expect(shown[0]).toBe('LIFE-HAPY-22');
    expect(shown).not.toContain('LIFE-OLD-1');
  });
});
