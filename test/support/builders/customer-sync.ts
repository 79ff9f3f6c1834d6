import { makeCustomerSync } from '../../../src/modules/customers/sync/sync.js';
import { DEMO } from '../../../src/development/demo/seed.js';
import { makeOutboundClient, type OutboundClient } from '../../../src/platform/outbound/client.js';
import { startReceiver, type Receiver } from '../receivers/receiver.js';
import type { Reply, Service } from '../service/service.js';

export const TOKEN = 'token-of-the-courier';

/** What a system answers with: a value is spelt as JSON. */
export type Sent = Buffer | string | object;

/** A courier's own system, and the job that reads it. */
export type SyncRig = {
  receiver: Receiver;
  /** Asks for a run as the courier, has it done, and answers its record. */
  sync(sent?: Sent): Promise<Reply['body']>;
  /** Has a run done. */
  work(runId: string, outbound?: OutboundClient): Promise<void>;
  /** A run's record, as its courier sees it. */
  runOf(runId: string): Promise<Reply['body']>;
  /** Everything that was logged. */
  logged: object[];
  stop(): Promise<void>;
};

/** How a system answers with a body. */
export const answerWith =
  (sent: Sent, headers: Record<string, string> = {}): Receiver['answer'] =>
  (_request, response) =>
    response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(toBytes(sent));

const toBytes = (sent: Sent) =>
  typeof sent === 'string' || Buffer.isBuffer(sent) ? sent : JSON.stringify(sent);

/** Gives a courier a URL for its customers, and a token. */
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

/** For the demo tenant's IEX. */
export async function startSyncRig(service: Service, customerChangesPerDay = 300_000): Promise<SyncRig> {
  const receiver = await startReceiver();
  await setSyncUrl(service, `${receiver.url}/customers?from=crossdock`);
  const outbound = makeOutboundClient({ allowLoopback: true, dnsServers: [] });
  const logged: object[] = [];
  const log = { info: (fields: object, words: string) => void logged.push({ ...fields, words }) };
  const deps = { db: service.db, secrets: service.app.secrets, log, config: { customerChangesPerDay } };
  const job = makeCustomerSync({ ...deps, outbound });
  const rig: SyncRig = {
    receiver,
    logged,
    async work(runId, other) {
      const own = other ? makeCustomerSync({ ...deps, outbound: other }) : job;
      await own({ tenantId: DEMO.tenants.demo, runId });
    },
    async runOf(runId) {
      const { body } = await service.call('listCustomerSyncs', { as: 'iex', query: { limit: 100 } });
      return body['data'].find((run: { run_id: string }) => run.run_id === runId);
    },
    async sync(sent) {
      if (sent !== undefined) receiver.answer = answerWith(sent);
      const asked = await service.call('syncCustomers', { as: 'iex' });
      if (asked.status !== 200) throw new Error(JSON.stringify(asked.body));
      const { run_id: runId } = asked.body['data'];
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
