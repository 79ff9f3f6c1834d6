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

/** Whether the request has a key or a token, which a redirect to another host must not get. */
export const hasCredential = ({ headers }: Call): boolean =>
  headers.some(([name]) => /^(authorization|x-api-key)$/i.test(name));
