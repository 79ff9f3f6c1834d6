import { withToken, type Observer } from './observer.js';

export type Sandbox = {
  /** The base URL of the client. */
  url: string;
  apiKey: string;
  /** Reads the sandbox without the SDK. */
  observer: Pick<Observer, 'get'>;
};

type Made = { sandbox: { base_path: string }; credentials: { api_key: string; service_token: string } };

/** Makes the sandbox of a courier, and ends the one that it has. */
export async function makeSandbox(staff: Observer, serviceUrl: string, courierId: string): Promise<Sandbox> {
  const manage = (action: string) => staff.post('Sandbox', { action, courier_id: courierId });
  const { data: present } = await staff.get(`Sandbox?courier_id=${courierId}`);
  if ((present as { sandbox: unknown }).sandbox !== null) await manage('end');
  // The contract defines this response.
  const { sandbox, credentials } = (await manage('create')).data as Made;
  const url = `${serviceUrl}${sandbox.base_path}`;
  return { url, apiKey: credentials.api_key, observer: withToken(url, credentials.service_token) };
}
