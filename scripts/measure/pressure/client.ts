import { request, type Agent } from 'node:http';

export type Call = {
  method: string;
  path: string;
  headers: Record<string, string>;
  /** A text is sent as JSON. */
  body?: string | Buffer;
};

/** Replaces `{n}` in the path and the body by a number that is used once. */
export const fill = ({ method, path, headers, body }: Call, number: string): Call => ({
  method,
  path: path.replaceAll('{n}', number),
  headers,
  ...(body !== undefined && { body: typeof body === 'string' ? body.replaceAll('{n}', number) : body }),
});

/** The status and, for a failure, the code of the response. */
export type Answer = { status: number; code: string };

/** Sends a request and reads the whole response. A connection that broke before any response is an answer with status 0. */
export async function send(port: number, agent: Agent | false, call: Call): Promise<Answer> {
  try {
    const { status, text } = await attempt(port, agent, call, isFailure);
    return { status, code: isFailure(status) ? codeOf(text) : '' };
  } catch (error) {
    // HTTP clients repeat a request on a kept-alive connection that the server has just closed.
    if (error instanceof BrokenConnection && error.wasReused) return send(port, false, call);
    return { status: 0, code: error instanceof Error ? error.message : String(error) };
  }
}

/** Sends a request and returns the data of the response. @throws unless the status is 2xx */
export async function fetchData(port: number, call: Call): Promise<Record<string, string>> {
  const { status, text } = await attempt(port, false, call, () => true);
  if (isFailure(status)) throw new Error(`${call.method} ${call.path} returned ${status}: ${text}`);
  // The callers read texts that the contract defines.
  return (JSON.parse(text) as { data: Record<string, string> }).data;
}

const isFailure = (status: number) => status < 200 || status > 299;

class BrokenConnection extends Error {
  constructor(
    cause: Error,
    readonly wasReused: boolean,
  ) {
    super(cause.message, { cause });
  }
}

/** @param isKept whether the text of a response with this status is returned; otherwise it is only read */
function attempt(
  port: number,
  agent: Agent | false,
  { method, path, headers, body }: Call,
  isKept: (status: number) => boolean,
): Promise<{ status: number; text: string }> {
  const entity =
    typeof body === 'string'
      ? { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) }
      : {};
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, agent, method, path, headers: { ...entity, ...headers } };
    const sent = request(options, (response) => {
      const { statusCode: status = 0 } = response;
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => {
        if (isKept(status)) chunks.push(chunk);
      });
      response.on('end', () => resolve({ status, text: Buffer.concat(chunks).toString() }));
      response.on('error', reject);
    });
    sent.on('error', (error) => reject(new BrokenConnection(error, sent.reusedSocket)));
    sent.end(body);
  });
}

function codeOf(text: string): string {
  try {
    // Every failure of the contract has a code.
    return (JSON.parse(text) as { code: string }).code;
  } catch {
    return text.slice(0, 100);
  }
}
