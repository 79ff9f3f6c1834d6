import type { Job, Outcome } from './journal.js';

/** The printer cannot take a label at the moment, and nothing of it was sent. The message is a clause for the log. */
export class PrinterAwayError extends Error {}

export type Printer = {
  name: string;
  /**
   * Prepares one label, without printing anything.
   *
   * @throws PrinterAwayError
   */
  open(job: Job): Promise<Prepared>;
  /** Ends a label that a process which died had begun. */
  recover(job: Job): Promise<Outcome>;
  /** Removes what `open` of an earlier process left behind. */
  discard(job: Job): Promise<void>;
};

export type Prepared = {
  /** Whether the printer is still ready. */
  isReady(): boolean;
  /** Prints the label. Call it once. */
  print(): Promise<Outcome>;
  /** Releases the printer without printing. */
  cancel(): Promise<void>;
};
