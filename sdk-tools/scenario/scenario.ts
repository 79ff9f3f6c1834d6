import type { IncomingMessage } from 'node:http';
import { DEMO } from '../../fixtures/demo/demo.js';
import type { Fault } from '../faults/faults.js';
import { startFaultProxy } from '../faults/proxy.js';
import { writeInputs, type Inputs } from './inputs.js';
import type { Language } from '../language.js';
import { openObserver } from './observer.js';
import { makeSandbox } from './sandbox.js';
import { STEPS, type Run, type Seen, type Step } from './steps.js';
import { runProgram } from '../tool.js';

export type Options = {
  steps?: Step[];
  /** What happens to the first writes through the proxy. */
  faults?: Fault[];
  /** Whether a step needs the sandbox of the courier. Each run makes a new one. */
  inSandbox?: boolean;
};

/** The result of each step, in order: undefined if it is ok, otherwise what is wrong. */
export type Result = (string | undefined)[];

/** Runs the steps with one client against a service with the demo data. */
export async function runScenario(
  language: Pick<Language, 'name' | 'scenario'>,
  serviceUrl: string,
  { steps = STEPS, faults = FAULTS, inSandbox = false }: Options = {},
): Promise<Result> {
  const id = `${language.name.toUpperCase().replaceAll('-', '')}${Date.now().toString(36).toUpperCase()}`;
  const proxy = await startFaultProxy(serviceUrl, { faults, only: isWrite });
  const inputs = await writeInputs(id);
  try {
    const observer = await openObserver(serviceUrl, 'admin', DEMO.password);
    const courierId = DEMO.couriers.IEX;
    const sandbox = inSandbox ? await makeSandbox(observer, serviceUrl, courierId) : undefined;
    const run: Run = { id, observer, proxy, courierId, ...(sandbox ? { sandbox } : {}) };
    const env = environmentOf(run, serviceUrl, inputs);
    let text = '';
    const { code, output } = await runProgram(language.scenario, env, (chunk) => (text += chunk));
    const reports = readReports(text);
    const results: Result = [];
    for (const [index, step] of steps.entries()) {
      const report = reports.get(index + 1);
      const lost = `no result; the program ended with ${code}:\n${output.slice(-2_000)}`;
      results.push(report ? await resultOf(report, () => step.check(report, run)) : lost);
    }
    return results;
  } finally {
    await inputs.remove();
    await proxy.stop();
  }
}

const FAULTS: Fault[] = ['lost', 'http_503', 'http_429_date'];

const isWrite = ({ method }: IncomingMessage) => method !== 'GET';

function environmentOf(
  { id, proxy, courierId, sandbox }: Run,
  url: string,
  inputs: Inputs,
): Record<string, string> {
  return {
    CROSSDOCK_URL: url,
    CROSSDOCK_FAULTY_URL: proxy.url,
    CROSSDOCK_RUN_ID: id,
    CROSSDOCK_API_KEY: DEMO.apiKeys.IEX,
    CROSSDOCK_USER_CODE: 'IEX-1001',
    CROSSDOCK_COURIER_ID: courierId,
    CROSSDOCK_STAFF_USERNAME: 'admin',
    CROSSDOCK_COURIER_USERNAME: 'iex',
    CROSSDOCK_PASSWORD: DEMO.password,
    CROSSDOCK_CUSTOMERS_CSV: inputs.customersCsv,
    CROSSDOCK_LOGO_PNG: inputs.logoPng,
    CROSSDOCK_WEBHOOKS_JSON: inputs.webhooksJson,
    ...(sandbox
      ? {
          CROSSDOCK_SANDBOX_URL: sandbox.url,
          CROSSDOCK_SANDBOX_KEY: sandbox.apiKey,
          CROSSDOCK_SANDBOX_USER_CODE: 'IEX-1',
        }
      : {}),
  };
}

/** Reads the JSON lines of the program. Other lines are ignored. */
function readReports(text: string): Map<number, Seen> {
  const reports = new Map<number, Seen>();
  for (const line of text.split('\n').filter((each) => each.startsWith('{"step":'))) {
    // The format of these lines is part of the scenario.
    const report = JSON.parse(line) as Seen;
    reports.set(Number(report['step']), report);
  }
  return reports;
}

async function resultOf(report: Seen, check: () => Promise<string | undefined>): Promise<string | undefined> {
  if (report['ok'] !== true)
    return typeof report['error'] === 'string' ? report['error'] : 'The program gives no reason.';
  return check().catch((error: unknown) => (error instanceof Error ? error.message : String(error)));
}
