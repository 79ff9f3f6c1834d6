import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { runSteps, type Step } from '../../../scripts/check/run-steps.mjs';
import { STAGES } from '../../../scripts/check/steps.mjs';
import { rounds, sample } from '../../support/harness/effort.js';

const step = (name: string, fault = ''): Step => ({
  name,
  run: () => Promise.resolve(fault),
  cure: `Mend ${name}.`,
});

async function run(steps: Step[], later: string[] = []) {
  let output = '';
  const isPassed = await runSteps(steps, {
    parallel: 1,
    write: (text) => {
      output += text;
    },
    later,
  });
  return { isPassed, output: output.replace(/\d+\.\d s/g, 'N s') };
}

describe('the gate', () => {
  test('names after a failure what failed, the command that helps, and the steps that did not run', async () => {
    expect(await run([step('one'), step('two', 'two.ts is wrong.'), step('three')], ['tests'])).toEqual({
      isPassed: false,
      output: [
        'one       ok N s',
        'two.ts is wrong.',
        'two       FAILED N s',
        'two failed. Mend two.',
        'Not run because of the failure: three, tests.',
        '',
      ].join('\n'),
    });
  });

  test('says nothing of steps that did not run if the last one fails, and passes if none does', async () => {
    expect((await run([step('one', 'Wrong.')])).output).not.toContain('Not run');
    expect(await run([step('one'), step('two')], ['tests'])).toEqual({
      isPassed: true,
      output: 'one       ok N s\ntwo       ok N s\n',
    });
  });

  test('waits for a step that runs beside the one that failed, and reports it too', async () => {
    const ended: string[] = [];
    const slow: Step = {
      name: 'slow',
      cure: 'Mend slow.',
      async run() {
        while (ended.length === 0) await setImmediate();
        return 'Also wrong.';
      },
    };
    const failing = step('failing', 'Wrong.');
    let output = '';
    const write = (text: string) => {
      output += text;
      ended.push(text);
    };
    expect(await runSteps([slow, failing, step('left')], { parallel: 2, write })).toBe(false);
    expect(output).toMatch(/Mend failing\.[^]*Mend slow\.[^]*Not run because of the failure: left\./);
  });

  test('checks the format first, then lint and types, and the bench rows only when all others have passed', () => {
    const names = STAGES.map((steps) => steps.map(({ name }) => name));
    expect(names[0]).toContain('format');
    expect(names[1]?.slice(0, 2)).toEqual(['lint', 'types']);
    expect(names.slice(-3)).toEqual([['bench'], ['pressure'], ['tests']]);
  });

  test('has for each step a command that repeats or mends it, and npm run format for the format', () => {
    const steps = STAGES.flat();
    expect(steps.filter(({ cure }) => !/`np[mx] [^`]+`/.test(cure))).toEqual([]);
    expect(steps.find(({ name }) => name === 'format')?.cure).toContain('`npm run format`');
  });

  test('lets no step read the generated core of the SDK while another replaces it', () => {
    const stageOf = (name: string) => STAGES.findIndex((steps) => steps.some((each) => each.name === name));
    for (const reader of ['lint', 'types', 'console'])
      expect(stageOf(reader)).toBeGreaterThan(stageOf('sdk'));
  });
});

describe('a sample of a list', () => {
  const LIST = Array.from({ length: 74 }, (_, n) => n);
  const COUNTS = [1, 7, 25, 73];
  const isLong = rounds(0, 1) === 1;

  test('has as many items as asked for, in their order, and those of the same seed again', () => {
    for (const count of COUNTS)
      for (const seed of [0, 5, 99_999]) {
        const chosen = sample(LIST, count, seed);
        expect(new Set(chosen).size).toBe(isLong ? LIST.length : count);
        expect([...chosen].sort((a, b) => a - b)).toEqual(chosen);
        expect(sample(LIST, count, seed)).toEqual(chosen);
      }
    expect(sample(LIST, Infinity, 5)).toEqual(LIST);
    expect(sample([], 3, 5)).toEqual([]);
  });

  test('contains each item with some seed', () => {
    for (const count of COUNTS)
      expect(new Set(LIST.flatMap((seed) => sample(LIST, count, seed)))).toEqual(new Set(LIST));
  });
});
