export type Step = { name: string; run: () => Promise<string>; cure: string };

export function runSteps(
  steps: readonly Step[],
  options: { parallel: number; write: (text: string) => unknown; later?: readonly string[] },
): Promise<boolean>;
