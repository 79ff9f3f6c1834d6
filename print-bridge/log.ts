/** Writes one event: a full sentence, without secrets. */
export type Log = (sentence: string) => void;

export const logToOutput: Log = (sentence) => {
  process.stdout.write(`${new Date().toISOString()} ${sentence}\n`);
};
