import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { isBuilt, python } from '../../sdk-tools/python/language.js';
import { runProgram, runTool } from '../../sdk-tools/tool.js';
import { firstSample, startLibraryRun, tryReceiver, type LibraryRun } from '../support/sdk/library-run.js';
import { freePort } from '../support/service/processes.js';

// The build installs packages and takes a minute, so it is not part of the tests.
const hasLibrary = await isBuilt();
const withPython = hasLibrary ? test : test.skip;
const skipped = hasLibrary ? '' : ' (skipped: run npm run sdk -- python first)';
const { program, folder } = python.scenario;

let run: LibraryRun;

beforeAll(async () => {
  if (hasLibrary) run = await startLibraryRun();
}, 60_000);

afterAll(async () => {
  if (hasLibrary) await run.stop();
});

const example = (name: string, ...args: string[]) =>
  runTool({ program, args: [`examples/${name}.py`, ...args], folder }, run.environment);

withPython(
  `the Python library passes its own tests against a real service${skipped}`,
  async () => {
    const tests = { program, args: ['-m', 'unittest', 'discover', '-s', 'test', '-p', 'test_*.py'], folder };
    const { code, output } = await runProgram(tests, run.environment, () => undefined);
    expect({ code, output: code === 0 ? '' : output }).toEqual({ code: 0, output: '' });
    const keys = run.failing.keys('two-failures');
    expect([keys.length, new Set(keys).size]).toEqual([3, 1]);
  },
  60_000,
);

withPython(`the first lines of the Python README announce a parcel${skipped}`, async () => {
  const lines = await firstSample(folder, run.environment);
  const output = await runTool({ program, args: ['-c', lines], folder }, run.environment);
  expect(output).toMatch(/^Announced: [\da-f-]{36}$/m);
});

withPython(`the Python example submits a pre-alert once${skipped}`, async () => {
  expect(await example('submit_prealert', 'EXAMPLE-PY-1')).toMatch(/^Announced: [\da-f-]{36}$/m);
  expect(await example('submit_prealert', 'EXAMPLE-PY-1')).toBe('Announced before.\n');
  expect(await example('submit_prealert', 'NO NUMBER AT ALL')).toMatch(/^Check it: .+ \(unlikely_number\)$/m);
});

withPython(`the Python example reads each event once, with a cursor in a file${skipped}`, async () => {
  expect(await example('read_events')).toMatch(/^1 package\.created /);
  expect(await example('read_events')).toBe('');
  // A restored service has fewer events than the cursor says.
  await writeFile(run.environment['CURSOR_FILE'] ?? '', '9999');
  await expect(example('read_events')).rejects.toThrow(/end with \d+, before 9999/);
  expect(await example('read_events')).toMatch(/^1 package\.created /);
});

withPython(`the Python example accepts a webhook only with its signature${skipped}`, async () => {
  const port = await freePort();
  const receiver = { program, args: ['examples/receive_webhook.py', String(port)], folder };
  const { statuses, stored } = await tryReceiver(receiver, port, run.environment);
  expect(statuses).toEqual([400, 204]);
  expect(stored).toBe('event-1 webhook.test\n');
});
