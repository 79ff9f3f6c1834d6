import { DEMO } from '../../../fixtures/demo/seed.js';
import { fetchData } from './client.js';
import type { PressureTenant } from './database.js';
import { callsOf, type StreamsInput } from './streams.js';

const DRAFTS = 20;

/** Logs in as the administrator, gives every courier an API key and creates draft manifests. */
export async function prepareRequests(port: number, tenant: PressureTenant): Promise<StreamsInput> {
  const login = { action: 'login', username: 'admin', password: DEMO.password };
  const { access_token: token = '' } = await fetchData(port, {
    method: 'POST',
    path: '/api/login.php',
    headers: { host: tenant.host },
    body: JSON.stringify(login),
  });
  const call = callsOf(tenant, token);
  const keys: string[] = [];
  for (const courier_id of tenant.courierIds) {
    const { api_key: key = '' } = await fetchData(
      port,
      call('POST', '/api/RegenerateApiKey.php', { courier_id }),
    );
    keys.push(key);
  }
  const drafts: string[] = [];
  while (drafts.length < DRAFTS) {
    const { manifest_id: draft = '' } = await fetchData(port, call('POST', '/api/CreateManifest.php', {}));
    drafts.push(draft);
  }
  return { tenant, token, keys, drafts };
}
