import type { SourceMutant } from '../mutant.js';

/** Guards of a start and of migrations. */
export const START_UP: readonly SourceMutant[] = [
  {
    name: 'start: production does not serve a database with other protections',
    file: 'src/startup/safe-database.ts',
    find: '  throw new ConfigError(faults, mayAllPass ? { cause: failures[0] } : {});\n',
    replace: '',
    tests: [
      {
        file: 'test/database/schema/planted.test.ts',
        titles: ['a start in production ends, and the doctor reports > row-level security that is off'],
      },
    ],
  },
  {
    name: 'worker: an older data folder pauses outbound work',
    file: 'src/platform/queue/outbound-pause.ts',
    find: 'if (seen && isOlder(now, seen)) await pauseOn(client, recorded);',
    replace: '',
    tests: [
      {
        file: 'test/operations/restore/outbound-pause.test.ts',
        titles: ['a worker that runs pauses if an old data folder'],
      },
    ],
  },
  {
    name: 'start: a database of another APP_ENV is refused',
    file: 'src/startup/database-owner.ts',
    find: 'if (owner.appEnv !== identity.appEnv)',
    replace: "if (owner.appEnv === '')",
    tests: [
      {
        file: 'test/operations/start-up/one-deployment.test.ts',
        titles: ['is refused with one line, and changes nothing'],
      },
    ],
  },
  {
    name: 'start: a token key with the name of another one is refused',
    file: 'src/startup/deployment.ts',
    find: '.filter((key) => !recorded.includes(namedPrints([key]).join()))',
    replace: '.filter(() => false)',
    tests: [
      {
        file: 'test/long/secrets/keys-of-a-database.test.ts',
        titles: ['of another deployment, which have the same names, stop the start'],
      },
    ],
  },
  {
    name: 'rewrap: a process that runs without the newest key stops it',
    file: 'src/commands/rewrap.ts',
    find: 'if (without.length === 0) return;',
    replace: 'if (without.length >= 0) return;',
    tests: [
      {
        file: 'test/long/secrets/keys-of-a-database.test.ts',
        titles: ['rewrap changes nothing while one process still runs'],
      },
    ],
  },
  {
    name: 'sessions: no statement is compiled',
    file: 'src/platform/db/connections/pool.ts',
    find: ' -c jit=off',
    replace: '',
    tests: [
      {
        file: 'test/database/transactions/compiled-statements.test.ts',
        titles: ['the service does not let PostgreSQL compile its statements'],
      },
    ],
  },
  {
    name: 'pooler: a session that stays read-only is ended',
    file: 'src/platform/db/connections/stale-sessions.ts',
    find: 'then pg_terminate_backend(pg_backend_pid()) end',
    replace: 'then true end',
    tests: [
      {
        file: 'test/resilience/outside/read-only-pooled.test.ts',
        titles: ['is reset, each stale session of the pooler fails at most one request'],
      },
    ],
  },
  {
    name: 'start: a replica of another database is refused',
    file: 'src/startup/own-databases.ts',
    find: 'if (!(await isOneDatabase(url, databaseUrl)))',
    replace: 'if (databaseUrl === undefined)',
    tests: [{ file: 'test/resilience/replica.test.ts', titles: ['is refused at the start, by servers'] }],
  },
  {
    name: 'start: a replica that is exchanged for another database serves nothing',
    file: 'src/platform/db/connections/replay.ts',
    find: 'if (found.database !== database)',
    replace: "if (found.database === '')",
    tests: [{ file: 'test/resilience/replica.test.ts', titles: ['serves nothing if it takes the place'] }],
  },
  {
    name: 'start: a version of ENCRYPTION_KEYS that rows need must be there',
    file: 'src/startup/stored-ciphers.ts',
    find: "if (!known.includes(version)) return [describe(version, 'has no key of this version')];",
    replace: 'if (!known.includes(version)) return [];',
    tests: [
      {
        file: 'test/long/secrets/keys-of-a-database.test.ts',
        titles: ['stops the start with one line, and doctor reports it'],
      },
    ],
  },
  {
    name: "start: the owner's commands need APP_ENV",
    file: 'src/config/config.ts',
    find: 'const all = [...environmentFaults(env), ...faults];',
    replace: 'const all = faults;',
    tests: [
      {
        file: 'test/operations/config.test.ts',
        titles: ['gets one line if APP_ENV is missing, empty or unknown'],
      },
    ],
  },
  {
    name: 'migrate: a wrong name of a migration is refused',
    file: 'src/platform/db/migrations/migrate.ts',
    find: "  if (faults.length > 0) throw new Error(faults.join('\\n'));\n",
    replace: '',
    tests: [
      {
        file: 'test/database/migrations/runner.test.ts',
        titles: [
          'a folder whose name is no name of a migration is refused in one line, and nothing is applied',
        ],
      },
    ],
  },
  {
    name: 'migrate: a migration that sorts before an applied one is refused',
    file: 'src/platform/db/migrations/migrate.ts',
    find: '  assertInOrder(pending, history);\n',
    replace: '',
    tests: [
      {
        file: 'test/database/migrations/waiting.test.ts',
        titles: ['a pending migration that sorts before an applied one is refused, and nothing is applied'],
      },
    ],
  },
  {
    name: 'migrate: a migration that needs a stop waits until nothing runs',
    file: 'src/platform/db/migrations/running-processes.ts',
    find: '  if (running === undefined) return;\n  throw new Error(\n',
    replace: '  return;\n  throw new Error(\n',
    tests: [
      {
        file: 'test/database/migrations/refused.test.ts',
        titles: ['a worker that is only known by its heartbeat counts, until it has missed three'],
      },
    ],
  },
  {
    name: 'rehash: connections of other roles are seen without rights on statistics',
    file: 'src/platform/db/migrations/running-processes.ts',
    find: '  where a.datname = current_database() and a.pid <> pg_backend_pid()\n',
    replace:
      "  where a.datname = current_database() and a.backend_type = 'client backend' and a.pid <> pg_backend_pid()\n",
    tests: [
      {
        file: 'test/long/secrets/running-processes.test.ts',
        titles: [
          'while a server runs, each command is refused with one line and changes nothing; after its end each succeeds',
        ],
      },
    ],
  },
  {
    name: 'migrate: an applied script that was changed is refused',
    file: 'src/platform/db/migrations/migrate.ts',
    find: '  if (changed.length > 0)',
    replace: '  if (changed.length > 1_000)',
    tests: [
      {
        file: 'test/database/migrations/refused.test.ts',
        titles: ['a script that differs from the applied one is refused, although nothing is missing'],
      },
    ],
  },
  {
    name: 'start: a wrong search_path is named before the migrations',
    file: 'src/startup/database-owner.ts',
    find: 'return path ?',
    replace: "return path?.message === '' ?",
    tests: [
      {
        file: 'test/database/migrations/refused.test.ts',
        titles: [
          'with a search_path of the database, migrate, the doctor, its --upgrade and a start name the setting',
        ],
      },
    ],
  },
  {
    name: 'worker: lost protections are reported while it runs',
    file: 'src/startup/watch-protections.ts',
    find: '  const timer = setInterval(run, intervalMs).unref();\n  return () => clearInterval(timer);\n',
    replace: '  void intervalMs;\n  return () => undefined;\n',
    tests: [
      {
        file: 'test/operations/observability/protections.test.ts',
        titles: [
          'a table without row-level security is reported with its remedy, in the gauge and in the log, until it is restored',
        ],
      },
    ],
  },
  {
    name: 'log: without a reader, lines fill no memory',
    file: 'src/platform/logging/line-writer.ts',
    find: 'if (hasEnded || waitingLength + line.length > MAX_WAITING) {',
    replace: 'if (waitingLength + line.length > 100 * MAX_WAITING) {',
    tests: [
      {
        file: 'test/operations/observability/line-writer.test.ts',
        titles: ['a full disk delays neither a line nor the end of the process'],
      },
    ],
  },
  {
    name: 'log: a full disk does not delay the end of the process',
    file: 'src/platform/logging/line-writer.ts',
    find: "if ((error && error.code !== 'EAGAIN') || performance.now() > deadlineMs) return;",
    replace: 'if (performance.now() > deadlineMs + 5_000) return;',
    tests: [
      {
        file: 'test/operations/observability/line-writer.test.ts',
        titles: ['a full disk delays neither a line nor the end of the process'],
      },
    ],
  },
  {
    name: 'log: a pipe stays non-blocking after a child process has inherited it',
    file: 'src/platform/logging/log-stream.ts',
    find: '  return () => handle.setBlocking?.(false);',
    replace: '  return () => undefined;',
    tests: [
      {
        file: 'test/operations/observability/lost-log.test.ts',
        titles: ['the service serves, says afterwards how many lines are lost, and ends when told to'],
      },
    ],
  },
  {
    name: 'start: a full disk under standard error ends no process',
    file: 'src/startup/process.ts',
    find: '  surviveLostOutput();\n  if (isHelpAsked())',
    replace: '  if (isHelpAsked())',
    tests: [
      {
        file: 'test/operations/observability/lost-log.test.ts',
        titles: ['runs, and ends when told to'],
      },
    ],
  },
  {
    name: 'doctor: a connection to another host without encryption is named',
    file: 'src/startup/doctor/connection-encryption.ts',
    find: 'if (stream instanceof TLSSocket || stream.remoteAddress === undefined) return undefined;',
    replace: 'if (stream.remoteAddress !== undefined) return undefined;',
    tests: [
      {
        file: 'test/operations/doctor/connection-encryption.test.ts',
        titles: ['warns of a connection to another host without encryption, with its remedy'],
      },
    ],
  },
];
