import { startFaultProxy, type Attempt, type FaultProxy } from '../../../sdk-tools/faults/proxy.js';
import { RETRIES } from '../../../sdk-tools/retries.js';
import { runProgram } from '../../../sdk-tools/tool.js';
import { DEMO } from '../../../fixtures/demo/demo.js';
import type { FaultCase } from './fault-cases.js';
import type { FaultLanguage } from './fault-languages.js';

/** What a program reports of a call. It has either a value or an error. */
type Report = {
  name: string;
  value?: unknown;
  /** `refusal`, `timeout`, `no response`, or what else was thrown. */
  error?: string;
  status?: number;
};

export type Outcome = { report: Report | undefined; attempts: Attempt[]; output: string };

/** Makes all calls with one SDK, each through a proxy of its own, and returns the outcomes by their titles. */
export async function runFaultCases(
  language: FaultLanguage,
  cases: FaultCase[],
  serviceUrl: string,
): Promise<Map<string, Outcome>> {
  const proxies = await Promise.all(cases.map(({ plan }) => startFaultProxy(serviceUrl, plan)));
  try {
    const calls = cases.map((each, index) => callOf(each, proxies[index], `${language.name}-${index}`));
    const shares = Array.from({ length: language.programs }, (_, share) =>
      calls.filter((_call, index) => index % language.programs === share),
    );
    const runs = await Promise.all(shares.map((share) => runCalls(language, share)));
    const reports = runs.flatMap((run) => run.reports);
    const output = runs.map((run) => run.output).join('\n');
    const outcomes = cases.map(({ title }, index): [string, Outcome] => [
      title,
      {
        report: reports.find(({ name }) => name === title),
        attempts: proxies[index]?.attempts ?? [],
        output,
      },
    ]);
    return new Map(outcomes);
  } finally {
    await Promise.all(proxies.map((proxy) => proxy.stop()));
  }
}

function callOf(each: FaultCase, proxy: FaultProxy | undefined, trackingNumber: string) {
  const { title, action, timeoutSeconds, lastAttemptSeconds, maxRetries } = each;
  return {
    name: title,
    action,
    url: proxy?.url,
    tracking_number: each.trackingNumber ?? trackingNumber.replaceAll(' ', '-'),
    ...(maxRetries === undefined ? {} : { max_retries: maxRetries }),
    ...(timeoutSeconds === undefined
      ? {}
      : {
          timeout_seconds: timeoutSeconds,
          last_attempt_seconds: lastAttemptSeconds ?? RETRIES.last_attempt_seconds,
        }),
  };
}

async function runCalls({ command, environment }: FaultLanguage, calls: object[]) {
  const env = {
    ...environment,
    CROSSDOCK_CALLS: JSON.stringify(calls),
    CROSSDOCK_API_KEY: DEMO.apiKeys.IEX,
    CROSSDOCK_USERNAME: 'iex',
    CROSSDOCK_PASSWORD: DEMO.password,
  };
  let text = '';
  const { output } = await runProgram(command, env, (chunk) => (text += chunk));
  const lines = text.split('\n').filter((line) => line.startsWith('{'));
  // The format of these lines is part of the programs.
  return { reports: lines.map((line) => JSON.parse(line) as Report), output };
}
