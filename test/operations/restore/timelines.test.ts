import { spawnSync } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { projectRoot } from '../../../src/config/project-root.js';
import { history, prepare, segment, type Machine } from '../../support/restores/archives.js';
import { removeFolders } from '../../support/service/processes.js';

// Which timeline deploy/postgres/recover.sh follows, for archives with several ones. PostgreSQL's programs are replaced.
// lost-disk.test.ts and prune.test.ts have the real ones.

afterAll(removeFolders);

const ONE = '00000001';
const TWO = '00000002';
const THREE = '00000003';
const FOUR = '00000004';

const TWO_OF_ONE = {
  [segment(ONE, 1)]: '',
  [segment(ONE, 2)]: '',
  [segment(ONE, 3)]: '',
  [`${TWO}.history`]: history([1, 2]),
  [segment(TWO, 2)]: '',
};
const THREE_OF_ONE = { [`${THREE}.history`]: history([1, 3]), [segment(THREE, 3)]: '' };
const LOST_ONE = { [segment(ONE, 3)]: '', [segment(ONE, 4)]: '' };

describe('the recovery follows', () => {
  const CASES: [string, Machine, string][] = [
    ['the only timeline', { archive: LOST_ONE }, ONE],
    ['the newest of a line', { archive: TWO_OF_ONE }, TWO],
    ['the older one if the newest is given up', { archive: { ...TWO_OF_ONE, [`${TWO}.given-up`]: '' } }, ONE],
    [
      'the one that is not given up, although another one is newer',
      { archive: { ...TWO_OF_ONE, ...THREE_OF_ONE, [`${THREE}.given-up`]: '' } },
      TWO,
    ],
    [
      'the lost server, whose timeline is not archived yet',
      {
        archive: { [segment(ONE, 1)]: '' },
        lost: { [`${TWO}.history`]: history([1, 2]), [segment(TWO, 2)]: '' },
      },
      TWO,
    ],
    [
      'two timelines that begin in the same file',
      {
        archive: {
          [segment(ONE, 1)]: '',
          [`${TWO}.history`]: history([1, 2]),
          [`${THREE}.history`]: history([1, 2], [2, 2]),
          [segment(THREE, 2)]: '',
        },
      },
      THREE,
    ],
    [
      'a base backup that is newer than a missing beginning',
      {
        archive: { [`${TWO}.history`]: history([1, 2]), [segment(TWO, 5)]: '' },
        backups: { base: { timeline: TWO, begins: 5, ends: 5 } },
      },
      TWO,
    ],
  ];

  test.each(CASES)('%s', async (_title, machine, timeline) => {
    const { machine: folder, run, followed } = await prepare(machine);
    const { status, output } = run('recover.sh');
    expect([status, output]).toEqual([
      0,
      expect.stringContaining(`The recovery followed the timeline ${timeline}.`),
    ]);
    expect(followed()).toBe(Number(timeline));
    expect(existsSync(join(folder, 'main', 'restore.unfinished'))).toBe(true);
  });
});

describe('the recovery is refused', () => {
  const CASES: [string, Machine, RegExp][] = [
    [
      'with two timelines of which none continues the other',
      { archive: { ...TWO_OF_ONE, ...THREE_OF_ONE } },
      /timelines 00000002 00000003, and none of them continues another[^]*give-up-timeline/,
    ],
    [
      'with a timeline whose history is missing',
      { archive: { [segment(ONE, 1)]: '', [segment(TWO, 2)]: '' } },
      /a file \.history may be missing/,
    ],
    ['without WAL', { archive: {} }, /^FAILED: \S+archive has no WAL file\. Is the archive mounted\?/],
    [
      'without WAL on both machines',
      { archive: {}, lost: {} },
      /^FAILED: Neither \S+archive nor \S+pg_wal has a WAL/,
    ],
    [
      'with a lost server that is not the last one',
      { archive: TWO_OF_ONE, lost: LOST_ONE },
      /has the timeline 00000001, and the archive also has 00000002[^]*give-up-timeline with 00000002/,
    ],
    [
      'with a timeline that continues one that was given up',
      {
        archive: {
          ...TWO_OF_ONE,
          [`${TWO}.given-up`]: '',
          [`${FOUR}.history`]: history([1, 2], [2, 3]),
          [segment(FOUR, 3)]: '',
        },
      },
      /00000004 continues 00000002, which was given up/,
    ],
    [
      'if the first file of the newest timeline is missing',
      { archive: { ...TWO_OF_ONE, [segment(TWO, 2)]: '', [`${FOUR}.history`]: history([1, 2], [2, 4]) } },
      /The file 000000040000000000000004 is missing, with which the timeline 00000004 begins/,
    ],
    [
      'from a base backup of a timeline that was given up',
      {
        archive: { ...TWO_OF_ONE, [`${TWO}.given-up`]: '' },
        backups: { base: { timeline: TWO, begins: 2, ends: 2 } },
      },
      /base does not belong to the history of the timeline 00000001/,
    ],
    [
      'from a base backup that ended after its timeline was left',
      { archive: TWO_OF_ONE, backups: { base: { timeline: ONE, begins: 2, ends: 3 } } },
      /base does not belong to the history of the timeline 00000002/,
    ],
    [
      'if the new number has files in the archive',
      { archive: { ...LOST_ONE, '00000009.given-up': '', [segment('00000009', 2)]: '' } },
      /would have the timeline 00000009[^]*without 00000009\.history/,
    ],
  ];

  test.each(CASES)('%s', async (_title, machine, reason) => {
    const { machine: folder, run } = await prepare(machine);
    const { status, output } = run('recover.sh');
    expect([status, output]).toEqual([1, expect.stringMatching(reason)]);
    expect(output).toMatch(/^FAILED: .* Nothing is recovered/m);
    expect(existsSync(join(folder, 'main'))).toBe(false);
  });

  test('if a base backup is damaged, an archive is not readable, or another recovery runs', async () => {
    const { machine: folder, run } = await prepare({ archive: LOST_ONE });
    writeFileSync(join(folder, 'bin', 'pg_verifybackup'), '#!/bin/sh\nexit 1\n');
    expect(run('recover.sh').output).toMatch(/base is damaged or incomplete/);
    const lock = spawnSync(
      'flock',
      [join(folder, 'main.log'), 'sh', join(projectRoot, 'deploy', 'postgres', 'recover.sh')],
      {
        encoding: 'utf8',
        env: { PATH: process.env['PATH'], DATA: join(folder, 'main'), UNTIL: '', REMAINDER: folder },
      },
    );
    expect(lock.stderr).toMatch(/Another recovery runs/);
    rmSync(join(folder, 'backup', 'archive'), { recursive: true });
    expect(run('recover.sh').output).toMatch(/archive cannot be read/);
  });
});

describe('a timeline is given up', () => {
  test('if nothing continues it, and its number is not used again', async () => {
    const { machine, run, isGivenUp } = await prepare({
      archive: { [segment(ONE, 1)]: '', [segment(TWO, 2)]: '' },
    });
    expect(run('give-up.sh', ['timeline', TWO])).toMatchObject({ status: 0 });
    expect([isGivenUp(TWO), existsSync(join(machine, 'backup', 'archive', `${TWO}.history`))]).toEqual([
      true,
      true,
    ]);
    expect(run('recover.sh').output).toMatch(/followed the timeline 00000001/);
  });

  test.each([
    [
      'an empty one',
      '',
      { archive: TWO_OF_ONE },
      /no timeline '' that could be given up\. It has: 00000001 00000002\./,
    ],
    ['one that does not exist', THREE, { archive: TWO_OF_ONE }, /It has: 00000001 00000002/],
    ['one that another continues', ONE, { archive: TWO_OF_ONE }, /00000002 continues 00000001/],
    [
      'that of the lost server',
      ONE,
      { archive: LOST_ONE, lost: LOST_ONE },
      /The lost server has the timeline 00000001/,
    ],
  ])('but not %s', async (_title, timeline, machine: Machine, reason) => {
    const { run, isGivenUp } = await prepare(machine);
    expect(run('give-up.sh', ['timeline', timeline])).toEqual({
      status: 1,
      output: expect.stringMatching(reason),
    });
    expect([ONE, TWO, THREE].filter(isGivenUp)).toEqual([]);
  });
});

test('a base backup that restores to no time is kept for its days, and is not called needed', async () => {
  const { run } = await prepare({
    archive: { [segment(ONE, 1)]: '', [segment(TWO, 2)]: '', [`${TWO}.given-up`]: '' },
    backups: {
      base: { timeline: TWO, begins: 2, ends: 2 },
      'base.20261120T000000': { timeline: ONE, begins: 1, ends: 1, days: 1 },
    },
    server: { state: 'in production', timeline: ONE },
  });
  const none = { LOST: '', REMAINDER: '' };
  expect(run('list-backups.sh', [], none).output).toMatch(/backup\/base restores to no time: /);
  expect(run('prune.sh', ['list'], none)).toEqual({
    status: 0,
    output: expect.stringMatching(/^kept {5}\S+backup\/base, .*\nneeded {3}\S+base\.20261120T000000, /),
  });
});
