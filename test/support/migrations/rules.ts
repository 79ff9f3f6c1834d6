import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import {
  headersOf,
  statementsOf,
  type Migration,
} from '../../../src/platform/db/migrations/migration-files.js';

// What a migration's script may contain. docs/migrations.md explains the rules. catalogue-changes.ts compares what a script does.

/** Returns one line per violation; each says what to do instead. */
export const violationsOf = (migration: Migration): string[] =>
  migration.upgrade === 'stop'
    ? describeStop(migration)
    : [...violationsOfHeader(migration), ...violationsOfScript(migration), ...violationsOfSquawk(migration)];

function describeStop({ script }: Migration): string[] {
  if (headersOf(script, 'because').length > 0) return [];
  return ['A stop interrupts every deployment. Avoid it, or add "-- because: <reason>".'];
}

function violationsOfHeader({ upgrade, background }: Migration): string[] {
  if (!upgrade)
    return ['Begin the script with "-- upgrade: rolling", "-- upgrade: background" or "-- upgrade: stop".'];
  if ((upgrade === 'background') === (background !== undefined)) return [];
  return ['"-- upgrade: background" and the file background.sql belong together.'];
}

const CONCURRENT_STATEMENT =
  /^(create (unique )?index concurrently if not exists|drop index concurrently if exists) \w+/i;

function violationsOfScript({ script, isConcurrent }: Migration): string[] {
  const statements = statementsOf(script);
  const violations: string[] = [];
  if (
    statements.some((statement) => /^set\s+(local\s+|session\s+)?(lock|statement)_timeout/i.test(statement))
  )
    violations.push('Remove the setting: npm run migrate limits how long a migration waits for a lock.');
  if (isConcurrent && !statements.every((statement) => CONCURRENT_STATEMENT.test(statement)))
    violations.push(
      'Move "create index concurrently if not exists" and "drop index concurrently if exists" into a migration of their own.',
    );
  return violations;
}

/** Rules about style, rules that npm run migrate makes unnecessary, and prefer-robust-stmts, which the transaction replaces. */
const EXCLUDED = [
  ...['prefer-bigint-over-int', 'prefer-bigint-over-smallint', 'prefer-identity', 'prefer-text-field'],
  ...['prefer-timestamp-tz', 'prefer-robust-stmts', 'ban-char-field'],
  ...['require-lock-timeout', 'require-statement-timeout'],
];

const require = createRequire(import.meta.url);

type SquawkFinding = { line: number; message: string; help: string | null; rule_name: string };

/** Returns the path of squawk, or undefined on a platform that it does not support. */
export function findSquawk(): string | undefined {
  try {
    // The package declares no types; the function returns the path or throws.
    return (require('squawk-cli/js/index.js') as { getBinaryPath(): string }).getBinaryPath();
  } catch {
    return undefined;
  }
}

function violationsOfSquawk({ script, isConcurrent }: Migration): string[] {
  const program = findSquawk();
  if (!program) return [];
  const args = ['--reporter', 'json', '--pg-version', '15', '--stdin-filepath', 'migration.sql'];
  if (!isConcurrent) args.push('--assume-in-transaction');
  const excluded = EXCLUDED.flatMap((rule) => ['--exclude', rule]);
  const { stdout, stderr } = spawnSync(program, [...args, ...excluded], { input: script, encoding: 'utf8' });
  if (!stdout.startsWith('[')) throw new Error(`squawk failed: ${stderr}`);
  return (JSON.parse(stdout) as SquawkFinding[]).map(
    ({ line, message, help, rule_name: rule }) =>
      `Line ${line + 1}: ${message} ${help ?? ''} (squawk: ${rule})`,
  );
}
