import { makeCustomerSync } from '../../../src/modules/customers/sync/sync.js';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { makeOutboundClient, type OutboundClient } from '../../../src/platform/outbound/client.js';
import { accept, startReceiver, type Receiver } from '../receivers/receiver.js';
import type { Reply, Service } from '../service/service.js';

export const TOKEN = 'token-of-the-courier';

/** A response body. Objects are sent as JSON. */
export type Sent = Buffer | string | object;

/** A courier's own system, and the job that reads from it. */
export type SyncRig = {
  receiver: Receiver;
  /** Requests a run as the courier, executes it and returns its record. */
  sync(sent?: Sent): Promise<Reply['body']>;
  /** Executes a run, by default one of the demo tenant. */
  work(runId: string, outbound?: OutboundClient, tenantId?: string): Promise<void>;
  /** Returns a run's record as its courier sees it. */
  runOf(runId: string): Promise<Reply['body']>;
  /** All log entries. */
  logged: object[];
  /** Prepares for the next test: forgets requests and log entries, and sets the courier's URL and token again. */
  reset(): Promise<void>;
  stop(): Promise<void>;
};

/** Returns a handler that responds with a body. */
export const answerWith =
  (sent: Sent, headers: Record<string, string> = {}): Receiver['answer'] =>
  (_request, response) =>
    response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(toBytes(sent));

const toBytes = (sent: Sent) =>
  typeof sent === 'string' || Buffer.isBuffer(sent) ? sent : JSON.stringify(sent);

/** Sets a courier's customer URL and token. */
export async function setSyncUrl(
  service: Service,
  url: string | null,
  courierId: string = DEMO.couriers.IEX,
): Promise<void> {
  const tenantId = DEMO.tenants[courierId === DEMO.couriers.TWO ? 'two' : 'demo'];
  const token = service.app.secrets.encrypt(TOKEN, { tenantId, rowId: courierId, field: 'api_token' });
  await service.owner.query(
    'update couriers set api_url_get_customers = $2, api_token_cipher = $3 where id = $1',
    [courierId, url, token],
  );
}

/**
 * Starts a receiver for the demo tenant's IEX and the job that reads from it. Its thread waits for the next response, because
 * starting one takes longer than a test; with `threadIdleMs` 0 it ends after each response, as in production.
 */
export async function startSyncRig(
  service: Service,
  customerChangesPerDay = 300_000,
  threadIdleMs = 5_000,
): Promise<SyncRig> {
  const receiver = await startReceiver();
  const setUrl = () => setSyncUrl(service, `${receiver.url}/customers?from=crossdock`);
  await setUrl();
  const outbound = makeOutboundClient({ allowLoopback: true, dnsServers: [] });
  const logged: object[] = [];
  const log = { info: (fields: object, words: string) => void logged.push({ ...fields, words }) };
  const deps = {
    db: service.db,
    secrets: service.app.secrets,
    log,
    config: { customerChangesPerDay },
    threadIdleMs,
  };
  const job = makeCustomerSync(deps);
  const rig: SyncRig = {
    receiver,
    logged,
    async reset() {
      receiver.answer = accept;
      receiver.received.length = 0;
      logged.length = 0;
      await setUrl();
    },
    async work(runId, other, tenantId = DEMO.tenants.demo) {
      await job({ ...deps, outbound: other ?? outbound }, { tenantId, runId });
    },
    async runOf(runId) {
      const { body } = await service.call('listCustomerSyncs', { as: 'iex', query: { limit: 100 } });
      return body['data'].find((run: { run_id: string }) => run.run_id === runId);
    },
    async sync(sent) {
      if (sent !== undefined) receiver.answer = answerWith(sent);
      const requested = await service.call('syncCustomers', { as: 'iex' });
      if (requested.status !== 200) throw new Error(JSON.stringify(requested.body));
      const { run_id: runId } = requested.body['data'];
      await rig.work(runId);
      return rig.runOf(runId);
    },
    async stop() {
      await outbound.close();
      await receiver.stop();
    },
  };
  return rig;
}
