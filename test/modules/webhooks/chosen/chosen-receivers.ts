import { afterEach, beforeEach } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { withService } from '../../../support/fixture/with-service.js';
import {
  startReceiver,
  verified,
  type Received,
  type Receiver,
} from '../../../support/receivers/receiver.js';
import { assertPayload } from '../../../support/receivers/webhook-payloads.js';
import { setEndpoints, webhookSecret } from '../../../support/receivers/webhooks.js';
import { until } from '../../../support/service/processes.js';

export const { IEX, HRB } = DEMO.couriers;

export type Payload = {
  type: string;
  event_id: string;
  sequence: number;
  timestamp: string;
  timestamp_utc: string;
  data: Record<string, unknown>;
};

const SECRETS = { [IEX]: webhookSecret('s'), [HRB]: webhookSecret('h') };

/** The types that a URL has before anybody chooses. */
export const USUAL = {
  add: ['package.created'],
  update: ['package.status_changed', 'package.updated'],
};

/** A service with a worker, and a receiver per courier on loopback. Couriers have the usual types until a test chooses others. */
export function withChosenEvents() {
  const fixture = withService({ worker: true, env: { WEBHOOK_RETRY_SECONDS: '1,1,1' } });
  const { db, service } = fixture;
  const receivers = new Map<string, Receiver>();

  beforeEach(async () => {
    const { owner, app } = service();
    for (const courierId of [IEX, HRB]) {
      const receiver = await startReceiver();
      receivers.set(courierId, receiver);
      const urls = { add: `${receiver.url}/add`, update: `${receiver.url}/update` };
      const secret = SECRETS[courierId] ?? '';
      await setEndpoints({ owner, secrets: app.secrets }, { courierId, ...urls, secret });
    }
    await db.query('update couriers set add_package_events = $1, update_package_events = $2', [
      USUAL.add,
      USUAL.update,
    ]);
  });

  afterEach(async () => {
    // Pending deliveries of one test must not reach the receivers of the next.
    await db.query('delete from webhook_deliveries');
    await db.query('delete from package_syncs');
    for (const receiver of receivers.values()) await receiver.stop();
  });

  const receiverOf = (courierId: string): Receiver => {
    const receiver = receivers.get(courierId);
    if (!receiver) throw new Error('The receiver was not started.');
    return receiver;
  };

  /** The verified payload of a request: the signature is right, and the body is the contract's. */
  function payloadOf(courierId: string, request: Received): Payload {
    // verified() returns the parsed body.
    const payload = verified(SECRETS[courierId] ?? '', request) as Payload;
    assertPayload(payload.type, payload);
    return payload;
  }

  const sentTo = (courierId: string, path?: string): Payload[] => {
    const { received, at } = receiverOf(courierId);
    return (path === undefined ? received : at(path)).map((request) => payloadOf(courierId, request));
  };

  /** Waits until nothing is to be sent any more. */
  const settled = () =>
    until(
      async () => (await db.query(`select from webhook_deliveries where status = 'pending'`)).length === 0,
    );

  return {
    ...fixture,
    receiverOf,
    /** Returns what a courier's URLs, or one of them, have received, in the order of the events. */
    async received(courierId: string, path?: string): Promise<Payload[]> {
      await settled();
      return sentTo(courierId, path).sort((a, b) => a.sequence - b.sequence);
    },
    /** As the courier chooses types for its first URL, besides the usual ones. */
    choose: (courierId: string, ...types: string[]) =>
      db.query('update couriers set add_package_events = add_package_events || $2 where id = $1', [
        courierId,
        types,
      ]),
    /** The types of the courier's stored events, in their order. */
    storedTypes: async (courierId: string) =>
      (
        await db.query(
          'select type from events where courier_id = $1 and sequence is not null order by sequence',
          [courierId],
        )
      ).map(({ type }) => String(type)),
    /** Deletes what earlier tests have left. Table by table: to lock all of them at once deadlocked with the worker. */
    async forget(): Promise<void> {
      for (const table of ['webhook_deliveries', 'events', 'event_counters'])
        await db.query(`delete from ${table}`);
    },
  };
}
