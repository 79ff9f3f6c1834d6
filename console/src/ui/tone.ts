/** How a scan went. */
export type Tone = 'good' | 'warn' | 'bad' | 'wait';
