import { parseArgs } from 'node:util';
import { readChangelog, readCurrent, readLastRelease, storeRelease } from './released.js';
import { releaseMigrations } from './release-migrations.js';
import { judge } from './verdict.js';
import { runScript } from '../../src/commands/run/script.js';

/** The date of the release, as CHANGELOG.md has it. */
const today = () => new Date().toISOString().slice(0, 10);

// npm run contract:release: stores generated/openapi.json as openapi/released/<info.version>.json, and the release's migrations
// in prisma/released.json.
await runScript(async (print) => {
  parseArgs({ options: {} });
  const [released, current] = await Promise.all([readLastRelease(), readCurrent()]);
  const problems = released ? judge(released, current, await readChangelog()).problems : [];
  if (problems.length > 0) throw new Error(problems.join('\n'));
  const version = await storeRelease(current);
  await releaseMigrations(version);
  print(
    `Stored openapi/released/${version}.json. Rename "Unreleased" in CHANGELOG.md to "${version} (${today()})" and run npm run generate. Commit all of it, with prisma/released.json and generated/.`,
  );
});
