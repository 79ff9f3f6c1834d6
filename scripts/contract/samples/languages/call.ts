import type { Body } from '../sample-requests.js';

/** A request as a program sends it. */
export type Call = {
  method: string;
  url: string;
  headers: [name: string, value: string][];
  body: Body | undefined;
  /** The name for the response's file. */
  download: string | undefined;
};
