import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { php } from '../../sdk-tools/php/language.js';
import { runProgram, runTool } from '../../sdk-tools/tool.js';
import { projectRoot } from '../../src/config/project-root.js';
import { firstSample, startLibraryRun, tryReceiver, type LibraryRun } from '../support/sdk/library-run.js';
import { freePort } from '../support/service/processes.js';

const toolchain = await php.toolchain();
const withPhp = 'missing' in toolchain ? test.skip : test;
const skipped = 'missing' in toolchain ? ` (skipped: ${toolchain.missing})` : '';
const folder = join(projectRoot, 'sdk', 'php');

let run: LibraryRun;

beforeAll(async () => {
  if ('missing' in toolchain) return;
  run = await startLibraryRun();
  await php.build();
}, 60_000);

afterAll(async () => {
  if ('found' in toolchain) await run.stop();
});

const example = (name: string, ...args: string[]) =>
  runTool({ program: 'php', args: [`examples/${name}.php`, ...args], folder }, run.environment);

withPhp(
  `the PHP library passes its own tests against a real service${skipped}`,
  async () => {
    const program = { program: 'php', args: ['test/test.php'], folder };
    const { code, output } = await runProgram(program, run.environment, () => undefined);
    expect({ code, failed: output.match(/^(?!ok ).+/gm) }).toEqual({ code: 0, failed: null });
    const keys = run.failing.keys('two-failures');
    expect([keys.length, new Set(keys).size]).toEqual([3, 1]);
  },
  60_000,
);

withPhp(`the first lines of the PHP README announce a parcel${skipped}`, async () => {
  const lines = await firstSample(folder, run.environment);
  const code = lines.replace('<?php', '').replace("'vendor/autoload.php'", "'autoload.php'");
  const output = await runTool({ program: 'php', args: ['-r', code], folder }, run.environment);
  expect(output).toMatch(/^Announced: [\da-f-]{36}$/m);
});

withPhp(`the PHP example submits a pre-alert once${skipped}`, async () => {
  expect(await example('submit-prealert', 'EXAMPLE-PHP-1')).toMatch(/^Announced: [\da-f-]{36}$/m);
  expect(await example('submit-prealert', 'EXAMPLE-PHP-1')).toBe('Announced before.\n');
  expect(await example('submit-prealert', 'NO NUMBER AT ALL')).toMatch(/^Check it: .+ \(unlikely_number\)$/m);
});

withPhp(`the PHP example reads each event once, with a cursor in a file${skipped}`, async () => {
  expect(await example('read-events')).toMatch(/^1 package\.created /);
  expect(await example('read-events')).toBe('');
  // A restored service has fewer events than the cursor says.
  await writeFile(run.environment['CURSOR_FILE'] ?? '', '9999');
  await expect(example('read-events')).rejects.toThrow(/end with \d+, before 9999/);
  expect(await example('read-events')).toMatch(/^1 package\.created /);
});

withPhp(`the PHP example accepts a webhook only with its signature${skipped}`, async () => {
  const port = await freePort();
  const args = ['-S', `127.0.0.1:${port}`, 'examples/receive-webhook.php'];
  const { statuses, stored } = await tryReceiver({ program: 'php', args, folder }, port, run.environment);
  expect(statuses).toEqual([400, 204]);
  expect(stored).toBe('event-1 webhook.test\n');
});
