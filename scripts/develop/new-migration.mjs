// Adds the folder of a migration that sorts after all others: npm run new:migration -- <name>
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const MIGRATIONS = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'prisma', 'migrations');
const USAGE =
  'Usage: npm run new:migration -- <name>, in lower case with underscores, for example courier_notes';

const SCRIPT = `-- upgrade: rolling
-- Says why, and what servers of the previous release notice. docs/migrations.md has the rules.
`;

/** Returns the name of a new migration: the present time in UTC, or a second after the last one if that lies ahead. */
export function nameAfter(names, title, now) {
  const [last = ''] = names
    .filter((name) => /^\d{14}_/.test(name))
    .sort()
    .reverse();
  const stamp = (time) => time.toISOString().replace(/\D/g, '').slice(0, 14);
  const [, year, month, day, hour, minute, second] =
    /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)/.exec(last) ?? [];
  const afterLast = year ? new Date(Date.UTC(year, month - 1, day, hour, minute, Number(second) + 1)) : now;
  return `${stamp(afterLast > now ? afterLast : now)}_${title}`;
}

function addMigration(title) {
  if (!/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/.test(title ?? '')) throw new Error(USAGE);
  const names = readdirSync(MIGRATIONS, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name);
  const name = nameAfter(names, title, new Date());
  mkdirSync(join(MIGRATIONS, name));
  writeFileSync(join(MIGRATIONS, name, 'migration.sql'), SCRIPT);
  return name;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , title] = process.argv;
  if (title === '--help' || title === '-h') {
    process.stdout.write(`${USAGE}\n`);
    process.exit(0);
  }
  try {
    process.stdout.write(
      `Added prisma/migrations/${addMigration(title)}/migration.sql. When it is written, run npm run schema:describe.\n`,
    );
  } catch (error) {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
