// npm run test:long: runs the whole suite with more rounds, then the rehearsals, long fuzz, chaos and pressure runs, the SDKs of all
// languages, and the code generators. Takes two hours or more. With arguments for jest, only the suite runs: npm run test:long --
// test/modules/customers/upload-races.test.ts
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { prepare, root } from '../prepare.mjs';

/** They keep a machine of two cores busy and limit its response times, so nothing else runs beside them. */
const ALONE = ['upgrade', 'move', 'failover', 'restore', 'tired-day'];

const CAMPAIGNS = [
  {
    name: 'suite',
    script: 'test.mjs',
    args: [`--testPathIgnorePatterns=/test/long/(${ALONE.join('|')})\\.test\\.ts$`],
  },
  ...ALONE.map((name) => ({ name, script: 'test.mjs', args: [`test/long/${name}.test.ts`] })),
  { name: 'pooler', script: 'campaigns/test-pooler.mjs', args: [] },
  { name: 'fuzz', script: 'campaigns/fuzz.mjs', args: ['--requests', '200000'] },
  { name: 'chaos', script: 'campaigns/chaos.mjs', args: ['--kills', '50'] },
  // Compares the memory after 5 and after 15 minutes. The bound of the latency is that of the gate, for machines of any speed.
  {
    name: 'pressure',
    script: 'run.mjs',
    args: ['scripts/measure/pressure', '--minutes', '15', '--rate', '50', '--pause', '20', '--p99', '1500'],
  },
  { name: 'sdk', script: 'run.mjs', args: ['sdk-tools/sdk-test'] },
  { name: 'generators', script: 'run.mjs', args: ['sdk-tools/sdk-generators'] },
];

prepare();
const given = process.argv.slice(2);
const campaigns = given.length === 0 ? CAMPAIGNS : [{ ...CAMPAIGNS[0], args: given }];
const failed = campaigns.filter(({ name, script, args }) => {
  process.stdout.write(`\n${name} ${args.join(' ')}\n`);
  const { status } = spawnSync(process.execPath, [join(root, 'scripts', script), ...args], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, TEST_LONG: '1' },
  });
  return status !== 0;
});
for (const { name } of failed) process.stdout.write(`${name} FAILED\n`);
process.exitCode = failed.length > 0 ? 1 : 0;
