import { DEMO } from '../../../fixtures/demo/seed.js';
import { makeIntegrationCheck } from '../../../src/modules/integration-checks/run-check.js';
import type { components } from '../../../generated/contract.js';
import { makeOutboundClient, type OutboundClient } from '../../../src/platform/outbound/client.js';
import type { OutboundConfig } from '../../../src/config/config.js';
import type { Fixture } from '../fixture/with-service.js';
import { startDns, type DnsServer } from '../receivers/dns.js';
import { startReceiver, type Receiver } from '../receivers/receiver.js';
import { setEndpoints, type Endpoints } from '../receivers/webhooks.js';
import { SECRET, TOKEN } from './simulator.js';

type Check = components['schemas']['IntegrationCheck'];
type Endpoint = Check['endpoint'];

export type CheckRig = {
  receiver: Receiver;
  dns: DnsServer;
  /** Aborts what the worker is doing, as a restart does. */
  stopping: AbortController;
  /** Sets the URLs of the courier. The default is the receiver. */
  setUrl(url?: string, options?: Partial<Endpoints>): Promise<void>;
  setCustomersUrl(url?: string, token?: string | null): Promise<void>;
  /** Requests a check as the courier, executes it and returns its record. */
  check(endpoint?: Endpoint, client?: Partial<OutboundConfig> & { ca?: string }): Promise<Check>;
  /** Executes a check that was requested. */
  execute(checkId: string, outbound?: OutboundClient): Promise<void>;
  read(checkId: string): Promise<Check>;
  stop(): Promise<void>;
};

/** Starts a receiver, a name server, and the job that checks the URLs of the demo courier IEX. */
export async function startCheckRig({ api, db, service }: Fixture): Promise<CheckRig> {
  const receiver = await startReceiver();
  const dns = await startDns();
  const clients: OutboundClient[] = [];
  const job = makeIntegrationCheck(5_000);
  const { owner, app } = service();
  const client = ({ ca, ...config }: Partial<OutboundConfig> & { ca?: string } = {}) => {
    const made = makeOutboundClient(
      { allowLoopback: true, dnsServers: [dns.address], ...config },
      ca === undefined ? {} : { ca },
    );
    clients.push(made);
    return made;
  };
  const shared = client();
  const rig: CheckRig = {
    receiver,
    dns,
    stopping: new AbortController(),
    async setUrl(url = `${receiver.url}/hook`, options = {}) {
      const endpoints = { add: url, update: url, token: TOKEN, secret: SECRET, ...options };
      await setEndpoints({ owner, secrets: app.secrets }, endpoints);
    },
    async setCustomersUrl(url = `${receiver.url}/customers`, token = TOKEN) {
      const context = { tenantId: DEMO.tenants.demo, rowId: DEMO.couriers.IEX, field: 'api_token' } as const;
      await db.query('update couriers set api_url_get_customers = $2, api_token_cipher = $3 where id = $1', [
        DEMO.couriers.IEX,
        url,
        token === null ? null : app.secrets.encrypt(token, context),
      ]);
    },
    async check(endpoint = 'add_package', options) {
      // The limit of checks per hour has a test of its own.
      await db.query("delete from courier_quotas where kind = 'integration_checks'");
      const { data } = await api.as('iex').createIntegrationCheck({ endpoint }).ok();
      await rig.execute(data.check_id, options ? client(options) : shared);
      return rig.read(data.check_id);
    },
    async execute(checkId, outbound = shared) {
      const deps = {
        db: service().db,
        secrets: app.secrets,
        outbound,
        stopping: rig.stopping.signal,
        log: app.server.log,
      };
      await job(deps, { tenantId: DEMO.tenants.demo, checkId });
    },
    async read(checkId) {
      const { data } = await api.as('iex').listIntegrationChecks({ check_id: checkId }).ok();
      const [found] = data;
      if (!found) throw new Error('The check was not found.');
      return found;
    },
    async stop() {
      rig.stopping.abort();
      for (const made of clients) await made.destroy();
      await receiver.stop();
      await dns.stop();
    },
  };
  return rig;
}

export const codesOf = ({ findings }: Check): string[] => findings.map(({ code }) => code);
export const purposesOf = ({ requests }: Check): string[] => requests.map(({ purpose }) => purpose);
