import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { runSteps, type Step } from '../../../scripts/check/run-steps.mjs';
import { STAGES } from '../../../scripts/check/steps.mjs';

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
