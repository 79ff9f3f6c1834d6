/** Reads the service as staff, without any SDK, to check what a scenario program reports. */
export type Observer = {
  get(path: string): Promise<Envelope>;
  post(path: string, body: unknown): Promise<Envelope>;
  /** Returns the media type and the bytes of a file outside `/api`. @throws Error unless the status is 200 */
  download(path: string): Promise<{ type: string | null; bytes: Uint8Array }>;
};

type Envelope = { data: unknown; meta?: unknown };

/** Reads with a service token. */
export const withToken = (url: string, token: string): Pick<Observer, 'get'> => ({
  get: (path) => request(url, path, { headers: { authorization: `Bearer ${token}` } }),
});

async function request(url: string, path: string, init: RequestInit): Promise<Envelope> {
  const response = await fetch(`${url}/api/${path}`, init);
  const text = await response.text();
  if (!response.ok) throw new Error(`${path} responded with ${response.status}: ${text}`);
  // Every JSON success of the contract is an envelope.
  return JSON.parse(text) as Envelope;
}

export async function openObserver(url: string, username: string, password: string): Promise<Observer> {
  const post = (path: string, body: unknown, headers: Record<string, string>) =>
    request(url, path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  const { data } = await post('login.php', { action: 'login', username, password }, {});
  // The contract defines this response to a login without a second factor.
  const headers = { authorization: `Bearer ${(data as { access_token: string }).access_token}` };
  return {
    get: (path) => request(url, path, { headers }),
    post: (path, body) => post(path, body, headers),
    async download(path) {
      const response = await fetch(new URL(path, `${url}/`));
      if (!response.ok) throw new Error(`${path} responded with ${response.status}.`);
      return {
        type: response.headers.get('content-type'),
        bytes: new Uint8Array(await response.arrayBuffer()),
      };
    },
  };
}
