// Runs the steps of the gate, and says what failed, how to mend it, and what did not run.

/**
 * Runs steps in parallel, in their order. After a failure none is started; those that run already are awaited. The output names
 * the command that helps, and all steps that did not run.
 *
 * @param steps `run` resolves to the output of the step if it failed, otherwise to an empty text; `cure` says what to do then
 * @param later names of what would run after these steps
 * @returns whether all passed
 */
export async function runSteps(steps, { parallel, write, later = [] }) {
  const waiting = [...steps];
  const failed = [];
  async function runWaiting() {
    while (waiting.length > 0 && failed.length === 0) {
      const step = waiting.shift();
      if (!(await runStep(step, write))) failed.push(step);
    }
  }
  await Promise.all(Array.from({ length: parallel }, runWaiting));
  if (failed.length === 0) return true;
  for (const { name, cure } of failed) write(`${name} failed. ${cure}\n`);
  const left = [...waiting.map(({ name }) => name), ...later];
  if (left.length > 0) write(`Not run because of the failure: ${left.join(', ')}.\n`);
  return false;
}

async function runStep({ name, run }, write) {
  const startMs = performance.now();
  const fault = await run();
  const seconds = ((performance.now() - startMs) / 1000).toFixed(1);
  if (fault) write(`${fault.trimEnd()}\n`);
  write(`${name.padEnd(9)} ${fault ? 'FAILED' : 'ok'} ${seconds} s\n`);
  return !fault;
}
