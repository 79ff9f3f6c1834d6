import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { sample } from '../../support/harness/effort.js';
import { history, prepare, segment, type Machine } from '../../support/restores/archives.js';
import { removeFolders } from '../../support/service/processes.js';

// The scripts of deploy/postgres, of which each command fails once: the result is either right, or the script fails and has lost nothing.

const LIMIT_MS = 300_000;
const ONE = '00000001';
const TWO = '00000002';
const THREE = '00000003';

/** The work goes on in timeline 2. Timeline 3 was given up. */
const ARCHIVE = {
  [segment(ONE, 1)]: '',
  [segment(ONE, 2)]: '',
  [segment(ONE, 3)]: '',
  [`${TWO}.history`]: history([1, 2]),
  [segment(TWO, 2)]: '',
  [segment(TWO, 3)]: '',
  [`${THREE}.history`]: history([1, 3]),
  [segment(THREE, 3)]: '',
  [`${THREE}.given-up`]: '',
};

afterAll(removeFolders);

type Prepared = Awaited<ReturnType<typeof prepare>>;

/**
 * Runs a script once per command that it executes, each time on a new machine.
 *
 * @param count how many of the commands fail in `npm test`
 */
async function eachFailing(
  machine: Machine,
  run: (prepared: Prepared, failing: number) => { status: number | null; output: string },
  examine: (prepared: Prepared, outcome: { status: number | null; output: string; call: string }) => void,
  count = Infinity,
): Promise<void> {
  const first = await prepare(machine);
  const { status, output } = run(first, 0);
  expect([output, status]).toEqual([output, 0]);
  examine(first, { status, output, call: 'none' });
  for (const [index, call] of sample([...first.calls().entries()], count)) {
    const prepared = await prepare(machine);
    examine(prepared, { ...run(prepared, index + 1), call });
    rmSync(prepared.machine, { recursive: true, force: true });
  }
}

describe('whichever command fails', () => {
  test(
    'a recovery follows the right timeline completely, or leaves no server',
    async () => {
      await eachFailing(
        { archive: ARCHIVE },
        (prepared, failing) => prepared.run('recover.sh', [], { failing }),
        ({ machine, followed }, { status, output, call }) => {
          const isThere = existsSync(join(machine, 'main'));
          if (status === 0) expect([call, output, isThere, followed()]).toEqual([call, output, true, 2]);
          // The last commands only print, or rename the folder that is complete.
          else
            expect([call, output, isThere && !/^(grep -E recovery|mv) /.test(call)]).toEqual([
              call,
              output,
              false,
            ]);
        },
        // This script deletes nothing that was there before.
        25,
      );
    },
    LIMIT_MS,
  );

  test(
    'a server is given up with its mark and its history in the archive, or keeps its name',
    async () => {
      await eachFailing(
        { archive: ARCHIVE, lost: ARCHIVE, server: { state: 'shut down', timeline: '00000004' } },
        (prepared, failing) => {
          prepared.plant('main/restore.unfinished');
          return prepared.run('give-up.sh', ['server'], { failing });
        },
        ({ machine, isGivenUp }, { status, output, call }) => {
          const isThere = existsSync(join(machine, 'main'));
          expect([call, output, status === 0]).toEqual([call, output, !isThere]);
          if (!isThere)
            expect([
              isGivenUp('00000004'),
              existsSync(join(machine, 'backup/archive/00000004.history')),
            ]).toEqual([true, true]);
        },
      );
    },
    LIMIT_MS,
  );

  test(
    'what a restore needs stays',
    async () => {
      const backups = {
        base: { timeline: TWO, begins: 3, ends: 3 },
        'base.20261120T000000': { timeline: TWO, begins: 2, ends: 2, days: 15 },
        'base.20261110T000000': { timeline: ONE, begins: 1, ends: 1, days: 20 },
      };
      await eachFailing(
        {
          archive: ARCHIVE,
          backups,
          server: { state: 'in production', timeline: TWO },
        },
        (prepared, failing) => prepared.run('prune.sh', ['delete'], { failing, LOST: '', REMAINDER: '' }),
        ({ machine }, { status, output, call }) => {
          const left = readdirSync(join(machine, 'backup'));
          const archive = readdirSync(join(machine, 'backup/archive'));
          // One of the two from which the days can be restored, with all WAL that it needs.
          const oldest = left.includes('base.20261110T000000') ? segment(ONE, 1) : segment(TWO, 2);
          expect([call, output, left]).toEqual([
            call,
            output,
            expect.arrayContaining(['base', expect.stringMatching(/^base\.2026/)]),
          ]);
          expect(archive).toEqual(
            expect.arrayContaining([
              oldest,
              segment(TWO, 2),
              segment(TWO, 3),
              `${TWO}.history`,
              `${THREE}.given-up`,
            ]),
          );
          // A failure may leave what is not needed.
          if (call === 'none') {
            expect([status, left.includes('base.20261110T000000')]).toEqual([0, false]);
            expect(archive).not.toContain(segment(ONE, 1));
          }
        },
      );
    },
    LIMIT_MS,
  );
});
