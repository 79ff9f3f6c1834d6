import { readFileSync } from 'node:fs';

/** Returns the resident memory of a process, now or at its peak, in KiB. Linux only. */
export const memoryOf = (pid: number, field: 'VmRSS' | 'VmHWM'): number =>
  Number(new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
