type Report = Record<string, unknown>;

/** Runs the steps in order and prints one line of JSON per step. A failed step does not end the program. */
export async function runSteps(steps: (() => Promise<Report>)[]): Promise<void> {
  for (const [index, step] of steps.entries()) {
    const report = await step().then(
      (seen) => ({ ok: true, ...seen }),
      async (error: unknown) => ({ ok: false, error: await describe(error) }),
    );
    console.log(JSON.stringify({ step: index + 1, ...report }));
  }
}

async function describe(error: unknown): Promise<string> {
  // The error of the generated clients that throw has the response.
  const response = (error as { response?: Response }).response;
  const body = response && !response.bodyUsed ? await response.text() : '';
  return error instanceof Error ? `${error.stack} ${body}` : JSON.stringify(error);
}

export function env(name: string): string {
  const value = process.env[`CROSSDOCK_${name}`];
  if (value === undefined) throw new Error(`CROSSDOCK_${name} is not set.`);
  return value;
}
