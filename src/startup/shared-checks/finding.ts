/** A result of a check. Warnings and problems have a remedy. No text contains a secret. */
export type Finding =
  | { level: 'ok'; message: string }
  | { level: 'warning' | 'problem'; message: string; remedy: string };

export const ok = (message: string): Finding => ({ level: 'ok', message });

export const warning = (message: string, remedy: string): Finding => ({ level: 'warning', message, remedy });

export const problem = (message: string, remedy: string): Finding => ({ level: 'problem', message, remedy });

/** Returns what was found, or that all is well if nothing was. */
export function orOk(found: (Finding | Finding[] | false | undefined)[], message: string): Finding[] {
  const findings = found.flatMap((each) => each || []);
  return findings.length > 0 ? findings : [ok(message)];
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
