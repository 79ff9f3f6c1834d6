import type { SourceMutant } from '../mutant.js';

/** Guards of a start and of migrations. */
export const START_UP: readonly SourceMutant[] = [
  {
    name: 'start: production does not serve a database with other protections',
    file: 'src/startup/safe-database.ts',
    find: '  if (faults.length > 0) throw new ConfigError(faults);\n',
    replace: '',
    tests: [
      {
        file: 'test/database/schema/planted.test.ts',
        titles: ['a start in production ends, and the doctor reports > row-level security that is off'],
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
];
