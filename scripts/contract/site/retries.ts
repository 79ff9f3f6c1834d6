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
  const rowsOf = (retry: Retry): [string, Retry][] =>
    statusRanges(
      statuses.filter((entry) => !entry.code && entry.retry === retry).map(({ status }) => status),
    ).map((range) => [range, retry]);
  const rows: [string, Retry][] = [
    ['no connection', none.not_sent],
    ['none in time, or one that is cut', none.lost],
    ...statuses.flatMap(({ status, code, retry }): [string, Retry][] =>
      code ? [[`${status} \`${code}\``, retry]] : [],
    ),
    ...[...rowsOf('always'), ...rowsOf('repeatable')].sort(([a], [b]) => a.localeCompare(b)),
  ];
  const header = ['| Response | With a key, or GET or PUT | Without a key |', '|---|---|---|'];
  const lines = rows.map(([response, retry]) => `| ${response} | send it again | ${WITHOUT_KEY[retry]} |`);
  const others = [
    '| 401 | log in again, then send it again | log in again, then send it again |',
    '| any other | final | final |',
  ];
  return [[...header, ...lines, ...others].join('\n'), pauseList(retries)].join('\n\n');
}

/** Returns the statuses as text, in order. Five or more in a row are one range. */
export function statusRanges(statuses: number[]): string[] {
  const runs: number[][] = [];
  for (const status of statuses) {
    const run = runs.at(-1);
    if (run?.at(-1) === status - 1) run.push(status);
    else runs.push([status]);
  }
  return runs.flatMap((run) => (run.length > 4 ? [`${run[0]} to ${run.at(-1)}`] : run.map(String)));
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
  const names = statusRanges(statuses.filter(({ code }) => !code).map(({ status }) => status));
  return `| ${names.join(', ')} | Send the same request with the same \`Idempotency-Key\` again, after the pause or the seconds in \`Retry-After\`. If a 500 stays, send us the \`request_id\`. |`;
}
