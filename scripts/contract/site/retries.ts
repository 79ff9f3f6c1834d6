// The rules of retries as Markdown, from sdk/retries.yaml.

type Retry = 'always' | 'repeatable';

/** sdk/retries.yaml. */
export type Retries = {
  attempts: number;
  connect_seconds: number;
  attempt_seconds: number;
  last_attempt_seconds: number;
  pause: { first_seconds: number; factor: number; longest_seconds: number; jitter: number };
  retry_after: { longest_seconds: number };
  statuses: { status: number; code?: string; retry: Retry }[];
  no_response: { not_sent: Retry; lost: Retry };
};

/** Returns the tables of what is sent again, and how. */
export function retrySections(retries: Retries): string {
  const { statuses, no_response: none } = retries;
  const rows: [string, Retry][] = [
    ['no connection', none.not_sent],
    ['none in time, or one that is cut', none.lost],
    ...statuses.map(({ status, code, retry }): [string, Retry] => [
      code ? `${status} \`${code}\`` : String(status),
      retry,
    ]),
  ];
  const header = ['| Response | With a key, or GET or PUT | Without a key |', '|---|---|---|'];
  const lines = rows.map(([response, retry]) => `| ${response} | send it again | ${WITHOUT_KEY[retry]} |`);
  const others = [
    '| 401 | log in again, then send it again | log in again, then send it again |',
    '| any other | final | final |',
  ];
  return [[...header, ...lines, ...others].join('\n'), pauseList(retries)].join('\n\n');
}

const WITHOUT_KEY = { always: 'send it again', repeatable: 'do not: it may have been executed' };

function pauseList(retries: Retries): string {
  const { attempts, connect_seconds: connect, attempt_seconds: limit, last_attempt_seconds: last } = retries;
  const { first_seconds: first, factor, longest_seconds: longest, jitter } = retries.pause;
  const pauses = Array.from({ length: attempts - 1 }, (_, n) => Math.min(first * factor ** n, longest));
  return [
    `- At most ${attempts} attempts. Each has ${limit} seconds from its start to the last byte of the response, and ${connect} of them to connect. None begins later than ${last} seconds after the first.`,
    `- Pauses of ${pauses.join(', ')} seconds, of which a random part of up to ${jitter * 100} % is left out, so that your systems do not all return at once.`,
    `- If \`Retry-After\` is longer than the pause, wait that long. It is a number of seconds, and behind some proxies a date. If it is longer than ${retries.retry_after.longest_seconds} seconds, stop: send the request again later.`,
  ].join('\n');
}

/** Returns the row of the statuses after which the same request is sent again, for a table with two columns. */
export function retryRow({ statuses }: Retries): string {
  const names = statuses.filter(({ code }) => !code).map(({ status }) => status);
  return `| ${names.join(', ')} | Send the same request with the same \`Idempotency-Key\` again, after the pause or the seconds in \`Retry-After\`. If a 500 stays, send us the \`request_id\`. |`;
}
